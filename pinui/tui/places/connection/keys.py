"""Keys and help of Connection."""

from __future__ import annotations

from pinui.tui.keys import Command, Group, here, quiet, spare

__all__ = ["ABOUT", "CONNECTION", "KEYS", "SERVICE_DIGITS", "WIZARD"]

WIZARD_STEPS = (
    ("next", "Go on to the next step"),
    ("test", "Ask the service whether the token works"),
    ("save", "Save the profile and its token"),
    ("try again", "Ask the service once more"),
    ("use", "Use the new profile"),
)
"""The labels of enter on the pages of the wizard, and a sentence for each."""

CONNECTION = Group(
    "Connection",
    (
        Command("connection.test", "t", "screen.test", "test now", "Ask the service whether the token works"),
        Command("connection.use", "enter", "screen.use", "use", "Use this profile from now on"),
        Command("connection.add", "a", "screen.add", "add", "Set up another service"),
        Command("connection.edit", "e", "screen.edit", "edit", "Change the addresses of this profile"),
        Command(
            "connection.token",
            "r",
            "screen.replace_token",
            "replace token",
            "Enter a new token; the old one is never shown",
        ),
        Command(
            "connection.remove",
            "delete",
            "screen.remove",
            "remove",
            "Remove this profile and its token, or the token of a built-in one; asks first",
        ),
        spare("connection.copy", "y", "screen.copy", "copy", "Copy the API or gateway address"),
    ),
    "connection",
    "#profiles",
)

WIZARD = Group(
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
)

SERVICE_DIGITS = Group(
    "Setting up a service: Which one",
    tuple(
        quiet(f"services.{index + 1}", f"{index + 1}", f"screen.pick({index})", name, f"Choose {name}")
        for index, name in enumerate(
            ("Pinata", "another service", "the local node", "Kubo", "IPFS Cluster", "a service that pins by CID")
        )
    ),
)

KEYS = (
    CONNECTION,
    WIZARD,
    SERVICE_DIGITS,
)

ABOUT = {
    "profiles": (
        "Profiles",
        "The services you can pin to. Tokens live in the keyring of your system, or in memory for this run; they are "
        "never shown. A service is tested only when you ask for it.",
    ),
    "facts": ("Connection", "The facts about this profile."),
    "wizard": (
        "Setting up a service",
        "Five steps: which service, its token, the gateway, a test, and the end. Nothing is saved until you have seen "
        "the test. The token goes to the keyring of your system where there is one, otherwise it is kept for this run.",
    ),
}
"""Titles and texts of the help, by the id of the widget that has the focus."""
