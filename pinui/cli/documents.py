"""`pinui store` and `pinui retrieve`: JSON documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinui.cli.errors import VerbError
from pinui.cli.rows import entry_object
from pinui.cli.running import read_argument, run

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console

__all__ = ["retrieve", "store"]


def store(options: Namespace, console: Console) -> int:
    """Store a JSON document and print its CID."""
    document = _read_document(options.document)
    entry = run(options, console, lambda workspace: workspace.store(document, name=options.name))
    if console.as_json:
        console.out_json(entry_object(entry, data=document))
    else:
        console.out(entry.cid)
    return 0


def retrieve(options: Namespace, console: Console) -> int:
    """Print a JSON document: on one line for a pipe, indented for a person."""
    document = run(options, console, lambda workspace: workspace.retrieve(options.cid))
    if console.data_on_terminal and not console.as_json:
        console.out(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        from pinui.ipfs.jsontext import NotJSON, stringify

        try:
            console.out(stringify(document))
        except NotJSON:  # somebody else's integers may be larger than JavaScript's
            console.out(json.dumps(document, ensure_ascii=False, separators=(",", ":")))
    return 0


def _read_document(given: str) -> Any:
    from pinui.ipfs.jsontext import NotJSON, parse

    if not given.strip():
        raise VerbError("There is no JSON to store.", hint="""Try: pinui store '{"hello":"world"}'""")
    data = read_argument(given, "JSON")
    try:
        return parse(given if data is None else data)
    except NotJSON as error:
        hint = None
        if data is None:
            hint = """Put single quotes around JSON in a shell: pinui store '{"hello":"world"}'"""
            if len(given) < 4096 and "\0" not in given and Path(given).is_file():
                hint = f"To store the JSON in that file: pinui store @{given}"
        where = "" if data is None else " on stdin" if given == "-" else f" in {given[1:]}"
        raise VerbError(f"This is not JSON{where}: {error.reason}.", hint=hint) from None
