"""Actions on an entry from any place: copy it, open it, revoke it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pinui.figures import be, count, plural, short_cid, size, total_size
from pinui.tui.dialogs.prompt import Choice, Menu
from pinui.tui.entries import title_of
from pinui.tui.errors import sentence
from pinui.tui.other_programs import open_page
from pinui.tui.places.place import PlaceScreen
from pinui.workspace import Entry, WorkspaceError

if TYPE_CHECKING:
    from pinui.tui.dialogs.confirm import Confirm
    from pinui.workspace.service import Service

__all__ = ["browse", "copy_menu", "revoke"]


async def copy_menu(screen: PlaceScreen, address: str, name: str, entry: Entry | None = None) -> None:
    """Ask what to copy of content, or of a row of the history; the CID comes first, so `y` `y` copies it."""
    from pinui.tui.json_text import pretty

    link = await screen.workspace.link(address)
    cid, _, path = address.partition("/")
    name = unquote(path.rpartition("/")[2]) or name
    choices = [
        Choice("y", "CID and path", f"{short_cid(cid)}/{unquote(path)}") if path else Choice("y", "CID", address),
        Choice("u", "ipfs:// URI", f"ipfs://{address}"),
        Choice("g", "gateway URL", link),
        Choice("n", "name", name),
    ]
    if entry is not None and entry.kind == "message":
        choices.append(Choice("t", "text", entry.excerpt or ""))
    if entry is not None and entry.kind != "file":
        choices.append(Choice("j", "JSON", "the whole document"))
    chosen = await screen.ask(Menu("Copy", choices, "copied in full"))
    if chosen is None:
        return
    texts = {"y": address, "u": f"ipfs://{address}", "g": link, "n": name}
    names = {"y": "CID", "u": "URI", "g": "Gateway URL", "n": "Name", "t": "Text", "j": "JSON"}
    if entry is not None and chosen in ("t", "j"):
        record = await screen.workspace.history.record(entry.id)
        data: Any = None if record is None else record.data
        texts["t"] = data["payload"] if chosen == "t" else ""
        texts["j"] = await asyncio.to_thread(pretty, data)
    screen.app.copy(texts[chosen], names[chosen])


async def browse(screen: PlaceScreen, address: str) -> None:
    """Open the gateway's page in the browser, or tell its address."""
    link = await screen.workspace.link(address)
    opened = await open_page(link)
    screen.app.tell(f"Opened {link}" if opened else f"No browser here. The address is {link}", warning=not opened)


async def revoke(screen: PlaceScreen, entries: Sequence[Entry], left: int = 0) -> dict[int, str] | None:
    """Ask, then revoke each. Returns the failures: reasons by the id of the entry.

    `left` is the number of marked pins that are left for the next time.

    Many pins become a transfer, which tells its own failures: the result is None.
    """
    # The profile that is in use now, to the end: somebody may choose another one meanwhile.
    with screen.workspace.service.held() as service:
        return await _revoke_at(service, screen, entries, left)


async def _revoke_at(
    service: Service, screen: PlaceScreen, entries: Sequence[Entry], left: int
) -> dict[int, str] | None:
    from pinui.tui.dialogs.confirm import MANY
    from pinui.workspace.revoking import can_be_stored_again

    pinned = [entry for entry in entries if entry.revoked_at is None]
    if not pinned:
        screen.app.tell("Nothing to revoke here: it is revoked already.", warning=True)
        return {}
    profile = service.profile.name
    if any(entry.profile != profile for entry in pinned):
        screen.app.tell(f"Nothing was revoked: another profile, {profile}, came into use just now.", warning=True)
        return {}
    once = {entry.cid: entry for entry in pinned}
    again: int | None = None
    if len(once) > MANY:
        with screen.app.busy("asking the service …"):
            pinned = await screen.workspace.still_pinned([entry.id for entry in pinned])
            again = await asyncio.to_thread(can_be_stored_again, pinned)
        once = {entry.cid: entry for entry in pinned}
        if not once:
            screen.app.tell("Nothing to revoke here: the service has none of them any more.", warning=True)
            return {}
    with screen.app.busy("reading rows …") if again is not None else nullcontext():
        sharing = await screen.workspace.history.rows_sharing(once, profile) - len(pinned)
        elsewhere = await screen.workspace.history.pinned_elsewhere(once, profile)
    if screen.app.screen is not screen:
        return {}  # the key was pressed twice: one question is enough
    pins = list(once.values())
    titles = [title_of(entry) for entry in pins]
    question = _revoke_question(pins, titles, max(0, sharing), elsewhere, again, max(0, left))
    if not await screen.ask(question):
        return {}
    if again is not None:
        if screen.workspace.service is not service:
            screen.app.tell(f"Nothing was revoked: another profile came into use, not {profile}.", warning=True)
            return {}
        screen.workspace.revoke_many(pins)
        files, cancel = screen.app.key("app.files"), screen.app.key("transfers.cancel")
        screen.app.tell(f"Revoking {plural(len(pins), 'pin')}. {files} shows how far it is; {cancel} cancels it there.")
        return None
    failed, already = await _revoke_each(service, screen, once)
    done, was = len(once) - len(failed) - already, "was" if already == 1 else "were"
    gone = f"{already} {was} gone already." if done else f"{plural(already, 'pin')} {was} gone already."
    told = " ".join([f"Revoked {plural(done, 'pin')}."] * bool(done) + [gone] * bool(already))
    if failed:
        first = next(iter(failed.values()))
        more = (
            f" ({plural(len(failed), 'pin')} failed; {'it stays' if len(failed) == 1 else 'they stay'} marked)"
            if len(entries) > 1
            else ""
        )
        screen.app.tell_error(WorkspaceError(f"{told} Not revoked: {first}{more}".lstrip()))
    else:
        screen.app.tell(told)
    return failed


