"""Setting up a service, step by step. Nothing is saved until the test has been seen."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static
from textual.worker import Worker

from pinui.sdk.traits import TRAITS
from pinui.tui.common_keys import LIST
from pinui.tui.dialogs.dialog import Dialog, say
from pinui.tui.dialogs.prompt import Choice, MenuList, one_token
from pinui.tui.errors import sentence
from pinui.tui.focus import focus_now
from pinui.tui.keys import KeyOf, bindings
from pinui.tui.other_programs import open_page
from pinui.tui.places.connection.advice import answer_words, token_verdict
from pinui.tui.places.connection.facts import token_goes
from pinui.tui.places.connection.keys import SERVICE_DIGITS, WIZARD
from pinui.tui.widgets.fields import Field
from pinui.tui.widgets.item_list import ItemList
from pinui.tui.widgets.key_bar import KeyBar
from pinui.workspace.sentences import api_sentence
from pinui.workspace.text import clean, clean_line

if TYPE_CHECKING:
    from pinui.sdk.secret import Secret
    from pinui.sdk.traits import ServiceTraits
    from pinui.workspace import Profile, TestResult
    from pinui.workspace.models import ProviderName

__all__ = ["Wizard"]

TOKEN_PAGE = "https://app.pinata.cloud/developers/api-keys"  # noqa: S105  an address, not a secret
TOKEN_GOES = "It is never shown, and never written to a file."  # noqa: S105
ROOMY = 64
"""The width from which on the strokes between the steps are long."""
HIGH = 20
"""The height from which on blank lines separate the parts."""
OF_A_SERVICE = ("name", "api", "token", "gateway", "key")
"""The fields whose text belongs to one service."""
SERVICES = (
    Choice("1", "Pinata", "hosted, at pinata.cloud"),
    Choice("2", "Another service", "the same API, at your address"),
    Choice("3", "Local node", "inside pinui, no set-up"),
    Choice("4", "Kubo", "an IPFS daemon of your own"),
    Choice("5", "IPFS Cluster", "several daemons that keep copies"),
    Choice("6", "Pins by CID", "the Pinning Service API, no uploads"),
)
PROVIDERS: dict[str, ProviderName] = {
    "pinata": "pinning",
    "custom": "pinning",
    "local": "pinning",
    "kubo": "kubo",
    "cluster": "cluster",
    "psa": "psa",
}
"""The names of these choices in the code, and their providers."""
READS = {
    "kubo": "The CID is appended to this address. Left empty, contents are read through the daemon's API.",
    "cluster": "The CID is appended to this address, of a Kubo in the cluster. Left empty, nothing can be read.",
    "psa": "The service pins and serves nothing itself: name a gateway. Left empty, nothing can be read.",
}
READS_OF_ACCOUNT = "The CID is appended to this address. A dedicated gateway is faster; its key is optional."
STEPS = ("Service", "Token", "Gateway", "Test", "Done")


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its step, the widget that has the focus there, and the words for its keys, by command."""

    step: int
    focus: str
    keys: Mapping[str, str]


PAGES = {
    "service": Page(0, "menu", {"wizard.back": "leave", "wizard.next": "next"}),
    "address": Page(0, "name", {"wizard.back": "back", "wizard.field": "next field", "wizard.next": "next"}),
    "token": Page(1, "token", {"wizard.back": "back", "wizard.next": "next"}),
    "gateway": Page(2, "gateway", {"wizard.back": "back", "wizard.field": "next field", "wizard.next": "next"}),
    "test": Page(3, "testing", {"wizard.back": "back"}),
    "done": Page(4, "done", {"wizard.use": "use it"}),
}


class Wizard(Dialog[str], inherit_bindings=False):
    """The dialog that sets up a service. Its answer is the name of the new profile."""

    AUTO_FOCUS = "#menu"

    def __init__(self) -> None:
        super().__init__()
        self.page = "service"
        self.service = "pinata"
        self.tested: TestResult | None = None
        self._proposed = ""
        self._daemon = ("", "")  # the proposed addresses of its API and its gateway
        self._put_by: dict[tuple[str, str], str] = {}  # for the services that are not chosen now
        self._stored: Profile | None = None  # what is being set up again
        self.saved_as = ""
        self._testing: Worker[None] | None = None
        self._refused = ("", "")  # the field that the error line is about, and what was in it

    @property
    def _traits(self) -> ServiceTraits:
        return TRAITS[PROVIDERS[self.service]]

    def compose(self) -> ComposeResult:
        """All pages in one box; a class says which is shown."""
        with Vertical(classes="dialog", id="wizard") as box:
            box.border_title = "Set up a service"
            yield Static(id="steps")
            yield from pages(self.app.key)
            yield Static(id="trouble", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        self.turn_to("service")

    def turn_to(self, page: str) -> None:
        """Show a page and put the focus where its work is."""
        self.page = page
        self._complain("")
        for other in PAGES:
            self.query_one(f"#page-{other}").display = other == page
        self._draw_steps()
        has_key, is_daemon = self._traits.is_account, self._traits.is_daemon
        no_key = {"wizard.back": "back", "wizard.test": "test"}
        self._name_keys(PAGES[page].keys if page != "gateway" or has_key else no_key)
        for kind, is_shown in (
            ("pinata", self.service == "pinata"),
            ("daemon", is_daemon),
            ("account", has_key),
            ("other", not is_daemon),
        ):
            for words in self.query(f".{kind}"):
                words.display = is_shown
        question = "Does the daemon ask for a token?" if is_daemon else "Paste the API token."
        self.query_one("#token-question", Static).update(question)
        self.query_one("#reads", Static).update(READS.get(self.service, READS_OF_ACCOUNT))
        focus_now(self.query_one(f"#{PAGES[page].focus}"))
        self.refresh_bindings()
        if page == "token":
            self.run_worker(self._say_where_it_goes, group="wizard.keyring", exclusive=True, exit_on_error=False)

    def _name_keys(self, words: Mapping[str, str]) -> None:
        named = [f"{self.app.key(command)} {word}" for command, word in words.items()]
        self.query_one("#wizard").border_subtitle = " · ".join(named)

    async def _say_where_it_goes(self) -> None:
        keyring = await self.app.workspace.credentials.keyring_state()
        self.query_one("#token-goes", Static).update(Content(token_goes(keyring)))

    def on_resize(self) -> None:
        """Leave out the blank lines in a small terminal, so that steps and errors have room."""
        self.set_class(self.app.size.height < HIGH, "-low")
        self._draw_steps()

    def _draw_steps(self) -> None:
        line = self.query_one("#steps", Static)
        line.update(steps_line(PAGES[self.page].step, narrow=self.app.size.width < ROOMY))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """F2 helps on one page only, and tab needs a second field."""
        if action == "next":
            return parameters == (self._enter,)
        if action in ("next_field", "previous_field"):
            return self.page == "address" or (self.page == "gateway" and self._traits.is_account)
        if action == "token_page":
            return self.page == "token" and self.service == "pinata"
        return super().check_action(action, parameters)

    @property
    def _enter(self) -> str:
        """The footer's word for enter."""
        if self.page == "test":
            return "" if self.tested is None else "save" if self.tested.ok else "try again"
        if self.page == "gateway" and not (self._traits.is_account and self.query_one("#gateway").has_focus):
            return "test"
        return "use" if self.page == "done" else "next"

    async def action_pick(self, index: int) -> None:
        """The service with this digit."""
        if self.page == "service":
            self.query_one(ServiceList).cursor = index
            await self.action_next()

    # -- keys ---------------------------------------------------------------------------------------------------

    def action_back(self) -> None:
        """A step back; from the first, out."""
        if self._testing is not None:
            self._testing.cancel()
        if self.page in ("service", "done"):
            self.dismiss(self.saved_as or None)
        elif self.page == "token":
            self.turn_to("service" if self.service == "pinata" else "address")
        else:
            self.turn_to({"address": "service", "gateway": "token", "test": "gateway"}[self.page])

    action_cancel = action_back

    def on_click(self, event: events.Click) -> None:
        """A click beside the box must not throw away what was typed."""

    @on(ItemList.Chosen)
    async def action_next(self, _word: str = "") -> None:
        """A step on, if this one is complete."""
        leave = {
            "service": self._leave_service,
            "address": self._leave_address,
            "token": self._leave_token,
            "gateway": self._leave_gateway,
            "test": self._leave_test,
            "done": self._leave_done,
        }
        await leave[self.page]()

    def action_next_field(self) -> None:
        """The other fields of a step can be reached without completing this one."""
        self.focus_next(Field)

    def action_previous_field(self) -> None:
        self.focus_previous(Field)

    def action_token_page(self) -> None:
        """Open the page of the service that makes tokens."""
        self.run_worker(open_page(TOKEN_PAGE), group="wizard.page", exit_on_error=False)
        self.app.tell(f"The page is {TOKEN_PAGE}")

    def text(self, name: str) -> str:
        """The text of a field."""
        return self.query_one(f"#{name}", Field).value.strip()

    # -- steps --------------------------------------------------------------------------------------------------

    async def _leave_service(self) -> None:
        chosen = list(PROVIDERS)[self.query_one(ServiceList).cursor]
        if chosen == "local":
            if self.app.workspace.profile.name == "local" or await self.app.use("local"):
                self.dismiss("local")
            return
        try:
            await self._set_out(chosen)
        except Exception as error:  # noqa: BLE001  settings that can't be read can't be written either
            self._complain(sentence(error))
        else:
            self.turn_to("token" if chosen == "pinata" else "address")

    async def _set_out(self, service: str) -> None:
        """Each service has its own token and gateway: those of one are never sent to another."""
        if service != self.service:
            for name in OF_A_SERVICE:
                field = self.query_one(f"#{name}", Field)
                self._put_by[self.service, name] = field.value
                field.value = self._put_by.pop((service, name), "")
            self.service, self._stored = service, None
        if service == "pinata":
            self._stored = await asyncio.to_thread(self.app.workspace.profiles.get, "pinata")
            gateway = self.query_one("#gateway", Field)
            gateway.value = gateway.value or self._stored.gateway_url or ""
        elif self._traits.is_daemon:
            await self._propose_daemon(service)

    async def _propose_daemon(self, provider: str) -> None:
        """A daemon on this machine has usual addresses; Kubo writes its own into its repository."""
        from pinui.workspace.daemons import daemon_addresses, is_deserted

        api, gateway = await asyncio.to_thread(daemon_addresses, provider)
        self._daemon = (api or "", gateway or "")
        is_gone = await asyncio.to_thread(is_deserted, api)
        words = "No daemon answers there. Start it, or change the address."
        self.query_one("#found", Static).update(words if is_gone else "A daemon answers there.")
        for name, text in (("name", provider), ("api", api), ("gateway", gateway)):
            field = self.query_one(f"#{name}", Field)
            field.value = field.value or text or ""

    async def _leave_address(self) -> None:
        if trouble := await self._name_trouble():
            self._complain(trouble, "name")
        elif self.query_one("#name").has_focus:
            focus_now(self.query_one("#api"))
        elif trouble := address_trouble(self.text("api"), "API address"):
            self._complain(trouble, "api")
        else:
            gateway = self.query_one("#gateway", Field)
            if not self._traits.is_account:
                is_elsewhere = self.text("api").rstrip("/") != self._daemon[0]
                gateway.value = "" if is_elsewhere and gateway.value == self._daemon[1] else gateway.value
            elif gateway.value in ("", self._proposed):  # not what somebody typed: it follows the address
                gateway.value = self._proposed = self.text("api").rstrip("/") + "/ipfs"
            self.turn_to("token")

    async def _leave_token(self) -> None:
        if self.secret() or not self._traits.needs_token:
            self.turn_to("gateway")
        else:
            self._complain("Paste the token first.", "token")

    async def _leave_gateway(self) -> None:
        has_key, typed = self._traits.is_account, self.text("gateway")
        if (has_key or typed) and (trouble := address_trouble(typed, "gateway address")):
            self._complain(trouble, "gateway")
        elif has_key and self.query_one("#gateway").has_focus:
            focus_now(self.query_one("#key"))
        else:
            self.turn_to("test")
            self._ask()

    async def _leave_test(self) -> None:
        if self.tested is None:
            return
        if self.tested.ok:
            self.run_worker(self._save, group="wizard.save", exclusive=True, exit_on_error=False)
        else:
            self._ask()

    async def _leave_done(self) -> None:
        name = self.saved_as
        if self.tested is not None:
            self.app.remember_test(name, self.tested)
        await self.app.use(name)  # also if it is in use: the token is another one
        self.dismiss(name)

    # -- what is wrong ------------------------------------------------------------------------------------------

    def _complain(self, words: str, field: str = "", *, go: bool = True) -> None:
        """Show one error inside the box, and focus the field that it is about."""
        line = self.query_one("#trouble", Static)
        line.update(Content(f"✗ {clean_line(words)}"))
        line.display = bool(words)
        self.set_class(bool(words), "-wrong")
        self._refused = (field, self.text(field) if field else "")
        if field and go:
            focus_now(self.query_one(f"#{field}"))

    async def _name_trouble(self) -> str:
        from pinui.workspace.profiles import check_name

        typed = self.text("name")
        if not typed:
            return "Give it a name first."
        try:
            name = check_name(typed)
            taken = [profile.name for profile in await asyncio.to_thread(self.app.workspace.profiles.list)]
        except Exception as error:  # noqa: BLE001  what is wrong with the typed text is told, and can be mended
            return sentence(error)
        return f"There is a profile {name} already; choose another name." if name in taken else ""

    @on(Input.Changed)
    def _mended(self, event: Input.Changed) -> None:
        # The message may come late: only text that differs from what was refused takes the line away.
        field, refused = self._refused
        if field and event.input.id == field and self.text(field) != refused:
            self._complain("")

    @on(Input.Blurred, "#name")
    async def _name_left(self) -> None:
        # By tab or a click: the name is judged now, yet nobody is held in the field.
        trouble = await self._name_trouble() if self.page == "address" and self.text("name") else ""
        if trouble and self.page == "address":  # still
            self._complain(trouble, "name", go=False)

    # -- work ---------------------------------------------------------------------------------------------------

    def secret(self) -> Secret:
        """The token as it was meant."""
        from pinui.sdk.secret import Secret

        return Secret(one_token(self.query_one("#token", Field).value))

    async def draft(self) -> Profile:
        """The profile as it would be saved."""
        from dataclasses import replace

        from pinui.workspace import Profile

        gateway, has_key = self.text("gateway").rstrip("/"), bool(self.text("key")) or self._keeps_key
        if self.service == "pinata":
            known = await asyncio.to_thread(self.app.workspace.profiles.get, "pinata")
            return replace(known, gateway_url=gateway, gateway_key=has_key)
        api = self.text("api").rstrip("/")
        return Profile(
            self.text("name"), "custom", api, gateway or None, gateway_key=has_key, provider=PROVIDERS[self.service]
        )

    @property
    def _keeps_key(self) -> bool:
        """Whether the stored key stays: it belongs to its gateway and is never sent to another."""
        stored = self._stored
        return stored is not None and stored.gateway_key and stored.gateway_url == self.text("gateway").rstrip("/")

    @on(Input.Changed, "#gateway")
    def _gateway_changed(self) -> None:
        self.query_one("#key", Field).placeholder = "as it is now" if self._keeps_key else "none"

    @on(Input.Changed, "#token")
    def _typed(self) -> None:
        words, style = token_verdict(self.secret(), self.app.clock())
        self.query_one("#verdict", Static).update(Content.styled(words, style))

    def _ask(self) -> None:
        self.tested = None  # at once: an answer to what was asked before must not let enter save this
        self.query_one("#testing", Static).update(Content("Asking the service …"))
        self._name_keys(PAGES["test"].keys)
        self.refresh_bindings()
        self._testing = self.run_worker(self._test, group="wizard.test", exclusive=True, exit_on_error=False)

    async def _test(self) -> None:
        from pinui.workspace import TestResult

        api: str | None = None
        try:
            draft = await self.draft()
        except Exception as error:  # noqa: BLE001  settings that can't be read are told like a test that failed
            result = TestResult(False, 0.0, error)
        else:
            result, api = await self.app.workspace.test(draft, self.secret()), api_sentence(draft)
        self.tested = result
        words = answer_words(
            result, self.app.key, api, is_account=self._traits.is_account, has_token=bool(self.secret())
        )
        self.query_one("#testing", Static).update(words)
        self._name_keys({"wizard.back": "back", f"wizard.{self._enter.replace(' ', '_')}": self._enter})
        self.refresh_bindings()

    async def _save(self) -> None:
        from pinui.sdk.secret import Secret

        workspace = self.app.workspace
        try:
            draft = await self.draft()
            await asyncio.to_thread(workspace.profiles.save, draft)
            secret = self.secret()
            kept = await workspace.keep_token(draft, secret) if secret else None
            if key := self.text("key"):
                await workspace.credentials.save_gateway_key(draft.name, Secret(key))
        except Exception as error:  # noqa: BLE001  the person can go back and try again
            self._complain(sentence(error))
            return
        if kept is None:
            where = "It needs no token."
        elif kept.origin == "keyring":
            where = "The token is in the OS keyring."
        else:
            where = f"The token is kept for this run only. {kept.trouble or ''}"
        for name in ("token", "key"):
            self.query_one(f"#{name}", Field).value = ""
        parts = [
            ("✓ Saved as ", "bold $success"),
            (draft.name, "bold $strong"),
            f"\n\n{clean(where)}\n\n",
            (f"{self.app.key('wizard.use')} begins to use it.", "$muted"),
        ]
        self.saved_as = draft.name
        self.query_one("#done", Static).update(Content.assemble(*parts))
        self.turn_to("done")


# -- the pages -----------------------------------------------------------------------------------------------------


class WizardField(Field):
    """A line of a step."""

    BINDINGS = bindings(WIZARD)


class TokenField(WizardField):
    """A field for a token: a pasted one replaces the value."""

    def take(self, text: str) -> None:
        """Of what is pasted, the token."""
        self.set_text(one_token(text))


class ServiceList(MenuList, inherit_bindings=False):
    """The choice of a service."""

    BINDINGS = bindings(LIST, WIZARD, SERVICE_DIGITS)


class WaitPane(Static, can_focus=True):
    """A pane for pages without a field: it takes the keys."""

    BINDINGS = bindings(WIZARD)


def boxed(title: str, field: Field) -> Vertical:
    """A field in a frame that names it."""
    box = Vertical(field, classes="box")
    box.border_title = title
    return box


def pages(key: KeyOf) -> ComposeResult:
    """The fields and sentences of every step."""
    with Vertical(id="page-service"):
        yield say("Where should your pins live?", "question")
        yield ServiceList(SERVICES)
    with Vertical(id="page-address"):
        yield say("What is it called here, and where is its API?", "question")
        yield boxed("Name", WizardField(placeholder="studio", id="name"))
        yield boxed("API address", WizardField(placeholder="https://pins.example.com", id="api"))
        yield say("", "say daemon", id="found")
        yield say("The token is sent there and nowhere else.", "say other")
    with Vertical(id="page-token"):
        yield say("", "question", id="token-question")
        yield say(TOKEN_GOES, id="token-goes")
        yield boxed("Token", TokenField(password=True, id="token"))
        yield Static(id="verdict")
        yield say("Needs the scopes pinFileToIPFS, pinJSONToIPFS, unpin.", "say later account")
        yield say("Leave it empty if it asks for none. It may be a token or user:password.", "say daemon")
        yield say(f"Where do I get one?  {key('wizard.page')} opens the page.", "say pinata")
    with Vertical(id="page-gateway"):
        yield say("Which gateway should contents be read from?", "question")
        yield boxed("Gateway", WizardField(id="gateway"))
        gateway_key = boxed("Key of a dedicated gateway", WizardField(password=True, id="key", placeholder="none"))
        gateway_key.add_class("account")
        yield gateway_key
        yield say("", id="reads")
    with Vertical(id="page-test"):
        yield WaitPane(id="testing")
    with Vertical(id="page-done"):
        yield WaitPane(id="done")


def steps_line(step: int, *, narrow: bool) -> Content:
    """The steps as one line: done, current and to come."""
    stroke = " ─ " if narrow else " ── "
    parts: list[tuple[str, str]] = []
    for index, name in enumerate(STEPS):
        if index:
            parts.append((stroke, "$success" if index <= step else "$muted"))
        ahead = ("○", "$muted") if index > step else ("●", "bold $primary")
        sign, style = ("✓", "$success") if index < step else ahead
        parts.append((f"{sign} {name}", style))
    return Content.assemble(*parts)


def address_trouble(url: str, what: str) -> str:
    """The problem with an address as a sentence; empty if there is none."""
    from pinui.workspace.profiles import check_url

    try:
        check_url(url, what=what)
    except Exception as error:  # noqa: BLE001  whatever it is, it can be mended where it was typed
        return sentence(error)
    return ""
