"""`pinui history`: list, export, import, note, forget. It loads no event loop: it should feel like `ls`."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pinui.cli.errors import UsageError, VerbError
from pinui.cli.figures import fitted
from pinui.cli.stdin import checked_filter, read_cids, typed_text
from pinui.figures import age, iso_time, plural, short_cid, size
from pinui.workspace.history.pinned import both_versions
from pinui.workspace.history.store import HistoryFile
from pinui.workspace.paths import Paths
from pinui.workspace.rows import Entry, Query
from pinui.workspace.text import clean_line, encodable

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from pinui.cli.console import Console

__all__ = ["history"]

PAGE = 200
ON_TERMINAL = 50
DIM, STRUCK, PLAIN = "\x1b[2m", "\x1b[9m", "\x1b[0m"


def history(options: Namespace, console: Console) -> int:
    """List the history, or run one of its subcommands."""
    if options.profile is not None:
        typed_text(options.profile, "profile")
    with HistoryFile(Paths.find().history) as file:
        if options.part == "export":
            return _export(file, options, console)
        if options.part == "import":
            return _import(file, options, console)
        if options.part == "note":
            return _note(file, options, console)
        if options.part == "forget":
            return _forget(file, options, console)
        return _list(file, options, console)


def _query(options: Namespace) -> Query:
    checked_filter(options.filter)
    return Query(
        text=encodable(options.filter),  # as a name that is no text is kept
        kind=options.kind,
        direction=options.direction,
        profile=options.profile,
        revoked=options.revoked,
    )


def _list(file: HistoryFile, options: Namespace, console: Console) -> int:
    query = _query(options)
    if not file.path.exists():
        console.hint("""Nothing was stored yet. Try: pinui store '{"hello":"world"}'""")
        return 0
    limit = options.limit
    if limit is None and console.data_on_terminal:
        limit = ON_TERMINAL
    shown = 0
    for entry in _rows(file, query, limit):
        shown += 1
        if console.as_json:
            console.out_json(entry.to_json())
        elif console.data_on_terminal:
            console.styled(_terminal_line(entry, shutil.get_terminal_size().columns, colours=console.colours))
        else:
            console.row(*_fields(entry))
    if not shown and limit != 0:
        console.hint("Nothing matches." if query != Query() else "The history is empty.")
    elif limit == shown and options.limit is None and (rest := file.count(query) - shown) > 0:
        console.hint(f"… and {rest:,} more: --limit {shown + rest} shows them, --filter finds them.")
    return 0


def _rows(file: HistoryFile, query: Query, limit: int | None) -> Iterator[Entry]:
    last: Entry | None = None
    left = limit
    while left is None or left > 0:
        size = PAGE if left is None else min(PAGE, left)
        page = file.page(query, after=last, limit=size)
        yield from page
        if len(page) < size:
            return
        last = page[-1]
        left = None if left is None else left - len(page)


def _fields(entry: Entry) -> tuple[str, ...]:
    """A row for a pipe, with the complete CID first."""
    state = _lost(entry) or ("received" if entry.direction == "received" else "pinned")
    title = " ".join(entry.title.split())
    return entry.cid, iso_time(entry.timestamp), entry.kind, str(entry.size), state, entry.profile, title


def _lost(entry: Entry) -> str:
    """Why something is no longer pinned; empty if it is."""
    return "revoked" if entry.revoked_at is not None else "gone" if entry.is_gone else ""


def _terminal_line(entry: Entry, width: int, *, colours: bool) -> str:
    arrow = "←" if entry.direction == "received" else "→" if entry.kind == "message" else " "
    cid = clean_line(entry.cid) if width >= 120 else short_cid(clean_line(entry.cid))
    when = age(entry.timestamp, time.time())
    lost = _lost(entry)
    left = f"{when:>6}  {entry.kind:<7} {arrow} {size(entry.bytes):>8}  {cid:<12}  "
    mark = lost and f"{lost}  "
    to = f"{clean_line(entry.recipient)}: " if entry.recipient else ""
    room = max(8, width - len(left) - len(mark) - 1)
    title = fitted(to + clean_line(entry.title), room)
    if not colours:
        return f"{left}{mark}{title}"
    return f"{DIM}{left}{mark}{STRUCK}{title}{PLAIN}" if lost else f"{DIM}{left}{PLAIN}{title}"


def _export(file: HistoryFile, options: Namespace, console: Console) -> int:
    from pinui.workspace.history.lines import export_lines

    path = Path(options.file)
    with ExitStack() as opened:
        if options.file == "-":
            target: Path | IO[bytes] = console.data
        elif path.is_dir():
            raise VerbError(f"{path} is a folder.", hint="Give the name of a file.")
        elif path.exists() and not path.is_file():  # /dev/null, a named pipe: nothing to replace by a file
            target = opened.enter_context(path.open("wb"))
        elif path.exists() and not options.force:
            raise VerbError(f"{path} exists already.", hint="Add --force to overwrite it.")
        else:
            target = path.resolve()  # a link stays a link
        count = export_lines(file, target, _query(options))
    if console.as_json and options.file != "-":
        console.out_json({"exported": count, "path": options.file})
    else:
        console.say(f"{plural(count, 'row')} exported.")
    return 0


def _import(file: HistoryFile, options: Namespace, console: Console) -> int:
    from pinui.workspace.history.lines import import_lines

    source = sys.stdin.buffer if options.file == "-" else Path(options.file)
    report = import_lines(file, source, profile=options.profile or "local")
    for number, reason in report.bad:
        console.fail(f"Line {number} was left out: {reason}.")
    bad = [{"line": number, "reason": reason} for number, reason in report.bad]
    console.done(
        {"added": report.added, "unchanged": report.unchanged, "bad": bad},
        f"{plural(report.added, 'row')} added, {report.unchanged:,} were there already.",
    )
    return 1 if report.bad else 0


def _note(file: HistoryFile, options: Namespace, console: Console) -> int:
    note = typed_text(options.text, "note")
    count = sum(file.annotate(cid, options.profile, note) for cid in read_cids([options.cid]))
    if not count:
        raise VerbError("No row of the history has this CID.")
    console.done({"noted": count}, f"{plural(count, 'row')} {'noted' if note else 'without a note now'}.")
    return 0


def _forget(file: HistoryFile, options: Namespace, console: Console) -> int:
    query = _query(options)
    if options.all == bool(query != Query() or options.cids):
        raise UsageError("Say which rows to forget.", hint="CIDs, --filter, --kind, --direction, --revoked; or --all.")
    ids = file.ids(query)
    if options.cids:
        wanted = {spelling for cid in read_cids(options.cids) for spelling in both_versions(cid)}
        ids = [entry.id for entry in file.entries(ids) if entry.cid in wanted]
    if not ids:
        console.say("No row matches; nothing was forgotten.")
        return 0
    if not options.yes:
        if "-" in options.cids or not sys.stdin.isatty():
            raise UsageError(
                "Forgetting has to be confirmed, and stdin is no terminal.", hint="Add --yes if you are sure."
            )
        if not console.confirm(f"Forget {plural(len(ids), 'row')} of the history for good? Nothing is unpinned by it."):
            console.say("Nothing was forgotten.")
            return 1
    count = file.forget(ids)
    console.done({"forgotten": count}, f"{plural(count, 'row')} forgotten.")
    return 0
