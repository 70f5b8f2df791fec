"""`pinui store` and `pinui retrieve`: JSON documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pinui.cli.errors import VerbError
from pinui.cli.grammar import QUOTES
from pinui.cli.running import run
from pinui.cli.stdin import read_argument, read_cid, typed_bytes

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.sdk.models import Verification

__all__ = ["retrieve", "store"]


def store(options: Namespace, console: Console) -> int:
    """Store a JSON document and print its CID."""
    document = _read_document(options.document)
    entry = run(options, console, lambda workspace: workspace.store(document, name=options.name))
    console.result({**entry.to_json(), "data": document}, entry.cid)
    return 0


def retrieve(options: Namespace, console: Console) -> int:
    """Print a JSON document: on one line for a pipe, indented for a person; with --json, the verdict beside it."""
    address = read_cid(options.cid)
    verdicts: list[Verification | None] = []
    document = run(options, console, lambda workspace: workspace.retrieve(address, on_verdict=verdicts.append))
    verdict = verdicts[-1] if verdicts else None
    if console.as_json:
        from pinui.sdk.address import Address

        console.out_json({"cid": str(Address.parse(address)), "data": document, "verification": verdict})
    elif console.data_on_terminal:
        console.out(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        from pinui.ipfs.jsontext import NotJSON, stringify

        try:
            console.out(stringify(document))
        except NotJSON:  # integers from elsewhere may be larger than JavaScript's
            console.out(json.dumps(document, separators=(",", ":")))  # escaped, so that odd text stays what it is
    console.hint_unverifiable(verdict)
    return 0


def _read_document(given: str) -> Any:
    from pinui.ipfs.jsontext import NotJSON, parse

    if not given.strip():
        raise VerbError("There is no JSON to store.", hint="""Try: pinui store '{"hello":"world"}'""")
    data = read_argument(given, "JSON")
    try:
        return parse(typed_bytes(given) if data is None else data)
    except NotJSON as error:
        hint = None
        if data is None:
            hint = QUOTES
            if len(given) < 4096 and "\0" not in given and Path(given).is_file():
                hint = f"To store the JSON in that file: pinui store @{given}"
        where = "" if data is None else " on stdin" if given == "-" else f" in {given[1:]}"
        raise VerbError(f"This is not JSON{where}: {error.reason}.", hint=hint) from None
