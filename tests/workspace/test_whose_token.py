"""A stored token belongs to the origin it was entered for: another address of the profile doesn't get it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from pinui.sdk.secret import Secret
from pinui.workspace import NoToken, Profile, Workspace
from tests.servers import Seen, serve
from tests.workspace.stores import FakeOSStore, use_store

TOKEN = "a-token-for-one-service"


@asynccontextmanager
async def services() -> AsyncIterator[tuple[str, str, Seen]]:
    """The address of a service, the address of another one, and the requests that the other one gets."""

    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.json_response({"message": "Congratulations! You are communicating with the Pinata API!"})

    async with serve(answer) as (url, _), serve(answer) as (other, seen):
        yield url, other, seen


@pytest.fixture(params=["keyring", "no keyring"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FakeOSStore | None:
    return use_store(monkeypatch, FakeOSStore()) if request.param == "keyring" else None


def change_address(home: Path, before: str, after: str) -> None:
    """As somebody does it with an editor."""
    config = home / "config.toml"
    config.write_text(config.read_text().replace(f'api_url = "{before}"', f'api_url = "{after}"'))


async def test_a_changed_address_asks_again(store: FakeOSStore | None, own_home: Path) -> None:
    async with services() as (url, other, seen), await Workspace.open() as workspace:
        profile = Profile("work", "custom", url, f"{url}/ipfs")
        workspace.profiles.save(profile)
        await workspace.keep_token(profile, Secret(TOKEN))
        await workspace.switch("work")
        assert (await workspace.test()).ok
        change_address(own_home, url, other)
        await workspace.switch("work")
        result = await workspace.test()
        assert isinstance(result.error, NoToken)
        assert f"entered for {url}, and is not sent to {other}." in str(result.error)
        assert "pinui profile add work" in (result.error.hint or "")
        told = await workspace.credential()
        assert (told.secret, told.origin) == (None, "none")
        assert f"entered for {url}" in (told.trouble or "")
        assert seen == []
        await workspace.keep_token(workspace.profile, Secret("another-token"))
        await workspace.switch("work")
        assert (await workspace.test()).ok
        assert seen.last.headers["Authorization"] == "Bearer another-token"
    if store is not None:
        assert [user.partition("@")[0] for _, user in store.kept] == ["work"]
        assert list(store.kept.values()) == ["another-token"]


async def test_a_token_without_a_remembered_origin_belongs_to_the_address_at_its_first_use(
    monkeypatch: pytest.MonkeyPatch, own_home: Path
) -> None:
    use_store(monkeypatch, FakeOSStore())
    async with services() as (url, other, seen):
        async with await Workspace.open() as workspace:
            workspace.profiles.save(Profile("work", "custom", url))
            await workspace.credentials.save("work", Secret(TOKEN))
            await workspace.switch("work")
            assert (await workspace.test()).ok
        change_address(own_home, url, other)
        async with await Workspace.open() as workspace:
            assert isinstance((await workspace.test()).error, NoToken)
        assert seen == []


@pytest.mark.parametrize("used", [True, False])
async def test_an_address_in_the_environment_gets_no_stored_token(monkeypatch: pytest.MonkeyPatch, used: bool) -> None:
    use_store(monkeypatch, FakeOSStore())
    async with services() as (url, other, seen):
        async with await Workspace.open() as workspace:
            workspace.profiles.save(Profile("work", "custom", url))
            await workspace.credentials.save("work", Secret(TOKEN))
            workspace.profiles.use("work")
            if used:
                await workspace.switch("work")
                assert (await workspace.test()).ok
        monkeypatch.setenv("PINUI_API_URL", other)
        async with await Workspace.open() as workspace:
            assert isinstance((await workspace.test()).error, NoToken)
        assert seen == []
        monkeypatch.setenv("PINUI_TOKEN", "given-for-this-command")
        async with await Workspace.open() as workspace:
            assert (await workspace.test()).ok
        assert seen.last.headers["Authorization"] == "Bearer given-for-this-command"
        monkeypatch.delenv("PINUI_TOKEN")
        monkeypatch.setenv("PINUI_API_URL", f"{url}/v2")  # another path of the same origin
        async with await Workspace.open() as workspace:
            assert (await workspace.test()).ok


async def test_no_stored_token_goes_to_an_address_that_has_no_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    use_store(monkeypatch, FakeOSStore())
    async with services() as (url, _other, _seen):
        monkeypatch.setenv("PINUI_API_URL", url)
        async with await Workspace.open() as workspace:
            await workspace.credentials.save("environment", Secret(TOKEN))
            assert isinstance((await workspace.test()).error, NoToken)
            assert (await workspace.credential()).origin == "none"


async def test_a_profile_that_is_saved_with_another_address_leaves_its_token_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_store(monkeypatch, FakeOSStore())
    async with services() as (url, other, seen), await Workspace.open() as workspace:
        profile = Profile("work", "custom", url)
        workspace.profiles.save(profile)
        await workspace.credentials.save("work", Secret(TOKEN))  # never used
        workspace.profiles.save(replace(profile, api_url=other))
        assert isinstance((await workspace.test(workspace.profiles.get("work"))).error, NoToken)
        assert seen == []


async def test_a_token_of_this_run_leaves_the_one_in_the_keyring_where_it_belongs(
    monkeypatch: pytest.MonkeyPatch, own_home: Path
) -> None:
    store = use_store(monkeypatch, FakeOSStore())
    async with services() as (url, other, seen):
        async with await Workspace.open() as workspace:
            workspace.profiles.save(Profile("work", "custom", url))
            await workspace.keep_token(workspace.profiles.get("work"), Secret(TOKEN))
            workspace.profiles.save(Profile("work", "custom", other))
            with monkeypatch.context() as patch:
                patch.setattr(store, "set_password", lambda *_: None)  # it takes nothing
                kept = await workspace.keep_token(workspace.profiles.get("work"), Secret("another-token"))
            assert kept.origin == "session"
            await workspace.switch("work")
            assert (await workspace.test()).ok
            assert seen.last.headers["Authorization"] == "Bearer another-token"
        async with await Workspace.open() as workspace:
            assert isinstance((await workspace.test()).error, NoToken)
        assert len(seen) == 1


async def test_a_gateways_key_stays_with_its_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    use_store(monkeypatch, FakeOSStore())
    async with services() as (url, other, seen), await Workspace.open() as workspace:
        profile = Profile("work", "custom", url, f"{url}/ipfs", gateway_key=True)
        workspace.profiles.save(profile)
        await workspace.keep_token(profile, Secret(TOKEN))
        await workspace.credentials.save_gateway_key("work", Secret("a-key-of-a-gateway"))
        monkeypatch.setenv("PINUI_GATEWAY_URL", f"{other}/ipfs")
        await workspace.switch("work")
        await workspace.retrieve("QmNrEidQrAbxx3FzxNt9E6qjEDZrtvzxUVh47BXm55Zuen/x")
        assert seen
        assert all("a-key-of-a-gateway" not in str(request.headers) for request in seen)


async def test_a_daemon_without_a_token_is_used_without_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    store = use_store(monkeypatch, FakeOSStore())

    async def answer(_request: web.Request) -> web.StreamResponse:
        return web.json_response({"Version": "0.41.0", "Repo": "18"})

    async with serve(answer) as (url, seen), await Workspace.open() as workspace:
        workspace.profiles.save(Profile("kubo", "custom", url, provider="kubo"))
        await workspace.switch("kubo")
        assert (await workspace.test()).ok
        assert (store.asked, "Authorization" in seen.last.headers) == (False, False)
        await workspace.keep_token(workspace.profile, Secret(TOKEN))
        await workspace.switch("kubo")
        assert (await workspace.test()).ok
        assert seen.last.headers["Authorization"] == f"Bearer {TOKEN}"
