"""Questions with a consequence. They start on Cancel, and the key that opened them does not confirm.

The first letter of what will be done, as a capital, says yes: R for Revoke, F for Forget.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Button

from pinui.figures import plural, size
from pinui.tui.commands import bindings
from pinui.tui.display import fit, right, short_path
from pinui.tui.place import Unsaved
from pinui.tui.screens.dialog import Dialog, buttons, say
from pinui.tui.widgets.key_bar import KeyBar
from pinui.tui.widgets.line_view import Line, LineView
from pinui.workspace import Entry

__all__ = [
    "Confirm",
    "forget_question",
    "leave_question",
    "overwrite_question",
    "remove_question",
    "replace_text_question",
    "revoke_question",
]

MOST_ROWS = 8


class Confirm(Dialog[bool]):
    """A question, what it is about, what follows from it, and two buttons."""

    AUTO_FOCUS = "#no"
    BINDINGS = bindings("confirm")

    def __init__(
        self, title: str, question: str, consequence: str, yes: str, rows: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__()
        self.heading, self.question, self.consequence, self.yes = title, question, consequence, yes
        self.rows = rows

    @property
    def letter(self) -> str:
        """The capital that says yes."""
        return self.yes[0]

    def compose(self) -> ComposeResult:
        """The box."""
        with Vertical(classes="dialog", id="question") as box:
            box.border_title = self.heading
            yield say(self.question, "question")
            if self.rows:
                yield LineView(id="rows")
            yield say(self.consequence)
            yield buttons(("no", "Cancel", ""), ("yes", f"{self.yes} ({self.letter})", "danger"))
        yield KeyBar()

    def on_mount(self) -> None:
        """The rows are for looking at."""
        if self.rows:
            self.query_one("#rows").can_focus = False

    def on_resize(self) -> None:
        """Lay out the rows, as many as there is room for."""
        if self.rows:
            self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        box, view = self.query_one("#question"), self.query_one("#rows", LineView)
        # The question, what follows from it and the buttons come first; three lines are the footer and air.
        others = [child for child in box.children if child is not view]
        taken = sum(child.outer_size.height + child.styles.margin.height for child in others) + box.gutter.height
        room = max(0, min(MOST_ROWS, len(self.rows), self.size.height - taken - 3))
        view.styles.height = room + 1 if room else 0
        width = view.content_width
        shown = self.rows if len(self.rows) <= room else self.rows[: max(0, room - 1)]
        lines: list[Line] = [
            [("  • ", "warning"), (fit(name, width - 16), "text"), (right(fact, 10), "muted")] for name, fact in shown
        ]
        if room and len(shown) < len(self.rows):
            lines.append([(f"    and {len(self.rows) - len(shown):,} more", "muted")])
        view.show_lines(lines)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only the letter that the button names."""
        if action == "yes":
            return parameters == (self.letter,)
        return super().check_action(action, parameters)

    def action_yes(self, _letter: str) -> None:
        """The capital letter says yes, wherever the focus is."""
        self.dismiss(True)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Either button closes the dialog."""
        self.dismiss(event.button.id == "yes")


def revoke_question(entries: Sequence[Entry], titles: Sequence[str], sharing: int) -> Confirm:
    """Before pins are revoked: how many, how large, and who shares them."""
    number, total = len(entries), size(sum(entry.bytes for entry in entries))
    question = f"Revoke {plural(number, 'pin')}, {total} in all?" if number > 1 else f"Revoke this pin, {total}?"
    what = "them" if number > 1 else "it"
    consequence = (
        f"The provider stops keeping {what}. Copies on gateways and other nodes may live on. "
        "This can't be undone from here."
    )
    if sharing:
        share = "shares" if sharing == 1 else "share"
        others = f"{plural(sharing, 'other row')} of the history {share} a CID with {what}"
        consequence += f"\n\n{others} and will be revoked too."
    rows = [(title, size(entry.bytes)) for title, entry in zip(titles, entries, strict=True)]
    return Confirm("Revoke", question, consequence, f"Revoke {number}" if number > 1 else "Revoke", rows)


def forget_question(entries: Sequence[Entry], titles: Sequence[str]) -> Confirm:
    """Before rows leave the history: which, and whether they are pinned still."""
    number = len(entries)
    what = "it" if number == 1 else "them"
    return Confirm(
        "Forget",
        f"Forget {plural(number, 'row')} of the history?",
        f"This machine no longer knows about {what}. What is pinned stays pinned: revoke it first if it should go.",
        "Forget",
        [(title, "revoked" if entry.revoked_at else "pinned") for title, entry in zip(titles, entries, strict=True)],
    )


def leave_question(running: int, unsaved: Sequence[Unsaved]) -> Confirm:
    """Before leaving with transfers under way, or with text that is nowhere else."""
    undone: list[str] = []
    consequences: list[str] = []
    if running:
        undone.append(f"{plural(running, 'transfer')} {'is' if running == 1 else 'are'} not done")
        consequences.append("Uploads stop where they are and are not pinned; downloads leave no partial file behind.")
    for text in unsaved:
        undone.append(text.fact)
        consequences.append(text.consequence)
    fact = ", and ".join(undone)
    return Confirm("Quit", f"{fact[0].upper()}{fact[1:]}. Quit all the same?", "\n\n".join(consequences), "Quit")


def overwrite_question(path: Path) -> Confirm:
    """Before a file is replaced."""
    shown = short_path(str(path), str(Path.home()), 200)
    return Confirm("Overwrite", f"{shown} is there already. Replace it?", "The old contents are lost.", "Replace")


def replace_text_question() -> Confirm:
    """Before the editor gets another text."""
    return Confirm(
        "Replace the text",
        "The text in the editor is not stored. Replace it?",
        "It is nowhere else. Esc keeps it; F5 stores it.",
        "Replace",
    )


def remove_question(name: str, *, built_in: bool, in_use: bool) -> Confirm:
    """Before a profile goes; of one that is built in, all that was added to it."""
    if built_in:
        question = f"Remove the token of {name}?"
        consequence = (
            "The token is removed from this machine, and addresses that you changed are the service's own again. "
            "The profile is built in and stays; so do pins and history."
        )
    else:
        question = f"Remove the profile {name}?"
        consequence = "Its addresses and its token are removed from this machine. Pins and history stay."
    if in_use:
        consequence += "\n\nIt is in use: the local node takes its place."
    return Confirm("Remove", question, consequence, "Remove")
