"""The README's SDK example runs as it stands, on the node."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pinui import ClientMessage
from pinui.node import Node

README = Path(__file__).parents[2] / "README.md"


async def test_the_readmes_example_works(tmp_path: Path) -> None:
    section = README.read_text().split("## SDK")[1].split("\n## ")[0]
    example = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert example is not None
    names: dict[str, Any] = {}
    exec(example[1], names)  # our own README
    (tmp_path / "cat.png").write_bytes(b"meow")
    async with Node(tmp_path / "data") as node:
        value, path, message = await names["main"](node.token, node.api_url, node.gateway_url, str(tmp_path))
    assert value == {"hello": "world"}
    assert path.read_bytes() == b"meow"
    assert isinstance(message, ClientMessage)
    assert (message.recipient_id, message.payload) == ("alice", "hello")
