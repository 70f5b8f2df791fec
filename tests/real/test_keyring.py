"""Tokens in a real Secret Service, and what is said in each situation where there is none to be had."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinui.workspace.keyring_store import READ_SECONDS
from tests.real.keyring_session import KeyringSession, need_keyring_programs

pytestmark = pytest.mark.real

PINUI = str(Path(sys.executable).with_name("pinui"))

# One step on the credentials of the profile “work”, in a process of its own. It also tells when it was begun and
# answered, by a clock that all processes share here.
STEP = """
import asyncio, json, sys, time
from pinui.sdk.secret import Secret
from pinui.workspace import Credentials, Paths
from pinui.workspace.keyring_store import OSKeyring
async def main():
    limit, what = float(sys.argv[1]), sys.argv[2]
    credentials = Credentials(Paths.find(), keyring=OSKeyring(read_seconds=limit))
    begun = time.monotonic()
    if what == "save":
        found = await credentials.save("work", Secret(sys.argv[3]))
    elif what == "delete":
        found = await credentials.delete("work")
    else:
        found = await credentials.read("work")
    answered = time.monotonic()
    told = found and [found.secret and found.secret.reveal(), found.origin, found.trouble]
    print(json.dumps([told, begun, answered]))
asyncio.run(main())
"""
PATIENCE = 60  # for a keyring that answers: how soon is the machine's matter
PROMPT = 10  # seconds that nobody takes for a program that hangs


def step(
    environment: dict[str, str], *arguments: str, read_seconds: float = PATIENCE, at_most: float = PATIENCE
) -> tuple[str | None, str, str | None]:
    ran = subprocess.run(
        [sys.executable, "-c", STEP, str(read_seconds), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    ended = time.monotonic()
    assert ran.stderr == "", "a keyring may not write on the terminal"
    found, begun, answered = json.loads(ran.stdout)
    assert answered - begun < at_most
    assert ended - answered < at_most, "quitting was delayed"
    return found


@pytest.fixture
def session(tmp_path: Path) -> Iterator[KeyringSession]:
    need_keyring_programs()
    with KeyringSession(tmp_path) as session:
        yield session


def test_a_token_outlives_the_process_and_the_daemon_and_can_be_deleted(session: KeyringSession) -> None:
    daemon = session.start_keyring()
    assert step(session.environment, "read") == [None, "none", None]
    assert step(session.environment, "save", "canary-token") == ["canary-token", "keyring", None]
    session.stop(daemon)
    session.start_keyring()
    assert step(session.environment, "read") == ["canary-token", "keyring", None]
    step(session.environment, "delete")
    assert step(session.environment, "read") == [None, "none", None]


def test_no_file_of_ours_ever_holds_the_token(session: KeyringSession) -> None:
    session.start_keyring()
    step(session.environment, "save", "canary-token")
    for folder in (session.folder / "pinui", session.folder / "home", session.folder / "cfg"):
        for file in folder.rglob("*"):
            assert not file.is_file() or b"canary-token" not in file.read_bytes()


def test_a_home_of_its_own_does_not_see_the_token_of_another(session: KeyringSession) -> None:
    session.start_keyring()
    step(session.environment, "save", "canary-token")
    elsewhere = session.environment | {"PINUI_HOME": str(session.folder / "elsewhere")}
    assert step(elsewhere, "read") == [None, "none", None]


def test_without_a_bus(session: KeyringSession) -> None:
    environment = {k: v for k, v in session.environment.items() if k != "DBUS_SESSION_BUS_ADDRESS"}
    assert_session_only(environment, "There is no session bus here")


def test_with_a_stale_bus(session: KeyringSession) -> None:
    environment = session.environment | {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={session.folder / 'gone'}"}
    assert_session_only(environment, "DBUS_SESSION_BUS_ADDRESS names does not answer")


def test_with_a_bus_and_no_service(session: KeyringSession) -> None:
    assert_session_only(session.environment, "No keyring service runs in this session")


def test_with_a_locked_keyring(session: KeyringSession) -> None:
    daemon = session.start_keyring()
    step(session.environment, "save", "canary-token")
    session.stop(daemon)
    session.start_keyring(unlocked=False)
    assert_session_only(session.environment, "locked")


def test_with_a_service_that_has_no_keyring_yet(session: KeyringSession) -> None:
    session.start_keyring(unlocked=False)
    secret, origin, trouble = step(session.environment, "save", "t")
    assert (secret, origin) == ("t", "session")
    assert "has not been set up yet" in (trouble or "")


@pytest.mark.slow
def test_with_a_frozen_daemon_reading_gives_up_after_three_seconds_and_quitting_is_not_delayed(
    session: KeyringSession,
) -> None:
    daemon = session.start_keyring()
    step(session.environment, "save", "canary-token")
    os.kill(daemon.pid, signal.SIGSTOP)
    secret, origin, trouble = step(session.environment, "read", read_seconds=READ_SECONDS, at_most=PROMPT)
    assert (secret, origin) == (None, "none")
    assert "did not answer within 3 seconds" in (trouble or "")
    os.kill(daemon.pid, signal.SIGCONT)
    assert step(session.environment, "read") == ["canary-token", "keyring", None]


FOREIGN = """
import getpass
from keyring.backend import KeyringBackend
class Prompting(KeyringBackend):
    priority = 9
    def get_password(self, service, username):
        return getpass.getpass("Please enter password for encrypted keyring: ")
    set_password = delete_password = get_password
