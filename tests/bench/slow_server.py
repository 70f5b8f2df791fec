"""A pinning service 20 ms away, which answers the CID that it is given. Prints its URL."""

from __future__ import annotations

import asyncio
import socket
import sys

from aiohttp import web

LATENCY = 0.020


async def pin(request: web.Request) -> web.Response:
    await request.read()
    await asyncio.sleep(LATENCY)
    return web.json_response({"IpfsHash": sys.argv[1]})


async def main() -> None:
    app = web.Application()
    app.router.add_post("/pinning/pinJSONToIPFS", pin)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    await web.SockSite(runner, listener).start()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
