"""Content-addressed storage on IPFS: JSON, files and messages, through a pinning service.

>>> from pinui import Client
>>> async with await Client.init(**settings) as client:  # provider_token=…, for the hosted service
...     record = await client.store({"hello": "world"})
...     await client.retrieve(record.cid)
{'hello': 'world'}

Client            store, retrieve, upload, download, send, receive, revoke, and the pins of an account
ClientConfig      the service, its token and addresses, retries, limits, verification
PinuiError        every failure: `message` says what happened, `hint` what to do
StorageProvider   the six methods of a store of your own, for `Client(provider)`

`pinui.sync` has the same client without `await`, `pinui.testing` a pinning service for tests, and `pinui.node` the
service itself. In the examples, `client` is a client, `cid` names a stored file that holds “hello”, `folder` is an
empty folder, and `node` a `pinui.testing.PinningNode`, with the client's `settings`.

Callbacks and types of arguments:

>>> def on_progress(done: int, total: int | None) -> None:  # OnProgress
...     print(f"{done} of {total} bytes")
>>> verdicts: list[Verification | None] = []  # "verified", "unverifiable" or "mismatch"
>>> async with await Client.init(**settings) as client:
...     blob = await client.download(cid, on_progress=on_progress, on_verdict=verdicts.append)  # OnVerdict
5 of 5 bytes
>>> verdicts
['verified']
>>> files: list[Uploadable] = [b"bytes", "a/path", blob]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pinui.version import __version__

if TYPE_CHECKING:
    from pinui.sdk.client import Client
    from pinui.sdk.errors import (
        ContentError,
        IntegrityError,
        InvalidCID,
        NetworkError,
        NetworkTimeout,
        PinuiError,
        ProviderError,
        RateLimited,
        SerializationError,
        SourceChanged,
        Unsupported,
    )
    from pinui.sdk.models import (
        Blob,
        ClientConfig,
        ClientMessage,
        ClientRecord,
        FolderItem,
        GatewayStatus,
        LeftOut,
        OnVerdict,
        Peek,
        PeerStatus,
        Pin,
        Pinned,
        Resume,
        StoreOptions,
        Timeouts,
        Totals,
        Verification,
    )
    from pinui.sdk.provider import ContentStream, StorageProvider
    from pinui.sdk.providers.cluster import ClusterProvider
    from pinui.sdk.providers.kubo import KuboProvider
    from pinui.sdk.providers.pinning import PinProvider
    from pinui.sdk.providers.psa import PsaProvider
    from pinui.sdk.secret import Secret
    from pinui.sdk.transport.http import OnProgress
    from pinui.sdk.writing.sources import Uploadable, UploadSource

__all__ = [
    "Blob",
    "Client",
    "ClientConfig",
    "ClientMessage",
    "ClientRecord",
    "ClusterProvider",
    "ContentError",
    "ContentStream",
    "FolderItem",
    "GatewayStatus",
    "IntegrityError",
    "InvalidCID",
    "KuboProvider",
    "LeftOut",
    "NetworkError",
    "NetworkTimeout",
    "OnProgress",
    "OnVerdict",
    "Peek",
    "PeerStatus",
    "Pin",
    "PinProvider",
    "Pinned",
    "PinuiError",
    "ProviderError",
    "PsaProvider",
    "RateLimited",
    "Resume",
    "Secret",
    "SerializationError",
    "SourceChanged",
    "StorageProvider",
    "StoreOptions",
    "Timeouts",
    "Totals",
    "Unsupported",
    "UploadSource",
    "Uploadable",
    "Verification",
    "__version__",
]

# The module of each public name: a name is imported on first use, so `pinui --version` loads none of them.
_HOMES = {
    "Client": "client",
    "ClusterProvider": "providers.cluster",
    "KuboProvider": "providers.kubo",
    "OnProgress": "transport.http",
    "PinProvider": "providers.pinning",
    "PsaProvider": "providers.psa",
    "Secret": "secret",
    **dict.fromkeys(["ContentStream", "StorageProvider"], "provider"),
    **dict.fromkeys(["UploadSource", "Uploadable"], "writing.sources"),
    **dict.fromkeys(
        [
            "ContentError",
            "IntegrityError",
            "InvalidCID",
            "NetworkError",
            "NetworkTimeout",
            "PinuiError",
            "ProviderError",
            "RateLimited",
            "SerializationError",
            "SourceChanged",
            "Unsupported",
        ],
        "errors",
    ),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'pinui' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"pinui.sdk.{_HOMES.get(name, 'models')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
