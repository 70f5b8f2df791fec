"""What the wizard's pages are made of: its fields, the list of services, the pane without a field."""

from __future__ import annotations

from textual import events
from textual.containers import Vertical
from textual.widgets import Static

from pinui.tui.commands import bindings
from pinui.tui.screens.prompt import Choice, MenuList
from pinui.tui.widgets.fields import Field

__all__ = ["SERVICES", "ServiceList", "TokenField", "WaitPane", "WizardField", "boxed"]

SERVICES = (
    Choice("1", "Pinata", "the hosted service at pinata.cloud"),
    Choice("2", "Another service", "one that speaks the same API, at an address you give"),
    Choice("3", "Local node", "inside pinui, nothing to set up"),
)


class WizardField(Field):
    """A line of a step."""

    BINDINGS = bindings("wizard")


class TokenField(WizardField):
    """A token may be pasted with line breaks and blanks in it; it has none itself."""

    def _on_paste(self, event: events.Paste) -> None:
        self.value = "".join(event.text.split())
        self.cursor_position = len(self.value)
        event.stop()
        event.prevent_default()


class ServiceList(MenuList, inherit_bindings=False):
    """Which service."""

    BINDINGS = bindings("list", "wizard", "services")


class WaitPane(Static, can_focus=True):
    """The test and the end have nothing to type; the keys still need somewhere to go."""

    BINDINGS = bindings("wizard")


def boxed(title: str, field: Field) -> list[Vertical]:
    """A field in a frame that names it."""
    box = Vertical(field, classes="box")
    box.border_title = title
    return [box]
