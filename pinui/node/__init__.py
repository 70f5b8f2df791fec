"""A pinning service and gateway on this machine: `async with Node(folder) as node:`.

server       `Node`: its thread, socket and lifetime        api, wire       the pinning API and its bodies
files_api    the hosted service's newer API, /v3/…          tus, grants     uploads in pieces, and by signed URLs
by_cid       pins by CID, and their queue                   remote, cars    content of others, verified
gateway      `/ipfs/…`: files, folder pages, blocks, CARs   uploads, body   request bodies as streams
sending      content on its way, within bounded memory      workers         threads for work that blocks
store        the data folder: CARs, crash safety            index           the pins and blocks in it (SQLite)
recovery     an index made again from the CARs              draft, lock     pins being written, and their owners
trees        the content of a pin, and copies of parts      conditions      formats, ranges and conditions
guard        Host, Origin, token, rate                      connections     limits on connections
keyvalues    filters on the keyvalues of pins               command         the verb `pinui node`
"""

from __future__ import annotations

from pinui.node.server import Node, NodeError, RequestLine

__all__ = ["Node", "NodeError", "RequestLine"]
