"""The README's SDK examples run as they stand, on the node."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pinui import Client, ClientMessage
from pinui.node import Node
from tests.servers import settings_of

README = Path(__file__).parents[2] / "README.md"


def examples() -> list[str]:
    section = README.read_text().split("\n## SDK\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


@pytest.mark.parametrize("number", [0, 2], ids=["async", "sync"])
async def test_the_first_example_is_a_program_and_the_one_without_await_is_too(tmp_path: Path, number: int) -> None:
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-c", examples()[number]], cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    assert output.decode() == "QmNrEidQrAbxx3FzxNt9E6qjEDZrtvzxUVh47BXm55Zuen {'hello': 'world'}\n"


async def test_the_tour_shows_every_operation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(examples()[1], names)  # our own README
    (tmp_path / "cat.png").write_bytes(b"meow")
    async with Node(tmp_path / "data") as node, await Client.init(**settings_of(node)) as client:
        value, blob, path, message = await names["tour"](client, tmp_path)
    assert value == {"hello": "world"}
    assert path.read_bytes() == blob.data == b"meow"
    assert isinstance(message, ClientMessage)
    assert (message.recipient_id, message.payload) == ("alice", "hello")
    assert "not pinned" in capsys.readouterr().out
