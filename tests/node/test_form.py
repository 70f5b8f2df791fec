"""Forms as a stream: the same parts as python-multipart finds, wherever the body is cut."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from pinui.node.form import BrokenForm, FormReader, PartHead

logging.getLogger("python_multipart").addHandler(logging.NullHandler())
Parts = list[tuple[bytes, bytes | None, bytes, bytes]]

# Data that looks like the beginning of a delimiter is what a reader gets wrong.
nearly = st.lists(st.sampled_from([b"\r", b"\n", b"-", b"--b", b"\r\n--b", b"\r\n--bb", b"x", b"\0"]), max_size=8)
data = nearly.map(b"".join)
headers = st.sampled_from(
    [
        b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: Text/Plain\r\n',
        b'content-disposition: form-data; name="file"; filename="\xc3\xa4"\r\n',
        b'Content-Type: text/html; charset=utf-8\r\nContent-Disposition: form-data; name=file; filename="a\\"b;c"\r\n',
        b'Content-Disposition: form-data; name="file"; filename="C:\\\\dir\\\\a"\r\n',
        b'Content-Disposition: form-data; name="pinataOptions"\r\nX-Other: 1\r\n',
        b"",
        b"no header at all\r\n",
    ]
)
forms = st.lists(st.tuples(headers, data), max_size=4).map(
    lambda parts: b"".join(b"--b\r\n" + head + b"\r\n" + body + b"\r\n" for head, body in parts) + b"--b--\r\n"
)


def read(body: bytes, cuts: list[int]) -> Parts | None:
    """The parts that our reader finds; None for a broken form."""
    parts: Parts = []
    heads: list[PartHead] = []
    found: list[bytes] = []

    def end() -> None:
        parts.append((heads[-1].name, heads[-1].filename, heads[-1].media_type, b"".join(found)))
        found.clear()

    reader = FormReader(b"b", heads.append, lambda view: found.append(bytes(view)), end)
    try:
        for start, stop in zip([0, *cuts], [*cuts, len(body)], strict=True):
            reader.feed(body[start:stop])
    except BrokenForm:
        return None
    return parts if reader.is_whole else None


def read_by_peer(body: bytes) -> Parts | None:
    """The parts that python-multipart finds."""
    parts: Parts = []
    texts: dict[str, bytes] = {}
    named: dict[bytes, bytes] = {}
    ended: list[bool] = []

    def add(name: str) -> Any:
        def more(piece: bytes, start: int, end: int) -> None:
            texts[name] = texts.get(name, b"") + piece[start:end]

        return more

    def header_end() -> None:
        named[texts.pop("field").lower()] = texts.pop("value", b"")

    def part_end() -> None:
        _, options = parse_options_header(named.get(b"content-disposition"))
        kind, _ = parse_options_header(named.get(b"content-type"))
        parts.append((options.get(b"name", b""), options.get(b"filename"), kind, texts.pop("data", b"")))
        named.clear()

    callbacks: Any = {
        "on_header_field": add("field"),
        "on_header_value": add("value"),
        "on_header_end": header_end,
        "on_part_data": add("data"),
        "on_part_end": part_end,
        "on_end": lambda: ended.append(True),
    }
    try:
        MultipartParser(b"b", callbacks).write(body)
    except FormParserError:
        return None
    return parts if ended else None


@given(forms, st.data())
def test_the_parts_are_the_same_wherever_the_body_is_cut(body: bytes, draw: st.DataObject) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(body)), max_size=5)))
    assert read(body, cuts) == read(body, [*range(1, len(body))]) == read_by_peer(body)


@pytest.mark.parametrize("body", [b"x" * 20_000, b"--b\r\nName: " + b"x" * 20_000])
def test_a_form_without_an_end_in_sight_is_refused_early(body: bytes) -> None:
    reader = FormReader(b"b", lambda _head: None, lambda _data: None, lambda: None)
    with pytest.raises(BrokenForm):
        reader.feed(body)
