"""Copying pins to another service: which one, a question with the plan, and a row in Transfers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinui.figures import count, plural, total_size
from pinui.sdk.models import Pin
from pinui.tui.dialogs.confirm import Confirm
from pinui.tui.dialogs.prompt import Choice, Menu
from pinui.tui.places.place import PlaceScreen
from pinui.workspace import Entry, Profile
from pinui.workspace.sentences import kind_of_service

if TYPE_CHECKING:
    from pinui.workspace.copying import Plan
    from pinui.workspace.service import Service

__all__ = ["copy_question", "copy_to"]

LETTERS = "abcdefghijklmnopqrstuvwxyz"


async def copy_to(screen: PlaceScreen, entries: Sequence[Entry]) -> bool:
    """Ask where to, then how, then begin; whether it has begun."""
    from pinui.workspace.copies import copy_options, copy_title, new_items
    from pinui.workspace.copying import Copying

    workspace = screen.workspace
    pinned = [entry for entry in entries if entry.revoked_at is None]
    if not pinned:
        screen.app.tell(f"A revoked pin can't be copied: {screen.app.key('pins.again')} stores it again.", warning=True)
        return False
    source = workspace.service_of(workspace.profile.name)
    to = await _choose_service(screen, source)
    if to is None:
        return False
    pins = [Pin(cid=entry.cid, name=entry.service_name or entry.name, size=entry.bytes) for entry in pinned]
    with screen.app.busy(f"asking {to.profile.name} …"):
        plan = await Copying(workspace, source, to).plan(pins)
    if not plan.going:
        there, left_out = plan.of("there"), plan.of("left out")
        words = f"{to.profile.name} has {'it' if len(there) == 1 else 'all of them'} already."
        screen.app.tell(f"Nothing to copy: {left_out[0].why}." if left_out else words, warning=bool(left_out))
        return False
    if not await screen.ask(copy_question(plan, to.profile)):
        return False
    options = copy_options(plan.source, cids=[item.cid for item in plan.items])
    workspace.transfers.begin("copy", copy_title(plan), options, new_items(plan), at=to)
    screen.app.tell(
        f"Copying {plural(len(plan.going), 'pin')} to {plan.to}. {screen.app.key('app.files')} shows the transfer."
    )
    return True


async def _choose_service(screen: PlaceScreen, source: Service) -> Service | None:
    from pinui.workspace.whereabouts import services_in_use

    services = [one for one in await services_in_use(screen.workspace) if one.profile.name != source.profile.name]
    if not services:
        screen.app.tell("There is no other service to copy to. Add one in Connection (5, then a).", warning=True)
        return None
    choices = [
        Choice(key, one.profile.name, kind_of_service(one.profile)) for key, one in zip(LETTERS, services, strict=False)
    ]
    chosen = await screen.ask(Menu("Copy to", choices, "the pins here stay"))
    return None if chosen is None else services[LETTERS.index(chosen)]


def copy_question(plan: Plan, to: Profile) -> Confirm:
    """The question with the plan: how many pins go which way, and which can't."""
    rows = [
        (f"{count(len(items))} {words}", total_size([item.size for item in items]))
        for items, words in (
            (plan.of("archive"), "by archive, same CID"),
            (plan.of("cid"), "by CID, the service fetches the content itself"),
            (plan.of("upload"), "read and added again, same CID"),
        )
        if items
    ]
    if there := plan.of("there"):
        rows.append((f"{count(len(there))} there already", ""))
    if left_out := plan.of("left out"):
        rows.append((f"{count(len(left_out))} left out", ""))
    reasons = "".join(f"Left out: {why}. " for why in plan.reasons)
    number = len(plan.going)
    return Confirm(
        f"Copy to {to.name}",
        f"Copy {plural(number, 'pin')} to {to.name} ({kind_of_service(to)})?",
        f"{reasons}Names are kept; dates are not. Anyone with a CID can read its content. "
        f"Nothing is removed from {plan.source}.",
        f"Copy {count(number)}",
        rows,
    )
