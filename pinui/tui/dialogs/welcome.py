"""The first screen of the first start: what this is, what is public, and one key to begin."""

from __future__ import annotations

from textual import getters
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from pinui.tui.commands import bindings
from pinui.tui.widgets.key_bar import KeyBar
from pinui.tui.widgets.too_small import TooSmall
from pinui.tui.widgets.top_bar import TopBar
from pinui.tui.workbench import ServiceWanted, Workbench

__all__ = ["WelcomeScreen"]

TEXT = Content.from_markup(
    "[bold $strong]Welcome to pinui.[/]\n\n"
    "Store JSON, upload files and leave messages on IPFS. Each gets a CID: an address made from its contents, which "
    "anybody can use to read it and to check that nothing was changed.\n\n"
    "[$warning]What you store is public.[/] Whoever has the CID can read it, and copies may outlive your pin. "
    "Nothing is encrypted for you.\n\n"
    "[bold $primary]enter[/]   begin here, on a node inside pinui [$muted](no account, no set-up)[/]\n"
    "[bold $primary]s[/]       set up a pinning service [$muted](you need its API token)[/]\n\n"
    "[$muted]1 to 5 go to the five places, ? explains where you are, q leaves.[/]"
)


class WelcomeScreen(Screen[None]):
    """Shown once."""

    app = getters.app(Workbench)

    AUTO_FOCUS = None
    BINDINGS = bindings("welcome")

    def compose(self) -> ComposeResult:
        """One box between the bars."""
        yield TopBar("")
        box = Static(TEXT, id="welcome")
        box.border_title = "pinui"
        yield box
        yield KeyBar()
        yield TooSmall()

    def on_mount(self) -> None:
        """Fill the bar."""
        bar = self.query_one(TopBar)
        bar.profile, bar.state, bar.fact = self.app.standing()

    def leave(self) -> None:
        """Remember that the welcome was given, and give way to Pins."""
        self.app.remember("welcomed", True)
        self.dismiss()

    def action_begin(self) -> None:
        """Begin on the local node."""
        self.leave()

    def action_service(self) -> None:
        """Begin with the wizard."""
        self.app.post_message(ServiceWanted())
