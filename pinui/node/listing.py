"""The page that the gateway shows for a folder. Names in it are remote text: escaped, never markup."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from pinui.ipfs.cid import Cid
from pinui.ipfs.dagpb import Link

__all__ = ["folder_page", "human_size"]

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
.cid, h1 a, p { font-family: ui-monospace, monospace } .cid { font-size: .75rem; color: var(--soft) }
.cid a { color: inherit } .cid { max-width: 16rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
"""


def folder_page(root: Cid, path: tuple[str, ...], cid: Cid, entries: list[Link]) -> str:
    """The whole page."""
    crumbs = [f'<a href="/ipfs/{root}/">{root}</a>']
    for depth, name in enumerate(path, 1):
        href = "/".join(quote(part, safe="") for part in path[:depth])
        crumbs.append(f'<a href="/ipfs/{root}/{href}/">{escape(name)}</a>')
    above = '<tr><td><a href="../">..</a></td><td></td><td></td></tr>\n' if path else ""
    rows = above + "\n".join(_row(link) for link in sorted(entries, key=lambda link: link.name or ""))
    count = f"{len(entries):,} {'entry' if len(entries) == 1 else 'entries'}"
    title = escape(path[-1] if path else str(root))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>{STYLE}</style></head>
<body><h1>{" / ".join(crumbs)}</h1>
<p>{count} · {cid} · <a href="/ipfs/{cid}?format=car">CAR</a></p>
<table><thead><tr><th>Name</th><th class="size">Size</th><th>CID</th></tr></thead>
<tbody>
{rows}
</tbody></table></body></html>
"""


def _row(link: Link) -> str:
    name = link.name or ""
    size = "" if link.size is None else human_size(link.size)
    text = escape(name) or "(no name)"
    return (
        f'<tr><td><a href="./{quote(name, safe="")}">{text}</a></td><td class="size">{size}</td>'
        f'<td class="cid"><a href="/ipfs/{link.cid}" title="{link.cid}">{link.cid}</a></td></tr>'
    )


def human_size(size: int) -> str:
    """A size for people."""
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError
