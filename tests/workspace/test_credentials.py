"""The token's ways: environment, keyring, memory; and a keyring that hangs, lies or is none."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring import errors
from keyring.backends import chainer, fail, null

from pinui.sdk.secret import Secret
from pinui.workspace import Credentials, Paths
from pinui.workspace.keyring_store import KeyringTrouble, OSKeyring
from tests.workspace.stores import FakeOSStore, use_store


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths.find(tmp_path)


async def test_the_environment_comes_first_then_the_keyring(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    store = use_store(monkeypatch, FakeOSStore())
    credentials = Credentials(paths)
    saved = await credentials.save("work", Secret("from the keyring"))
    assert (saved.origin, saved.trouble) == ("keyring", None)
    assert (await credentials.read("work")).secret == "from the keyring"
    monkeypatch.setenv("PINUI_TOKEN", ' "from the environment"\n')
    read = await credentials.read("work")
    assert (read.secret, read.origin) == ("from the environment", "environment")
    assert list(store.kept) == [("pinui", f"work{paths.mark}")]


async def test_a_profile_has_a_variable_of_its_own_and_work_between_services_takes_no_other(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    credentials = Credentials(paths)
    monkeypatch.setenv("PINUI_TOKEN", "for one service")
    assert (await credentials.of_each_profile().read("my.work")).secret is None
    monkeypatch.setenv("PINUI_TOKEN_MY_WORK", "for my.work alone")
    for each in (credentials, credentials.of_each_profile()):
        assert (await each.read("my.work")).secret == Secret("for my.work alone")
    assert (await credentials.read("another")).secret == Secret("for one service")


async def test_deleting_removes_token_and_gateway_key(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    store = use_store(monkeypatch, FakeOSStore())
    credentials = Credentials(paths)
    await credentials.save("work", Secret("t"))
    await credentials.save_gateway_key("work", Secret("k"))
    assert (await credentials.read_gateway_key("work")).secret == "k"
    await credentials.delete("work")
    assert store.kept == {}
    assert await credentials.read("work") == await credentials.read("nobody")
    await credentials.delete("work")  # again: nothing there is fine


async def test_a_secret_is_never_in_a_repr(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    use_store(monkeypatch, FakeOSStore())
    assert "canary" not in repr(await Credentials(paths).save("work", Secret("canary")))


class Raising(FakeOSStore):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def get_password(self, service: str, username: str) -> str | None:
        raise self.error

    def set_password(self, service: str, username: str, password: str) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errors.KeyringLocked("locked!"), "is locked"),
        (errors.InitError("no collection"), "has not been set up yet"),
        (errors.NoKeyringError("none"), "no keyring here"),
        (EOFError(), "closed the connection"),
        (ValueError("strange\nthings"), "refused: strange things"),
        (RuntimeError(), "refused: RuntimeError"),
    ],
)
async def test_each_refusal_is_a_sentence_and_the_token_is_kept_for_this_run(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    use_store(monkeypatch, Raising(error))
    credentials = Credentials(paths)
    before = await credentials.read("work")
    assert (before.secret, before.origin) == (None, "none")
    assert words in (before.trouble or "")
    saved = await credentials.save("work", Secret("t"))
    assert saved.origin == "session"
    assert words in (saved.trouble or "")
    assert "PINUI_TOKEN" in (saved.trouble or "")
    assert (await credentials.read("work")).secret == "t"
    state = await credentials.keyring_state()
    assert not state.working
    assert words in state.sentence


class Forgetful(FakeOSStore):
    def set_password(self, service: str, username: str, password: str) -> None: ...


async def test_only_a_token_that_can_be_read_back_counts_as_kept(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    use_store(monkeypatch, Forgetful())
    saved = await Credentials(paths).save("work", Secret("t"))
    assert saved.origin == "session"
    assert "not used" in (saved.trouble or "")


class Frozen(FakeOSStore):
    def __init__(self) -> None:
        super().__init__()
        self.thaw = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.thaw.wait(60)
        return "late"

    def set_password(self, service: str, username: str, password: str) -> None:
        self.thaw.wait(60)


async def test_a_keyring_that_does_not_answer_is_given_up_on_and_not_asked_again_meanwhile(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Frozen()
    use_store(monkeypatch, store)
    impatient = OSKeyring(read_seconds=0.2)
    credentials = Credentials(paths, keyring=impatient)
    first = await credentials.read("work")
    assert "did not answer" in (first.trouble or "")
    second = await credentials.read("work")
    assert "has not answered an earlier question" in (second.trouble or "")
    threads = [thread for thread in threading.enumerate() if thread.name == "pinui-keyring"]
    assert len(threads) == 1
    assert threads[0].daemon
    store.thaw.set()
    threads[0].join(60)
    monkeypatch.setattr(impatient, "_read_seconds", 60)  # from here on it answers: how soon is the machine's matter
    assert (await credentials.read("work")).secret == "late"


@pytest.mark.parametrize("act", ["save", "delete"])
async def test_a_write_has_a_longer_limit_than_a_read_and_is_given_up_on_too(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    limits = inspect.signature(OSKeyring).parameters
    assert (limits["read_seconds"].default, limits["write_seconds"].default) == (3, 60)
    store = Frozen()
    use_store(monkeypatch, store)
    credentials = Credentials(paths, keyring=OSKeyring(read_seconds=600, write_seconds=0.2))
    if act == "save":
        saved = await credentials.save("work", Secret("t"))
        assert (saved.origin, saved.secret) == ("session", "t")
        assert "did not answer" in (saved.trouble or "")
    else:
        with pytest.raises(KeyringTrouble, match="did not answer"):
            await credentials.delete("work")
    store.thaw.set()


async def test_questions_at_the_same_time_wait_for_each_other(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    use_store(monkeypatch, FakeOSStore())
    credentials = Credentials(paths)
    saved = await asyncio.gather(*(credentials.save(f"p{number}", Secret("t")) for number in range(8)))
    assert {credential.origin for credential in saved} == {"keyring"}


async def test_waiting_for_a_keyring_can_be_cancelled(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Frozen()
    use_store(monkeypatch, store)
    task = asyncio.ensure_future(Credentials(paths).save("work", Secret("t")))
    await asyncio.sleep(0)
    begun = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - begun < 30
    store.thaw.set()


def test_a_hanging_keyring_does_not_delay_quitting(tmp_path: Path) -> None:
    program = """
