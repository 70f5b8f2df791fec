"""Names from elsewhere never leave the folder, and stay readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.ipfs.folders import is_safe_name
from pinui.sdk.names import name_of_reply, safe_name
from pinui.sdk.transport.http import Head


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cat.png", "cat.png"),
        ("übersicht 2.pdf", "übersicht 2.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\windows\\x.txt", "x.txt"),
        ("a\x1b[2Jb", "a_[2Jb"),
        ("..", "fallback"),
        ("", "fallback"),
        (" . ", "fallback"),
        ("NUL.txt", "fallback"),
        ("nul .txt", "fallback"),
        ("COM¹", "fallback"),
        ("CONIN$", "fallback"),
        ("C:evil.exe", "C_evil.exe"),
        ("notes/", "notes"),
        ("x" * 199 + " y", "x" * 199),
        (".profile", "profile"),
        ("x" * 300 + ".json", "x" * 195 + ".json"),
        ("x" * 300, "x" * 200),
        ("a." + "y" * 300, "a." + "y" * 198),
    ],
)
def test_names_are_made_safe(name: str, expected: str) -> None:
    assert safe_name(name, "fallback") == expected


@given(st.text() | st.text("aux.nulcomp1¹ :/\\", max_size=9) | st.text("x. ", min_size=198, max_size=202))
def test_no_name_leaves_the_folder(name: str) -> None:
    safe = safe_name(name, "fallback")
    assert safe
    assert not set("/\\\0\n\x1b") & set(safe)
    assert is_safe_name(safe)
    assert len(safe.encode()) <= 200
    assert safe_name(safe, "fallback") in (safe, "fallback") or safe.strip() != safe


@given(
    st.text()
    | st.lists(st.sampled_from(["filename", "*", "=", "0", "utf-8", "''", '"', ";", "%", " ", "x"])).map("".join)
)
def test_no_header_breaks_it(header: str) -> None:
    assert name_of_reply(Head(200, {"content-disposition": header}, ""), "cid")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, "cid"),
        ("inline", "cid"),
        ('attachment; filename="cat.png"', "cat.png"),
        ("attachment; filename*=UTF-8''%C3%BCber.txt", "über.txt"),
        ('attachment; filename="../../x"', "x"),
        ('attachment; filename="a\r\nSet-Cookie: b"', "a__Set-Cookie_ b"),
        ('attachment; filename="a \\"b\\".txt"', "a _b_.txt"),
        ("attachment; filename=bare.txt; size=5", "bare.txt"),
        ("filename*0*; filename*", "cid"),
        ("attachment; filename*=unicode_escape''%5Cx41", "cid"),
        ("attachment; filename*=UTF-8''%ff%fe", "��"),
    ],
)
def test_the_gateways_name_is_used_with_care(header: str | None, expected: str) -> None:
    headers = {} if header is None else {"content-disposition": header}
    assert name_of_reply(Head(200, headers, ""), "cid") == expected
