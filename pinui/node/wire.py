"""The pinning API's bodies in both dialects: reading requests and writing answers. No I/O."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, cast

from pinui.ipfs.cid import Cid
from pinui.ipfs.errors import MalformedContent
from pinui.ipfs.jsontext import NotJSON, parse, parse_as_javascript, stringify
from pinui.node.errors import ApiError
from pinui.node.index import Pin, PinQuery
from pinui.node.keyvalues import Condition, operators

__all__ = [
    "INVALID",
    "Job",
    "JobStatus",
    "Options",
    "Update",
    "check_filters",
    "is_ascending",
    "job_body",
    "jobs_body",
    "jobs_query",
    "json_fields",
    "json_request",
    "list_body",
    "list_query",
    "options_field",
    "pin_body",
    "pin_by_hash_request",
    "read_cid",
    "read_number",
    "read_options",
    "spellings",
    "text_field",
    "update_request",
    "when",
]

MAX_KEYVALUES = 10
MAX_NAME = 1024
MAX_PAGE = 1000
FRAME = ("pinataMetadata", "pinMetadata", "pinataOptions", "pinOptions")
OPTIONS = {"cidVersion", "wrapWithDirectory", "groupId", "customPinPolicy"}
LIST_FILTERS = {
    *("status", "pageLimit", "pageOffset", "includeCount", "includesCount", "cid", "hashContains", "groupId"),
    *("pinStart", "pinEnd", "unpinStart", "unpinEnd", "pinSizeMin", "pinSizeMax"),
    *("metadata[name]", "metadata[keyvalues]"),
}
JOB_FILTERS = {"sort", "status", "ipfs_pin_hash", "limit", "offset"}
INVALID = "Invalid request format."
JobStatus = Literal["retrieving", "expired", "invalid_object", "over_max_size"]
"""`expired`: no gateway has it. `invalid_object`: its content can't be pinned. `over_max_size`: the disk is full."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a request besides the content."""

    name: str | None = None
    keyvalues: dict[str, Any] | None = None
    cid_version: int = 0
    group: str | None = None
    wrap: bool = False
    """Whether a single file goes into a folder of its own."""
    car: bool = False
    """Whether the upload is a CAR, whose blocks are wanted."""


