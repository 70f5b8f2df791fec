"""Help: what the focused thing is for, and each key that works there."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import Screen

from pinui.tui.commands import GROUPS, bindings, key_name
from pinui.tui.dialogs.dialog import Dialog
from pinui.tui.display import wrapped
from pinui.tui.widgets.key_bar import KeyBar
from pinui.tui.widgets.line_view import Line, LineView

__all__ = ["HelpScreen"]

ABOUT = {
    "pins": (
        "Pins",
        "Everything you stored with this profile. ✓ means that the bytes were checked against the CID, "
        "? that the service cuts files in its own way, ✗ that something is wrong, × that the pin was revoked. Revoked "
        "pins stay here until you forget them. • is a mark: x and delete act on all marked rows.",
    ),
    "filter": ("Filter", "Type a part of a name, a CID, a recipient or the JSON text. The list follows as you type."),
    "detail": (
        "Detail",
        "All about the pin under the cursor, and how it begins. JSON, text and pictures are shown; other bytes in hex. "
        "In a folder ↑ ↓ choose an entry and enter goes into it.",
    ),
    "store": (
        "Store",
        "Write or load a JSON document and store it with F5. It is stored as JavaScript would write it. On a "
        "pinning service it is public from then on; on the local node only this machine can read it.",
    ),
    "retrieve": (
        "Retrieve",
        "Enter a CID, or any address that contains /ipfs/. What comes back is checked against it.",
    ),
    "document": ("Document", "The document that was retrieved, as a tree or as text. y copies a value or its path."),
    "browser": ("Upload", "Your own files. Mark some with space and upload them with u. A folder becomes one CID."),
    "download": ("Download", "Enter a CID and where to save it. It is verified before it is saved."),
    "transfers": ("Transfers", "What goes up and down. It goes on while you are elsewhere; only c cancels."),
    "recipients": (
        "Recipients",
        "Names you wrote to or filed messages under. A message is a document with a recipient's name in it, public on "
        "a pinning service. Nobody delivers it: share its CID yourself.",
    ),
    "thread": ("Thread", "What you sent to and filed under this name. A message tells no sender: file it yourself."),
    "line": ("Write", "Enter stores the message as a document. Then y y copies its CID, to pass it on."),
    "profiles": (
        "Profiles",
        "The services you can pin to. Tokens live in the keyring of your system, or in memory for this run; they are "
        "never shown. Nothing is tested behind your back: t asks now.",
    ),
    "wizard": (
        "Setting up a service",
        "Five steps: which service, its token, the gateway, a test, and the end. Nothing is saved until you have seen "
        "the test. The token goes to the keyring of your system where there is one, otherwise it is kept for this run.",
    ),
    "question": (
        "A question",
        "Something is about to change that can't be taken back from here. Esc and Cancel change nothing. The capital "
        "letter in the button says yes, and so does enter on that button: half a second after the last key, so that "
        "text typed into the wrong window confirms nothing. More than 20 rows ask for their number instead.",
    ),
    "choices": ("A menu", "Take a line by its letter, or with ↑ ↓ and enter, or by two clicks. Esc takes none."),
    "prompt": ("A line to fill in", "Enter takes what is in the line, esc leaves everything as it was."),
    "facts": ("Connection", "What is known about this profile."),
}


WIDEST_KEYS = 16


class HelpScreen(Dialog[None]):
    """A page of text over the place."""

    BINDINGS = bindings("help")
    AUTO_FOCUS = "#help"

    def __init__(self, title: str, text: str, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.heading, self.text, self.keys = title, text, keys

    @classmethod
    def about(cls, screen: Screen[object]) -> HelpScreen:
        """Help for what has the focus on this screen."""
        keys: dict[str, tuple[list[str], str]] = {}
        for key, (_node, binding, _enabled, tooltip) in screen.active_bindings.items():
            text = tooltip or binding.description
            if text and binding.id:
                keys.setdefault(binding.id, ([], text))[0].append(key_name(key))
        # What is special here comes first, then moving about, then what works everywhere.
        groups = ("list", "text", "places", "dialog", "app")
        general = [command.id for name in groups for command in GROUPS[name].commands]
        order = sorted(keys, key=lambda name: general.index(name) if name in general else -1)
        nodes = screen.focused.ancestors_with_self if screen.focused else []
        found = next((ABOUT[node.id] for node in nodes if node.id in ABOUT), ("Help", "The keys that work here:"))
        return cls(*found, [(" ".join(names), text) for names, text in map(keys.__getitem__, order)])

    def compose(self) -> ComposeResult:
        """The box."""
        with Vertical(classes="dialog", id="help-box") as box:
            box.border_title = self.heading
            yield LineView(id="help")
        yield KeyBar()

    def on_mount(self) -> None:
        """Write the page once its width is known."""
        self.call_after_refresh(self._fill)

    def on_resize(self) -> None:
        """Write it again for another width."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        view = self.query_one("#help", LineView)
        width = view.content_width - 1  # a cell of air before the scroll bar
        lines: list[Line] = [[(line, "text")] for line in wrapped(self.text, width)]
        lines.append([])
        column = min(WIDEST_KEYS, max((len(names) for names, _ in self.keys), default=0)) + 2
        for names, what in self.keys:
            if len(names) > WIDEST_KEYS:  # the keys take a line of their own, the words begin below them
                lines.append([(names, "bold primary")])
                names = ""
            for number, line in enumerate(wrapped(what, width - column)):
                lines.append([((names if number == 0 else "").ljust(column), "bold primary"), (line, "second")])
        view.styles.height = min(len(lines), max(5, self.app.size.height - 6))
        view.show_lines(lines, keep=True)
