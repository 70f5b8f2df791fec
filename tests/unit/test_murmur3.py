"""murmur3: the values its author's code gives."""

from __future__ import annotations

import pytest

from pinui.ipfs.murmur3 import murmur3_x64_64


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        ("", "0000000000000000"),
        ("hello", "cbd8a7b341bd9b02"),
        ("The quick brown fox jumps over the lazy dog", "e34bbc7bbc071b6c"),
    ],
)
def test_known_texts_get_their_known_hashes(text: str, digest: str) -> None:
    assert murmur3_x64_64(text.encode()).hex() == digest
