"""The top bar: the name, the profile and the result of its last call, and the five places."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive

from pinui.tui.common_keys import PLACES
from pinui.tui.display import fit
from pinui.tui.keys import key_name
from pinui.tui.widgets.bar import Bar
from pinui.workspace.text import clean_line

__all__ = ["TopBar"]

DOTS = {"ok": ("●", "$success"), "failed": ("✗", "$error"), "waiting": ("◌", "$warning"), "unknown": ("○", "$muted")}

SHORTEST = 8
"""Cells below which a fact that is cut tells nothing."""


class TopBar(Bar):
    """One line; a click on a place goes there."""

    profile: reactive[str] = reactive("")
    state: reactive[str] = reactive("unknown")
    fact: reactive[str] = reactive("")

    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place

    def render(self) -> Content:
        """The whole bar as one line of text."""
        small = self.size.width < 100
        dot, colour = DOTS[self.state]
        gap = " " if small else "  "
        places: list[tuple[Content, str]] = []
        for place in PLACES:
            title = place.short if small else place.title
            key = key_name(self.app.keys_of(f"app.{place.id}")[0])
            if place.id == self.place:
                content = Content.styled(f"{gap}{key} {title}{gap}", "bold $on-primary on $primary")
            else:
                content = Content.assemble((f"{gap}{key}", "$primary"), (f" {title}{gap}", "$second"))
            places.append((content, f"app.go('{place.id}')"))
        name = clean_line(self.profile)
        sign = Content.assemble((dot, colour), " ")
        head = Content.assemble((" pinui ", "bold $on-primary on $primary"), "  ", sign)
        room = self.size.width - sum(content.cell_length for content, _ in places) - 3
        if head.cell_length + cell_len(name) > room:
            head = Content.assemble(" ", sign)  # the profile's name matters more
        room -= head.cell_length
        name = fit(name, min(cell_len(name), max(1, room)))  # a long one gives way to the places
        left = Content.assemble(head, (name, "bold $strong"), "  ")
        room -= cell_len(name)
        fact = clean_line(self.fact)
        for less in (" · ", " of "):  # the last facts give way first, then a total
            while cell_len(fact) >= room and less in fact:
                fact = fact.rpartition(less)[0]
        fact = fit(fact, min(cell_len(fact), max(0, room - 1))) if room > SHORTEST else ""
        middle = Content.styled(fact, "$muted")
        filler = Content(" " * max(1, room - middle.cell_length))
        return self.lay_out([(left, ""), (middle, ""), (filler, ""), *places])
