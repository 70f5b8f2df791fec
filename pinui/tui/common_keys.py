"""Keys and help that the places share: those of the app, of lists, texts, fields and dialogs."""

from __future__ import annotations

from pinui.tui.keys import Command, Group, Place, here, quiet, spare

__all__ = [
    "ABOUT",
    "APP",
    "BETWEEN_PANES",
    "BUTTON",
    "CONFIRM",
    "CONTENT",
    "DIALOG",
    "FIELD",
    "HELP",
    "KEYS",
    "LIST",
    "LOG",
    "MENU",
    "NUMBER",
    "PLACES",
    "PROMPT",
    "ROWS",
    "TEXT",
    "WELCOME",
]

SELECTED = "Copy the text that is selected with the mouse"

PLACES = (
    Place("pins", "1", "Pins", "Pins"),
    Place("json", "2", "JSON", "JSON"),
    Place("files", "3", "Files", "Files"),
    Place("messages", "4", "Messages", "Msgs"),
    Place("connection", "5", "Connection", "Conn"),
)

APP = Group(
    "Everywhere",
    (
        *(
            spare(
                f"app.{place.id}",
                f"{place.digit},alt+{place.digit}",
                f"app.go('{place.id}')",
                place.title,
                f"Go to {place.title}; with alt from inside a field too",
            )
            for place in PLACES
        ),
        here("app.palette", "ctrl+p", "app.command_palette", "palette", "Find any command, profile or pin"),
        Command("app.help", "question_mark,f1", "app.help", "help", "Explain the focused pane and its keys"),
        Command("app.quit", "q,ctrl+q", "app.quit", "quit", "Quit; asks first while work is running"),
        spare("app.log", "L,f2", "app.log", "log", "Read all messages of this run again, with times and whole errors"),
        spare("app.theme", "f9", "app.change_theme", "theme", "Choose another theme; it is remembered"),
    ),
)

WELCOME = Group(
    "Welcome",
    (
        here("welcome.begin", "enter", "screen.begin", "begin", "Begin with the service that the screen names"),
        here("welcome.service", "s", "screen.service", "set up a service", "Connect to a hosted pinning service"),
    ),
)

PROMPT = Group(
    "A line to fill in",
    (here("prompt.submit", "enter", "submit", "go on", "Take this text"),),
)

NUMBER = Group(
    "A number to type",
    (here("number.confirm", "enter", "submit", "confirm", "Confirm, if the number is right"),),
)

MENU = Group(
    "Menus",
    (
        here("menu.choose", "enter", "screen.choose_here", "choose", "Take this line; its letter does too"),
        quiet("menu.up", "up", "cursor_up", "up", "One line up"),
        quiet("menu.down", "down", "cursor_down", "down", "One line down"),
    ),
)

CONFIRM = Group(
    "Questions",
    tuple(
        quiet(f"confirm.{verb}", letter, f"screen.yes('{letter}')", verb, f"{sentence}, as the question says")
        for verb, letter, sentence in (
            ("revoke", "R", "Revoke, remove or replace"),
            ("forget", "F", "Forget"),
            ("copy", "C", "Copy"),
            ("quit", "Q", "Quit"),
            ("upload", "U", "Upload"),
        )
    ),
)

DIALOG = Group(
    "Dialogs",
    (
        here("dialog.close", "escape", "screen.cancel", "cancel", "Close the dialog, change nothing"),
        quiet("dialog.left", "left,h,shift+tab", "app.focus_previous", "button before", "The button before"),
        quiet("dialog.right", "right,l,tab", "app.focus_next", "next button", "The next button"),
        quiet("dialog.help", "f1", "app.help", "help", "Explain this dialog, with its keys"),
        quiet("dialog.copy", "ctrl+c,super+c", "screen.copy_text", "copy selected", SELECTED),
    ),
)

