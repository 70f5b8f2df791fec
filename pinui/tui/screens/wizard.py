"""Setting up a service, step by step. Nothing is saved until the test has been seen."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from textual.worker import Worker

from pinui.tui.app_of import app_of
from pinui.tui.browser import open_page
from pinui.tui.commands import bindings
from pinui.tui.focus import focus_now
from pinui.tui.screens.dialog import Dialog, say
from pinui.tui.screens.prompt import Choice, MenuList
from pinui.tui.screens.wizard_words import PAGES, STEPS, TOKEN_PAGE, advice, own_words, token_verdict
from pinui.tui.widgets.fields import Field
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.key_bar import KeyBar
from pinui.workspace.text import clean

if TYPE_CHECKING:
    from pinui.sdk.secret import Secret
    from pinui.tui.app import Pinui
    from pinui.workspace import Profile

__all__ = ["Wizard"]

SERVICES = (
    Choice("1", "Pinata", "the hosted service at pinata.cloud"),
    Choice("2", "Another service", "one that speaks the same API, at an address you give"),
    Choice("3", "Local node", "inside pinui, nothing to set up"),
)


class WizardField(Field):
    """A line of a step."""

    BINDINGS = bindings("wizard")


class TokenField(WizardField):
    """A token may be pasted with line breaks and blanks in it; it has none itself."""

    def _on_paste(self, event: events.Paste) -> None:
        self.value = "".join(event.text.split())
        self.cursor_position = len(self.value)
        event.stop()
        event.prevent_default()


class ServiceList(MenuList, inherit_bindings=False):
    """Which service."""

    BINDINGS = bindings("list", "wizard")


class WaitPane(Static, can_focus=True):
    """The test and the end have nothing to type; the keys still need somewhere to go."""

    BINDINGS = bindings("wizard")


class Wizard(Dialog[str], inherit_bindings=False):
    """The answer is the name of the profile that was made."""

    AUTO_FOCUS = "#menu"

    def __init__(self) -> None:
        super().__init__()
        self.page = "service"
        self.service = "pinata"
        self.tested: bool | None = None
        self._asking: Worker[None] | None = None
        for index, choice in enumerate(SERVICES):
            self._bindings.bind(choice.key, f"pick({index})", choice.name, show=False)

    @property
    def pinui(self) -> Pinui:
        """The app, by its own type."""
        return app_of(self)

    def compose(self) -> ComposeResult:
        """All pages in one box; a class says which is shown."""
        with Vertical(classes="dialog", id="wizard") as box:
            box.border_title = "Set up a service"
            yield Static(id="steps")
            with Vertical(id="page-service"):
                yield say("Where should your pins live?", "question")
                yield ServiceList(SERVICES)
            with Vertical(id="page-address"):
                yield say("What is it called here, and where is its API?", "question")
                yield from _boxed("Name", WizardField(placeholder="studio", id="name"))
                yield from _boxed("API address", WizardField(placeholder="https://pins.example.com", id="api"))
                yield say("The token is sent there and nowhere else.")
            with Vertical(id="page-token"):
                yield say("Paste the API token (JWT) of your account.", "question")
                yield say("It goes to the OS keyring, never to a file.")
                yield from _boxed("Token", TokenField(password=True, id="token"))
                yield Static(id="verdict")
                yield say("Needs the scopes pinFileToIPFS, pinJSONToIPFS, unpin.", "say later")
                yield say("Where do I get one?  F2 opens the page.", "say pinata")
            with Vertical(id="page-gateway"):
                yield say("Which gateway should contents be read from?", "question")
                yield from _boxed("Gateway", WizardField(id="gateway"))
                yield from _boxed(
                    "Key of a dedicated gateway", WizardField(password=True, id="key", placeholder="none")
                )
                yield say("The address that a CID is put behind. A dedicated gateway is faster; its key is optional.")
            with Vertical(id="page-test"):
                yield WaitPane(id="testing")
            with Vertical(id="page-done"):
                yield WaitPane(id="done")
        yield KeyBar()

    def on_mount(self) -> None:
        """The first page."""
        self.turn_to("service")

    def turn_to(self, page: str) -> None:
        """Show a page and put the focus where its work is."""
        self.page = page
        step = PAGES[page].step
        for other in PAGES:
            self.query_one(f"#page-{other}").display = other == page
        parts: list[tuple[str, str] | str] = []
        for index, name in enumerate(STEPS):
            if index:
                parts.append((" ── ", "$success" if index <= step else "$faint"))
            style = "$success" if index < step else "bold $primary" if index == step else "$faint"
            parts.append((f"{'●' if index <= step else '○'} {name}", style))
        self.query_one("#steps", Static).update(Content.assemble(*parts))
        self.query_one("#wizard").border_subtitle = PAGES[page].keys
        self.query_one(".pinata").display = self.service == "pinata"
        focus_now(self.query_one(f"#{PAGES[page].focus}"))
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """F2 helps on one page only."""
        if action == "token_page":
            return self.page == "token" and self.service == "pinata"
        return super().check_action(action, parameters)

    async def action_pick(self, index: int) -> None:
        """The service with this digit."""
        if self.page == "service":
            self.query_one(ServiceList).cursor = index
            await self.action_next()

    # -- keys ---------------------------------------------------------------------------------------------------

    def action_back(self) -> None:
        """A step back; from the first, out."""
        if self._asking is not None:
            self._asking.cancel()
        if self.page in ("service", "done"):
            self.dismiss(None)
        elif self.page == "token":
            self.turn_to("service" if self.service == "pinata" else "address")
        else:
            self.turn_to({"address": "service", "gateway": "token", "test": "gateway"}[self.page])

    action_cancel = action_back

    def on_click(self, event: events.Click) -> None:
        """A click beside the box must not throw away what was typed."""

    @on(ItemList.Chosen)
    async def action_next(self) -> None:
        """A step on, if this one is complete."""
        await getattr(self, f"_leave_{self.page}")()

    def action_token_page(self) -> None:
        """Where tokens are made."""
        self.run_worker(open_page(TOKEN_PAGE), group="wizard.page", exit_on_error=False)
        self.pinui.tell(f"The page is {TOKEN_PAGE}")

    def text(self, name: str) -> str:
        """What was typed into a field."""
        return self.query_one(f"#{name}", Field).value.strip()

    # -- steps --------------------------------------------------------------------------------------------------

    async def _leave_service(self) -> None:
        self.service = ("pinata", "custom", "local")[self.query_one(ServiceList).cursor]
        if self.service == "local":
            if self.pinui.workspace.profile.name != "local":
                await self.pinui.switch("local")
            self.dismiss("local")
            return
        gateway = self.query_one("#gateway", Field)
        gateway.value = "https://gateway.pinata.cloud/ipfs" if self.service == "pinata" else ""
        self.turn_to("token" if self.service == "pinata" else "address")

    async def _leave_address(self) -> None:
        from pinui.workspace.profiles import check_name, check_url

        if self.query_one("#name").has_focus:
            focus_now(self.query_one("#api"))
            return
        try:
            name = check_name(self.text("name"))
            check_url(self.text("api"), what="API address")
        except Exception as error:  # noqa: BLE001  what is wrong with the typed text is told, and can be mended
            self.pinui.tell_error(error)
            return
        if name in [profile.name for profile in self.pinui.workspace.profiles.list()]:
            self.pinui.tell(f"There is a profile {name} already; choose another name.", warning=True)
            return
        gateway = self.query_one("#gateway", Field)
        gateway.value = gateway.value or self.text("api").rstrip("/") + "/ipfs"
        self.turn_to("token")

    async def _leave_token(self) -> None:
        if self.secret():
            self.turn_to("gateway")
        else:
            self.pinui.tell("Paste the token first.", warning=True)

    async def _leave_gateway(self) -> None:
        from pinui.workspace.profiles import check_url

        if self.query_one("#gateway").has_focus and self.text("gateway"):
            focus_now(self.query_one("#key"))
            return
        try:
            check_url(self.text("gateway"), what="gateway address")
        except Exception as error:  # noqa: BLE001  as above
            self.pinui.tell_error(error)
            return
        self.turn_to("test")
        self._ask()

    async def _leave_test(self) -> None:
        if self.tested is None:
            return
        if self.tested:
            self.run_worker(self._save, group="wizard.save", exclusive=True, exit_on_error=False)
        else:
            self._ask()

    async def _leave_done(self) -> None:
        name = self.draft().name
        if self.pinui.workspace.profile.name != name:
            await self.pinui.switch(name)
        self.dismiss(name)

    # -- work ---------------------------------------------------------------------------------------------------

    def secret(self) -> Secret:
        """The token as it was meant."""
        from pinui.sdk.secret import Secret
        from pinui.workspace.credentials import tidy

        return Secret(tidy(self.query_one("#token", Field).value))

    def draft(self) -> Profile:
        """The profile as it would be saved."""
        from dataclasses import replace

        from pinui.workspace import Profile

        gateway, has_key = self.text("gateway").rstrip("/"), bool(self.text("key"))
        if self.service == "pinata":
            return replace(self.pinui.workspace.profiles.get("pinata"), gateway_url=gateway, gateway_key=has_key)
        return Profile(self.text("name"), "custom", self.text("api").rstrip("/"), gateway, gateway_key=has_key)

    @on(Input.Changed, "#token")
    def _typed(self) -> None:
        words, style = token_verdict(self.secret(), self.pinui.clock())
        self.query_one("#verdict", Static).update(Content.styled(words, style))

    def _ask(self) -> None:
        self._asking = self.run_worker(self._test, group="wizard.test", exclusive=True, exit_on_error=False)

    async def _test(self) -> None:
        pane = self.query_one("#testing", Static)
        self.tested = None
        pane.update(Content("Asking the service …"))
        result = await self.pinui.workspace.test(self.draft(), self.secret())
        self.tested = result.ok
        if result.ok:
            note = "enter saves the profile and the token."
            parts = [
                ("✓ The service accepts the token", "bold $success"),
                f"  {result.milliseconds:.0f} ms\n\n",
                (note, "$muted"),
            ]
        else:
            error = result.error or ValueError("There was no answer.")
            words, todo = clean(own_words(error)), clean(advice(error))
            parts = [
                ("✗ ", "bold $error"),
                (words, "bold $strong"),
                f"\n\n{todo}\n\n",
                ("Nothing is saved. enter tries again, esc goes back.", "$muted"),
            ]
        pane.update(Content.assemble(*parts))

    async def _save(self) -> None:
        from pinui.sdk.secret import Secret

        workspace, draft = self.pinui.workspace, self.draft()
        try:
            await asyncio.to_thread(workspace.profiles.save, draft)
            kept = await workspace.credentials.save(draft.name, self.secret())
            if draft.gateway_key:
                await workspace.credentials.save_gateway_key(draft.name, Secret(self.text("key")))
        except Exception as error:  # noqa: BLE001  the person can go back and try again
            self.pinui.tell_error(error)
            return
        if kept.origin == "keyring":
            where = "The token is in the OS keyring."
        else:
            where = f"The token is kept for this run only. {kept.trouble or ''}"
        for name in ("token", "key"):
            self.query_one(f"#{name}", Field).value = ""
        parts = [
            ("✓ Saved as ", "bold $success"),
            (draft.name, "bold $strong"),
            f"\n\n{clean(where)}\n\n",
            ("enter begins to use it.", "$muted"),
        ]
        self.query_one("#done", Static).update(Content.assemble(*parts))
        self.turn_to("done")


def _boxed(title: str, field: Field) -> list[Vertical]:
    box = Vertical(field, classes="box")
    box.border_title = title
    return [box]
