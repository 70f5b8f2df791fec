"""Textual's private parts are as they were when the program and its tests began to use them.

When a digest differs, read what changed in Textual, adapt `textual_private` (the program's or the tests'), and write
down the new digest and the version.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import textual
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._compositor import Compositor
from textual.app import App
from textual.binding import BindingsMap
from textual.css.stylesheet import Stylesheet
from textual.document._wrapped_document import WrappedDocument
from textual.keys import _character_to_key
from textual.widgets import Input, TextArea

import pinui.tui
from pinui.tui.textual_private import CHECKED_WITH

PRIVATE: dict[Any, str] = {
    App._handle_exception: "baea2e7f88e7ac52",
    App._print_error_renderables: "6e6be40346778a2d",
    App._register: "8b2138af0f6bb490",
    App._close_messages_no_wait: "f5db7e8fd40afc56",
    Input.render_line: "20fe97da621ba992",
    Input._value.fget: "33f9515a42e79bd3",
    Input._position_to_cell: "13188cb52bbc8064",
    Input._cell_offset_to_index: "b986d8f0be63e5d2",
    WrappedDocument.height.fget: "df977b98aa6a11c3",
    WrappedDocument.wrap: "7e67ba98b0c41976",
    TextArea.load_text: "b1f5b1b2be3b7a53",
    BindingsMap.merge.__func__: "4463245280f76f83",
    Compositor.render_update: "772c6b21953aff0e",
    Compositor.render_strips: "061fb81ef37c720c",
    Stylesheet._parse_rules: "2f1c2d220b672d1b",
    Stylesheet.parse: "21678f7a02b1178c",
    Stylesheet.reparse: "dd193eb05f8baeb5",
    Stylesheet.set_variables: "f8c97f5d9d755f56",
    App.refresh_css: "ecfa14bd0d19dba0",
    App._watch_theme: "a6de38d37b42f581",
    App._refresh_truecolor_filter: "de78b5ae8901952a",
    _character_to_key: "422e0a6af915a9c4",
}


@pytest.mark.parametrize("part", PRIVATE, ids=lambda part: part.__qualname__)
def test_a_private_part_is_as_it_was(part: Any) -> None:
    digest = hashlib.sha256(inspect.getsource(part).encode()).hexdigest()[:16]
    assert digest == PRIVATE[part], (
        f"Textual {textual.__version__} differs from {CHECKED_WITH}, which this was made for"
    )


def test_textual_would_read_alt_and_a_digit_as_another_character() -> None:
    assert "\x1b6" in ANSI_SEQUENCES_KEYS, "Textual has such entries no more: nothing needs to be taken out"


def test_private_modules_of_textual_are_known_to_one_module_each() -> None:
    """One of the program, one of the tests."""
    private = re.compile(
        r"^\s*(from textual[\w.]*\._|from textual[\w.]* import _|import textual[\w.]*\._)", re.MULTILINE
    )
    places = (Path(pinui.tui.__file__).parent, Path(__file__).parent)
    found = {path.name for place in places for path in place.rglob("*.py") if private.search(path.read_text("utf-8"))}
    assert found == {"textual_private.py", Path(__file__).name}
