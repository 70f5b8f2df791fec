"""Actions that only Pins has: name, note, forget, store again, verify, pin by CID, read in a pager.

Those that other places have, too, are in `places/record_actions`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pinui.figures import count, plural
from pinui.sdk.errors import IntegrityError
from pinui.tui.display import fit
from pinui.tui.entries import VERDICTS, title_of
from pinui.tui.errors import sentence
from pinui.tui.other_programs import run_program
from pinui.tui.places.place import PlaceScreen
from pinui.workspace import Entry, WorkspaceError
from pinui.workspace.scratch import scratch_folder

if TYPE_CHECKING:
    from pinui.tui.dialogs.confirm import Confirm

__all__ = [
    "annotate",
    "forget",
    "pin_by_cid",
    "read_in_pager",
    "rename",
    "rename_at_service",
    "store_again",
    "verify",
]


PAGE = 500
"""Pins to read at once for a check of many."""


async def rename(screen: PlaceScreen, entry: Entry) -> None:
    """Ask for the user's own name for a pin."""
    name = await _ask_text(screen, "name", f"A name of your own for “{_short_title(entry)}”", entry.name)
    if name is not None:
        await screen.workspace.history.rename(entry.id, name or None)
        screen.reload()


async def annotate(screen: PlaceScreen, entry: Entry) -> None:
    """Ask for a note to a pin."""
    note = await _ask_text(screen, "note", f"A note to “{_short_title(entry)}”", entry.note)
    if note is not None:
        await screen.workspace.history.annotate(entry.cid, entry.profile, note)
        screen.reload()


async def rename_at_service(screen: PlaceScreen, entry: Entry) -> None:
    """Ask for another name of a pin at the service."""
    from pinui.tui.dialogs.prompt import Prompt

    question = f"Another name for “{_short_title(entry)}” at {screen.workspace.profile.name}"
    note = "Everybody with access to the account sees it. Your own name for it stays."
    name = await screen.ask(Prompt("Rename", question, entry.service_name or "", placeholder="a name", note=note))
    if name and name != entry.service_name:
        with screen.app.busy("renaming …"):
            await screen.workspace.rename_at_service(entry.cid, name)
        screen.app.tell(f"Renamed at {screen.workspace.profile.name}.")
        screen.reload()


async def pin_by_cid(screen: PlaceScreen) -> None:
    """Ask for a CID that the service should keep."""
    from pinui.tui.dialogs.prompt import Prompt
    from pinui.tui.places.content import pin_address

    note = "The service fetches it from the network; that may take a while."
    cid = await screen.ask(
        Prompt("Pin", "The CID that the service should keep", "", placeholder="bafy… or Qm…", note=note)
    )
    if not cid or not cid.strip():
        return
    await pin_address(screen, cid)
    screen.reload()


def _short_title(entry: Entry) -> str:
    return fit(title_of(entry), 60).rstrip()


async def _ask_text(screen: PlaceScreen, what: str, question: str, before: str | None) -> str | None:
    """Ask for another text. The result is None if the text stays as it was."""
    from pinui.tui.dialogs.prompt import Prompt

    known = "Only this machine knows it; the filter finds it."
    prompt = Prompt(what.capitalize(), question, before or "", placeholder=f"no {what}", note=known)
    shown = prompt.field.value
    text = await screen.ask(prompt)
    return text if text != shown else None


async def forget(screen: PlaceScreen, entries: Sequence[Entry]) -> None:
    """Ask, then remove rows from the history. The pins stay."""
    listed, entries = len(entries), [entry for entry in entries if entry.recorded or entry.revoked_at is not None]
    if listed and not entries:
        revokes = f"{screen.app.key('pins.revoke')} revokes it."
        screen.app.tell(f"The history has no row of it: another program made this pin. {revokes}", warning=True)
    if entries and await screen.ask(_forget_question(entries, [title_of(entry) for entry in entries])):
        forgotten = await screen.workspace.history.forget([entry.id for entry in entries])
        stay = "the pin itself stays" if forgotten == 1 else "the pins themselves stay"
        screen.app.tell(f"Forgot {plural(forgotten, 'row')}; {stay}.")
        screen.reload()


