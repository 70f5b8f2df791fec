"""Recomputing a CID from plain bytes: certain, likely, or unknown."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.ipfs.cid import DAG_PB, IDENTITY, RAW, SHA2_256, Cid
from pinui.ipfs.importer import KUBO_V0, KUBO_V1, PROFILES, UNIXFS_2025, CidPredictor, ImportProfile
from pinui.ipfs.multihash import BLAKE2B_256, SHA2_512
from pinui.ipfs.plain_bytes import ContentCheck, compare_prediction, likely_profiles, same_content


def cid_of(data: bytes, profile: ImportProfile) -> Cid:
    predictor = CidPredictor(profile)
    predictor.feed(data)
    return predictor.finish()


def finding(cid: Cid, *pieces: bytes, profile: ImportProfile | None = None) -> str:
    check = ContentCheck(cid, profile)
    for piece in pieces:
        check.feed(piece)
    return check.finding()


@given(st.binary(max_size=2000), st.integers(0, 2000), st.sampled_from(PROFILES))
def test_right_bytes_are_verified_in_any_pieces(data: bytes, at: int, profile: ImportProfile) -> None:
    cid = cid_of(data, profile)
    assert finding(cid, data[:at], data[at:], profile=profile) == "verified"
    assert finding(cid, data + b"x", profile=profile) == ("mismatch" if cid.codec == RAW else "unknown")


def test_the_version_suggests_the_profile() -> None:
    assert likely_profiles(cid_of(b"a", KUBO_V0)) == (KUBO_V0, KUBO_V1, UNIXFS_2025)
    assert likely_profiles(cid_of(b"a", KUBO_V1)) == (KUBO_V1, KUBO_V0, UNIXFS_2025)


@pytest.mark.parametrize(
    ("code", "digest"),
    [
        (SHA2_256, hashlib.sha256(b"abc").digest()),
        (SHA2_512, hashlib.sha512(b"abc").digest()),
        (BLAKE2B_256, hashlib.blake2b(b"abc", digest_size=32).digest()),
    ],
)
def test_a_raw_cid_is_certain_with_every_trusted_hash(code: int, digest: bytes) -> None:
    cid = Cid(1, RAW, code, digest)
    assert finding(cid, b"a", b"bc") == "verified"
    assert finding(cid, b"abd") == "mismatch"


def test_other_hashes_and_codecs_are_unknown() -> None:
    assert finding(Cid(1, RAW, 0x1E, bytes(32)), b"abc") == "unknown"
    assert finding(Cid(1, DAG_PB, SHA2_512, bytes(64)), b"abc") == "unknown"
    assert finding(Cid(1, 0x71, SHA2_256, bytes(32)), b"abc") == "unknown"


@pytest.mark.parametrize("codec", [RAW, DAG_PB])
@pytest.mark.parametrize("length", [0, 1, 19, 33])
def test_a_digest_too_short_or_too_long_proves_nothing(codec: int, length: int) -> None:
    digest = (hashlib.sha256(b"abc").digest() + b"x")[:length]
    assert finding(Cid(1, codec, SHA2_256, digest), b"abc") == "unknown"
    predicted = cid_of(b"abc", KUBO_V0)
    assert compare_prediction(str(Cid(1, codec, SHA2_256, digest)), predicted, b"abc") == "unverifiable"


def test_a_digest_may_be_cut_to_a_length_that_is_still_safe() -> None:
    cid = Cid(1, RAW, SHA2_256, hashlib.sha256(b"abc").digest()[:20])
    assert (finding(cid, b"abc"), finding(cid, b"abd")) == ("verified", "mismatch")


def test_an_identity_cid_is_its_own_proof() -> None:
    assert finding(Cid(1, RAW, IDENTITY, b"abc"), b"ab", b"c") == "verified"
    assert finding(Cid(1, RAW, IDENTITY, b"abc"), b"abcd") == "mismatch"
    assert finding(Cid(1, RAW, IDENTITY, b"abc"), b"ab", b"cd", b"e" * 1000) == "mismatch"
    assert finding(Cid(1, RAW, IDENTITY, b"")) == "verified"
    assert finding(Cid(1, RAW, IDENTITY, bytes(200)), bytes(200)) == "unknown"
    assert finding(Cid(1, DAG_PB, IDENTITY, b"\x0a\x02\x08\x01"), b"") == "unknown", "an empty folder is no file"
    assert finding(Cid(1, 0x71, IDENTITY, b"abc"), b"abc") == "unknown"


def test_versions_do_not_matter_for_sameness() -> None:
    cid = cid_of(b"abc", KUBO_V0)
    assert same_content(cid, cid.to_v1())
    assert not same_content(cid, cid_of(b"abc", KUBO_V1))


def test_a_providers_answer_is_judged() -> None:
    predicted = cid_of(b"abc", KUBO_V0)
    assert compare_prediction(str(predicted), predicted, None) == "verified"
    assert compare_prediction("nonsense", predicted, b"abc") == "unverifiable"
    assert compare_prediction(str(cid_of(b"x", KUBO_V0)), predicted, None) == "unverifiable"
    assert compare_prediction(str(cid_of(b"abc", KUBO_V1)), predicted, b"abc") == "verified"
    assert compare_prediction(str(cid_of(b"x", KUBO_V0)), predicted, b"abc") == "mismatch"
    assert compare_prediction(str(Cid(1, RAW, SHA2_512, bytes(64))), predicted, b"abc") == "mismatch"
    assert compare_prediction(str(Cid(1, DAG_PB, SHA2_512, bytes(64))), predicted, b"abc") == "unverifiable"
