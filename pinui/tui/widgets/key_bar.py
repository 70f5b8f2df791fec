"""The footer: the keys that work right now, and nothing else.

Textual's `Footer` shows keys in the order of their bindings and cuts off the rest. This one keeps the important ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from textual.content import Content
from textual.screen import Screen
from textual.signal import Signal

from pinui.tui.common_keys import APP
from pinui.tui.keys import key_name
from pinui.tui.widgets.bar import Bar
from pinui.workspace.text import clean_line

__all__ = ["KeyBar"]

APP_KEYS = {command.id for command in APP.commands}
GAP = Content("   ")


class KeyBar(Bar):
    """Keys of the focused pane at the left, those of the app in grey at the right; a click is the key."""

    def __init__(self, hidden_pane: Callable[[], str] = str) -> None:
        """`hidden_pane` returns the title of the pane that Tab brings to the front, or an empty text."""
        super().__init__()
        self._hidden_pane = hidden_pane
        self._shown: Content | None = None

    def on_mount(self) -> None:
        self._keys_of = {command.id: command.keys.split(",") for group in self.app.KEYS for command in group.commands}
        signal = cast("Signal[Screen[Any]]", self.screen.bindings_updated_signal)
        signal.subscribe(self, lambda _screen: self.refresh())

    def render(self) -> Content:
        """The keys. While the palette is open they stay: Textual would ask the palette which actions are possible."""
        if self._shown is None or self.screen.is_active:
            self._shown = self._keys()
        return self._shown

    def _keys(self) -> Content:
        """As many keys as there is room for, the important ones first."""
        keys: dict[str, list[str]] = {}
        labels: dict[str, tuple[str, bool]] = {}
        for key, (_node, binding, enabled, _tooltip) in self.screen.active_bindings.items():
            if binding.show and binding.description and binding.id in self._keys_of:
                keys.setdefault(binding.id, []).append(key)
                labels[binding.id] = (binding.description, enabled)
        own: list[tuple[Content, str]] = []
        common: list[tuple[Content, str]] = []
        for name in (name for name in self._keys_of if name in keys):
            # The key that its command names first and that works here: ? in a list, F1 in a field.
            key = next((key for key in self._keys_of[name] if key in keys[name]), keys[name][0])
            label, enabled = labels[name]
            click = f"app.simulate_key('{key}')"
            if name in APP_KEYS:
                common.append((Content.styled(f"{key_name(key)} {label}", "$muted"), click))
            elif enabled:
                own.append((Content.assemble((key_name(key), "bold $primary"), (f" {label}", "$second")), click))
            else:
                own.append((Content.styled(f"{key_name(key)} {label}", "$muted"), ""))
        if hidden := self._hidden_pane():
            tab = self.app.keys_of("places.next")[0]
            own = [part for part in own if part[1] != f"app.simulate_key('{tab}')"]
            hint = Content.assemble((key_name(tab), "bold $primary"), (f" {clean_line(hidden)}", "$second"))
            first = len(own) if "field.leave" in keys else 0  # in a field, what esc does matters more
            own.insert(first, (hint, f"app.simulate_key('{tab}')"))
        room = self.size.width - 2
        if _width(own) + _width(common) + 3 > room:
            common = common[1:]
        if _width(common) + 20 > room:
            common = []
        while own and _width(own) + _width(common) + 3 > room:
            # In a field letters are typed: the way out is never what is left out.
            is_way_out = "field.leave" in keys and own[-1][1] == f"app.simulate_key('{keys['field.leave'][0]}')"
            own.pop(-2 if is_way_out and len(own) > 1 else -1)
        filler = Content(" " * max(0, room - _width(own) - _width(common)))
        return self.lay_out([(Content(" "), ""), *_spaced(own), (filler, ""), *_spaced(common)])


def _width(parts: list[tuple[Content, str]]) -> int:
    return sum(content.cell_length for content, _ in parts) + 3 * max(0, len(parts) - 1)


def _spaced(parts: list[tuple[Content, str]]) -> list[tuple[Content, str]]:
    spaced: list[tuple[Content, str]] = []
    for part in parts:
        spaced += [(GAP, ""), part]
    return spaced[1:]
