"""The keys of what every place is made of: lists, texts, fields, dialogs."""

from __future__ import annotations

from pinui.tui.command import Group, here, quiet

__all__ = ["COMMON_KEYS"]

SELECTED = "Copy the text that is selected with the mouse"

WIZARD_STEPS = (
    ("next", "Go on to the next step"),
    ("test", "Ask the service whether the token works"),
    ("save", "Save the profile and its token"),
    ("try again", "Ask the service once more"),
    ("use", "Use the new profile"),
)
"""What enter does on a page of the wizard: one of these."""

COMMON_KEYS: dict[str, Group] = {
    "welcome": Group(
        "Welcome",
        (
            here("welcome.begin", "enter", "screen.begin", "begin", "Begin on the local node"),
            here("welcome.service", "s", "screen.service", "set up a service", "Connect to a hosted pinning service"),
        ),
    ),
    "wizard": Group(
        "Setting up a service",
        (
            *(
                here(f"wizard.{word.replace(' ', '_')}", "enter", f"screen.next('{word}')", word, sentence)
                for word, sentence in WIZARD_STEPS
            ),
            here("wizard.back", "escape", "screen.back", "back", "Go back a step; nothing is saved until the end"),
            here("wizard.field", "tab", "screen.next_field", "next field", "Go to the next field of the step"),
            quiet("wizard.before", "shift+tab", "screen.previous_field", "field before", "Go to the field before"),
            quiet("wizard.help", "f1", "app.help", "help", "Explain this step, with its keys"),
            here("wizard.page", "f2", "screen.token_page", "get a token", "Open the page where tokens are made"),
        ),
    ),
    "services": Group(
        "Setting up a service: Which one",
        tuple(
            quiet(f"services.{index + 1}", f"{index + 1}", f"screen.pick({index})", name, f"Choose {name}")
            for index, name in enumerate(("Pinata", "another service", "the local node"))
        ),
    ),
    "filter": Group(
        "The filter line",
        (
            here(
                "filter.keep", "enter,down", "screen.keep_filter", "to the list", "Keep the filter and go to the list"
            ),
            here("filter.clear", "escape", "screen.clear_filter", "clear", "Clear the filter and return to the list"),
        ),
    ),
    "line": Group(
        "Messages: The line to write",
        (here("line.send", "enter", "submit", "store", "Store the message as a document"),),
        "messages",
        "#line",
    ),
    "prompt": Group(
        "A line to fill in",
        (here("prompt.submit", "enter", "submit", "go on", "Take this text"),),
    ),
    "number": Group(
        "A number to type",
        (here("number.confirm", "enter", "submit", "confirm", "Do what the question says, if the number is right"),),
    ),
    "menu": Group(
        "Menus",
        (
            here("menu.choose", "enter", "screen.choose_here", "choose", "Take this line; its letter does too"),
            quiet("menu.up", "up", "cursor_up", "up", "One line up"),
            quiet("menu.down", "down", "cursor_down", "down", "One line down"),
        ),
    ),
    "confirm": Group(
        "Questions",
        tuple(
            quiet(f"confirm.{verb}", letter, f"screen.yes('{letter}')", verb, f"{sentence}, as the question says")
            for verb, letter, sentence in (
                ("revoke", "R", "Revoke, remove or replace"),
                ("forget", "F", "Forget"),
                ("quit", "Q", "Quit"),
                ("upload", "U", "Upload"),
            )
        ),
    ),
    "folder_question": Group(
        "Questions: a folder goes up",
        (
            here(
                "folder_question.hidden",
                "full_stop",
                "screen.toggle_hidden",
                "hidden names",
                "Take hidden names in the folder in, or leave them out",
            ),
        ),
    ),
    "dialog": Group(
        "Dialogs",
        (
            here("dialog.close", "escape", "screen.cancel", "cancel", "Close the dialog, change nothing"),
            quiet("dialog.left", "left,h,shift+tab", "app.focus_previous", "button before", "The button before"),
            quiet("dialog.right", "right,l,tab", "app.focus_next", "next button", "The next button"),
            quiet("dialog.help", "f1", "app.help", "help", "Explain this dialog, with its keys"),
            quiet("dialog.copy", "ctrl+c,super+c", "screen.copy_text", "copy selected", SELECTED),
        ),
    ),
    "content": Group(
        "View",
        (
            here("content.close", "escape", "screen.cancel", "close", "Close the view"),
            here("content.download", "d", "screen.download", "download", "Save it to a file, in Files"),
        ),
    ),
    "help": Group(
        "Help",
        (here("help.close", "escape,question_mark,q", "screen.cancel", "close", "Close the help"),),
    ),
    "button": Group(
        "Buttons",
        (quiet("button.press", "enter", "press", "press", "Press the button that has the focus"),),
    ),
    "field": Group(
        "Fields",
        (
            here("field.enter", "enter,i", "enter_field", "edit", "Enter the field; esc leaves it"),
            here(
                "field.leave",
                "escape",
                "leave_field",
                "leave field",
                "Back to the pane, where letters are commands",
            ),
            here("field.next", "tab", "screen.next_pane", "next pane", "Go to the next pane"),
        ),
    ),
    "list": Group(
        "Lists",
        (
            quiet("list.up", "up,k", "cursor_up", "up", "One row up"),
            quiet("list.down", "down,j", "cursor_down", "down", "One row down"),
            quiet("list.page_up", "pageup,ctrl+b", "page_up", "page up", "One page up"),
            quiet("list.page_down", "pagedown,ctrl+f", "page_down", "page down", "One page down"),
            quiet("list.top", "home,g", "top", "top", "To the first row"),
            quiet("list.bottom", "end,G", "bottom", "bottom", "To the last row"),
        ),
    ),
    "text": Group(
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
    ),
    "places": Group(
        "Between panes",
        (
            quiet("places.next", "tab", "screen.next_pane", "next pane", "Go to the next pane"),
            quiet("places.previous", "shift+tab", "screen.previous_pane", "pane before", "Go to the pane before"),
            quiet("places.copy", "ctrl+c,super+c", "screen.copy_text", "copy selected", SELECTED),
        ),
    ),
}
