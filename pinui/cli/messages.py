"""`pinui send` and `pinui receive`: messages by CID."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinui.cli.errors import VerbError
from pinui.cli.running import run
from pinui.cli.stdin import read_argument, read_cid, typed_text
from pinui.figures import iso_time
from pinui.workspace.errors import NotKept
from pinui.workspace.text import clean_line, encodable

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.workspace import Entry, Workspace

__all__ = ["receive", "send"]


def send(options: Namespace, console: Console) -> int:
    """Store a message and print its CID."""
    recipient, text = typed_text(options.recipient, "recipient"), typed_text(options.text, "message")
    if text == "-":
        try:
            text = (read_argument("-", "message") or b"").decode("utf-8").removesuffix("\n")
        except UnicodeDecodeError:
            raise VerbError("The message on stdin is not UTF-8 text.") from None
    if not text.strip():
        raise VerbError("The message is empty.")

    async def work(workspace: Workspace) -> tuple[Entry, Any]:
        entry = await workspace.send(recipient, text)
        record = await workspace.history.record(entry.id) if console.as_json else None
        return entry, record and record.data

    entry, message = run(options, console, work)
    console.result({**entry.to_json(), "data": message}, entry.cid)
    console.hint(f"Stored, not delivered: share the CID with {recipient}. Anyone who has it can read the message.")
    return 0


def receive(options: Namespace, console: Console) -> int:
    """Print a message by its CID, and keep it in the history."""
    address = read_cid(options.cid)
    trouble = None
    try:
        entry, message = run(options, console, lambda workspace: workspace.receive(address))
        cid, verdict = entry.cid, entry.verification
    except NotKept as error:
        trouble, cid, message, verdict = error, error.cid, error.message, error.verification
    if console.as_json:
        console.out_json({"cid": cid, **message.to_json(), "verification": verdict})
    else:
        console.hint(f"To {clean_line(message.recipient_id)}, {iso_time(message.timestamp)}. It names no sender.")
        console.out(encodable(message.payload))
    console.hint_unverifiable(verdict)
    if trouble is not None:
        console.report(trouble)
    return 0
