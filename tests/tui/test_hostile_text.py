"""Text from elsewhere cannot steer the terminal or the app: each surface, on a real pty."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from pinui.sdk.secret import Secret
from pinui.workspace import Profile, Workspace
from pinui.workspace.errors import WrongCID
from tests.tui.terminal import Terminal

CLIPBOARD = "\x1b]52;c;SEVBVA==\x07"
COLOUR, C1 = "\x1b[31337m", "\x9b31337m"
BIDI, HIDDEN = "\u202e", "\u200b"
MARKUP = "[/][@click=app.quit()]x[/]"
ESC = "\x1b[27u"
"""The key as newer terminals send it. A lone Esc and a key soon after it would be alt and that key."""
FORBIDDEN = [text.encode() for text in (CLIPBOARD[:-1], COLOUR, C1, BIDI, HIDDEN, "\u2066")]


def hostile(word: str) -> str:
    """A word with everything that a terminal or a markup parser could fall for around it."""
    return f"{MARKUP}{word}{COLOUR}{C1}{CLIPBOARD}{BIDI}{HIDDEN}"


def file_name(word: str) -> str:
    """The same, as far as a file may be called that."""
    return hostile(word).replace("/", "∕")


def pasted(word: str) -> str:
    """The same, as far as terminals let it through: they take Esc out of what is pasted."""
    return hostile(word).replace("\x1b", "")


TAKEN = "QmWATWQ7fVPP2EFGu71UkfnqhYXDYH566qy47CnJDgvs8u"


class Refusal(BaseHTTPRequestHandler):
    """A service that takes one thing, and whose every other answer is an insult."""

    takes = 0

    def do_GET(self) -> None:
        self.answer(403, {"error": {"reason": "NO", "details": hostile("insult")}})

    def do_DELETE(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if Refusal.takes:
            Refusal.takes -= 1
            self.answer(200, {"IpfsHash": TAKEN, "PinSize": 9, "Timestamp": "2026-11-15T00:00:00.000Z"})
        else:
            self.do_GET()

    def answer(self, status: int, document: object) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Quiet."""


@pytest.fixture
def insulting_service() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Refusal)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


async def prepare(folder: Path, service: str) -> dict[str, str]:
    """A home full of hostile words."""
    trip = folder / "trip"
    trip.mkdir()
    (trip / file_name("entry")).write_text("x")
    (folder / file_name("picture")).write_text(hostile("contents"))
    cids: dict[str, str] = {}
    async with await Workspace.open() as workspace:
        workspace.profiles.set_setting("welcomed", True)
        workspace.profiles.save(Profile("evil", "custom", service, service))
        await workspace.credentials.save("evil", Secret("a"))
        await workspace.send(hostile("eve"), hostile("letter"))
        cids["folder"] = (await workspace.upload(trip, name=hostile("trip"))).cid
        cids["file"] = (await workspace.upload(folder / file_name("picture"), name=hostile("picture"))).cid
        document = {hostile("key"): 1, "v": hostile("value"), "list": [hostile("item")]}
        cids["json"] = (await workspace.store(document, name=hostile("document"))).cid
    async with await Workspace.open(profile="evil") as workspace:
        await workspace.credentials.save("evil", Secret("a"))
        Refusal.takes = 1
        with suppress(WrongCID):  # the row is kept
            await workspace.upload(folder / file_name("picture"), name=hostile("loot"))
    return cids


@pytest.fixture
def terminal(own_home: Path, tmp_path: Path, insulting_service: str) -> Iterator[tuple[Terminal, dict[str, str]]]:
    folder = tmp_path / "home"
    cids = {"service": insulting_service, **asyncio.run(prepare(folder, insulting_service))}
    env = {**os.environ, "PYTHONWARNINGS": "default", "PINUI_TOKEN": "a"}
    terminal = Terminal([sys.executable, "-m", "pinui"], env, cols=150, rows=44)
    try:
        yield terminal, cids
    finally:
        terminal.close()


def leave(app: Terminal) -> None:
    """Esc, and the list's own keys are back in the footer."""
    app.press(ESC)
    app.shows(" copy to…")


