"""The SDK's values: configuration in, records, messages and blobs out."""

# No postponed annotations here: these classes say that they are pinui's, so that tools would look for names there.

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import wraps
from typing import Any, Generic, Literal, Protocol, Self, TypedDict, TypeVar, cast, get_args

from pinui.figures import plural
from pinui.sdk.secret import Secret
from pinui.sdk.traits import PINNING, TRAITS
from pinui.sdk.urls import check_base_url, is_pinata

__all__ = [
    "Blob",
    "ClientConfig",
    "ClientMessage",
    "ClientRecord",
    "ClientSettings",
    "Dialect",
    "FolderItem",
    "GatewayState",
    "GatewayStatus",
    "HttpTransport",
    "LeftOut",
    "OnDialect",
    "OnNotice",
    "OnVerdict",
    "OnWait",
    "Peek",
    "PeerState",
    "PeerStatus",
    "Pin",
    "PinStatus",
    "Pinned",
    "ProviderName",
    "Resume",
    "StoreOptions",
    "Timeouts",
    "Totals",
    "Verification",
    "VerifyMode",
    "check_replication",
    "hide_secrets",
]

T = TypeVar("T")

ProviderName = Literal["pinning", "provider_b", "provider_c", "kubo", "cluster", "psa"]
Dialect = Literal["pin", "pinata", "pinata-v3"]
VerifyMode = Literal["try", "require", "off"]
Verification = Literal["verified", "unverifiable", "mismatch"]
OnWait = Callable[[float], None]
"""Called with the seconds that are about to be waited."""
OnDialect = Callable[[Dialect], None]
"""Called with a dialect."""
OnNotice = Callable[[str], None]
"""Called with a sentence."""
OnVerdict = Callable[[Verification | None], None]
"""Called with the verdict; None if `verify` is off."""

MIB = 1024 * 1024
SECRETS = {"provider_token", "gateway_key"}
HEADER_TEXT = re.compile(r"[!-~]*")


class HttpTransport(Protocol):
    """An `httpx.AsyncBaseTransport`; named here so that one module alone imports httpx."""

    async def handle_async_request(self, request: Any, /) -> Any: ...
    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Time limits, in seconds.

    >>> ClientConfig(timeout=Timeouts(connect=5, idle=30)).timeout.total
    300.0
    """

    connect: float = 10.0
    """Time to connect."""
    idle: float = 60.0
    """Time without noticeable progress, at any point."""
    total: float = 300.0
    """For one attempt at a small call (JSON, unpin, test). Files take as long as they make progress."""

    def __post_init__(self) -> None:
        if not all(_is_number(value) and value > 0 for value in (self.connect, self.idle, self.total)):
            raise ValueError("timeout must be a number of seconds above 0")

    @classmethod
    def of(cls, value: "float | Timeouts") -> "Timeouts":
        """A plain number is the limit for everything that has one."""
        if isinstance(value, Timeouts):
            return value
        return cls(connect=min(value, 10.0) if _is_number(value) else value, idle=value, total=value)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def hide_secrets(settings: dict[str, Any]) -> None:
    """Turn the settings that are secret into `Secret`s: a traceback may show local variables."""
    for name in SECRETS & settings.keys():
        settings[name] = _as_secret(settings[name])


def _hiding(kind: type[T]) -> type[T]:
    """A dataclass whose generated `__init__` gets no secret's text: its arguments are local variables, too."""
    generated = kind.__init__

    @wraps(generated)
    def init(self: T, **settings: Any) -> None:
        hide_secrets(settings)
        generated(self, **settings)

    kind.__init__ = init
    return kind