import asyncio, pathlib, sys, threading
import keyring
from pinui.sdk.secret import Secret
from pinui.workspace import Credentials, Paths
from pinui.workspace.keyring_store import OSKeyring
from tests.workspace.stores import FakeOSStore
class Hanging(FakeOSStore):
    def get_password(self, service, username):
        threading.Event().wait()
keyring.set_keyring(Hanging())
credentials = Credentials(Paths.find(pathlib.Path(sys.argv[1])), keyring=OSKeyring(read_seconds=0.1))
print(asyncio.run(credentials.read("work")).trouble)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert "did not answer" in ran.stdout
    assert ran.stderr == ""


class Foreign(FakeOSStore):
    """Stands for a store that asks on the terminal or writes plain text."""


Foreign.__module__ = "keyrings.alt.file"


@pytest.mark.parametrize(
    ("store", "words"),
    [
        (Foreign(), "keyrings.alt.file) is not the system's own store"),
        (null.Keyring(), "switched off"),
        (fail.Keyring(), "no"),
    ],
)
async def test_stores_that_are_not_the_systems_own_are_refused_without_being_asked(
    monkeypatch: pytest.MonkeyPatch, store: Any, words: str
) -> None:
    monkeypatch.setattr(keyring, "get_keyring", lambda: store)
    with pytest.raises(KeyringTrouble, match=r".*") as caught:
        await OSKeyring().get("work")
    assert words in str(caught.value)
    assert not getattr(store, "asked", False)


async def test_of_a_chain_of_stores_only_the_systems_own_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    foreign, own = Foreign(), FakeOSStore()
    own.kept["pinui", "work"] = "t"
    chain = chainer.ChainerBackend()
    monkeypatch.setattr(chainer.ChainerBackend, "backends", [foreign, own])
    monkeypatch.setattr(keyring, "get_keyring", lambda: chain)
    assert await OSKeyring().get("work") == "t"
    assert not foreign.asked
