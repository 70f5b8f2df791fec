"""What is said when something goes wrong, and where copies go."""

from __future__ import annotations

import base64
import os
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui import Peek
from pinui.sdk.errors import InvalidCID, NetworkError, ProviderError
from pinui.sdk.secret import Secret
from pinui.tui.errors import sentence
from pinui.tui.other_programs import open_page
from pinui.tui.places.connection.advice import advice, own_words, token_verdict
from pinui.tui.places.connection.facts import replication_words, token_words
from pinui.tui.places.json.json_tree import first_folds
from pinui.tui.preview import show_bytes
from pinui.workspace import Credential, Profile
from pinui.workspace.credentials import expiry
from tests.tui import scene
from tests.tui.pilots import paste, shows, told, until, workbench


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (NetworkError("refused"), "Nothing answers at that address."),
        (ProviderError("no", status=401), "does not know this token"),
        (ProviderError("no", status=403, reason="NO_SCOPES_FOUND"), "made for another API"),
        (ProviderError("no", status=403), "may be revoked"),
        (ProviderError("no", status=429), "Wait a minute"),
        (ProviderError("no", status=502), "failed to answer"),
        (ProviderError("no", status=404), "not like a pinning service"),
        (InvalidCID(), "Check what you entered"),
    ],
)
def test_the_wizard_has_advice_for_each_failure(error: Exception, words: str) -> None:
    assert words in advice(error)


def test_a_daemon_has_advice_of_its_own() -> None:
    stopped = NetworkError("Kubo is not running", hint="Start Kubo with `ipfs daemon`.")
    assert (advice(stopped, is_account=False), "Nothing answers" in advice(stopped)) == (stopped.hint, True)


def test_the_service_is_quoted() -> None:
    refused = ProviderError("HTTP error 401", status=401, details="Invalid/expired credentials")
    assert own_words(refused) == "Invalid/expired credentials (HTTP error 401)"
    assert own_words(NetworkError("Nobody is there")) == "Nobody is there."


def test_the_number_of_copies_is_told_in_words() -> None:
    profile = Profile("studio", "custom", provider="cluster")
    for fewest, most, words in (
        (None, None, "as the cluster is set"),
        (-1, -1, "on every peer"),
        (None, 3, "on 3 peers"),
        (1, None, "1 or more must be there to take a pin"),
        (2, 3, "on 3 peers, 2 or more must be there to take a pin"),
    ):
        assert replication_words(replace(profile, replication_min=fewest, replication_max=most)) == words


def test_errors_are_sentences_with_a_next_step() -> None:
    assert sentence(ProviderError("HTTP error 401", status=401)).endswith("replace it in Connection (5, then r).")
    assert sentence(ProviderError("x", status=401, hint="Do this.")) == "x. Do this."
    assert sentence(FileNotFoundError(2, "No such file", "/x")) == "/x: No such file."
    assert "\x1b" not in sentence(ProviderError("\x1b[31mred", status=400))


def test_errors_are_no_longer_than_a_person_reads() -> None:
    page = sentence(ProviderError("<html>" + "x " * 10_000, status=429))
    assert len(page) < 400
    assert page.startswith("<html>x x")
    assert page.endswith("try again in a minute.")
    name = sentence(OSError(36, "File name too long", "/srv/" + "x" * 20_000))
    assert len(name) < 400
    assert name.startswith("/srv/xx")
    assert name.endswith("xx: File name too long.")
    assert len(sentence(ProviderError("no", status=400, hint="y" * 20_000))) < 400


def test_tokens_are_judged_and_never_refused() -> None:
    now = scene.clock()
    assert token_verdict(Secret(""), now) == ("", "$muted")
    assert token_verdict(Secret("plain"), now) == ("? 5 characters, not a JWT; the service decides", "$warning")
    ended = "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE1MDAwMDAwMDB9.x"
    assert "ended on 2017" in token_verdict(Secret(ended), now)[0]
    assert token_verdict(Secret("eyJhbGciOiJIUzI1NiJ9.e30.x"), now)[0] == "✓ 26 characters, looks like a JWT"


