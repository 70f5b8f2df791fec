"""Reading content back to check it: nothing is written, and no verdict is weaker for that."""

from __future__ import annotations

import random
import resource
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinui import ClientConfig, IntegrityError, NetworkError, PinProvider
from pinui.ipfs.importer import KUBO_V0, PROFILES, ImportProfile
from tests.sdk.gateways import FakeGateway, cut, flip, folder_of, honest
from tests.sdk.test_declared_sizes import Unfolding, bomb, many
from tests.servers import serve

LARGE = random.Random(5).randbytes(3_000_000)  # of which some has passed by before the rest is checked
ODD = ImportProfile("odd", 0, 10_000, raw_leaves=False, links=5)  # nobody's default


@pytest.fixture(autouse=True)
def no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No byte can be written to any file, and nothing is made where temporary things go."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.chdir(place)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(place.iterdir()) == []


async def check(gateway: FakeGateway, other: FakeGateway | None = None) -> str | None:
    """What checking a gateway's content says, with another one to fall back on."""
    async with serve(gateway) as (url, _), serve(other or gateway) as (other_url, _):
        further = (f"{other_url}/ipfs",) if other else ()
        return await check_at(url, gateway.content.cid, gateways=further)


async def check_at(url: str, cid: str, **settings: Any) -> str | None:
    config = ClientConfig(provider_token="t", pin_api_url=url, gateway_url=f"{url}/ipfs", retries=0, **settings)
    provider = PinProvider(config)
    try:
        return await provider.verify(cid)
    finally:
        await provider.aclose()


@pytest.mark.parametrize("size", [0, 10, len(LARGE)])
@pytest.mark.parametrize("ways", [{"car": honest}, {"raw": honest}, {}], ids=["archives", "blocks", "plain"])
async def test_a_file_is_verified_without_a_disk(size: int, ways: dict[str, Any]) -> None:
    for profile in PROFILES:
        content = cut(LARGE[:size], profile)
        assert await check(FakeGateway(content, **ways)) == "verified"
        content.root = content.root.to_v1()
        assert await check(FakeGateway(content, **ways)) == "verified"


async def test_an_unusual_cut_is_proven_by_blocks_and_by_nothing_else() -> None:
    content = cut(LARGE, ODD)
    assert await check(FakeGateway(content, car=honest)) == "verified"
    assert await check(FakeGateway(content, raw=honest)) == "verified"
    assert await check(FakeGateway(content)) == "unverifiable"
    assert await check(FakeGateway(content), FakeGateway(content, car=honest)) == "verified"


async def test_a_folder_is_verified_without_a_disk_whatever_its_names_are() -> None:
    content = folder_of({"a": LARGE, "C:\\x": b"", "CON": b"1", "sub/a\\b": b"2"}, KUBO_V0)
    assert await check(FakeGateway(content, car=honest)) == "verified"
    assert await check(FakeGateway(content, raw=honest)) == "verified"
    with pytest.raises(IntegrityError):
        await check(FakeGateway(content, car=flip(-1)))


async def test_a_few_blocks_are_verified_once_however_often_they_are_linked() -> None:
    """A file of 262,144,000,000,000,000 bytes, and a folder of 10,000,000,000 files."""
    assert await check(Unfolding(bomb(4))) == "verified"
    assert await check(Unfolding(many(10))) == "verified"


async def test_a_gateway_that_changed_it_is_found_out_and_an_honest_one_asked() -> None:
    for ways in ({"car": flip(-1)}, {"raw": flip(-1)}, {}):
        changed = replace(FakeGateway(cut(LARGE, KUBO_V0), plain=flip(-1)), **ways)
        assert await check(changed, FakeGateway(changed.content, car=honest)) == "verified"
    small = FakeGateway(cut(b"small", KUBO_V0), plain=flip(-1))
    for gateway in (small, FakeGateway(cut(LARGE, KUBO_V0), plain=flip(-1), car=flip(-1), raw=flip(-1))):
        with pytest.raises(IntegrityError):
            await check(gateway)


async def test_a_service_that_is_away_is_an_error() -> None:
    with pytest.raises(NetworkError):
        await check_at("http://127.0.0.1:9", cut(LARGE, KUBO_V0).cid)
