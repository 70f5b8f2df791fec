"""What the contract says of credentials, on the real node."""

from __future__ import annotations

from pathlib import Path

import pytest

from pinui import Client, NetworkError, ProviderError
from pinui.node import Node
from tests.servers import settings_of


async def test_a_wrong_token_is_refused_everywhere_but_at_the_gateway(tmp_path: Path) -> None:
    async with Node(tmp_path) as node:
        async with await Client.init(**settings_of(node)) as good:
            record = await good.store({"public": True})
        async with await Client.init(**settings_of(node, provider_token="wrong")) as bad:
            for call in (bad.test_connection(), bad.store(1), bad.upload(b"x" * 2_000_000), bad.revoke(record.cid)):
                with pytest.raises(ProviderError, match=r"^HTTP error 401$") as caught:
                    await call
                assert caught.value.details
                assert caught.value.status == 401
            assert await bad.retrieve(record.cid) == {"public": True}


async def test_a_node_that_is_gone_is_a_network_error(tmp_path: Path) -> None:
    async with Node(tmp_path) as node:
        settings = settings_of(node, retries=0)
    async with await Client.init(**settings) as client:
        for call in (client.test_connection(), client.store(1), client.upload(b"x")):
            with pytest.raises(NetworkError, match="could not be reached"):
                await call


async def test_a_folder_round_trips_by_path(tmp_path: Path) -> None:
    (tmp_path / "album" / "sub").mkdir(parents=True)
    (tmp_path / "album" / "a b.txt").write_text("one")
    (tmp_path / "album" / "sub" / "ü.json").write_text('{"two": 2}')
    async with Node(tmp_path / "node") as node, await Client.init(**settings_of(node)) as client:
        record = await client.upload(tmp_path / "album")
        assert (await client.download(f"{record.cid}/a b.txt")).data == b"one"
        assert await client.retrieve(f"{record.cid}/sub/ü.json") == {"two": 2}
