"""A folder that one block can't hold: up to the node, looked at, and down again."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from pinui import Client
from pinui.node import Node
from tests.servers import settings_of


@pytest.mark.slow
async def test_a_folder_of_thousands_goes_up_and_comes_down_proven(tmp_path: Path) -> None:
    names = [f"{'a picture of the sea, ' * 3}{number:04}.txt" for number in range(3000)]
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in names:
        (folder / name).write_text(name)
    async with Node(tmp_path / "node") as node:
        async with await Client.init(**settings_of(node, verify="require")) as client:
            record = await client.upload(folder)
            assert record.verification == "verified"
            assert (await client.download(f"{record.cid}/{names[42]}")).data == names[42].encode()
            peek = await client.peek(record.cid, limit=1000)
            assert [entry.name for entry in peek.entries or ()] == names, "in the order of names, not of hashes"
            verdicts: list[str | None] = []
            back = await client.download(record.cid, to=tmp_path / "back", on_verdict=verdicts.append)
            assert verdicts == ["verified"]
            assert {path.name: path.read_text() for path in back.iterdir()} == {name: name for name in names}
        async with httpx.AsyncClient(trust_env=False) as browser:
            page = (await browser.get(f"{node.gateway_url}/{record.cid}/", timeout=60)).text
            assert [int(number) for number in re.findall(r">[^<>]*, (\d{4})\.txt</a>", page)] == [*range(3000)]
