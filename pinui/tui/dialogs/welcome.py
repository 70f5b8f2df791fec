"""Welcome: the screen of the first start. It says what pinui is and what is public; one key begins."""

from __future__ import annotations

from urllib.parse import urlsplit

from textual import getters
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from pinui.tui.common_keys import WELCOME
from pinui.tui.keys import bindings
from pinui.tui.widgets.key_bar import KeyBar
from pinui.tui.widgets.too_small import TooSmall
from pinui.tui.widgets.top_bar import TopBar
from pinui.tui.workbench import ServiceWanted, Workbench
from pinui.workspace.text import clean_line

__all__ = ["WelcomeScreen"]

TEXT = (
    "Store JSON, files and messages on IPFS. Each gets a CID: an address made from its contents, so that nobody can "
    "change it unnoticed.\n\n"
    "[$warning]On a pinning service, what you store is public.[/] Copies may outlive your pin. On the local node only "
    "this machine can read it. Nothing is encrypted.\n\n"
    "[bold $primary]$first[/]   $begin\n"
    "[bold $primary]$second[/]   set up a pinning service [$muted](needs a token)[/]"
)


class WelcomeScreen(Screen[None]):
    """Shown once."""

    app = getters.app(Workbench)

    AUTO_FOCUS = None
    BINDINGS = bindings(WELCOME)

    def compose(self) -> ComposeResult:
        """One box between the bars."""
        yield TopBar("")
        profile = self.app.workspace.profile
        begin = "begin here, on a node inside pinui"
        if profile.preset != "local":
            begin = f"begin with {profile.name}, at {urlsplit(profile.api_url or '').netloc}"
        keys = [self.app.key(f"welcome.{command}") for command in ("begin", "service")]
        first, second = (key.ljust(max(map(len, keys))) for key in keys)
        words = Content.from_markup(TEXT, begin=Content(clean_line(begin)), first=first, second=second)
        box = Static(words, id="welcome")
        box.border_title = "Welcome to pinui."
        yield box
        yield KeyBar()
        yield TooSmall()

    def on_mount(self) -> None:
        bar = self.query_one(TopBar)
        bar.profile, bar.state, bar.fact = self.app.standing()

    def leave(self) -> None:
        """Remember that the welcome was given, and give way to Pins."""
        self.app.remember("welcomed", True)
        self.dismiss()

    def action_begin(self) -> None:
        """Begin with the profile in use: the local node, until another one is chosen."""
        self.leave()

    def action_service(self) -> None:
        """Begin with the wizard."""
        self.app.post_message(ServiceWanted())
