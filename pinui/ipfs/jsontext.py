"""The stored text of a JSON document: the same as JavaScript's JSON.stringify writes.

The hosted service parses each document and writes it again in that way, so only this text has the CID that comes back.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import Any, NoReturn, cast

from pinui.ipfs.errors import ContentAddressError

__all__ = ["NotJSON", "is_small", "parse", "parse_as_javascript", "stringify", "utf16_length"]

# Python's own reader gives up near 1,000 levels, less the caller's stack: every stored document must be readable.
MAX_DEPTH = 500
# Up to here every integer is exact in JavaScript, where all numbers are doubles.
LARGEST_EXACT_INTEGER = 2**53
# JavaScript keeps keys that look like array indexes first, in rising order; 2**32 - 1 is a length, not an index.
LARGEST_INDEX = 2**32 - 2
INDEX = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)
SURROGATE = re.compile("[\ud800-\udfff]")


# One step down into a value: the text before the member, its key or index, and the member.
_Member = tuple[str, str | int, Any]
_Path = list[str | int]


class NotJSON(ContentAddressError):
    """A value that JSON can't carry, or a text that is no JSON. `path` names the place, such as `$.user.id`."""

    def __init__(self, reason: str, path: str = "$") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path


def stringify(value: Any) -> str:
    """The value as JSON text; `NotJSON` names the place of a value that would be lost."""
    parts: list[str] = []
    path: _Path = [""]
    root: Iterator[_Member] = iter([("", "", value)])
    # Open containers, innermost last: members still to write, the closing bracket, and an id to find circles by.
    open_containers: list[tuple[Iterator[_Member], str, int]] = [(root, "", 0)]
    open_ids: set[int] = set()
    while open_containers:
        members, closing, identity = open_containers[-1]
        for before, step, member in members:
            path[-1] = step
            parts.append(before)
            text = _scalar_text(member, path)
            if text is not None:
                parts.append(text)
                continue
            container = cast("list[Any] | dict[Any, Any]", member)
            if id(container) in open_ids:
                raise NotJSON("the value contains itself", _path_text(path))
            if len(path) > MAX_DEPTH:
                raise NotJSON(f"the value is nested more than {MAX_DEPTH} levels deep", _path_text(path))
            brackets = "{}" if isinstance(container, dict) else "[]"
            if container:
                open_ids.add(id(container))
                open_containers.append((_members(container, path), brackets[1], id(container)))
                path.append("")
                break
            parts.append(brackets)
        else:
            parts.append(closing)
            open_containers.pop()
            open_ids.discard(identity)
            path.pop()
    return "".join(parts)


def is_small(value: Any, budget: int = 64 * 1024) -> bool:
    """Whether the text of a value has about `budget` characters or fewer, found out at no more cost than that."""
    pending: list[Any] = [value]
    for item in pending:  # which grows meanwhile
        is_container = isinstance(item, (dict, list, tuple))
        budget -= 8 + (len(cast("list[Any]", item)) if is_container or isinstance(item, str) else 0)
        if budget < 0:
            return False
        if is_container:
            pending += cast("dict[Any, Any]", item).values() if isinstance(item, dict) else cast("list[Any]", item)
    return True


def parse(text: str | bytes) -> Any:
    """Read strict JSON (no NaN, no comments); `NotJSON` gives line and column of the error."""
    try:
        if isinstance(text, bytes):
            text = text.decode().removeprefix("\ufeff")  # the codec for that is written in Python
        return STRICT.decode(text)
    except UnicodeDecodeError as error:
        raise NotJSON(f"byte {error.start} is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        words = error.msg.removesuffix(" starting at").removesuffix(" at")
        raise NotJSON(f"{words} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise NotJSON("it is nested too deeply") from None
    except NotJSON:
        raise
    except ValueError:
        raise NotJSON("it holds an integer of thousands of digits") from None


def parse_as_javascript(text: str | bytes) -> Any:
    """Read JSON the way JSON.parse does: every number is a double, one beyond the largest double is None."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return json.loads(
            text,
            parse_int=_javascript_number,
            parse_float=_javascript_number,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise NotJSON("it is nested too deeply") from None
    except ValueError as error:
        raise NotJSON(str(error)) from None


def utf16_length(text: str) -> int:
    """The length in JavaScript: a character beyond the basic plane counts twice."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _refuse_constant(name: str) -> NoReturn:
    raise NotJSON(f"{name} is not JSON")


STRICT = json.JSONDecoder(parse_constant=_refuse_constant)


def _javascript_number(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _members(container: list[Any] | tuple[Any, ...] | dict[Any, Any], path: _Path) -> Iterator[_Member]:
    """The members in JavaScript's order, each with the text before it."""
    if not isinstance(container, dict):
        for index, item in enumerate(container):
            yield ("," if index else "[", index, item)
        return
    indexes: list[tuple[str, Any]] = []
    others: list[tuple[str, Any]] = []
    for key, member in container.items():
        if not isinstance(key, str):
            raise NotJSON(f"the key {key!r} is not a string", _path_text(path[:-1]))  # the place is the object
        is_index = INDEX.fullmatch(key) and int(key) <= LARGEST_INDEX
        (indexes if is_index else others).append((key, member))
    indexes.sort(key=lambda pair: int(pair[0]))
    for position, (key, member) in enumerate(indexes + others):
        yield (f"{',' if position else '{'}{_string_text(key)}:", key, member)


def _scalar_text(value: Any, path: _Path) -> str | None:
    """The text of a plain value; None for a list or an object."""
    if type(value) is str:  # the two usual kinds first: there may be thousands
        return _string_text(value)
    if type(value) is int and -LARGEST_EXACT_INTEGER <= value <= LARGEST_EXACT_INTEGER:
        return repr(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string_text(value)
    if isinstance(value, int):
        if abs(value) > LARGEST_EXACT_INTEGER:
            raise NotJSON("an integer beyond 2^53 would be rounded; store it as a string", _path_text(path))
        return int.__repr__(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJSON("JSON has no NaN and no infinity", _path_text(path))
        return _number_text(value)
    if isinstance(value, (list, tuple, dict)):
        return None
    raise NotJSON(f"JSON has no way to write a {type(value).__name__}", _path_text(path))


def _path_text(path: _Path) -> str:
    steps = (
        f"[{step}]" if isinstance(step, int) else f".{step}" if step.isidentifier() else f"[{_string_text(step)}]"
        for step in path[1:]
    )
    return "$" + "".join(steps)


def _string_text(text: str) -> str:
    if SURROGATE.search(text):
        # JavaScript's strings are UTF-16: two halves that meet are one character, a lone half is written escaped.
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        quoted = encode_basestring(whole)
        return SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", quoted)
    return encode_basestring(text)


def _number_text(value: float) -> str:
    """A double as JavaScript writes it. Both languages find the same shortest digits; the notation differs."""
    if value == 0:
        return "0"  # JavaScript writes -0 this way too
    text = float.__repr__(value)
    if "e" not in text:
        return text.removesuffix(".0")
    mantissa, exponent = text.split("e")
    sign, digits = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    digits = digits.replace(".", "")
    point = int(exponent) + 1  # position of the decimal point, counted from the first digit
    if 0 < point <= 21:
        return sign + digits.ljust(point, "0")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"
