"""Through any weather: success with the right bytes, or one of our errors; never a hang, never another exception."""

from __future__ import annotations

import pytest

from tests.faults.chaos import FAULTS
from tests.faults.storm import storm


async def test_a_small_storm() -> None:
    report = await storm(seed=11, count=120)
    assert report.broken == []
    assert report.succeeded > 60


@pytest.mark.slow
@pytest.mark.parametrize("seed", [21, 22, 23, 24])
async def test_a_great_storm(seed: int) -> None:
    report = await storm(seed=seed, count=500)
    assert report.broken == [], f"replay with make faults SEED={seed} COUNT=500"
    assert report.succeeded > 300
    assert set(report.faults) == set(FAULTS)
