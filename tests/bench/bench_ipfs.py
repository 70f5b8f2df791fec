"""Content addressing beside the hash alone: importing a file, verifying and exporting a CAR."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pinui.ipfs.car import encode_header, encode_section_head
from pinui.ipfs.exporter import walk_blocks
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, UNIXFS_2025, Importer, ImportProfile
from pinui.ipfs.verifier import CarVerifier, FileBytes
from tests.bench.measure import table

SIZE = 256 << 20
PIECE = 1 << 20
IMPORT_GOAL = 0.9
VERIFY_GOAL = 0.7


def pieces(path: Path):
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(PIECE):
            yield piece


def hash_alone(path: Path) -> None:
    state = hashlib.sha256()
    for piece in pieces(path):
        state.update(piece)


def import_file(path: Path, profile: ImportProfile) -> None:
    importer = Importer(profile)
    for piece in pieces(path):
        importer.feed(piece)
    importer.finish()


def write_car(path: Path, car: Path, profile: ImportProfile) -> str:
    """The file as a CAR, parents first, as a gateway sends it."""
    importer = Importer(profile)
    places: dict[bytes, bytes] = {}
    for piece in pieces(path):
        places |= {block.cid.multihash: b"".join(block.parts) for block in importer.feed(piece)}
    rest, root, _ = importer.finish()
    places |= {block.cid.multihash: b"".join(block.parts) for block in rest}
    with open(car, "wb") as file:
        file.write(encode_header([root]))
        for cid, data in walk_blocks(root, lambda cid: places[cid.multihash]):
            file.write(encode_section_head(cid, len(data)))
            file.write(data)
    return str(root)


def verify_and_export(car: Path, root: str) -> None:
    from pinui.ipfs.cid import Cid

    verifier = CarVerifier(Cid.parse(root))
    with open(os.devnull, "wb", buffering=0) as out:
        for piece in pieces(car):
            for event in verifier.feed(piece):
                if isinstance(event, FileBytes):
                    out.write(event.data)
    list(verifier.finish())


def seconds(call: Callable[[], object], times: int = 5) -> float:
    taken: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data"
        with open(path, "wb") as file:
            for _ in range(SIZE >> 20):
                file.write(os.urandom(1 << 20))
        alone = seconds(lambda: hash_alone(path))
        rows: list[list[str]] = [["read + sha-256 alone", f"{SIZE / alone / 1e6:.0f}", "1.00", ""]]
        missed: list[str] = []

        def add(name: str, taken: float, goal: float) -> None:
            ratio = alone / taken
            rows.append([name, f"{SIZE / taken / 1e6:.0f}", f"{ratio:.2f}", f"≥ {goal}"])
            if ratio < goal:
                missed.append(name)

        for profile in (KUBO_V0, KUBO_V1, UNIXFS_2025):
            add(f"import, {profile.name}", seconds(lambda chosen=profile: import_file(path, chosen)), IMPORT_GOAL)
        for profile in (KUBO_V0, KUBO_V1):
            car = Path(folder) / "data.car"
            root = write_car(path, car, profile)
            taken = seconds(lambda archive=car, cid=root: verify_and_export(archive, cid))
            add(f"verify and export a CAR, {profile.name}", taken, VERIFY_GOAL)
        table(["256 MiB", "MB/s", "ratio", "goal"], rows)
        if missed:
            sys.exit(f"below the goal: {', '.join(missed)}")


if __name__ == "__main__":
    main()