def _forget_question(entries: Sequence[Entry], titles: Sequence[str]) -> Confirm:
    """The question before rows leave the history: the rows, and how many are still pinned."""
    from pinui.tui.dialogs.confirm import about_rows

    number = len(entries)
    what = "it" if number == 1 else "them"
    return about_rows(
        "Forget",
        f"Forget {plural(number, 'row')} of the history?",
        f"This machine no longer knows about {what}. What is pinned stays pinned: revoke it first if it should go.",
        "Forget",
        [(title, "revoked" if entry.revoked_at else "pinned") for title, entry in zip(titles, entries, strict=True)],
    )


async def store_again(screen: PlaceScreen, entries: Sequence[Entry]) -> set[int]:
    """Undo a revoke of each. One that fails doesn't stop the rest; the ids of the others come back."""
    done: list[Entry] = []
    failure: Exception | None = None
    with screen.app.busy("storing again …") as say:
        for number, entry in enumerate(entries, 1):
            say(f"storing {number} of {len(entries)} again …" if len(entries) > 1 else "storing it again …")
            try:
                await screen.workspace.store_again(entry)
            except Exception as error:  # noqa: BLE001  its reason is told
                failure = failure or error
            else:
                done.append(entry)
    if failure is not None:
        screen.app.tell_error(failure)
    if done:
        screen.app.tell(f"Stored again: {title_of(done[0]) if len(done) == 1 else plural(len(done), 'pin')}")
    return {entry.id for entry in done}


async def verify(screen: PlaceScreen, ids: Sequence[int]) -> None:
    """Check each pin by its CID. A cancel stops it. The history keeps the verdicts, and the list shows them."""
    verdicts: Counter[str] = Counter()
    failure: tuple[Entry, Exception] | None = None
    wanted = len(ids)
    try:
        with screen.app.busy("verifying …") as say:
            for start in range(0, len(ids), PAGE):
                some = ids[start : start + PAGE]
                entries = await screen.workspace.history.entries(some)
                wanted -= len(some) - len(entries)  # rows that were forgotten meanwhile
                for entry in entries:
                    if screen.workspace.profile.name != entry.profile:
                        return  # another profile came into use
                    number = verdicts.total() + 1
                    say(f"verifying {count(number)} of {count(wanted)}" if wanted > 1 else "verifying …")
                    try:
                        verdicts[await screen.workspace.verify(entry.cid) or "not checked"] += 1
                    except Exception as error:  # noqa: BLE001  the first reason is told, the others are counted
                        failure = failure or (entry, error)
                        verdicts[error.verification if isinstance(error, IntegrityError) else "could not be read"] += 1
    finally:
        if screen.app.is_running:
            screen.reload()
            _tell_verdicts(screen, verdicts, failure, wanted)


def _tell_verdicts(
    screen: PlaceScreen, verdicts: Counter[str], failure: tuple[Entry, Exception] | None, wanted: int
) -> None:
    """The report on pins that were verified."""
    left = wanted - verdicts.total()
    if wanted == 1 and failure is not None:
        screen.app.tell_error(failure[1])
        return
    if wanted == 1 and (verdict := next(iter(verdicts), "")) in VERDICTS:
        _, _, word, why = VERDICTS[verdict]
        screen.app.tell(f"{word.capitalize()}: {why}.", warning=verdict != "verified")
        return
    words = {name: word for name, (_, _, word, _) in VERDICTS.items()} | {"mismatch": "mismatched"}
    facts = [f"{count(number)} {words.get(verdict, verdict)}" for verdict, number in verdicts.items()]
    facts += [f"{count(left)} left"] if left else []
    told = f"{'Stopped: ' if left else ''}{', '.join(facts)}."
    if failure is not None:
        entry, error = failure
        screen.app.tell_error(WorkspaceError(f"{told} {_short_title(entry)}: {sentence(error)}"))
    elif facts:
        screen.app.tell(told)


async def read_in_pager(screen: PlaceScreen, address: str) -> None:
    """Show all of a file in $PAGER."""
    with scratch_folder() as folder:
        with screen.app.busy("fetching …"):
            path = await screen.workspace.download(address, folder / "content")
        if path.is_dir():
            screen.app.tell(f"This is a folder: {screen.app.key('detail.into')} walks into it.", warning=True)
            return
        # Left to itself, less shows control characters as ^[ and never obeys them.
        await run_program(screen.app, ("PAGER",), "less", path)