@dataclass(frozen=True, slots=True)
class Job:
    """A request to pin content that has to be fetched. One that is done is no job any more, one that failed stays."""

    cid: Cid
    options: Options
    status: JobStatus = "retrieving"
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    queued_at: int = field(default_factory=lambda: time.time_ns() // 1_000_000)


def json_document(body: bytes) -> Any:
    """The value of a body, if it is JSON."""
    try:
        return parse_as_javascript(body)
    except NotJSON as error:
        raise ApiError(400, f"Invalid JSON: {error}.") from error


def json_request(body: bytes) -> tuple[str, Options]:
    """The text to store and the options of a JSON upload."""
    document = json_document(body)
    fields = cast(dict[str, Any], document) if isinstance(document, dict) else {}
    key = next((key for key in ("pinataContent", "pinContent") if key in fields), None)
    if key is None and any(key in fields for key in FRAME):
        raise ApiError(400, INVALID)
    metadata = fields.get("pinataMetadata", fields.get("pinMetadata"))
    options = fields.get("pinataOptions", fields.get("pinOptions"))
    try:
        # Without a frame, the whole body is the content.
        return stringify(document if key is None else fields[key]), read_options(metadata, options)
    except NotJSON as error:
        raise ApiError(400, f"Invalid JSON: {error}.") from error


@dataclass(frozen=True, slots=True)
class Update:
    """Another name or other keyvalues for a pin; None leaves them as they are."""

    name: str | None
    keyvalues: dict[str, Any] | None

    def apply(self, pin: Pin) -> Pin:
        """The pin as it shall be. A key with the value null goes, others stay or change."""
        name = pin.name if self.name is None else self.name or None
        if self.keyvalues is None:
            return replace(pin, name=name)
        merged = (pin.keyvalues or {}) | self.keyvalues
        left = {key: value for key, value in merged.items() if value is not None}
        return replace(pin, name=name, keyvalues=_keyvalues(left))


def update_request(body: bytes) -> tuple[Cid, Update]:
    """The new metadata that a request asks for, and its pin."""
    fields = json_fields(body)
    options = read_options(fields, None)
    return read_cid(fields.get("ipfsPinHash")), Update(options.name, options.keyvalues)


def pin_by_hash_request(body: bytes) -> tuple[Cid, Options]:
    """The CID to pin, and the options."""
    fields = json_fields(body)
    metadata = fields.get("pinataMetadata", fields.get("pinMetadata"))
    options = dict(_object(fields.get("pinataOptions", fields.get("pinOptions"))))
    options.pop("hostNodes", None)  # peers that may have it: the node asks gateways instead
    return read_cid(fields.get("hashToPin")), read_options(metadata, options)


def read_cid(text: Any) -> Cid:
    """A CID that a request names."""
    if not isinstance(text, str):
        raise ApiError(400, INVALID)
    try:
        return Cid.parse(text)
    except MalformedContent as error:
        raise ApiError.of(400, "INVALID_CID", f"{text[:100]!r} is not a CID.") from error


def json_fields(body: bytes) -> dict[str, Any]:
    """The fields of a body that must be a JSON object."""
    document = json_document(body)
    if not isinstance(document, dict):
        raise ApiError(400, INVALID)
    return cast(dict[str, Any], document)


def options_field(fields: Mapping[str, str]) -> Options:
    """The options of a file upload, which come as JSON in fields of the form."""
    read: list[Any] = []
    for names in (("pinataMetadata", "pinMetadata"), ("pinataOptions", "pinOptions")):
        text = next((fields[name] for name in names if name in fields), "")
        try:
            read.append(parse(text) if text.strip() else None)
        except NotJSON as error:
            raise ApiError(400, INVALID) from error
    return read_options(*read)


def read_options(metadata: Any, options: Any) -> Options:
    """Name, keyvalues and CID version; anything of the wrong kind is refused."""
    metadata, options = _object(metadata), _object(options)
    name, keyvalues = text_field(metadata.get("name")), metadata.get("keyvalues")
    version, wrap = options.get("cidVersion"), options.get("wrapWithDirectory")
    if isinstance(version, bool) or version not in (None, 0, 1, "0", "1"):
        raise ApiError(400, INVALID)
    if wrap not in (None, True, False):
        raise ApiError(400, "wrapWithDirectory must be true or false.")
    if options.get("customPinPolicy"):
        raise ApiError(400, "This node keeps one copy of everything: leave customPinPolicy out.")
    if unknown := options.keys() - OPTIONS:
        raise ApiError(400, f"This node has no option {min(unknown)[:100]!r}.")
    group = text_field(options.get("groupId")) or None
    return Options(name, _keyvalues(keyvalues), int(version or 0), group, wrap is True)


def text_field(value: Any) -> str | None:
    """A name or an id, if there is one."""
    if value is not None and (not isinstance(value, str) or len(value) > MAX_NAME):
        raise ApiError(400, INVALID)
    # Half a character, which JSON can carry, is no text that a database takes.
    return value and value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _object(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ApiError(400, INVALID)
    return cast(dict[str, Any], value)


def _keyvalues(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    keyvalues = _object(value)
    if len(keyvalues) > MAX_KEYVALUES:
        raise ApiError.of(400, "INVALID_METADATA", f"At most {MAX_KEYVALUES} keyvalues are allowed.")
    if not all(member is None or isinstance(member, (str, int, float)) for member in keyvalues.values()):
        raise ApiError.of(400, "INVALID_METADATA", "Keyvalues must be strings, numbers or booleans.")
    return {key: _plain(member) for key, member in keyvalues.items()}


def _plain(value: Any) -> Any:
    """JavaScript's numbers are all doubles; a whole one is written without a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def when(milliseconds: int) -> str:
    """A time as JavaScript writes it."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03d}Z"


def pin_body(pin: Pin, duplicate: bool) -> dict[str, Any]:
    """The answer to an upload."""
    return {
        "IpfsHash": pin.cid,
        "PinSize": pin.size,
        "Timestamp": when(pin.pinned_at),
        "isDuplicate": duplicate,
        "ID": pin.id,
        "Name": pin.name,
        "NumberOfFiles": pin.files,
        "MimeType": pin.mime_type,
        "GroupId": pin.group,
        "Keyvalues": pin.keyvalues,
    }


def job_body(asked: Pin | Job) -> dict[str, Any]:
    """The answer to a request to pin by CID."""
    if isinstance(asked, Pin):
        return {"id": asked.id, "ipfsHash": asked.cid, "status": "pinned", "name": asked.name}
    return {"id": asked.id, "ipfsHash": str(asked.cid), "status": asked.status, "name": asked.options.name}


def list_body(pins: list[Pin], count: int | None) -> dict[str, Any]:
    """The answer to a listing."""
    rows: list[dict[str, Any]] = [
        {
            "id": pin.id,
            "ipfs_pin_hash": pin.cid,
            "size": pin.size,
            "user_id": "local",
            "date_pinned": when(pin.pinned_at),
            "date_unpinned": None if pin.unpinned_at is None else when(pin.unpinned_at),
            "metadata": {"name": pin.name, "keyvalues": pin.keyvalues},
            "regions": [{"regionId": "local", "currentReplicationCount": 1, "desiredReplicationCount": 1}],
            "mime_type": pin.mime_type,
            "number_of_files": pin.files,
        }
        for pin in pins
    ]
    return {"rows": rows} if count is None else {"count": count, "rows": rows}


def list_query(parameters: Mapping[str, str]) -> tuple[PinQuery, bool]:
    """The query of a listing, and whether it wants the count. An ignored filter would be a wrong answer."""
    check_filters(parameters, LIST_FILTERS)
    status = parameters.get("status", "all")
    if status not in ("all", "pinned", "unpinned"):
        raise ApiError(400, "status must be all, pinned or unpinned")
    query = PinQuery(
        status=status,
        limit=read_number(parameters, "pageLimit", 10, 1, MAX_PAGE) or 0,
        offset=read_number(parameters, "pageOffset", 0, 0, 2**53) or 0,
        cids=spellings(parameters.get("cid", "")),
        cid_contains=parameters.get("hashContains") or None,
        name=parameters.get("metadata[name]") or None,
        start=_time(parameters, "pinStart"),
        end=_time(parameters, "pinEnd"),
        smallest=read_number(parameters, "pinSizeMin", None, 0, 2**53),
        largest=read_number(parameters, "pinSizeMax", None, 0, 2**53),
        unpinned_start=_time(parameters, "unpinStart"),
        unpinned_end=_time(parameters, "unpinEnd"),
        group=parameters.get("groupId") or None,
        keyvalues=_conditions(parameters.get("metadata[keyvalues]", "")),
    )
    with_count = parameters.get("includeCount") or parameters.get("includesCount") or ""
    return query, with_count.lower() == "true"


def check_filters(parameters: Mapping[str, str], known: set[str]) -> None:
    """Refuse filters that are not known: to ignore one would be a wrong answer."""
    for name in parameters:
        if name not in known:
            raise ApiError(400, f"This node can't filter by {name[:100]!r}. It knows {', '.join(sorted(known))}.")


def _conditions(text: str) -> tuple[Condition, ...]:
    """Filters such as `{"key": {"value": 1, "op": "gt"}}`."""
    try:
        asked = parse(text) if text.strip() else None
    except NotJSON as error:
        raise ApiError(400, "metadata[keyvalues] must be JSON.") from error
    return tuple(_condition(key, condition) for key, condition in _object(asked).items())


def _condition(key: str, asked: Any) -> Condition:
    fields = cast(dict[str, Any], asked) if isinstance(asked, dict) else {}
    op, value, second = fields.get("op"), fields.get("value"), fields.get("secondValue")
    if op not in operators():
        raise ApiError(400, f"op must be one of {', '.join(operators())}, not {str(op)[:100]!r}.")
    if not isinstance(value, (str, int, float)):
        raise ApiError(400, "value must be a text or a number.")
    if op in ("between", "notBetween") and (not isinstance(second, (str, int, float))):
        raise ApiError(400, f"{op} needs a value and a secondValue.")
    if op in ("regexp", "iRegexp"):
        try:
            re.compile(str(value))
        except re.error as error:
            raise ApiError(400, f"value is no regular expression: {error}.") from error
    return Condition(key, op, value, second)


@dataclass(frozen=True, slots=True)
class JobsQuery:
    """The query of a listing of requests to pin by CID."""

    status: str
    cids: tuple[str, ...]
    limit: int
    offset: int
    newest_first: bool


def jobs_query(parameters: Mapping[str, str]) -> JobsQuery:
    """Read the parameters of `pinJobs`."""
    check_filters(parameters, JOB_FILTERS)
    return JobsQuery(
        status=parameters.get("status", ""),
        cids=spellings(parameters.get("ipfs_pin_hash", "")),
        limit=read_number(parameters, "limit", 5, 1, MAX_PAGE) or 5,
        offset=read_number(parameters, "offset", 0, 0, 2**53) or 0,
        newest_first=not is_ascending(parameters.get("sort") or "ASC"),
    )


def jobs_body(jobs: list[Job], query: JobsQuery) -> dict[str, Any]:
    """The answer of `pinJobs`."""
    ordered = jobs[::-1] if query.newest_first else jobs
    rows: list[dict[str, Any]] = [
        {
            "id": job.id,
            "ipfs_pin_hash": str(job.cid),
            "date_queued": when(job.queued_at),
            "name": job.options.name,
            "status": job.status,
            "keyvalues": job.options.keyvalues,
            "host_nodes": None,
            "pin_policy": {"regions": [{"id": "local", "desiredReplicationCount": 1}], "version": 1},
        }
        for job in ordered[query.offset : query.offset + query.limit]
    ]
    return {"count": len(jobs), "rows": rows}


def is_ascending(order: str) -> bool:
    """Whether an order is oldest first. The service says DSC for the other one where it lists its queue, else DESC."""
    if order.upper() not in ("ASC", "DESC", "DSC"):
        raise ApiError(400, "The order must be ASC or DESC.")
    return order.upper() == "ASC"


def spellings(text: str) -> tuple[str, ...]:
    """The ways to write a CID that a filter names; none where there is no filter."""
    if not text:
        return ()
    try:
        return tuple(str(cid) for cid in Cid.parse(text).spellings())
    except MalformedContent:
        return (text,)  # nothing has it


def read_number(parameters: Mapping[str, str], name: str, default: int | None, least: int, most: int) -> int | None:
    """A whole number within limits; the default where there is none."""
    text = parameters.get(name, "")
    if not text:
        return default
    if not re.fullmatch(r"[0-9]{1,16}", text) or not least <= int(text) <= most:
        raise ApiError(400, f"{name} must be a number from {least} to {most}")
    return int(text)


def _time(parameters: Mapping[str, str], name: str) -> int | None:
    text = parameters.get(name, "")
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ApiError(400, f"{name} must be a date such as 2026-01-31T12:00:00.000Z") from error
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
