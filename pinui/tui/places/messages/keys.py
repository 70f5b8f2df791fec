"""Keys and help of Messages."""

from __future__ import annotations

from pinui.tui.keys import Command, Group, here, spare

__all__ = ["ABOUT", "KEYS", "LINE", "MESSAGES", "RECIPIENTS", "THREAD"]

RECIPIENTS = Group(
    "Messages: Recipients",
    (Command("recipients.write", "enter,i", "screen.write", "write", "Write to this recipient"),),
    "messages",
    "#recipients",
)

MESSAGES = Group(
    "Messages",
    (
        Command(
            "messages.copy", "y", "screen.copy", "copy", "Copy a message's CID, to pass it on, its text or its URL"
        ),
        Command("messages.new", "n", "screen.new_recipient", "new", "Write to a new recipient"),
        Command("messages.receive", "v", "screen.receive", "receive", "Read a message by its CID"),
    ),
    "messages",
    "#recipients",
)

THREAD = Group(
    "Messages: Thread",
    (
        here("thread.write", "enter,i", "screen.write", "write", "Write to this recipient"),
        Command("thread.file", "f", "screen.file_under", "file under", "File a received message under a name"),
        Command("thread.revoke", "x", "screen.revoke", "revoke", "Ask the provider to stop keeping it; asks first"),
        spare("thread.browser", "o", "screen.browse", "browser", "Open it in the browser, through the gateway"),
    ),
    "messages",
    "#thread",
)

LINE = Group(
    "Messages: The line to write",
    (
        here("line.send", "enter", "submit", "store", "Store the message as a document"),
        here("line.editor", "f4", "screen.external_editor", "$EDITOR", "Write several lines, in your own editor"),
    ),
    "messages",
    "#line",
)

KEYS = (
    RECIPIENTS,
    MESSAGES,
    THREAD,
    LINE,
)

ABOUT = {
    "recipients": (
        "Recipients",
        "Names you wrote to or filed messages under. A message is a document with a recipient's name in it, public on "
        "a pinning service. It is not delivered: share its CID yourself.",
    ),
    "thread": (
        "Thread",
        "The messages sent to and filed under this name. Messages name no sender: file them yourself.",
    ),
    "line": (
        "Write",
        "A message is stored as a document; copy its CID, to pass it on. Several lines are easier to write in your own "
        "editor. Here, ⏎ means a line break.",
    ),
}
"""Titles and texts of the help, by the id of the widget that has the focus."""
