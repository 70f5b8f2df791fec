"""View: the beginning of any content, by its address, without storing it."""

from __future__ import annotations

import asyncio

from pinui import Peek
from pinui.figures import short_cid
from pinui.tui.common_keys import CONTENT
from pinui.tui.dialogs.page import Page
from pinui.tui.dialogs.prompt import Choice, Menu
from pinui.tui.errors import sentence
from pinui.tui.keys import bindings
from pinui.tui.places.place import PlaceScreen
from pinui.tui.preview import Shown, folder_lines, peek, show_bytes, show_words
from pinui.tui.widgets.fields import pane_title

__all__ = ["ContentScreen", "open_address", "pin_address"]


class ContentScreen(Page[str]):
    """The content is fetched once, or given as words, and wrapped again for another size. The answer is a key."""

    BINDINGS = bindings(CONTENT)
    ID = "content"
    AROUND = 8

    def __init__(self, address: str, words: str = "") -> None:
        super().__init__("View", address)
        self.address = address
        self._content: Peek | str = words

    def on_mount(self) -> None:
        """Fetch it, unless there are words to show."""
        if self._content:
            return
        self._content = "fetching …"
        self.run_worker(self._fetch, group="content", exit_on_error=False)

    def action_download(self) -> None:
        """Download the whole content."""
        self.dismiss("d")

    async def _fetch(self) -> None:
        try:
            self._content = await peek(self.app.workspace, self.address)
        except Exception as error:  # noqa: BLE001  whatever it is, it is shown in the place of the content
            self._content = sentence(error)
        self.fill()

    def fill(self) -> None:
        """Draw in the background: a picture takes a while."""
        self.run_worker(self._draw, group="draw", exclusive=True, exit_on_error=False)

    async def _draw(self) -> None:
        view, colours = self.view, not self.app.no_color
        room = view.content_width, self.room
        content = self._content
        if isinstance(content, str):
            shown = show_words(content, *room)
        elif content.entries is not None:
            shown = Shown(folder_lines(content.entries, -1, room[0]), room[0], "folder")
        else:
            shown = await asyncio.to_thread(show_bytes, content, *room, colours=colours)
        lines = [
            *shown.lines,
            *(
                [[(f"cut here: {self.app.key('content.download')} downloads all of it", "warning")]]
                if shown.cut
                else []
            ),
        ]
        view.styles.height = min(len(lines), room[1])
        view.show_lines(lines, widest=shown.widest)
        if not isinstance(content, str):
            pane_title(self.query_one(".dialog"), f"View · {shown.what}", self.address)


async def open_address(screen: PlaceScreen, address: str) -> None:
    """Ask what to do with the content of a pasted address."""
    choices = [
        Choice("v", "view", "show its beginning"),
        Choice("d", "download", "save it to a file, in Files"),
        Choice("r", "receive", "read it as a message, in Messages"),
        Choice("p", "pin", f"ask {screen.workspace.profile.name} to keep it, too"),
    ]
    chosen = await screen.ask(Menu("Open", choices, address), more=True)
    if chosen == "v":
        chosen = await screen.ask(ContentScreen(address), more=True)
    if chosen == "d":
        await screen.app.run_action(f"app.download({address!r})")
    elif chosen == "r":
        await screen.app.run_action(f"app.receive({address!r})")
    elif chosen == "p":
        await pin_address(screen, address)


async def pin_address(screen: PlaceScreen, address: str) -> None:
    """Ask the service to keep content by its CID."""
    with screen.app.busy("pinning …"):
        pin = await screen.workspace.pin(address)
    if pin.status in ("queued", "pinning"):
        screen.app.ask_again()
    short = short_cid(pin.cid)
    screen.app.tell(
        f"{short} is pinned."
        if pin.status == "pinned"
        else f"{screen.workspace.profile.name} looks for {short} and will pin it: {pin.status}."
    )
