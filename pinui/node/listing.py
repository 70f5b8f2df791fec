"""The pages that the gateway shows for folders and values. Text in them is remote: escaped, never markup."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, cast
from urllib.parse import quote

from pinui.figures import plural, size
from pinui.ipfs.cid import Cid
from pinui.ipfs.dagpb import Link
from pinui.ipfs.errors import ContentAddressError
from pinui.ipfs.exporter import BlockLookup, load
from pinui.ipfs.unixfs import FilePiece, Folder, Shard

__all__ = ["Row", "describe", "folder_page", "value_page"]

# Each described entry costs a read.
LOOKED_AT = 1000

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #6b7686; --line: #e3e7ed; --paper: #fff; --accent: #0b6e63 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9f0; --soft: #8b97a8; --line: #29313d; --paper: #12161c; --accent: #5fd3c4 } }
body { margin: 0 auto; max-width: 60rem; padding: 3rem 1.5rem; background: var(--paper); color: var(--ink);
  font: 15px/1.6 system-ui, sans-serif }
h1 { font-size: 1.15rem; font-weight: 600; margin: 0 0 .2rem; overflow-wrap: anywhere }
p { color: var(--soft); margin: 0 0 1.8rem; font-size: .85rem; overflow-wrap: anywhere }
a { color: var(--accent); text-decoration: none } a:hover { text-decoration: underline }
table { border-collapse: collapse; width: 100% }
th { text-align: left; font-weight: 500; color: var(--soft); font-size: .8rem }
td, th { border-bottom: 1px solid var(--line); padding: .45rem .8rem .45rem 0; vertical-align: baseline }
td:first-child { overflow-wrap: anywhere }
.size { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
.cid, code { font-family: ui-monospace, monospace } .cid { font-size: .75rem; color: var(--soft) }
.cid a { color: inherit } .cid { max-width: 16rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One entry of the folder, as far as it is known."""

    name: str
    cid: Cid
    size: int | None
    is_folder: bool = False


def describe(entries: Iterable[Link], lookup: BlockLookup) -> list[Row]:
    """Kind and size of each entry; of very many, only what the folder itself says."""
    rows: list[Row] = []
    for number, link in enumerate(entries):
        name, size = link.name or "", link.size
        is_folder = False
        if number < LOOKED_AT:
            try:
                piece = load(link.cid, lookup)
            except ContentAddressError:
                pass  # it is listed anyway
            else:
                is_folder = isinstance(piece, (Folder, Shard))
                size = piece.size if isinstance(piece, FilePiece) else size
        rows.append(Row(name, link.cid, size, is_folder))
    return sorted(rows, key=lambda row: (not row.is_folder, row.name))


def folder_page(root: Cid, path: tuple[str, ...], cid: Cid, title: str | None, rows: list[Row]) -> str:
    """The whole page; `title` is the name of the pin."""
    first = escape(title) if title else f"<code>{root}</code>"
    crumbs = [f'<a href="/ipfs/{root}/">{first}</a>']
    for depth, name in enumerate(path, 1):
        href = "/".join(quote(part, safe="") for part in path[:depth])
        crumbs.append(f'<a href="/ipfs/{root}/{href}/">{escape(name)}</a>')
    above = '<tr><td><a href="../">..</a></td><td></td><td></td></tr>\n' if path else ""
    lines = above + "\n".join(_line(row) for row in rows)
    count = plural(len(rows), "entry", "entries")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(path[-1] if path else title or str(root))}</title><style>{STYLE}</style></head>
<body><h1>{" / ".join(crumbs)}</h1>
<p>{count} · <code>{cid}</code> · <a href="/ipfs/{cid}?format=car">download as CAR</a></p>
<table><thead><tr><th>Name</th><th class="size">Size</th><th>CID</th></tr></thead>
<tbody>
{lines}
</tbody></table></body></html>
"""


def value_page(cid: Cid, value: Any) -> str:
    """A page that shows the value of a dag-cbor or dag-json block; its links can be followed."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{cid}</title><style>{STYLE}</style></head>
<body><h1><code>{cid}</code></h1>
<p><a href="/ipfs/{cid}?format=raw">download the block</a> · <a href="/ipfs/{cid}?format=car">download as CAR</a></p>
<pre><code>{_shown(value, "")}</code></pre></body></html>
"""


def _shown(value: Any, indent: str) -> str:
    inner = f"{indent}  "
    match value:
        case Cid():
            return f'<a href="/ipfs/{value}">{value}</a>'
        case dict():
            members = cast("dict[str, Any]", value).items()
            lines = [f"{inner}{escape(json.dumps(name))}: {_shown(member, inner)}" for name, member in members]
            return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"
        case list():
            lines = [f"{inner}{_shown(member, inner)}" for member in cast("list[Any]", value)]
            return "[\n" + ",\n".join(lines) + f"\n{indent}]" if lines else "[]"
        case bytes():
            return f"{len(value)} bytes: {value[:64].hex()}{'…' if len(value) > 64 else ''}"
        case _:
            return escape(json.dumps(value, ensure_ascii=False))


def _line(row: Row) -> str:
    slash = "/" if row.is_folder else ""
    shown = "" if row.size is None else size(row.size)
    return (
        f'<tr><td><a href="./{quote(row.name, safe="")}{slash}">{escape(row.name) or "(no name)"}{slash}</a></td>'
        f'<td class="size">{shown}</td>'
        f'<td class="cid"><a href="/ipfs/{row.cid}" title="{row.cid}">{row.cid}</a></td></tr>'
    )
