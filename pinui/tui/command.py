"""What a command is: one thing a person can do, with its key, its words and where it works."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Command", "Group", "Place", "here", "quiet", "spare"]


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a person can do: in the footer and in the palette."""

    id: str
    keys: str
    action: str
    label: str
    tooltip: str
    shown: bool = True
    palette: bool = True
    from_palette: str = ""
    """What the palette does instead, where the key only makes sense in a field: it goes to that field."""


def here(id: str, keys: str, action: str, label: str, tooltip: str) -> Command:  # noqa: A002  as in Command
    """Only makes sense where the focus is: not in the palette."""
    return Command(id, keys, action, label, tooltip, palette=False)


def spare(id: str, keys: str, action: str, label: str, tooltip: str) -> Command:  # noqa: A002
    """Not worth room in the footer; help and palette know it."""
    return Command(id, keys, action, label, tooltip, shown=False)


def quiet(id: str, keys: str, action: str, label: str, tooltip: str) -> Command:  # noqa: A002
    """Moving about: help knows it, nothing else needs to."""
    return Command(id, keys, action, label, tooltip, shown=False, palette=False)


@dataclass(frozen=True, slots=True)
class Place:
    """One of the five modes."""

    id: str
    digit: str
    title: str
    short: str


@dataclass(frozen=True, slots=True)
class Group:
    """The commands of one pane; `place` and `pane` say where the palette finds it."""

    title: str
    commands: tuple[Command, ...]
    place: str | None = None
    pane: str | None = None