@pytest.mark.slow
def test_no_surface_lets_remote_text_steer_the_terminal(terminal: tuple[Terminal, dict[str, str]]) -> None:
    app, cids = terminal
    app.shows(f"{MARKUP}document")  # the list of pins
    app.shows("value")  # the preview of JSON
    app.press("x")
    app.shows("Revoke this pin")  # a dialog
    leave(app)
    app.press("y")
    app.shows("ipfs:// URI")  # the copy menu, with the name
    leave(app)
    app.press("n")
    app.shows("A name of your own")  # a prompt that holds the name
    leave(app)
    app.press("\x10")
    app.shows("Pins: filter")  # the palette, with recent pins
    app.press("picture")
    app.shows("picture")
    leave(app)
    app.press("j")
    app.shows("contents")  # the preview of text
    app.press("j")
    app.shows("entry")  # the entries of a folder
    app.press("j")
    app.shows("letter")  # a message
    app.press("2")
    app.shows("Retrieve")
    app.press("\t")
    app.press("\r")
    app.paste(cids["json"])
    app.press("\r")
    app.shows("item")  # a document as a tree
    app.press("t")
    app.shows("item")  # as text
    app.press("e")
    app.shows("value")  # in the editor
    app.press("\r")
    app.press("\x1b3")  # alt+3, from a field
    app.shows("Upload")
    app.shows("picture")  # names of files
    app.press("j")
    app.press("j")
    app.press(" ")
    app.shows("1 marked")  # a `u` that arrives together with other keys publishes nothing
    app.press("u")
    app.shows("1 done")  # a transfer
    app.press("4")
    app.shows("eve")  # a recipient, a thread and the title of the line
    app.shows("letter")
    app.press("i")
    app.paste(pasted("pasted") + "\rsecond")  # a field: it holds what was pasted, and draws it cleaned
    app.shows("pasted")
    app.shows("⏎second")
    app.press("\x1b[D" * 12)  # the cursor is drawn by itself
    app.press("\x05\x15")
    app.press("\x1b5")
    app.shows("evil")
    app.press("j")
    app.press("j")
    app.press("t")
    app.shows("insult")  # a provider's own words, in a toast and in a pane
    app.press("q")
    assert app.exit_code() == 0
    for text in FORBIDDEN:
        assert text not in app.raw, f"{text!r} reached the terminal"


@pytest.mark.slow
def test_what_a_service_says_cannot_steer_the_terminal_either(terminal: tuple[Terminal, dict[str, str]]) -> None:
    app, cids = terminal
    app.shows(f"{MARKUP}document")
    app.press("j")
    app.shows("contents")
    app.press("?")
    app.shows("The pins of this profile")  # help, over hostile words
    leave(app)
    for ends in ("1 done", "Replace (R)"):  # the question before a file of a hostile name is overwritten
        app.press("d")
        app.shows("esc leave field")
        app.press("\r")
        app.shows(ends)
        if ends == "1 done":
            app.press("1")
            app.shows(" copy to…")
    app.press(ESC)
    app.shows("leave field")
    app.press("\x1b5")  # alt+5
    app.shows("evil")
    app.press("j")
    app.press("j")
    app.press("\r")
    app.shows("Now using evil.")
    app.press("a")
    app.shows("Where should your pins live?")
    app.press("2")
    app.shows("where is its API?")
    app.paste("studio")
    app.press("\r")
    app.paste(cids["service"])
    app.press("\r")
    app.shows("Paste the API token")
    app.paste("a-token")
    app.press("\r")
    app.shows("Which gateway")
    app.press("\r")
    app.press("\r")
    app.shows("insult")  # the wizard's test
    app.press(ESC)
    app.shows("Which gateway")
    app.press(ESC)
    app.shows("Paste the API token")
    app.press(ESC)
    app.shows("where is its API?")
    app.press(ESC)
    app.shows("Where should your pins live?")
    app.press(ESC)
    app.shows("replace token")
    app.press("1")
    app.shows("loot")
    app.shows("insult")  # the trouble in Detail
    app.press("x")
    app.shows("Revoke this pin")
    app.shows("R to revoke")
    app.press("R")
    app.shows("insult")  # why it was not revoked
    app.press("2")
    app.shows("Retrieve")
    app.press("\t")
    app.press("\r")
    app.paste(cids["json"])
    app.press("\r")
    app.shows("insult")  # in place of a document
    app.press("\x1b3")  # alt+3
    app.shows("Upload")
    app.press(ESC)
    app.shows("enter edit")
    app.press("\x1b[Z")  # shift+tab
    app.shows("type a path")
    app.press("g")
    app.press("j")
    app.press("j")
    app.press(" ")
    app.shows("1 marked")
    app.press("u")
    app.shows("insult")  # a transfer that failed
    app.press("q")
    assert app.exit_code() == 0
    for text in FORBIDDEN:
        assert text not in app.raw, f"{text!r} reached the terminal"