@_hiding
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClientConfig:
    """Settings for `Client.init`. Without URLs: the public hosted service, or a daemon on this machine.

    >>> config = ClientConfig(provider_token="my-jwt", retries=2)
    >>> config.pin_api_url, config.provider_token
    ('https://api.pinata.cloud', Secret('***'))

    provider, provider_token, pin_api_url   the kind of service, its token, and the address of its API
    gateway_url, gateways, gateway_key      the gateway for reads, others to ask if it fails, and its key
    dialect, known_dialect, on_dialect      the version of the hosted service's API; None finds it out
    cid_version                             0 or 1; None as the service does by itself
    replication_min, replication_max        the number of peers of a cluster that keep a pin
    retries, timeout, on_wait               retries of safe calls, limits on waiting, and who hears of a wait
    verify                                  "try" checks content against its CID, "require" accepts no doubt, or "off"
    max_json_bytes, max_blob_bytes          the most that `retrieve` and `download` hold in memory
    allow_insecure                          True allows http to other machines
    on_notice                               hears sentences that a person should know
    transport                               sends the requests, for tests and special networks
    """

    provider: ProviderName = "pinning"
    """`pinning`, `provider_b` and `provider_c` (reserved) speak the pinning API; `kubo` Kubo's RPC; `cluster` IPFS
    Cluster's REST API; `psa` the Pinning Service API, which takes no uploads."""
    provider_token: Secret | str = ""
    """The provider's JWT. It goes to the API's origin and nowhere else. Daemons take `user:password`, too."""
    gateway_url: str | None = None
    """Base address for reads; the CID is appended, so it usually ends in `/ipfs`."""
    pin_api_url: str | None = None
    """Base address of the provider's API."""
    gateways: tuple[str, ...] = ()
    """Further gateways, tried in order where the first has nothing, fails, or sends something else."""
    dialect: Dialect | None = None
    """The API and its field names: `pin`, `pinata`, or `pinata-v3` for the hosted service's newer API. None: on
    `*.pinata.cloud` the one that the key knows, elsewhere `pin`."""
    known_dialect: Dialect | None = None
    """The dialect that the key was seen to know, on `*.pinata.cloud`. It is tried first and doesn't rule out others."""
    on_dialect: OnDialect | None = None
    """Hears which dialect the key knows, where that had to be found out."""
    on_notice: OnNotice | None = None
    """Hears sentences about things that a person should know although the operation goes on."""
    gateway_key: Secret | str | None = None
    """The key of a dedicated gateway; it goes to that gateway and nowhere else."""
    cid_version: Literal[0, 1] | None = None
    """The version to ask for. None: as the service does by itself."""
    replication_min: int | None = None
    """The fewest peers of a cluster that must be there to take a pin; -1 for all of them, None for its own setting."""
    replication_max: int | None = None
    """The number of peers of a cluster that keep each pin; -1 for all of them, None for its own setting."""
    retries: int = 4
    """The number of retries of a failed call that is safe to repeat; 0 for none."""
    timeout: Timeouts | float = field(default_factory=Timeouts)
    """Limits on waiting; a number sets all of them."""
    verify: VerifyMode = "try"
    """Whether what is read and written is checked against its CID."""
    allow_insecure: bool = False
    """Allow http to other machines. Without it only https is used, except on loopback."""
    on_wait: OnWait | None = None
    """Hears of each wait of a second and more, for a rate limit or before another try."""
    max_json_bytes: int = 16 * MIB
    """The largest JSON document that is read; the hosted service stores at most 10 MB."""
    max_blob_bytes: int = 256 * MIB
    """The most that `download` holds in memory; with `to=` there is no limit."""
    transport: HttpTransport | None = field(default=None, repr=False)
    """Sends the requests, for tests (`httpx.MockTransport`) and special networks; closed with the client."""

    def __post_init__(self) -> None:
        traits = TRAITS.get(self.provider, PINNING)  # a wrong name is told below
        for name in SECRETS:
            object.__setattr__(self, name, _as_secret(getattr(self, name)))  # defaults are none yet
            is_token = name == "provider_token"
            is_pair = is_token and not traits.is_account
            if trouble := _trouble_with(getattr(self, name), is_needed=is_token, is_pair=is_pair):
                raise ValueError(f"{name} {trouble}")
        if self.provider not in get_args(ProviderName):
            raise ValueError(f"provider must be one of {', '.join(get_args(ProviderName))}, not {self.provider!r}")
        if self.dialect not in (None, *get_args(Dialect)):
            raise ValueError(f"dialect must be one of {', '.join(get_args(Dialect))}, not {self.dialect!r}")
        if self.known_dialect not in (None, *get_args(Dialect)):
            raise ValueError(f"known_dialect must be a dialect, not {self.known_dialect!r}")
        if self.verify not in get_args(VerifyMode):
            raise ValueError(f"verify must be try, require or off, not {self.verify!r}")
        if self.cid_version not in (None, 0, 1):
            raise ValueError(f"cid_version must be 0 or 1, not {self.cid_version!r}")
        for name, number in (
            ("retries", self.retries),
            ("max_json_bytes", self.max_json_bytes),
            ("max_blob_bytes", self.max_blob_bytes),
        ):
            if not isinstance(number, int) or number < 0:  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
                raise ValueError(f"{name} must be a whole number, 0 or more, not {number!r}")
        check_replication(self.provider, self.replication_min, self.replication_max)
        if isinstance(self.gateways, str):
            raise ValueError("gateways must be several addresses, not one text")  # noqa: TRY004  # a wrong setting, like the others
        api, gateway = self.pin_api_url, self.gateway_url
        if api is None:  # an empty text is a mistake: a token meant for elsewhere stays here
            if traits.usual_urls is None:
                raise ValueError("pin_api_url is needed: the service's address, such as https://api.pinata.cloud/psa")
            api, usual_gateway = traits.usual_urls
            gateway = usual_gateway if gateway is None else gateway
        for name, value in (
            ("timeout", Timeouts.of(self.timeout)),
            ("pin_api_url", check_base_url(api, "pin_api_url", self.allow_insecure)),
            ("gateways", tuple(check_base_url(url, "gateways", self.allow_insecure) for url in self.gateways)),
            (
                "gateway_url",
                None if gateway is None else check_base_url(gateway, "gateway_url", self.allow_insecure),
            ),
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        # A traceback may show one that is half made.
        shown = (f"{one.name}={getattr(self, one.name, None)!r}" for one in fields(self) if one.repr)
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def wire_dialect(self) -> Dialect:
        """The dialect to begin with."""
        if self.dialect is not None:
            return self.dialect
        return (self.known_dialect or "pinata") if is_pinata(self.pin_api_url or "") else "pin"

    @property
    def finds_dialect(self) -> bool:
        """Whether the dialect depends on the key."""
        return self.dialect is None and is_pinata(self.pin_api_url or "")


def check_replication(provider: str, fewest: object, wanted: object) -> None:
    """`ValueError` if these are no replication factors for this kind of service."""
    factors = (fewest, wanted)
    if not TRAITS[provider].replicates and factors != (None, None):
        raise ValueError('replication_min and replication_max are for provider="cluster"')
    for name, factor in zip(("replication_min", "replication_max"), factors, strict=True):
        is_number = isinstance(factor, int) and not isinstance(factor, bool) and (factor == -1 or factor >= 1)
        if factor is not None and not is_number:
            raise ValueError(f"{name} must be a number of peers, or -1 for all of them, not {factor!r}")
    if None not in factors and (-1 in factors) != (factors == (-1, -1)):
        raise ValueError("replication_min and replication_max are both -1, or neither")
    if None not in factors and cast("int", fewest) > cast("int", wanted):
        raise ValueError("replication_min is larger than replication_max")


class ClientSettings(TypedDict, total=False):
    """The fields of `ClientConfig` as keyword arguments of `Client.init`, so that editors know them there, too."""

    provider: ProviderName
    provider_token: Secret | str
    gateway_url: str | None
    pin_api_url: str | None
    gateways: tuple[str, ...]
    dialect: Dialect | None
    known_dialect: Dialect | None
    on_dialect: OnDialect | None
    on_notice: OnNotice | None
    gateway_key: Secret | str | None
    cid_version: Literal[0, 1] | None
    replication_min: int | None
    replication_max: int | None
    retries: int
    timeout: Timeouts | float
    verify: VerifyMode
    allow_insecure: bool
    on_wait: OnWait | None
    max_json_bytes: int
    max_blob_bytes: int
    transport: HttpTransport | None


def _as_secret(given: Secret | str | None) -> Secret | None:
    """The secret without blanks around it."""
    text = given.reveal() if isinstance(given, Secret) else given
    return None if text is None else Secret(text.strip() if isinstance(text, str) else text)  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker


def _trouble_with(secret: Secret | None, *, is_needed: bool, is_pair: bool) -> str | None:
    """The problem with a secret, in words that don't show it."""
    if secret is None:
        return "is None: is the variable that should hold it set?" if is_needed else None
    text = secret.reveal()
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
        return f"must be text, not {type(text).__name__}"
    if not (text.isprintable() if is_pair and ":" in text else HEADER_TEXT.fullmatch(text)):
        return "holds characters that no token has: was something else pasted?"
    return None


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Reserved by the contract: accepted, and without effect.

    >>> record = await client.store("x", StoreOptions(label="draft"))
    """

    encrypt: bool | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """A way to go on with an upload, a download or a list of pins after the end of the process that began it.

    `keep` gets a text when the service begins an upload in pieces, a download its file, or a list its next page: save
    the last one. Given back as `handle`, with the same file or address, the work goes on where it was. For an upload,
    the caller makes sure that the file has not changed; services and files that go up in one piece have no handle, and
    begin again.

    >>> handles = []
    >>> path = await client.download(cid, to=folder / "hello", resume=Resume(keep=handles.append))
    >>> path.read_bytes()
    b'hello'
    """

    keep: Callable[[str], None]
    handle: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """The numbers of entries that a folder's upload left out, by reason.

    >>> for name in ("photo.png", ".hidden"):
    ...     (folder / name).touch()
    >>> record = await client.upload(folder)
    >>> print(record.left_out)
    1 hidden name
    """

    hidden: int = 0
    """Names that begin with a dot; a folder counts once."""
    links: int = 0
    """Symbolic links, to files and to folders."""
    empty_folders: int = 0
    """Folders with no file to upload: the service can't keep them."""
    excluded: int = 0
    """Names that a pattern keeps out; a folder counts once."""

    def __bool__(self) -> bool:
        return self != LeftOut()

    def __add__(self, other: Self) -> "LeftOut":
        return LeftOut(
            hidden=self.hidden + other.hidden,
            links=self.links + other.links,
            empty_folders=self.empty_folders + other.empty_folders,
            excluded=self.excluded + other.excluded,
        )

    def __str__(self) -> str:
        numbers = (
            (self.hidden, "hidden name"),
            (self.excluded, "excluded name"),
            (self.links, "link"),
            (self.empty_folders, "empty folder"),
        )
        told = [plural(number, what) for number, what in numbers if number]
        return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRecord(Generic[T]):
    """The result of a write.

    >>> record = await client.store({"a": 1})
    >>> record.data, record.size, record.verification
    ({'a': 1}, 7, 'verified')
    """

    cid: str
    """The CID as the provider gave it."""
    timestamp: int
    """When the record was made here, in milliseconds."""
    data: T = field(default=cast("T", None))
    """The value given to `store`, the message of `send`; None for `upload`."""
    size: int
    """JSON: characters of the stored text, as JavaScript counts them. Files: bytes."""
    verification: Verification | None = field(default=None, compare=False)
    """The verdict on the provider's CID; None if nothing was checked."""
    expected: str | None = field(default=None, compare=False)
    """The CID that these bytes have, where the provider's is provably another."""
    left_out: LeftOut | None = field(default=None, compare=False)
    """The entries that a folder's upload left out; None for anything but a folder."""

    def to_json(self) -> dict[str, Any]:
        """The record under the contract's names; `data` is left out where there is none."""
        data = self.data.to_json() if isinstance(self.data, ClientMessage) else self.data
        whole = {"cid": self.cid, "timestamp": self.timestamp, "data": data, "size": self.size}
        return {name: value for name, value in whole.items() if name != "data" or value is not None}


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """A message as it is stored: a public JSON document. Nothing delivers it.

    >>> ClientMessage("alice", "hello", 1700000000000).to_json()
    {'recipientId': 'alice', 'payload': 'hello', 'timestamp': 1700000000000}
    """

    recipient_id: str
    payload: str
    timestamp: int
    """When it was sent, in milliseconds."""

    def to_json(self) -> dict[str, Any]:
        return {"recipientId": self.recipient_id, "payload": self.payload, "timestamp": self.timestamp}


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes with a type and a name, as `download` returns and `upload` takes them.

    >>> record = await client.upload(Blob(b"meow", type="text/plain", name="cat.txt"))
    >>> blob = await client.download(record.cid)
    >>> blob.data, blob.size
    (b'meow', 4)
    """

    data: bytes = field(repr=False)
    type: str = ""
    """The media type; empty if unknown."""
    name: str | None = None
    verification: Verification | None = field(default=None, compare=False)
    """The verdict on the bytes; None if nothing was checked."""

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.data)


PinStatus = Literal["pinned", "queued", "pinning", "failed"]


@dataclass(frozen=True, slots=True)
class Pinned:
    """The result of a provider's `put_json` or `put_file`.

    >>> await client.provider.put_json({"a": 1})
    Pinned(cid='QmPmgMwMdNnt4ujECmfCvwY9K4heH1qLnMeaLW7XDqxtxH', size=7, verification='verified', expected=None)
    """

    cid: str
    """The CID as the provider gave it."""
    size: int
    """JSON: characters of the stored text, as JavaScript counts them. Files: bytes."""
    verification: Verification | None = None
    """The verdict on the CID; None if nothing was checked."""
    expected: str | None = None
    """The CID that these bytes have, where the provider's is provably another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One pin of an account. A field is None where the service doesn't tell it.

    >>> pin = await client.find(cid)
    >>> pin.cid == cid, pin.status
    (True, 'pinned')
    """

    cid: str
    name: str | None = None
    """The name at the service."""
    size: int | None = None
    """Bytes, as the service counts them: usually of all blocks."""
    created: int | None = None
    """When it was pinned, in milliseconds."""
    status: PinStatus = "pinned"
    id: str | None = None
    """The service's own key for this pin."""


PeerState = Literal["pinned", "queued", "pinning", "failed", "unreachable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerStatus:
    """A pin at one peer of a cluster.

    >>> peer = PeerStatus(name="studio", id="12D3KooW…", state="pinned")
    >>> f"{peer.name}: {peer.state}"
    'studio: pinned'
    """

    name: str
    """The peer's own name, or its ID where that isn't known."""
    id: str
    state: PeerState
    error: str | None = None
    """The peer's words about what went wrong."""


GatewayState = Literal["serves", "missing", "wrong", "unverifiable", "unreachable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayStatus:
    """Whether a gateway serves some content, as its first block shows.

    >>> [gateway.state for gateway in await client.check_gateways(cid)]
    ['serves']
    """

    url: str
    state: GatewayState
    """`wrong`: it sent other bytes. `unverifiable`: it gives no blocks that could be checked."""
    error: str | None = None
    """The reason, if it doesn't serve the content."""


@dataclass(frozen=True, slots=True)
class Totals:
    """The size of an account.

    >>> (await client.totals()).pins
    1
    """

    pins: int
    size: int | None
    """Bytes, as the service counts them; None where it doesn't tell."""


@dataclass(frozen=True, slots=True)
class FolderItem:
    """One name in a folder on IPFS.

    >>> (folder / "cat.txt").write_text("meow")
    4
    >>> record = await client.upload(folder)
    >>> [(item.name, item.size) for item in (await client.peek(record.cid)).entries]
    [('cat.txt', 4)]
    """

    name: str
    cid: str
    size: int | None
    """Bytes of the file; None where only looking into it would tell."""
    is_folder: bool | None
    """None where only looking into it would tell."""
    declared: int | None = None
    """Bytes of all blocks below it, as the folder says: a little more than the files in it have."""


@dataclass(frozen=True, slots=True)
class Peek:
    """The beginning of some content, or what a folder holds.

    >>> peek = await client.peek(cid, limit=2)
    >>> peek.data, peek.total, peek.truncated
    (b'he', 5, True)
    """

    data: bytes = field(repr=False)
    type: str = ""
    """The media type; empty if unknown."""
    total: int | None = None
    """The size of the whole content, if the gateway told it."""
    entries: tuple[FolderItem, ...] | None = None
    """The entries of a folder; None for anything else."""

    @property
    def truncated(self) -> bool:
        """Whether there is more."""
        return self.total is None or self.total > len(self.data)


for _name in __all__:
    if isinstance(_value := globals()[_name], type):
        _value.__module__ = "pinui"  # as people import them
