"""`pinui cid`: the CIDs that files would get, without sending them."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pinui.cli.errors import UsageError, VerbError
from pinui.cli.files import files_in, folder_rules, say_left_out
from pinui.workspace.paths import Paths
from pinui.workspace.profiles import Profiles

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from pinui.cli.console import Console

__all__ = ["cid"]


def cid(options: Namespace, console: Console) -> int:
    """Print the CID that each path would get, for each common way to cut files into blocks. Nothing is sent."""
    from pinui.sdk.errors import PinuiError

    if options.paths.count("-") > 1:
        raise UsageError("There is only one stdin.")
    keeps_empty = Profiles(Paths.find().config, chosen=options.profile).current.keeps_empty_folders
    failed = 0
    for path in _paths(options, console):
        try:
            if isinstance(path, VerbError):
                raise path
            size, cids = _cids(path, options, console, empty_folders=keeps_empty)
        except (OSError, PinuiError, VerbError) as error:
            console.report(error, about=str(path))
            failed += 1
            continue
        if console.as_json:
            console.out_json({"path": path, "size": size, "cids": cids})
        else:
            for profile, found in cids.items():
                console.row(found, path, profile)
    return 1 if failed else 0


def _paths(options: Namespace, console: Console) -> Iterator[str | VerbError]:
    for path in options.paths:
        if options.recursive and path != "-" and Path(path).is_dir():
            yield from asyncio.run(files_in(path, options, console))
        else:
            yield path


def _cids(path: str, options: Namespace, console: Console, *, empty_folders: bool) -> tuple[int, dict[str, str]]:
    """The size of a file, a folder or stdin, and its CIDs by the name of the way to cut files; read once."""
    from pinui.ipfs.errors import ContentAddressError
    from pinui.ipfs.importer import PROFILES
    from pinui.sdk.errors import PinuiError
    from pinui.sdk.writing.prediction import predict_source
    from pinui.sdk.writing.sources import open_source

    file = sys.stdin.buffer if path == "-" else Path(path)
    source = open_source(file, folder_rules(options), empty_folders=empty_folders)
    if source.left_out is not None:
        say_left_out(console, path, source.left_out)
    progressed = console.bars().watch(path)
    try:
        found = predict_source(source, PROFILES, progressed)
        return source.size, {name: str(predicted) for name, predicted in found.items()}
    except ContentAddressError as error:
        reason = str(error)
    finally:
        source.close()
        console.end_bars()
    raise PinuiError(f"The CID can't be computed without an upload: {reason}", hint="An upload returns it.")
