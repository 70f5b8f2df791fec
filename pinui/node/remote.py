"""Content from other gateways, as CARs. It is not trusted: the reader verifies every block."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator

import aiohttp

from pinui.ipfs.cid import Cid

__all__ = ["RemoteError", "check_gateway", "read_car"]

CAR = "application/vnd.ipld.car"
PIECE = 1024 * 1024
# A gateway that has to look for content takes its time; one that sends makes progress.
PATIENCE = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=120)


class RemoteError(Exception):
    """A gateway doesn't have the content, or can't be reached."""


def check_gateway(url: str) -> str:
    """The address of a gateway, which ends in /ipfs; `ValueError` is a sentence."""
    url = url.rstrip("/")
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"A gateway's address begins with https://, and {url!r} doesn't.")
    return url if url.endswith("/ipfs") else f"{url}/ipfs"


async def read_car(gateway: str, cid: Cid) -> AsyncGenerator[bytes]:
    """The CAR of a whole tree, as it arrives."""
    trusted = await asyncio.to_thread(ssl.create_default_context)  # honours SSL_CERT_FILE
    headers = {"Accept": f"{CAR};version=1"}
    try:
        async with (
            aiohttp.ClientSession(trust_env=True, timeout=PATIENCE) as session,
            session.get(f"{gateway}/{cid}?format=car", headers=headers, ssl=trusted) as answer,
        ):
            if answer.status != 200 or answer.content_type != CAR:
                raise RemoteError(f"{gateway} gives no CAR of {cid}")
            async for piece in answer.content.iter_chunked(PIECE):
                yield piece
    except (aiohttp.ClientError, TimeoutError) as error:
        raise RemoteError(f"{gateway} could not be read: {error}") from error
