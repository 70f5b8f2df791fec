"""The app by its own type: Textual only promises some app."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from textual.dom import DOMNode

    from pinui.tui.app import Pinui

__all__ = ["app_of"]


def app_of(node: DOMNode) -> Pinui:
    """The workbench that a widget or screen belongs to."""
    return cast("Pinui", node.app)
