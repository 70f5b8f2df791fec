"""Detail: the facts about one pin, and a preview of its content."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.reactive import reactive

from pinui import PinuiError
from pinui.figures import ago, when
from pinui.tui.display import first_lines, fit, short_path, wrapped
from pinui.tui.entries import PIN_STATES, VERDICTS, WHERE, size_in_words, title_of
from pinui.tui.errors import sentence
from pinui.tui.keys import bindings
from pinui.tui.places.pins.keys import DETAIL
from pinui.tui.preview import Shown, folder_lines, peek, show_bytes, show_json, show_words
from pinui.tui.widgets.line_view import Lines, LineView
from pinui.workspace import Entry
from pinui.workspace.text import natural_key
from pinui.workspace.whereabouts import copies

if TYPE_CHECKING:
    from pinui import FolderItem, PeerStatus
    from pinui.sdk.models import PinStatus

__all__ = ["Detail"]

LABEL = 9
FACTS = 14
"""Lines for facts and border, about. A picture gets the rest."""

Looks: TypeAlias = Callable[[int, int], Shown]
"""A function that writes fetched content for a number of columns and lines."""


class Detail(LineView):
    """Facts above, a preview below; in a folder the arrows choose an entry."""

    BINDINGS = bindings(DETAIL)

    entry: reactive[Entry | None] = reactive(None, init=False)
    refused: reactive[str] = reactive("", init=False)
    """Why the pin could not be revoked."""
    is_marked: reactive[bool] = reactive(False, init=False)
    pin_state: reactive[PinStatus | None] = reactive(None, init=False)
    """The state of a pin that the service has not made yet."""

    class Measured(Message):
        """The pane was shown or has another size: its preview may have to be made again."""

    def __init__(self) -> None:
        super().__init__(id="detail", classes="pane second")
        self.link = ""
        self.trouble = ""
        """Why there is no preview."""
        self.looks: Looks | None = None
        self.shown: Shown | None = None
        self.asked: tuple[str, tuple[int, int]] | None = None
        """The address and the size of the last preview that was requested, even if it failed."""
        self.folder: tuple[FolderItem, ...] | None = None
        self.chosen = 0
        self.trail: list[str] = []
        self.now = 0.0
        self.peers: tuple[PeerStatus, ...] = ()
        """The peers of a cluster that keep the pin, or will."""
        self.elsewhere: tuple[str, ...] = ()
        """The other profiles that pin it, as far as is known here."""
        self.tells_where = False
        """Whether it is known which pins are on the account."""

    def watch_entry(self, before: Entry | None, entry: Entry | None) -> None:
        """Another pin: forget the content of the last one."""
        if before is None or entry is None or before.id != entry.id:
            self.trail = []
            self.forget_content()
        self.rebuild()

    def _rebuild_in_place(self) -> None:
        self.rebuild(keep=True)

    watch_refused = watch_pin_state = watch_is_marked = _rebuild_in_place

    def forget_content(self) -> None:
        """Forget the fetched content."""
        self.asked = self.looks = self.shown = self.folder = None
        self.peers = self.elsewhere = ()
        self.chosen, self.trouble = 0, ""

    @property
    def room(self) -> tuple[int, int]:
        """Columns and lines for a preview."""
        return self.content_width, max(8, self.size.height - FACTS)

    @property
    def wants_preview(self) -> bool:
        """Whether the pane is shown, and no preview of this content at this size was requested."""
        in_sight = self.entry is not None and self.display and self.content_width >= LABEL
        return in_sight and self.folder is None and self.asked != (self.address, self.room)

    async def load_preview(self) -> None:
        """Show the content of this pin: it is fetched once, and written again for another size."""
        entry, address = self.entry, self.address
        if entry is None or not self.wants_preview:
            return
        asked = self.asked = address, self.room
        looks, shown, folder, trouble = self.looks, None, None, ""
        try:
            self.link = await self.app.workspace.link(entry.cid)
            if looks is None:
                self.elsewhere = tuple(await self.app.workspace.history.pinned_elsewhere([entry.cid], entry.profile))
                self.rebuild(keep=True)  # the content may take a while
            if looks is None and not self.trail and entry.revoked_at is None:
                with suppress(PinuiError):  # the gateway may show the content while the cluster doesn't answer
                    self.peers = await self.app.workspace.peers(entry.cid)
            if looks is None:
                looks, folder = await self._fetch_content(entry, address)
            if looks is not None:
                shown = await asyncio.to_thread(looks, *self.room)
        except asyncio.CancelledError:
            if self.asked == asked:
                self.asked = None  # nothing came of it: it may be asked again
            raise
        except Exception as error:  # noqa: BLE001  a preview that fails says why, in its place
            trouble = sentence(error)
        if self.entry is not None and self.entry.id == entry.id and self.address == address:
            again = self.shown is not None
            self.looks, self.shown, self.folder, self.trouble = looks, shown, folder, trouble
            self.rebuild(keep=again)
            self.refresh_bindings()

    async def _fetch_content(self, entry: Entry, address: str) -> tuple[Looks | None, tuple[FolderItem, ...] | None]:
        """The content of a pin, from the history if it is kept there: something to look at, or a folder's entries."""
        record = await self.app.workspace.history.record(entry.id) if entry.kind != "file" else None
        if record is not None and record.data is not None:
            document: Any = record.data
            if entry.kind == "message" and isinstance(document, dict):
                words = str(cast("dict[str, Any]", document).get("payload", ""))
                return partial(show_words, words), None
            return partial(show_json, document), None
        from pinui import Peek  # not before it is needed: the first frame waits

        preview = Peek(b"", total=0) if entry.size == 0 and entry.recorded else await peek(self.app.workspace, address)
        if preview.entries is not None:
            return None, tuple(sorted(preview.entries, key=lambda item: natural_key(item.name)))
        return partial(show_bytes, preview, colours=not self.app.no_color), None

    def walk_into(self) -> None:
        """Go into the chosen entry of a folder."""
        if self.folder:
            self.trail.append(self.folder[self.chosen].name)
            self.forget_content()
            self.rebuild()

    def walk_up(self) -> None:
        """Return to the folder above."""
        if self.trail:
            self.trail.pop()
            self.forget_content()
            self.rebuild()

    @property
    def address(self) -> str:
        """The CID and the path walked below it, quoted: a name may hold any character."""
        from pinui.sdk.address import Address  # not for the first frame, which shows no pin yet

        return str(Address(self.entry.cid if self.entry else "", tuple(self.trail)))

    def on_resize(self) -> None:
        """Lines are as wide as the pane."""
        self.rebuild(keep=True)
        self.post_message(self.Measured())

    def on_show(self) -> None:
        """In a small terminal the pane comes to the front when it is wanted."""
        self.post_message(self.Measured())

    def rebuild(self, *, keep: bool = False) -> None:
        """Write all lines again."""
        width = self.content_width
        if self.entry is None or width < LABEL:  # not laid out yet: nothing is written one letter a line
            self.show_lines([])
            return
        lines = self._facts(self.entry, width)
        widest = width
        what = "/".join(["preview", *self.trail])
        if self.shown is not None:
            what += f" · {self.shown.what}"
        if self.folder is not None:
            what = "/".join(["folder", *self.trail])
        lines.append([(what + " ", "muted"), ("─" * max(0, width - cell_len(what) - 1), "line")])
        if self.trouble:
            lines += [[(line, "warning")] for line in wrapped(self.trouble, width)]
        elif self.folder is not None:
            lines += folder_lines(self.folder, self.chosen, width)
        elif self.shown is not None:
            lines += self.shown.lines
            widest = max(width, self.shown.widest)
            if self.shown.cut:
                pager, save = self.app.key("detail.pager"), self.app.key("detail.download")
                lines.append([(f"cut here: {pager} reads all of it in the pager, {save} saves it", "warning")])
        else:
            lines.append([("loading …", "muted")])
        self.show_lines(lines, widest=widest, keep=keep)

    def _facts(self, entry: Entry, width: int) -> Lines:
        gone = entry.revoked_at is not None
        mark = "• " if self.is_marked else ""
        titles = first_lines(title_of(entry), width - len(mark), 3)
        lines: Lines = [
            [(mark if number == 0 else " " * len(mark), "warning"), (line, "bold strong")]
            for number, line in enumerate(titles)
        ]
        if gone:
            lines.append([("revoked", "error"), (f"  {ago(entry.revoked_at or 0, self.now)}", "muted")])
            lines += [[(line, "muted")] for line in wrapped(_way_back(entry, self.app.key("detail.again")), width)]
        elif self.pin_state is not None:
            sign, tone, why = PIN_STATES[self.pin_state]
            lines += [[(f"{sign} {self.pin_state}", tone)], *([(line, "muted")] for line in wrapped(why, width))]
        elif entry.verification in VERDICTS:
            mark, tone, word, why = VERDICTS[entry.verification]
            if len(word) + len(why) + 4 <= width:
                lines.append([(f"{mark} {word}", tone), (f"  {why}", "muted")])
            else:
                lines += [[(f"{mark} {word}", tone)], *([(line, "muted")] for line in wrapped(why, width))]
        if self.refused and not gone:
            lines += [[(line, "error")] for line in wrapped(f"not revoked: {self.refused}", width)]
        lines.append([])
        room = width - LABEL
        # A CID is for copying by eye too: never more than two lines, below its label where that is narrow.
        across = room if room * 2 >= len(entry.cid) else width
        across = min(across, -(-len(entry.cid) // 2)) if across < len(entry.cid) else across
        cid = [entry.cid[start : start + across] for start in range(0, len(entry.cid), across)]
        facts: list[tuple[str, str, str]] = [("CID", cid[0], "primary"), *(("", part, "primary") for part in cid[1:])]
        if room * 2 < len(entry.cid):
            lines += [[("CID", "muted")], *([(part, "primary")] for part in cid)]
            facts = []
        pinned = (
            "on a date that the service doesn't tell" if entry.pinned_at is None else when(entry.pinned_at, self.now)
        )
        facts.append(("Pinned", pinned, "text"))
        words = size_in_words(entry)
        facts.append(("Size", words if len(words) <= room else words.split(" · ")[0], "text"))
        if self.link:
            facts.append(("Gateway", self.link.split("://", 1)[-1].rpartition("/")[0] + "/…", "text"))
        facts.append(("Profile", entry.profile, "text"))
        if self.tells_where and entry.standing in WHERE and not gone:
            facts.append(("On", WHERE[entry.standing][2], "text"))
        if self.elsewhere:
            facts.append(("Also", f"pinned on {', '.join(self.elsewhere)}", "text"))
        if self.peers:
            facts += _peer_facts(self.peers, room)
        if entry.service_name and entry.service_name != title_of(entry):
            calls = "calls" if entry.revoked_at is None else "called"
            facts.append(("Service", f"{calls} it {entry.service_name}", "text"))
        if entry.recipient:
            facts.append(("To", entry.recipient, "text"))
        if entry.note:
            facts.append(("Note", entry.note, "text"))
        lines += [[(label.ljust(LABEL), "muted"), (fit(text, room).rstrip(), tone)] for label, text, tone in facts]
        lines.append([])
        return lines

    def action_scroll_down(self) -> None:
        """One line, or one entry of a folder, down."""
        self._move(1) if self.folder else super().action_scroll_down()

    def action_scroll_up(self) -> None:
        """One line, or one entry of a folder, up."""
        self._move(-1) if self.folder else super().action_scroll_up()

    async def on_click(self, event: events.Click) -> None:
        """The first click chooses an entry of a folder, a click on the chosen one goes into it: as in the lists."""
        offset = event.get_content_offset(self)
        if offset is None or not self.folder:
            return
        index = offset.y + self.scroll_offset.y - self._above
        if index == self.chosen:
            await self.run_action("screen.walk_into")
        elif 0 <= index < len(self.folder):
            self._move(index - self.chosen)

    @property
    def _above(self) -> int:
        """The number of lines above the entries of a folder, which come last."""
        return len(self.lines) - len(self.folder or ())

    def _move(self, step: int) -> None:
        if self.folder:
            self.chosen = max(0, min(self.chosen + step, len(self.folder) - 1))
            self.rebuild(keep=True)
            line = self._above + self.chosen
            if not self.scroll_offset.y <= line < self.scroll_offset.y + self.size.height:
                self.scroll_to(y=max(0, line - self.size.height // 2), animate=False)


def _peer_facts(peers: tuple[PeerStatus, ...], room: int) -> list[tuple[str, str, str]]:
    """On how many peers a pin is; and each peer that has no copy, with its reason."""
    missing = [peer for peer in peers if peer.state != "pinned"]
    names = ", ".join(peer.name for peer in peers if peer.state == "pinned")
    facts = [("Peers", f"{copies(peers)}  {names}", "warning" if missing else "success")]
    for peer in missing:
        why = f": {peer.error}" if peer.error else ""
        tone = "error" if peer.state in ("failed", "unreachable") else "warning"
        facts += [("", line, tone) for line in first_lines(f"{peer.name} {peer.state}{why}", room, 4)]
    return facts


def _way_back(entry: Entry, key: str) -> str:
    if entry.kind != "file":
        return f"{key} stores it again: the history has its text."
    if entry.source is None:
        return f"{key} stores it again, if a gateway still has it."
    place = short_path(entry.source, str(Path.home()), 200)
    return f"{key} stores it again, if {place} is unchanged or a gateway still has it."
