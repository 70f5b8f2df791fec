"""A service that the tests set up: its token, and ways through the wizard."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.tui.pilots import paste, shows

__all__ = ["TOKEN", "to_pinatas_gateway", "to_the_token"]

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjQxMDI0NDQ4MDB9.c2lnbmF0dXJl"


async def to_the_token(pilot: Pilot[None], api: str, name: str = "studio") -> None:
    await pilot.press("5", "a")
    await shows(pilot, "Where should your pins live?")
    await pilot.press("2")
    await shows(pilot, "where is its API?")
    await paste(pilot, name)
    await pilot.press("enter")
    await paste(pilot, api)
    await pilot.press("enter")


async def to_pinatas_gateway(pilot: Pilot[None]) -> None:
    await pilot.press("5", "a")
    await shows(pilot, "Where should your pins live?")
    await pilot.press("1")
    await shows(pilot, "Paste the API token")
    await paste(pilot, TOKEN)
    await pilot.press("enter")
