"""A pinning service and gateway on this machine: `async with Node(folder) as node:`.

server       `Node`: its thread, socket and lifetime        api, wire       the pinning API and its bodies
files_api    the hosted service's newer API, /v3/…          tus, grants     uploads in pieces, and by signed URLs
by_cid       pins by CID, and their queue                   remote          content from other gateways
gateway      `/ipfs/…`: files, folder pages, blocks, CARs   uploads, body   request bodies as streams
sending      content on its way, within bounded memory      workers         threads for work that blocks
store        the data folder: CARs, crash safety            index           the pins and blocks in it (SQLite)
recovery     an index made again from the CARs              draft, lock     pins being written, and by whom
trees        what a pin contains, and copies of parts       conditions      what a reader asks for
guard        Host, Origin, token, rate                      connections     limits on connections
keyvalues    filters on the keyvalues of pins               command         what `pinui node` runs
"""

from __future__ import annotations

from pinui.node.server import Node, NodeError, RequestLine

__all__ = ["Node", "NodeError", "RequestLine"]
