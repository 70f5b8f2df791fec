"""The five places by name. Each is imported when it is first shown, so that the first frame pays for one only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.screen import Screen

__all__ = ["MODES"]


def _pins() -> Screen[Any]:
    from pinui.tui.places.pins.screen import PinsScreen

    return PinsScreen()


def _json() -> Screen[Any]:
    from pinui.tui.places.json.screen import JsonScreen

    return JsonScreen()


def _files() -> Screen[Any]:
    from pinui.tui.places.files.screen import FilesScreen

    return FilesScreen()


def _messages() -> Screen[Any]:
    from pinui.tui.places.messages.screen import MessagesScreen

    return MessagesScreen()


def _connection() -> Screen[Any]:
    from pinui.tui.places.connection.screen import ConnectionScreen

    return ConnectionScreen()


MODES: dict[str, str | Callable[[], Screen[Any]]] = {
    "pins": _pins,
    "json": _json,
    "files": _files,
    "messages": _messages,
    "connection": _connection,
}
