"""Keys and help of Files."""

from __future__ import annotations

from pinui.tui.keys import Command, Group, here, quiet, spare

__all__ = ["ABOUT", "BROWSER", "DOWNLOAD", "FOLDER_QUESTION", "KEYS", "SAVE_AS", "TRANSFERS"]

BROWSER = Group(
    "Files: Upload",
    (
        Command(
            "browser.upload",
            "u",
            "screen.upload",
            "upload",
            "Upload the marked files, or this one; a folder becomes one CID",
        ),
        here("browser.mark", "space", "mark", "mark", "Mark a file or folder for upload"),
        Command("browser.path", "p", "screen.type_path", "type a path", "Type or paste a path to go to"),
        Command("browser.download", "d", "screen.download", "download", "Fetch a file by its CID"),
        here("browser.open", "enter,l,right", "open('open')", "open", "Go into the folder"),
        here("browser.enter", "enter", "open('mark')", "mark", "Mark this file"),
        here("browser.up", "backspace,h,left", "parent", "up", "Go to the folder above"),
        here("browser.unmark", "escape", "unmark_all", "unmark all", "Take every mark away, in other folders too"),
        spare(
            "browser.hidden",
            "full_stop",
            "toggle_hidden",
            "hidden files",
            "Show or hide names that begin with a dot",
        ),
        spare("browser.refresh", "r", "read_again", "refresh", "Read the folder again"),
        quiet(
            "browser.all",
            "R",
            "screen.go_on_with_all",
            "all go on",
            "Go on with all transfers that are paused, left or failed",
        ),
    ),
    "files",
    "#browser",
)

DOWNLOAD = Group(
    "Files: Download",
    (here("download.next", "enter", "submit", "next", "Go on to the place"),),
    "files",
    "#download",
)

SAVE_AS = Group(
    "Files: Save as",
    (here("save_as.download", "enter", "submit", "download", "Download it to this place"),),
    "files",
    "#download",
)

TRANSFERS = Group(
    "Files: Transfers",
    (
        Command("transfers.cancel", "c", "screen.cancel_transfer", "cancel", "Stop this transfer"),
        Command("transfers.retry", "r", "screen.retry_transfer('retry')", "retry", "Start this transfer again"),
        here(
            "transfers.resume",
            "r",
            "screen.retry_transfer('resume')",
            "resume",
            "Finish the rest of this transfer",
        ),
        Command("transfers.pause", "p", "screen.pause_transfer('pause')", "pause", "Pause this transfer"),
        here("transfers.go_on", "p", "screen.pause_transfer('go on')", "go on", "Go on with this transfer"),
        here("transfers.open", "enter,l,right", "screen.open_transfer", "files", "Show or hide its files"),
        Command(
            "transfers.forget", "delete", "screen.forget_transfer", "forget", "Drop this transfer: it is not finished"
        ),
        spare("transfers.pause_all", "P", "screen.pause_all", "pause all", "Pause every transfer"),
        spare(
            "transfers.all", "R", "screen.go_on_with_all", "all go on", "Go on with all that are paused, left or failed"
        ),
        Command("transfers.copy", "y", "screen.copy", "copy", "Copy the CID, its ipfs:// URI, gateway URL or name"),
        Command(
            "transfers.clear",
            "e",
            "screen.clear_ended",
            "clear ended",
            "Remove done, failed and cancelled transfers from the list",
        ),
    ),
    "files",
    "#transfers",
)

FOLDER_QUESTION = Group(
    "Questions: a folder goes up",
    (
        here(
            "folder_question.hidden",
            "full_stop",
            "screen.toggle_hidden",
            "hidden names",
            "Take hidden names in the folder in, or leave them out",
        ),
        here(
            "folder_question.each",
            "f",
            "screen.toggle_each",
            "each file",
            "Pin each file by itself, or the folder as one",
        ),
        here(
            "folder_question.exclude",
            "x",
            "screen.leave_out",
            "leave out",
            "Leave out names by patterns such as *.log",
        ),
    ),
)

KEYS = (
    BROWSER,
    DOWNLOAD,
    SAVE_AS,
    TRANSFERS,
    FOLDER_QUESTION,
)

ABOUT = {
    "browser": ("Upload", "Your own files. Mark some and upload them. A folder becomes one CID."),
    "download": ("Download", "Enter a CID and where to save it. It is verified before it is saved."),
    "transfers": (
        "Transfers",
        "Uploads and downloads. They go on while you are in another place; only you can cancel one. "
        "Transfers that are not finished when you quit are here next time.",
    ),
}
"""Titles and texts of the help, by the id of the widget that has the focus."""
