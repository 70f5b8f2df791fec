"""The public vectors of the IPFS projects, read as their reference implementations read them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from pinui.ipfs.car import CarReader
from pinui.ipfs.cid import RAW, Cid
from pinui.ipfs.dagpb import decode_node, encode_node
from pinui.ipfs.errors import ContentAddressError, MalformedContent, MissingBlock, UnsupportedContent
from pinui.ipfs.exporter import list_folder, load, read_file, resolve
from pinui.ipfs.multihash import verify_block
from pinui.ipfs.unixfs import FilePiece, Folder, Shard, Symlink
from tests.unit.trees import Store
from tests.unit.vectors import VECTORS


def names(pattern: str) -> list[str]:
    return sorted(path.name for path in VECTORS.glob(pattern))


@pytest.mark.parametrize("name", names("car/gocar--bad*.car"))
def test_malformed_archives_are_refused(name: str) -> None:
    with pytest.raises(ContentAddressError, match="too large"):
        list(CarReader().feed((VECTORS / "car" / name).read_bytes()))


@pytest.mark.parametrize("name", names("car/gwc--*.car"))
def test_archives_hold_what_the_reference_stack_reads(name: str) -> None:
    wanted: dict[str, Any] = json.loads((VECTORS / "expected.json").read_text())[name]
    store, roots, count = Store.from_car((VECTORS / "car" / name).read_bytes())
    assert [str(root) for root in roots] == wanted["roots"]
    assert count == wanted["blocks"]
    seen = {path: describe(cid, store) for path, cid in walk(roots[0], str(roots[0]), store)}
    for entry in wanted["entries"]:
        assert seen.pop(entry["path"]) == told(entry), entry["path"]
    assert not seen


def told(entry: dict[str, Any]) -> dict[str, Any]:
    kept = {key: entry[key] for key in ("cid", "type", "bytes", "sha256") if key in entry}
    return kept | ({"missing": entry["error"].removeprefix("missing block ")} if "error" in entry else {})


def walk(cid: Cid, path: str, store: Store) -> list[tuple[str, Cid]]:
    found = [(path, cid)]
    try:
        entries = list(list_folder(cid, store))
    except UnsupportedContent:
        return found
    for entry in entries:
        found += walk(entry.cid, f"{path}/{entry.name}", store)
    for entry in entries[:20]:
        assert resolve(cid, [entry.name or ""], store) == entry.cid
    assert resolve(cid, ["no such name"], store) is None
    return found


def describe(cid: Cid, store: Store) -> dict[str, Any]:
    told: dict[str, Any] = {"cid": str(cid)}
    try:
        piece = load(cid, store)
    except UnsupportedContent:
        return told | {"type": "object"}
    match piece:
        case Folder():
            return told | {"type": "directory"}
        case Shard():
            return told | {"type": "hamt-sharded-directory"}
        case Symlink():
            return told | {"type": "symlink"}
        case FilePiece():
            told["type"] = "raw" if cid.codec == RAW else "file"
    try:
        content = b"".join(read_file(cid, store))
    except MissingBlock as error:
        return told | {"missing": str(error).split()[1]}
    return told | {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


@pytest.mark.parametrize("name", names("dag-pb/*.dag-pb"))
def test_blocks_are_read_and_written_back_to_the_byte(name: str) -> None:
    data = (VECTORS / "dag-pb" / name).read_bytes()
    verify_block(Cid.parse(name.removesuffix(".dag-pb").rpartition("--")[2]), data)
    node = decode_node(data)
    assert encode_node(node.links, None if node.data is None else bytes(node.data)) == data


def test_malformed_blocks_are_refused() -> None:
    cases = json.loads((VECTORS / "dag-pb" / "codec-fixtures--negative-dag-pb-decode-edges.json").read_text())
    assert len(cases) == 9
    for case in cases:
        with pytest.raises(MalformedContent):
            decode_node(bytes.fromhex(case["hex"]))
