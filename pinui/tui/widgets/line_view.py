"""Text drawn line by line, in the theme's tones: the base of every list, detail and preview.

A line is built only when it is on the screen, so a hundred thousand rows cost as much as fifty.
All text passes `clean_line` here: nothing remote reaches the terminal uncleaned, and none of it meets markup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar, overload

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import getters
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from pinui.tui.common_keys import TEXT
from pinui.tui.display import joined
from pinui.tui.keys import bindings
from pinui.tui.workbench import Workbench
from pinui.workspace.text import clean_line

__all__ = ["LazyLines", "Line", "LineView", "Lines", "Span", "Toned"]

T = TypeVar("T")
Span: TypeAlias = tuple[str, str]
"""Text and the names of its tones: `("invoice.json", "bold strong")`."""
Line: TypeAlias = Sequence[Span] | Strip
"""One row: spans, or a finished strip (a picture's half blocks)."""


class LazyLines(Sequence[Line], Generic[T]):
    """Lines of items, made when they are drawn: there may be many thousands."""

    def __init__(self, items: Sequence[T], line_of: Callable[[T], Line]) -> None:
        self._items, self._line_of = items, line_of

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        if isinstance(index, slice):
            return LazyLines(self._items[index], self._line_of)
        return self._line_of(self._items[index])


def segments(spans: Sequence[tuple[str, Style]], edges: tuple[int, int]) -> list[Segment]:
    """The spans, with a segment for each emoji that is made of several characters: Rich would cut inside of it.

    One that an edge of the pane runs through is left out.
    """
    found: list[Segment] = []
    at = 0
    for text, style in spans:
        end = 0
        for start, stop in joined(text):
            found.append(Segment(text[end:start], style))
            column = at + cell_len(text[:start])
            cells, end = cell_len(text[start:stop]), stop
            is_cut = any(column < edge < column + cells for edge in edges)
            found.append(Segment(" " * cells if is_cut else text[start:stop], style))
        found.append(Segment(text[end:], style))
        at += cell_len(text)
    return found


class Toned(ScrollView):
    """Turns lines of tones into strips."""

    app = getters.app(Workbench)
    _ground = Style.null()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Work out the pane's own style once for all its lines: it depends on every pane around it."""
        self._ground = self.rich_style
        return super().render_lines(crop)

    def extend_to(self, width: int, height: int) -> None:
        """Tell the scroll bars how much there is.

        Another size lays out the whole screen again, which content that fits before and after is not worth.
        """
        room, known = self.scrollable_content_region.height, self.virtual_size
        if width != known.width or height > room or known.height > room:
            self.virtual_size = Size(width, height)

    def draw(self, line: Line, width: int, row: str = "", x: int = 0) -> Strip:
        """A line as `width` cells from column `x`, on the background of the tone `row`."""
        base, tones = self._ground, self.app.tones
        ground = tones[row]
        if isinstance(line, Strip):
            strip = line
        else:
            spans = [(clean_line(text), base + tones[tone] + ground) for text, tone in line]
            strip = Strip(segments(spans, (x, x + width)))
        return strip.crop_extend(x, x + width, base + ground)


class LineView(Toned, can_focus=True, inherit_bindings=False):
    """A pane of lines that scrolls."""

    BINDINGS = bindings(TEXT)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  Textual's name
        super().__init__(id=id, classes=classes)
        self._lines: Sequence[Line] = ()

    @property
    def lines(self) -> Sequence[Line]:
        """The lines on the screen."""
        return self._lines

    def show_lines(self, lines: Sequence[Line], *, widest: int | None = None, keep: bool = False) -> None:
        """Show other lines; `widest` is how many cells the longest has (for sideways scrolling)."""
        self._lines = lines
        self.extend_to(widest or self.content_width, len(lines))
        if not keep:
            self.scroll_to(0, 0, animate=False, force=True)
        self.refresh()

    @property
    def content_width(self) -> int:
        """The cells a line has without scrolling."""
        return max(1, self.scrollable_content_region.width)

    def render_line(self, y: int) -> Strip:
        """One row of the pane."""
        x, top = self.scroll_offset
        index = y + top
        line = self._lines[index] if index < len(self._lines) else ()
        return self.draw(line, self.content_width, x=x)

    def action_scroll_left(self) -> None:
        """Ten cells to the left."""
        self.scroll_relative(x=-10, animate=False)

    def action_scroll_right(self) -> None:
        """Ten cells to the right."""
        self.scroll_relative(x=10, animate=False)


Lines: TypeAlias = list[Line]
