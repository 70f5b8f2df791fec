"""A service that answers a CID which the bytes provably don't have: a toast with both CIDs, and a ✗."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from pinui.sdk.secret import Secret
from pinui.tui.app import Pinui
from pinui.workspace import Profile
from tests.servers import serve
from tests.tui.pilots import paste, shows, told, workbench

WRONG = "QmNrEidQrAbxx3FzxNt9E6qjEDZrtvzxUVh47BXm55Zuen"  # of {"hello":"world"}
RIGHT = "QmRAovJ2krVgLNz2EkWPtqRuS13cJQMHZXcbNYx2ccyLae"  # of [1,2]


@asynccontextmanager
async def lying_service(app: Pinui) -> AsyncIterator[None]:
    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        return web.json_response({"IpfsHash": WRONG, "PinSize": 3, "Timestamp": "2026-01-01T00:00:00Z"})

    async with serve(answer) as (url, _):
        app.workspace.profiles.save(Profile("liar", "custom", url, f"{url}/ipfs"))
        await app.workspace.credentials.save("liar", Secret("a-token-of-the-liar"))
        await app.switch("liar")
        yield


async def test_a_wrong_cid_of_a_document_is_told_and_marked() -> None:
    async with workbench() as (app, pilot), lying_service(app):
        await told(pilot, "Now using liar.")
        await pilot.press("2", "enter")
        await paste(pilot, "[1,2]")
        await pilot.press("f5")
        await told(pilot, f"The service answered the CID {WRONG}, but these bytes have {RIGHT}.")
        await pilot.press("alt+1")
        await shows(pilot, "✗ [1,2]", "✗ mismatch")


async def test_a_wrong_cid_of_an_upload_is_told_in_files_and_marked(tmp_path: Path) -> None:
    async with workbench() as (app, pilot), lying_service(app):
        await told(pilot, "Now using liar.")
        await pilot.press("3")
        (tmp_path / "list.txt").write_text("[1,2]")
        app.workspace.transfers.upload(tmp_path / "list.txt")
        await told(pilot, f"The service answered the CID {WRONG}, but these bytes have {RIGHT}.")
        await shows(pilot, "✗ list.txt", "The service answered", "1 failed")
        await pilot.press("1")
        await shows(pilot, "✗ list.txt", "✗ mismatch")


async def test_a_wrong_cid_of_a_message_is_told_and_marked() -> None:
    async with workbench() as (app, pilot), lying_service(app):
        await told(pilot, "Now using liar.")
        await pilot.press("4", "n")
        await paste(pilot, "alice")
        await pilot.press("enter")
        await paste(pilot, "hello")
        await pilot.press("enter")
        await told(pilot, f"The service answered the CID {WRONG}, but these bytes have Qm")
        await shows(pilot, "you → alice", "QmNrEi…Zuen ✗")
