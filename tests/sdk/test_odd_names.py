"""Names with signs that forms and other systems read in their own way: the node gets them as they are on disk."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pinui import Client
from pinui.node import Node
from tests.servers import settings_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")


@pytest.mark.parametrize(
    ("root", "name"),
    [
        ("album", "a\\b"),
        ("album", "a\\\\b"),
        ("album", "\\"),
        ("album", "\\\\host\\share"),
        ("album", "C:\\x"),
        ("album", 'said "\\"'),
        ("album", "a\\b/c\\"),
        ("C:\\album", "a\\b"),
        ("\\\\al\\bum", "a\\b"),
    ],
)
async def test_a_back_slash_is_a_sign_like_any_other(tmp_path: Path, root: str, name: str) -> None:
    file = tmp_path / root / name
    file.parent.mkdir(parents=True)
    file.write_bytes(b"content")
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as client:
        record = await client.upload(tmp_path / root)
        assert record.verification == "verified"
        entries = (await client.peek(record.cid, limit=0)).entries or ()
        assert [entry.name for entry in entries] == [name.split("/")[0]]
        (tmp_path / "out").mkdir()
        saved = await client.download(f"{record.cid}/{name}", to=tmp_path / "out")
        assert saved.read_bytes() == b"content"
        assert "\\" not in saved.name
        assert saved.parent == tmp_path / "out"
