"""Help: the purpose of the focused widget, and every key that works there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.screen import Screen

from pinui.tui.common_keys import APP, BETWEEN_PANES, DIALOG, HELP, LIST, TEXT
from pinui.tui.dialogs.page import Page
from pinui.tui.display import wrapped
from pinui.tui.keys import bindings, key_name
from pinui.tui.widgets.line_view import Line

__all__ = ["HelpScreen"]

WIDEST_KEYS = 16


class HelpScreen(Page[None]):
    """A page of text over the place."""

    BINDINGS = bindings(HELP)
    ID = "help"

    def __init__(self, title: str, text: str, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__(title)
        self.text, self.keys = text, keys

    @classmethod
    def about(cls, screen: Screen[object], texts: Mapping[str, tuple[str, str]]) -> HelpScreen:
        """Help for the widget that has the focus on this screen; `texts` are titles and texts by the id of a widget."""
        keys: dict[str, tuple[list[str], str]] = {}
        for key, (_node, binding, _enabled, tooltip) in screen.active_bindings.items():
            text = tooltip or binding.description
            if text and binding.id:
                keys.setdefault(binding.id, ([], text))[0].append(key_name(key))
        # What is special here comes first, then moving about, then what works everywhere.
        general = [command.id for group in (LIST, TEXT, BETWEEN_PANES, DIALOG, APP) for command in group.commands]
        order = sorted(keys, key=lambda name: general.index(name) if name in general else -1)
        nodes = screen.focused.ancestors_with_self if screen.focused else []
        found = next(
            (texts[node.id] for node in nodes if node.id and node.id in texts), ("Help", "The keys that work here:")
        )
        return cls(*found, [(" ".join(names), text) for names, text in map(keys.__getitem__, order)])

    def fill(self) -> None:
        """The text, then each key with its explanation."""
        width = self.view.content_width - 1  # a cell of air before the scroll bar
        lines: list[Line] = [[(line, "text")] for line in wrapped(self.text, width)]
        lines.append([])
        column = min(WIDEST_KEYS, max((len(names) for names, _ in self.keys), default=0)) + 2
        for names, what in self.keys:
            if len(names) > WIDEST_KEYS:  # the keys take a line of their own, the words begin below them
                lines.append([(names, "bold primary")])
                names = ""
            for number, line in enumerate(wrapped(what, width - column)):
                lines.append([((names if number == 0 else "").ljust(column), "bold primary"), (line, "second")])
        self.show_page(lines)