"""


def test_a_store_that_would_ask_on_the_terminal_is_refused(session: KeyringSession, tmp_path: Path) -> None:
    session.start_keyring()
    (tmp_path / "foreign_store.py").write_text(FOREIGN)
    environment = session.environment | {
        "PYTHONPATH": str(tmp_path),
        "PYTHON_KEYRING_BACKEND": "foreign_store.Prompting",
    }
    assert_session_only(environment, "foreign_store) is not the system's own store")


def test_a_keyring_that_was_switched_off_stays_off(session: KeyringSession) -> None:
    session.start_keyring()
    environment = session.environment | {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    assert_session_only(environment, "switched off")


@pytest.mark.slow
def test_the_command_keeps_a_token_in_the_keyring_and_uses_it_in_later_runs(session: KeyringSession) -> None:
    session.start_keyring()

    def pinui(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("pinui")), *arguments]
        return subprocess.run(
            command, env=session.environment, capture_output=True, text=True, input=stdin, check=False
        )

    node = [str(Path(sys.executable).with_name("pinui")), "node", "--json", "--token", "canary-token"]
    with subprocess.Popen(
        [*node, "--data", str(session.folder / "service")],
        env=session.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as service:
        assert service.stdout is not None
        urls = json.loads(service.stdout.readline())
        where = ("--api-url", urls["api_url"], "--gateway-url", urls["gateway_url"])
        added = pinui("profile", "add", "work", *where, "--gateway-key", stdin="canary-token\nkey-of-the-gateway\n")
        assert "Its token is in the keyring (SecretService)." in added.stderr
        assert "Its gateway key is in the keyring (SecretService)." in added.stderr
        stored = pinui("--profile", "work", "store", "[1]")
        assert (stored.returncode, stored.stderr) == (0, "")
        assert "in the keyring" in pinui("--profile", "work", "info").stdout
        pinui("profile", "remove", "work")
        pinui("profile", "add", "work", *where, "--no-test", stdin="\n")
        service.terminate()
    assert step(session.environment, "read") == [None, "none", None]


def assert_session_only(environment: dict[str, str], words: str) -> None:
    """The token is kept for the run alone; one sentence names the situation and what to do."""
    secret, origin, trouble = step(environment, "save", "t", at_most=PROMPT)
    assert (secret, origin) == ("t", "session")
    assert words in (trouble or "")
    assert "PINUI_TOKEN" in (trouble or "")
    secret, origin, trouble = step(environment, "read")
    assert (secret, origin) == (None, "none")
    assert words in (trouble or "")