async def _revoke_each(service: Service, screen: PlaceScreen, once: dict[str, Entry]) -> tuple[dict[int, str], int]:
    """Revoke one after the other. Returns the failures, and the number of pins that were gone already."""
    failed: dict[int, str] = {}
    already, left = 0, len(once)
    screen.revoking += left
    try:
        with screen.app.busy("revoking …") as say:
            for number, (cid, entry) in enumerate(once.items(), 1):
                say(f"revoking {number} of {len(once)} …" if len(once) > 1 else "revoking …")
                try:
                    result = await screen.workspace.revoke(cid, at=service)
                except Exception as error:  # noqa: BLE001  one that fails must not stop the rest; its reason is shown
                    failed[entry.id] = sentence(error)
                else:
                    already += not result.was_pinned
                left -= 1
                screen.revoking -= 1
    finally:
        screen.revoking -= left
    return failed, already


def _revoke_question(
    entries: Sequence[Entry],
    titles: Sequence[str],
    sharing: int,
    elsewhere: Mapping[str, int],
    again: int | None = None,
    left: int = 0,
) -> Confirm:
    """The question before pins are revoked: their number, their size, and rows that share them.

    `elsewhere` are other profiles that pin some of them, with their numbers. `again` is the number of pins that can be
    stored again from this machine, where that was counted. `left` pins are marked, and left for the next time.
    """
    from pinui.tui.dialogs.confirm import about_rows

    number, total = len(entries), total_size([entry.bytes for entry in entries], in_all=len(entries) > 1)
    question = f"Revoke {plural(number, 'pin')}, {total}?" if number > 1 else f"Revoke this pin, {total}?"
    what = "them" if number > 1 else "it"
    consequence = f"The provider stops keeping {what}. Copies on gateways and other nodes may live on. "
    if again is None:
        consequence += f"You can store {what} again in Pins while the content can be found."
    else:
        some = "None" if not again else "All" if again == number else f"{count(again)} of them"
        others = "" if again == number else "; the others can't be brought back" if again else ""
        consequence += f"{some} can be stored again from here{others}."
    if sharing:
        share = "shares" if sharing == 1 else "share"
        others = f"{plural(sharing, 'other row')} of the history {share} a CID with {what}"
        consequence += f"\n\n{others} and will be revoked too."
    if elsewhere and number == 1:
        consequence += f"\n\nIt is also pinned on {', '.join(elsewhere)}, and stays there."
    elif elsewhere:
        (name, there), *others = elsewhere.items()
        also = f"{count(there)} of them {be(there)} also pinned on {name}"
        consequence += "\n\n" + ", ".join([also, *(f"{count(there)} on {name}" for name, there in others)])
        consequence += ", and stay there." if sum(elsewhere.values()) > 1 else ", and stays there."
    if left:
        consequence += f"\n\n{count(left)} more {'is' if left == 1 else 'are'} marked, and will stay so."
    rows = [(title, size(entry.bytes)) for title, entry in zip(titles, entries, strict=True)]
    return about_rows("Revoke", question, consequence, f"Revoke {number}" if number > 1 else "Revoke", rows)
