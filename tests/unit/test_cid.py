"""CIDs: any spelling in, one spelling out."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pinui.ipfs.cid import DAG_PB, IDENTITY, RAW, SHA2_256, Cid, canonical, other_version
from pinui.ipfs.errors import MalformedContent

V0 = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
V1 = "bafybeif7ztnhq65lumvvtr4ekcwd2ifwgm3awq4zfr3srh462rwyinlb4y"
EMPTY_RAW = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"

digests = st.binary(min_size=32, max_size=32)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (V0, V0),
        (V1, V1),
        (V1.upper(), V1),
        ("z" + V0, V0),
        ("f01551220" + "00" * 32, None),
        ("bafkqaaa", "bafkqaaa"),
    ],
)
def test_every_spelling_becomes_the_canonical_one(text: str, canonical: str | None) -> None:
    cid = Cid.parse(text)
    assert canonical is None or str(cid) == canonical
    assert Cid.parse(str(cid)) == cid


@pytest.mark.parametrize(
    "text",
    [
        *["", "Qm", "bafy", V0[:-1], V0 + "1", V1 + "aa", V1 + " ", "../x"],
        *["é" * 46, "\x00" * 40, "\ud800" * 46, "b" + "a" * 600],
    ],
)
def test_what_is_no_cid_is_refused(text: str) -> None:
    with pytest.raises(MalformedContent, match="not a CID"):
        Cid.parse(text)


def test_trailing_bytes_are_not_swallowed() -> None:
    raw = bytes(Cid.parse(V1))
    assert Cid.from_bytes(raw) == Cid.parse(V1)
    for bad in (raw + b"x", raw[:-1], b"", b"\x02" + raw[1:]):
        with pytest.raises(MalformedContent):
            Cid.from_bytes(bad)


@given(digests, st.sampled_from([RAW, DAG_PB, 0x71, 0x0129]))
def test_text_and_bytes_round_trip(digest: bytes, codec: int) -> None:
    cid = Cid(1, codec, SHA2_256, digest)
    assert Cid.parse(str(cid)) == cid
    assert Cid.from_bytes(bytes(cid)) == cid


@given(digests)
def test_version_0_and_1_name_the_same_bytes(digest: bytes) -> None:
    old = Cid(0, DAG_PB, SHA2_256, digest)
    assert old.to_v1().multihash == old.multihash
    assert old.to_v1().to_v0() == old
    assert old.spellings() == (old, old.to_v1())
    assert old.to_v1().spellings() == (old.to_v1(), old)
    assert Cid.parse(str(old)) == old


def test_raw_and_identity_have_no_version_0() -> None:
    for cid in (Cid.parse(EMPTY_RAW), Cid(1, DAG_PB, IDENTITY, b"")):
        with pytest.raises(ValueError, match="version 0"):
            cid.to_v0()
        assert cid.spellings() == (cid,)


@example(bytes(65), SHA2_256)
@example(bytes(128), IDENTITY)
@given(st.binary(max_size=200), st.sampled_from([IDENTITY, SHA2_256, 0x1E, 2**40]))
def test_digests_of_any_length_can_be_read_and_written(digest: bytes, hash_code: int) -> None:
    cid = Cid(1, RAW, hash_code, digest)
    assert Cid.parse(str(cid)) == cid
    assert Cid.from_bytes(bytes(cid)) == cid


def test_no_cid_is_longer_than_any_that_is_in_use() -> None:
    for raw in (bytes(Cid(1, RAW, IDENTITY, bytes(252))), b"\x01\x55\x12" + b"\xff" * 8 + b"\x7f"):
        with pytest.raises(MalformedContent):
            Cid.from_bytes(raw)


@given(digests, st.sampled_from([DAG_PB, RAW]))
def test_the_quick_ways_agree_with_the_thorough_one(digest: bytes, codec: int) -> None:
    cid = Cid(1, codec, SHA2_256, digest)
    for one in cid.spellings():
        assert canonical(str(one)) == str(one)
        others = [str(other) for other in one.spellings()[1:]]
        assert other_version(str(one)) == (others[0] if others else None)
    assert canonical(str(cid).upper()) == str(cid)
    with_another_hash = Cid(1, codec, 0x16, digest)
    assert canonical(str(with_another_hash)) == str(with_another_hash)
    assert other_version(str(with_another_hash)) is None


@pytest.mark.parametrize("text", ["baf" + "!" * 56, "baf" + "1" * 56, "nonsense"])
def test_other_text_is_no_cid_to_the_quick_ways_either(text: str) -> None:
    with pytest.raises(MalformedContent):
        canonical(text)
    assert other_version(text) is None


def test_a_short_hash_has_no_other_version() -> None:
    assert other_version("Qm") is None