ENDS = ["253402300799", "253402300800", "1e999", "-1e999", "1e308", "-62135596800", "1" + "0" * 5000, "NaN", '"soon"']


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("ends", ENDS, ids=lambda ends: ends[:15])
def test_a_token_may_say_anything_about_its_end(ends: str, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    claims = base64.urlsafe_b64encode(f'{{"exp":{ends}}}'.encode()).decode().rstrip("=")
    secret = Secret(f"eyJhbGciOiJIUzI1NiJ9.{claims}.c2ln")
    assert token_verdict(secret, scene.clock())[0]
    assert token_words(Credential(secret, "keyring", None, expiry(secret)), scene.clock(), str)


def test_a_token_names_the_variable_that_it_came_from() -> None:
    told = Credential(Secret("t"), "environment", variable="PINUI_TOKEN_WORK")
    assert token_words(told, scene.clock(), str) == "from PINUI_TOKEN_WORK in the environment"


@given(st.binary(max_size=3000), st.booleans(), st.integers(20, 120))
def test_any_bytes_can_be_shown(data: bytes, truncated: bool, width: int) -> None:
    shown = show_bytes(Peek(data, total=None if truncated else len(data)), width, 20)
    assert len(shown.lines) >= 1


def test_large_documents_open_folded() -> None:
    assert first_folds({"a": {"b": [1, 2]}}) == set()
    many = list(range(300))
    assert first_folds({"many": many}) == {id(many)}
    tracemalloc.start()
    first_folds({"a long name " * 4_000: [[0] for _ in range(5_000)]})
    assert tracemalloc.get_traced_memory()[1] < 10_000_000, "a row does not repeat the names above it"
    tracemalloc.stop()
    deep = [[0] for _ in range(150)]
    assert id(deep[0]) in first_folds({"a": deep, **{f"k{n}": n for n in range(6000)}})


async def test_no_browser_is_opened_inside_the_terminal() -> None:
    assert await open_page("http://127.0.0.1/") is False


async def test_a_copy_goes_to_the_system_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "xclip"
    program.write_text(f"#!/bin/sh\ncat > {tmp_path}/copied\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("DISPLAY", ":7")
    async with workbench() as (app, pilot):
        app.copy("a CID", "CID")
        await told(pilot, "CID copied.")
        assert (tmp_path / "copied").read_text() == "a CID"
        program.write_text("#!/bin/sh\nexit 1\n")
        app.copy("a CID", "CID")
        await told(pilot, "CID sent to the terminal's clipboard.")


async def test_a_program_that_hangs_over_a_copy_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "xclip"
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setattr("pinui.tui.clipboard.PATIENCE", 0.5)
    async with workbench() as (app, pilot):
        app.copy("a CID", "CID")
        await told(pilot, "CID sent to the terminal's clipboard.")
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.parametrize("by", ["name", "CID"])
async def test_the_palette_goes_to_a_recent_pin(by: str) -> None:
    from pinui.tui.places.pins.screen import PinsScreen

    async with workbench() as (app, pilot):
        records = [await app.workspace.store({"number": number}, name=f"letter-{number}") for number in range(3)]
        await app.workspace.store({"answers": records[1].cid}, name="mentions it")
        await pilot.press("4", "ctrl+p")
        await shows(pilot, "Search for commands")
        await paste(pilot, "letter-1" if by == "name" else records[1].cid[12:24])
        await shows(pilot, "letter-1")
        await pilot.app.workers.wait_for_complete()
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PinsScreen))
        screen = app.screen
        assert isinstance(screen, PinsScreen)
        await until(pilot, lambda: screen.pins.current is not None and screen.pins.current.name == "letter-1")
        current = screen.pins.current
        assert current is not None
        assert current.cid == records[1].cid


async def test_all_of_a_pin_is_read_in_the_pager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    pager = tmp_path / "pager"
    pager.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/read\n')
    pager.chmod(0o755)
    monkeypatch.setenv("PAGER", str(pager))
    async with workbench() as (app, pilot):
        monkeypatch.setattr(app, "suspend", nullcontext)  # a pilot has no terminal to give away
        await app.workspace.store({"all": "of it"})
        await shows(pilot, '"all"')
        await pilot.press("enter", "p")
        await until(pilot, (tmp_path / "read").exists)
        assert (tmp_path / "read").read_text() == '{"all":"of it"}'


async def test_ctrl_c_tells_the_key_that_quits() -> None:
    async with workbench() as (_, pilot):
        await shows(pilot, "Nothing is pinned yet.")
        await pilot.press("ctrl+c")
        await told(pilot, "q quits. ctrl+c copies")
        await pilot.press("2", "i", "ctrl+c")
        await told(pilot, "ctrl+q quits. ctrl+c copies")
