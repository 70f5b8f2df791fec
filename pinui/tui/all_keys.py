"""All keys and all help: collected from the places, for the palette, the help page and the README's table."""

from __future__ import annotations

from pinui.tui import common_keys
from pinui.tui.places.connection import keys as connection
from pinui.tui.places.files import keys as files
from pinui.tui.places.json import keys as json
from pinui.tui.places.messages import keys as messages
from pinui.tui.places.pins import keys as pins

__all__ = ["ABOUT", "KEYS"]

PLACES = (pins, json, files, messages, connection)
KEYS = (common_keys.APP, *(group for place in PLACES for group in place.KEYS), *common_keys.KEYS)
ABOUT = {**common_keys.ABOUT, **{name: text for place in PLACES for name, text in place.ABOUT.items()}}
