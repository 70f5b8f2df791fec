"""The Pinning Service API as services speak it, with the quirks that each has."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import respx

from pinui import Client, ClientConfig, PinuiError, ProviderError, PsaProvider, Resume, Unsupported
from pinui.sdk.transport.refusals import is_not_pinned
from pinui.sdk.transport.transport import Clock

API = "https://psa.example/api"
CID = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"
V0 = "QmZULkCELmmk5XNfCgTnCyFgAVxBRBXyDHGGMVoLFLiXEN"
V1 = "bafybeiffndsajwhk3lwjewwdxqntmjm4b5wxaaanokonsggenkbw6slwk4"
START = datetime(2026, 1, 1, tzinfo=UTC)


async def no_wait(_seconds: float) -> None:
    """Time that takes none."""


def on_psa(**settings: Any) -> Client:
    config = ClientConfig(**{"provider": "psa", "pin_api_url": API, "provider_token": "a-long-token-0123", **settings})
    return Client(PsaProvider(config, clock=Clock(sleep=no_wait)))


def row(number: int, cid: str = CID, *, age: float = 0.0, **more: Any) -> dict[str, Any]:
    created = (START - timedelta(seconds=age)).isoformat().replace("+00:00", "Z")
    pin = {"cid": cid, "name": f"name {number}"}
    return {"requestid": f"id-{number}", "status": "pinned", "created": created, "pin": pin, "delegates": []} | more


def page(rows: list[dict[str, Any]], count: int | None = None) -> httpx.Response:
    return httpx.Response(200, json={"count": len(rows) if count is None else count, "results": rows})


async def test_it_takes_no_uploads_and_says_what_it_does_instead() -> None:
    async with on_psa() as client:
        for call in (client.store({"a": 1}), client.upload(b"x"), client.send("alice", "hello")):
            with pytest.raises(Unsupported, match="pins by CID") as caught:
                await call
            assert "pin its CID" in (caught.value.hint or "")


def test_it_is_nowhere_unless_it_is_said_where() -> None:
    with pytest.raises(ValueError, match="pin_api_url is needed"):
        ClientConfig(provider="psa")
    assert ClientConfig(provider="psa", pin_api_url=API).gateway_url is None


@respx.mock
@pytest.mark.parametrize("status", [200, 202], ids=["as Pinata and Cluster answer", "as the specification says"])
async def test_content_is_pinned_by_its_cid(status: int) -> None:
    respx.get(f"{API}/pins").mock(return_value=page([]))
    asked = respx.post(f"{API}/pins").mock(return_value=httpx.Response(status, json=row(7, status="queued")))
    async with on_psa() as client:
        pin = await client.pin(CID, name="mine")
    assert (pin.status, pin.id, pin.cid) == ("queued", "id-7", CID)
    assert json.loads(asked.calls.last.request.content) == {"cid": CID, "name": "mine"}
    assert asked.calls.last.request.headers["Authorization"] == "Bearer a-long-token-0123"


@respx.mock
async def test_origins_go_along_as_many_as_a_service_has_to_take() -> None:
    respx.get(f"{API}/pins").mock(return_value=page([]))
    asked = respx.post(f"{API}/pins").mock(return_value=httpx.Response(202, json=row(7, status="queued")))
    origins = [f"/ip4/10.0.0.{number}/tcp/4001/p2p/X" for number in range(30)]
    async with on_psa() as client:
        await client.pin(CID, origins=origins)
    assert json.loads(asked.calls.last.request.content) == {"cid": CID, "origins": origins[:20]}


@respx.mock
async def test_a_pin_is_found_in_any_state_a_pinned_one_first() -> None:
    pages = [page([]), page([row(1, status="failed")]), page([row(2, status="queued"), row(1)])]
    respx.get(f"{API}/pins").mock(side_effect=pages)
    async with on_psa() as client:
        assert await client.find(CID) is None
        for status in ("failed", "pinned"):
            pin = await client.find(CID)
            assert pin is not None
            assert pin.status == status


@respx.mock
async def test_a_request_that_is_there_is_not_repeated() -> None:
    respx.get(f"{API}/pins").mock(return_value=page([row(1, status="pinning")]))
    async with on_psa() as client:
        assert (await client.pin(CID)).status == "pinning"
        assert (await client.pin(CID, name="name 1")).id == "id-1"


@respx.mock
async def test_a_request_whose_answer_was_lost_is_looked_for() -> None:
    listing = respx.get(f"{API}/pins").mock(side_effect=[page([]), page([row(1, status="queued")]), page([row(1)])])
    asked = respx.post(f"{API}/pins").mock(side_effect=httpx.ReadError("lost"))
    async with on_psa() as client:
        assert (await client.pin(CID)).id == "id-1"
    assert (asked.call_count, listing.call_count) == (1, 3)


@respx.mock
async def test_a_name_is_changed_by_a_request_in_place_of_the_old_one() -> None:
    old = row(1, pin={"cid": CID, "name": "old", "origins": ["/ip4/1.2.3.4/tcp/4001/p2p/X"], "meta": {"a": "b"}})
    respx.get(f"{API}/pins").mock(return_value=page([old | {"requestid": "a/b c"}]))
    asked = respx.post(f"{API}/pins/a%2Fb%20c").mock(return_value=httpx.Response(202, json=row(2)))
    async with on_psa() as client:
        await client.rename(CID, "new")
    assert json.loads(asked.calls.last.request.content) == {**old["pin"], "name": "new"}


@respx.mock
async def test_where_a_request_is_its_cid_it_is_not_replaced_by_itself() -> None:
    """IPFS Cluster would pin it and then remove it."""
    respx.get(f"{API}/pins").mock(return_value=page([row(1) | {"requestid": CID}]))
    asked = respx.post(f"{API}/pins").mock(return_value=httpx.Response(200, json=row(2)))
    async with on_psa() as client:
        await client.rename(CID, "new")
    assert asked.called


@respx.mock
@pytest.mark.parametrize("answer", [httpx.Response(202), httpx.Response(200, text="OK")], ids=["empty", "Pinata's OK"])
async def test_unpinning_removes_every_request_for_a_cid(answer: httpx.Response) -> None:
    listing = respx.get(f"{API}/pins").mock(return_value=page([row(1, V0), row(2, V1, status="failed")]))
    removed = respx.delete(url__regex=rf"{API}/pins/id-\d").mock(return_value=answer)
    async with on_psa() as client:
        assert await client.revoke(V0) is True
    assert [call.request.url.path[-4:] for call in removed.calls] == ["id-1", "id-2"]
    assert dict(listing.calls.last.request.url.params)["cid"] == f"{V0},{V1}"
    assert dict(listing.calls.last.request.url.params)["status"] == "pinned,queued,pinning,failed"


@respx.mock
async def test_what_is_not_pinned_is_neither_revoked_nor_renamed() -> None:
    respx.get(f"{API}/pins").mock(return_value=page([]))
    async with on_psa() as client:
        for call in (client.revoke(CID), client.rename(CID, "x")):
            with pytest.raises(ProviderError, match="is not pinned") as caught:
                await call
            assert is_not_pinned(caught.value)


@respx.mock
async def test_a_request_that_our_own_lost_try_removed_is_gone() -> None:
    respx.get(f"{API}/pins").mock(return_value=page([row(1)]))
    gone = httpx.Response(404, json={"error": {"reason": "OBJECT_NOT_FOUND", "details": "not there"}})
    respx.delete(f"{API}/pins/id-1").mock(side_effect=[httpx.ReadError("lost"), gone, gone])
    async with on_psa() as client:
        assert await client.revoke(CID) is True
        with pytest.raises(ProviderError, match="not there"):
            await client.revoke(CID)


def paging(
    rows: list[dict[str, Any]], *, limit: int, inclusive: bool = False
) -> Callable[[httpx.Request], httpx.Response]:
    """A service with these requests, newest first, that gives so many at once."""

    def answer(request: httpx.Request) -> httpx.Response:
        before = request.url.params.get("before")
        cut = None if before is None else datetime.fromisoformat(before)

        def is_wanted(one: dict[str, Any]) -> bool:
            created = datetime.fromisoformat(one["created"])
            return cut is None or created < cut or (inclusive and created == cut)

        wanted = [one for one in rows if is_wanted(one)]
        return page(wanted[:limit], len(wanted))

    return answer


@respx.mock
@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("limit", [7, 10, 1000])
async def test_every_pin_is_listed_once_however_the_service_pages(limit: int, inclusive: bool) -> None:
    # Some are of the same moment, or of the same millisecond.
    rows = [row(number, age=number // 3 + number % 3 / 100_000) for number in range(40)]
    respx.get(f"{API}/pins").mock(side_effect=paging(rows, limit=limit, inclusive=inclusive))
    async with on_psa() as client:
        found = [pin async for pin in client.pins()]
    assert [pin.id for pin in found] == [f"id-{number}" for number in range(40)]
    assert found[0].created == int(START.timestamp() * 1000)


@respx.mock
async def test_an_interrupted_list_goes_on_behind_the_last_page_that_was_read() -> None:
    rows = [row(number, age=number) for number in range(40)]
    respx.get(f"{API}/pins").mock(side_effect=paging(rows, limit=10))
    handles: list[str] = []
    async with on_psa() as client:
        async with aclosing(client.pins(resume=Resume(keep=handles.append))) as listing:
            async for pin in listing:
                if pin.id == "id-25":
                    break
        rest = [pin.id async for pin in client.pins(resume=Resume(keep=handles.append, handle=handles[-1]))]
    assert rest == [f"id-{number}" for number in range(18, 40)], "pages overlap by one pin"


@respx.mock
async def test_a_listing_without_an_order_is_whole_or_an_error() -> None:
    rows = [row(number, age=number * 7 % 10) for number in range(10)]
    route = respx.get(f"{API}/pins").mock(side_effect=paging(rows, limit=1000))
    async with on_psa() as client:
        assert len([pin async for pin in client.pins()]) == 10
        route.mock(side_effect=paging(rows, limit=9))
        with pytest.raises(ProviderError, match="in no order"):
            [pin async for pin in client.pins()]
        route.mock(side_effect=paging([row(number) for number in range(10)], limit=9))
        with pytest.raises(ProviderError, match="in no order"):
            [pin async for pin in client.pins()]


@respx.mock
async def test_a_service_is_asked_for_what_is_pinned_and_answers_are_looked_at() -> None:
    rows = [row(1), row(2, status="queued"), {"strange": 1}, row(3) | {"pin": None}, row(4) | {"requestid": ""}]
    route = respx.get(f"{API}/pins").mock(return_value=page(rows, 5))
    async with on_psa() as client:
        assert [pin.id async for pin in client.pins(name="NAME")] == ["id-1"]
        asked = dict(route.calls.last.request.url.params)
        assert asked == {"status": "pinned", "name": "NAME", "match": "ipartial", "limit": "1000"}
        assert (await client.totals()).pins == 5
        assert (await client.totals()).size is None


@respx.mock
async def test_the_connection_is_tested_by_asking_for_a_pin() -> None:
    route = respx.get(f"{API}/pins").mock(return_value=page([row(1)] * 11, 11))  # Pinata gives more than was asked for
    async with on_psa() as client:
        assert await client.test_connection()
        assert dict(route.calls.last.request.url.params) == {"limit": "1"}
        route.mock(return_value=httpx.Response(400, json={"error": {"reason": "KEYS_MUST_BE_STRINGS"}}))
        with pytest.raises(ProviderError):
            await client.test_connection()
        route.mock(return_value=httpx.Response(401, json={"error": {"reason": "UNAUTHORIZED", "details": "no"}}))
        with pytest.raises(ProviderError, match=r"^HTTP error 401$"):
            await client.test_connection()
        for body in ({"results": []}, {"count": 0}, []):
            route.mock(return_value=httpx.Response(200, json=body))
            with pytest.raises(PinuiError, match="not understood"):
                await client.totals() if body == {"results": []} else await client.test_connection()


@respx.mock
async def test_an_answer_that_names_no_request_is_not_taken_for_one() -> None:
    respx.get(f"{API}/pins").mock(return_value=page([]))
    respx.post(f"{API}/pins").mock(return_value=httpx.Response(202, json={"status": "queued"}))
    async with on_psa() as client:
        with pytest.raises(ProviderError, match="requestid"):
            await client.pin(CID)