CONTENT = Group(
    "View",
    (
        here("content.close", "escape", "screen.cancel", "close", "Close the view"),
        here("content.download", "d", "screen.download", "download", "Save it to a file, in Files"),
    ),
)

HELP = Group(
    "Help",
    (here("help.close", "escape,question_mark,q", "screen.cancel", "close", "Close the help"),),
)

ROWS = Group(
    "All rows of a question",
    (here("rows.close", "escape,l,q", "screen.cancel", "back", "Return to the question"),),
)

LOG = Group(
    "The log of messages",
    (
        here("log.close", "escape,L,q", "screen.cancel", "close", "Close the log"),
        here("log.copy", "y", "screen.copy_all", "copy all", "Copy every message, with times and whole errors"),
    ),
)

BUTTON = Group(
    "Buttons",
    (quiet("button.press", "enter", "press", "press", "Press the button that has the focus"),),
)

FIELD = Group(
    "Fields",
    (
        here("field.enter", "enter,i", "enter_field", "edit", "Enter the field"),
        here(
            "field.leave",
            "escape",
            "leave_field",
            "leave field",
            "Back to the pane, where letters are commands",
        ),
        here("field.next", "tab", "screen.next_pane", "next pane", "Go to the next pane"),
    ),
)

LIST = Group(
    "Lists",
    (
        quiet("list.up", "up,k", "cursor_up", "up", "One row up"),
        quiet("list.down", "down,j", "cursor_down", "down", "One row down"),
        quiet("list.page_up", "pageup,ctrl+b", "page_up", "page up", "One page up"),
        quiet("list.page_down", "pagedown,ctrl+f", "page_down", "page down", "One page down"),
        quiet("list.top", "home,g", "top", "top", "To the first row"),
        quiet("list.bottom", "end,G", "bottom", "bottom", "To the last row"),
    ),
)

TEXT = Group(
    "Text that scrolls",
    (
        quiet("text.up", "up,k", "scroll_up", "up", "One line up"),
        quiet("text.down", "down,j", "scroll_down", "down", "One line down"),
        quiet("text.left", "left,h", "scroll_left", "left", "To the left"),
        quiet("text.right", "right,l", "scroll_right", "right", "To the right"),
        quiet("text.page_up", "pageup,ctrl+b", "page_up", "page up", "One page up"),
        quiet("text.page_down", "pagedown,ctrl+f", "page_down", "page down", "One page down"),
        quiet("text.top", "home,g", "scroll_home", "top", "To the first line"),
        quiet("text.bottom", "end,G", "scroll_end", "bottom", "To the last line"),
    ),
)

BETWEEN_PANES = Group(
    "Between panes",
    (
        quiet("places.next", "tab", "screen.next_pane", "next pane", "Go to the next pane"),
        quiet("places.previous", "shift+tab", "screen.previous_pane", "pane before", "Go to the pane before"),
        quiet("places.copy", "ctrl+c,super+c", "screen.copy_text", "copy selected", SELECTED),
    ),
)

KEYS = (
    WELCOME,
    PROMPT,
    NUMBER,
    MENU,
    CONFIRM,
    DIALOG,
    CONTENT,
    HELP,
    LOG,
    ROWS,
    BUTTON,
    FIELD,
    LIST,
    TEXT,
    BETWEEN_PANES,
)

ABOUT = {
    "question": (
        "A question",
        "Nothing changes until you say yes. The capital "
        "letter in the button says yes, and so does that button itself: half a second after the last key, so that "
        "text typed into the wrong window confirms nothing. More than 20 rows ask for their number instead; l "
        "lists them all.",
    ),
    "choices": ("A menu", "Choose a line by its letter, with the cursor, or by two clicks."),
    "log": ("The log of messages", "Every message of this run, the newest first. An error has all its words here."),
    "prompt": ("A line to fill in", "Nothing changes until you take the text of the line."),
}
"""Titles and texts of the help, by the id of the widget that has the focus."""
