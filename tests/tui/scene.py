"""A believable workspace: the same pins, messages and transfers for the snapshots and the README's pictures.

Contents are on a real node, so previews are real; times are fixed, so pictures are the same on every day.
"""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pinui.tui.app import Pinui
from pinui.workspace import Entry, Transfer, Workspace

__all__ = ["NOW", "clock", "fix_addresses", "furnish", "furnish_messages", "furnish_transfers", "picture"]

NOW = datetime(2026, 11, 14, 22, 43, tzinfo=UTC)

INVOICE = {
    "number": "2026-10-0042",
    "customer": {"name": "Nordlys AS", "vat": "NO 912 345 678"},
    "total": 1499.5,
    "paid": True,
}
NOTES = {
    "title": "Release notes",
    "version": "2.4.0",
    "date": "2026-11-14",
    "changes": ["Verified downloads", "Transfers resume after a restart", "A million pins scroll like ten"],
    "breaking": False,
}


def clock() -> float:
    """It is always the same evening."""
    return NOW.timestamp()


def _ms(**ago: float) -> int:
    return int((NOW - timedelta(**ago)).timestamp() * 1000)


def picture() -> bytes:
    """A small sunset over a fjord, drawn here so that no file has to be shipped."""
    from PIL import Image

    image = Image.new("RGB", (96, 64))
    pixels = image.load()
    assert pixels is not None
    for y in range(64):
        for x in range(96):
            sun = (x - 62) ** 2 + (y - 30) ** 2 < 90
            hill = y > 38 - abs((x * 7) % 48 - 24) * 0.45 and y < 44
            if y >= 44:
                glow = max(0, 90 - abs(x - 62) * 3)
                pixels[x, y] = (30 + glow, 50 + glow // 2, 80 + (y - 44))
            elif hill:
                pixels[x, y] = (28, 34, 52)
            elif sun:
                pixels[x, y] = (255, 214, 140)
            else:
                pixels[x, y] = (250 - y * 2, 130 + y, 110 + y * 2)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


async def _put(workspace: Workspace, content: Any, folder: Path) -> str:
    """Real content on the node; the history gets its row apart, with a time of ours."""
    client = await workspace.connect()
    if isinstance(content, bytes):
        path = folder / "content"
        path.write_bytes(content)
        return (await client.upload(path)).cid
    return (await client.store(content)).cid


def fix_addresses(workspace: Workspace) -> None:
    """The node's port is another one each time; pictures show this one."""

    async def api_url() -> str:
        return "http://127.0.0.1:41873"

    async def gateway_url() -> str:
        return "http://127.0.0.1:41873/ipfs"

    async def link(cid: str) -> str:
        return f"http://127.0.0.1:41873/ipfs/{cid}"

    workspace.api_url, workspace.gateway_url, workspace.link = api_url, gateway_url, link


async def furnish(workspace: Workspace, folder: Path) -> None:
    """Pins of some weeks."""
    fix_addresses(workspace)

    async def pin(kind: str, content: Any, when: int, *, size: int | None = None, **fields: Any) -> None:
        cid = await _put(workspace, content, folder)
        text = None if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False)
        length = size or (len(content) if isinstance(content, bytes) else len(text or ""))
        fields.setdefault("verification", "verified")
        revoked = fields.pop("revoked", False)
        entry = Entry(0, cid, when, length, kind, "sent", "local", excerpt=text, **fields)  # type: ignore[arg-type]
        await workspace.history.add(entry, text)
        if revoked:
            await workspace.history.mark_revoked(cid, "local", _ms(days=20))

    await pin("file", b"%PDF-1.7 a contract, signed", _ms(days=54), size=640_000, name="contract-signed.pdf")
    await furnish_messages(workspace, folder, first=True)
    notes = "# Notes\n\n- the boat leaves at six\n- bring the lantern\n"
    await pin("file", notes.encode() * 40, _ms(days=43), size=7_700, name="notes.md")
    await pin("json", {"lat": 59.91, "lon": 10.75}, _ms(days=36))
    await pin("file", bytes(range(256)) * 4, _ms(days=36, hours=2), size=88_000_000, name="季節の写真.zip")
    await pin("json", {"files": []}, _ms(days=33), name="old-manifest.json", revoked=True)
    await pin(
        "file",
        b"\x89PNG\r\n\x1a\nbroken",
        _ms(days=1, hours=3),
        size=212_000,
        name="avatar-final-final.png",
        verification="mismatch",
    )
    await pin("json", NOTES, _ms(days=1))
    await pin(
        "file",
        b"PAR1" + bytes(2000),
        _ms(hours=3),
        size=1_300_000_000,
        name="dataset-v3.parquet",
        verification="unverifiable",
    )
    await furnish_messages(workspace, folder, first=False)
    await pin("file", picture(), _ms(minutes=14), size=4_800_000, name="sunset-over-fjord.jpg")
    await pin("json", INVOICE, _ms(minutes=2), name="invoice-2026-10.json")


async def furnish_messages(workspace: Workspace, folder: Path, *, first: bool) -> None:
    """Letters to and from three people."""

    async def letter(who: str | None, text: str, when: int, *, received: bool = False) -> None:
        document = {"recipientId": "me" if received else who, "payload": text, "timestamp": when}
        cid = await _put(workspace, document, folder)
        direction = "received" if received else "sent"
        entry = Entry(
            0,
            cid,
            when,
            len(json.dumps(document)),
            "message",
            direction,
            "local",
            recipient=who,
            excerpt=text,
            verification="verified",
        )
        await workspace.history.add(entry, json.dumps(document))

    if first:
        await letter(
            "alice", "The second half of the map is in the drawer, under the blue book.", _ms(days=47, hours=4)
        )
        await letter("alice", "Got it. Which page?", _ms(days=47, hours=3), received=True)
        await letter(None, "Is this still your address? M.", _ms(days=47, hours=2), received=True)
        await letter("ops-team", "rotated the gateway key", _ms(days=42))
        await letter("bob", "see you at the harbour", _ms(days=33, hours=1))
    else:
        await letter("alice", "Page 42. And the keys are in the box.", _ms(hours=1))


def furnish_transfers(app: Pinui) -> None:
    """Five transfers, each in another state."""
    mega = 1_000_000
    app.workspace.transfers.all = [
        Transfer(1, "upload", "panorama.tif", "running", 193 * mega, 312 * mega, 18.2 * mega, 6.0),
        Transfer(
            2,
            "upload",
            "fjord-01.jpg",
            "done",
            4_800_000,
            4_800_000,
            cid="bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi",
            verification="verified",
        ),
        Transfer(3, "download", "dataset-v3.parquet", "running", 403 * mega, 1300 * mega, 41 * mega, 22.0),
        Transfer(4, "upload", "fjord-02.jpg", "waiting", 0, 5_100_000),
        Transfer(5, "upload", "track.gpx", "failed", 35_000, 88_000, error="The connection was reset."),
    ]
