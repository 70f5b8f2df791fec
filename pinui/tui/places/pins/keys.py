"""Keys and help of Pins."""

from __future__ import annotations

from dataclasses import replace

from pinui.tui.keys import Command, Group, here, spare

__all__ = ["ABOUT", "DETAIL", "FILTER", "KEYS", "PINS"]

PINS = Group(
    "Pins",
    (
        here("pins.drop_range", "escape", "screen.end('range')", "drop the range", "End the range and mark nothing"),
        here("pins.stop_verify", "escape", "screen.end('verify')", "stop verifying", "Check no more of the pins"),
        here(
            "pins.drop_question", "escape", "screen.end('question')", "cancel", "Cancel a question before it is asked"
        ),
        here("pins.close_report", "escape", "screen.end('report')", "close the report", "Close the report of a check"),
        here(
            "pins.again",
            "u",
            "screen.store_again",
            "store again",
            "Store a revoked pin again, from the history, its file or a gateway",
        ),
        Command(
            "pins.filter",
            "slash",
            "screen.filter",
            "filter",
            "Show only pins with these words, or kind:json size:>1mb age:<7d is:revoked",
        ),
        Command("pins.mark", "space", "screen.mark", "mark", "Mark this pin, and go on to the next"),
        Command("pins.open", "enter", "screen.open", "open", "Read the pin in the detail pane"),
        Command("pins.copy", "y", "screen.copy", "copy", "Copy the CID, its ipfs:// URI, gateway URL, name or content"),
        Command(
            "pins.revoke",
            "x",
            "screen.revoke",
            "revoke",
            "Ask the provider to stop keeping the marked pins, or this one; asks first",
        ),
        Command(
            "pins.range",
            "v",
            "screen.mark_range",
            "range",
            "Begin a range, which counts as marked; the same key keeps it",
        ),
        Command(
            "pins.copy_to", "c", "screen.copy_to", "copy to…", "Copy the marked pins, or this one, to another service"
        ),
        Command("pins.sort", "s", "screen.sort", "sort", "Choose the order: age, name or size, both ways"),
        Command("pins.name", "n", "screen.rename", "name", "Give this pin a name of your own, kept on this machine"),
        Command("pins.download", "d", "screen.download", "download", "Save it to a file, in Files"),
        Command("pins.browser", "o", "screen.browse", "browser", "Open it in the browser, through the gateway"),
        spare(
            "pins.verify",
            "V",
            "screen.verify",
            "verify",
            "Check the marked pins, or this one, against their CIDs",
        ),
        spare("pins.note", "N", "screen.annotate", "note", "Write a note to this pin, kept on this machine"),
        spare("pins.pin", "P", "screen.pin", "pin a CID", "Ask the service to keep content by its CID"),
        spare("pins.rename", "R", "screen.rename_there", "rename there", "Change this pin's name at the service"),
        spare("pins.mark_down", "shift+down", "screen.mark_and_move(1)", "mark down", "Mark this pin and the next"),
        spare("pins.mark_up", "shift+up", "screen.mark_and_move(-1)", "mark up", "Mark this pin and the one above"),
        spare("pins.invert", "asterisk", "screen.invert_marks", "flip marks", "Mark all others instead"),
        spare("pins.mark_all", "a", "screen.mark_all", "mark all", "Mark every pin in the list, or none"),
        spare("pins.hide", "z", "screen.hide", "hide revoked", "Hide the revoked ones, or show them again"),
        spare(
            "pins.forget",
            "delete",
            "screen.forget",
            "forget",
            "Remove rows from this machine's history; the pins stay",
        ),
        spare(
            "pins.refresh",
            "r",
            "screen.refresh_list",
            "refresh",
            "Read the account, the history and this preview again",
        ),
        here("pins.clear", "escape", "screen.end('filter')", "clear the filter", "Show everything again"),
        here("pins.unmark", "escape", "screen.end('marks')", "unmark all", "Take every mark away"),
    ),
    "pins",
    "#pins",
)


def _as_in_list(name: str, tooltip: str = "", *, shown: bool = True) -> Command:
    """A command of the list, for the pin that the detail shows."""
    command = next(one for one in PINS.commands if one.id == f"pins.{name}")
    return replace(command, id=f"detail.{name}", tooltip=tooltip or command.tooltip, shown=shown, palette=False)


DETAIL = Group(
    "Detail",
    (
        here("detail.back", "escape", "screen.back", "to the list", "Return to the list"),
        here("detail.into", "enter", "screen.walk_into", "open entry", "Go into this entry of a folder"),
        here("detail.up", "backspace", "screen.walk_up", "up a folder", "Return to the folder above"),
        _as_in_list("again", "Store this revoked pin again"),
        here("detail.next", "J", "screen.step(1)", "next", "Show the next pin of the list"),
        here("detail.previous", "K", "screen.step(-1)", "previous", "Show the previous pin of the list"),
        _as_in_list("copy"),
        _as_in_list("revoke", "Ask the provider to stop keeping this pin; asks first"),
        _as_in_list("browser"),
        _as_in_list("download"),
        Command("detail.pager", "p", "screen.pager", "pager", "Read all of it in $PAGER"),
        _as_in_list("name"),
        _as_in_list("mark"),
        _as_in_list("verify", "Check the content of this pin against its CID", shown=False),
        _as_in_list("note", shown=False),
        _as_in_list("rename", shown=False),
        _as_in_list("copy_to", "Copy this pin to another service", shown=False),
        _as_in_list("forget", "Remove it from this machine's history", shown=False),
        _as_in_list("refresh", shown=False),
        _as_in_list("filter", "Show only pins with these words", shown=False),
        _as_in_list("pin", shown=False),
    ),
    "pins",
    "#detail",
)

FILTER = Group(
    "The filter line",
    (
        here("filter.keep", "enter,down", "screen.keep_filter", "to the list", "Keep the filter and go to the list"),
        here(
            "filter.complete", "tab", "screen.complete_filter", "complete", "Take the words shown in grey; → does, too"
        ),
        here("filter.clear", "escape", "screen.end('filter')", "clear", "Clear the filter and return to the list"),
    ),
)

KEYS = (
    PINS,
    DETAIL,
    FILTER,
)

ABOUT = {
    "pins": (
        "Pins",
        "The pins of this profile's account, whichever program made them, and everything you stored from here. The "
        "column ON tells where a pin is: ● on the account and in the history here, ○ on the account alone (another "
        "program made it), · here alone (revoked, or gone from the account). ✓ means that the bytes were checked "
        "against the CID, ? that the service cuts files in its own way, ✗ that something is wrong, × that the pin was "
        "revoked. Revoked pins stay here until you forget them. • is a mark: revoke, verify, copy to, store "
        "again and forget act on all marked rows. A range counts as marked.",
    ),
    "filter": (
        "Filter",
        "Type a part of a name, a CID, a recipient or the JSON text. The list follows as you type. "
        "kind:json, size:>1mb, age:<7d, on:account, is:revoked and to:alice narrow it; a minus in front turns a term "
        "round, quotes keep words together. The words in grey are a completion.",
    ),
    "detail": (
        "Detail",
        "The facts about the pin under the cursor, and a preview. JSON, text and pictures are shown, other bytes in "
        "hex. In a folder you can choose an entry and go into it. "
        "The other keys of the list act on the pin that is shown here, whatever is marked.",
    ),
}
"""Titles and texts of the help, by the id of the widget that has the focus."""
