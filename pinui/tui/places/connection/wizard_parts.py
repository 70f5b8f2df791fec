"""What the wizard's pages are made of: its fields, the list of services, the pane without a field."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from pinui.tui.commands import bindings
from pinui.tui.dialogs.dialog import say
from pinui.tui.dialogs.prompt import Choice, MenuList, one_token
from pinui.tui.places.connection.wizard_words import TOKEN_GOES
from pinui.tui.widgets.fields import Field

__all__ = ["OF_A_SERVICE", "ServiceList", "pages"]

OF_A_SERVICE = ("token", "gateway", "key")
"""The fields whose text is meant for one service alone."""
SERVICES = (
    Choice("1", "Pinata", "hosted, at pinata.cloud"),
    Choice("2", "Another service", "the same API, at your address"),
    Choice("3", "Local node", "inside pinui, no set-up"),
)


class WizardField(Field):
    """A line of a step."""

    BINDINGS = bindings("wizard")


class TokenField(WizardField):
    """For a token, which takes the place of what was there."""

    def take(self, text: str) -> None:
        """Of what is pasted, the token."""
        self.set_text(one_token(text))


class ServiceList(MenuList, inherit_bindings=False):
    """Which service."""

    BINDINGS = bindings("list", "wizard", "services")


class WaitPane(Static, can_focus=True):
    """The test and the end have nothing to type; the keys still need somewhere to go."""

    BINDINGS = bindings("wizard")


def boxed(title: str, field: Field) -> Vertical:
    """A field in a frame that names it."""
    box = Vertical(field, classes="box")
    box.border_title = title
    return box


def pages() -> ComposeResult:
    """What each step shows."""
    with Vertical(id="page-service"):
        yield say("Where should your pins live?", "question")
        yield ServiceList(SERVICES)
    with Vertical(id="page-address"):
        yield say("What is it called here, and where is its API?", "question")
        yield boxed("Name", WizardField(placeholder="studio", id="name"))
        yield boxed("API address", WizardField(placeholder="https://pins.example.com", id="api"))
        yield say("The token is sent there and nowhere else.")
    with Vertical(id="page-token"):
        yield say("Paste the API token (JWT) of your account.", "question")
        goes = say(TOKEN_GOES)
        goes.id = "token-goes"
        yield goes
        yield boxed("Token", TokenField(password=True, id="token"))
        yield Static(id="verdict")
        yield say("Needs the scopes pinFileToIPFS, pinJSONToIPFS, unpin.", "say later")
        yield say("Where do I get one?  F2 opens the page.", "say pinata")
    with Vertical(id="page-gateway"):
        yield say("Which gateway should contents be read from?", "question")
        yield boxed("Gateway", WizardField(id="gateway"))
        yield boxed("Key of a dedicated gateway", WizardField(password=True, id="key", placeholder="none"))
        yield say("The address that a CID is put behind. A dedicated gateway is faster; its key is optional.")
    with Vertical(id="page-test"):
        yield WaitPane(id="testing")
    with Vertical(id="page-done"):
        yield WaitPane(id="done")
