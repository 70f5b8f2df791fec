"""Reading content back to check it: nothing is written where it need not be, and no verdict is weaker for that."""

from __future__ import annotations

import random
import tempfile

import pytest

from pinui import Client, IntegrityError, NetworkError
from pinui.ipfs.importer import KUBO_V0, ImportProfile
from pinui.workspace.checking import check_content
from tests.sdk.gateways import FakeGateway, cut, flip, folder_of, honest
from tests.servers import serve

LARGE = random.Random(5).randbytes(3_000_000)  # of which some has passed by before the rest is checked
ODD = ImportProfile("odd", 0, 10_000, raw_leaves=False, links=5)  # nobody's default


async def check(*gateways: FakeGateway) -> str | None:
    """What checking the first gateway's content says, with the others to fall back on."""
    async with serve(gateways[0]) as (url, _), serve(gateways[-1]) as (other, _):
        settings = {"provider_token": "t", "pin_api_url": url, "gateway_url": f"{url}/ipfs"}
        further = (f"{other}/ipfs",) if len(gateways) > 1 else ()
        async with await Client.init(**settings, gateways=further, retries=0) as client:
            return await check_content(client, gateways[0].content.cid)


@pytest.mark.parametrize("gateway", [FakeGateway(cut(LARGE, KUBO_V0), car=honest), FakeGateway(cut(LARGE, KUBO_V0))])
async def test_a_file_is_verified_without_a_disk(gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(tempfile, "TemporaryDirectory")
    assert await check(gateway) == "verified"


async def test_where_passing_by_is_not_enough_it_is_looked_at_again() -> None:
    version_1_name = cut(LARGE, KUBO_V0)
    version_1_name.root = version_1_name.root.to_v1()
    assert await check(FakeGateway(version_1_name)) == "verified"
    assert await check(FakeGateway(cut(LARGE, ODD), raw=honest)) == "verified"
    assert await check(FakeGateway(cut(LARGE, ODD))) == "unverifiable"
    assert await check(FakeGateway(folder_of({"a": LARGE}, KUBO_V0), car=honest)) == "verified"


async def test_a_gateway_that_changed_it_is_found_out_and_an_honest_one_asked() -> None:
    changed = FakeGateway(cut(LARGE, KUBO_V0), plain=flip(-1), car=flip(-1), raw=flip(-1))
    assert await check(changed, FakeGateway(changed.content, car=honest)) == "verified"
    with pytest.raises(IntegrityError):
        await check(changed)


async def test_a_service_that_is_away_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(tempfile, "TemporaryDirectory")
    gone = "http://127.0.0.1:9"
    settings = {"provider_token": "t", "pin_api_url": gone, "gateway_url": f"{gone}/ipfs"}
    async with await Client.init(**settings, retries=0) as client:
        with pytest.raises(NetworkError):
            await check_content(client, cut(LARGE, KUBO_V0).cid)
