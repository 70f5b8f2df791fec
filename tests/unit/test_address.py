"""What people write to name content, and that no input leads anywhere else."""

from __future__ import annotations

import random
import re
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pinui.sdk.address import Address
from pinui.sdk.errors import InvalidCID

V0 = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
V1 = "bafybeif7ztnhq65lumvvtr4ekcwd2ifwgm3awq4zfr3srh462rwyinlb4y"
BASE = "https://gateway.example/ipfs"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (V0, V0),
        (f"  {V1}\n", V1),
        (V1.upper(), V1),
        (f"https://gateway.pinata.cloud/ipfs/{V0}", V0),
        (f"https://gateway.pinata.cloud/ipfs/{V0}/", V0),
        (f"https://host/some/ipfs/{V0}//?filename=x#top", V0),
        (f"{V0}?download=true", V0),
        (f"{V0}///", V0),
        (f"/ipfs/{V0}", V0),
        (f"ipfs/{V0}", V0),
        (f"ipfs/{V0}/ipfs/a", f"{V0}/ipfs/a"),
        (f"{V0}/ipfs/{V1}", f"{V0}/ipfs/{V1}"),
        (f"gateway.example/ipfs/{V0}", V0),
        (f"ipfs://{V1}", V1),
        (f"IPFS://{V1}/a", f"{V1}/a"),
        (f"ipfs://ipfs/{V1}", V1),
        (f"https://{V1}.ipfs.dweb.link/", V1),
        (f"https://{V1}.ipfs.dweb.link/dir/cat.png?x=1", f"{V1}/dir/cat.png"),
        (f"https://gw/ipfs/{V0}/a%20b/c.txt", f"{V0}/a%20b/c.txt"),
        (f"{V0}/a b/ü.txt", f"{V0}/a%20b/%C3%BC.txt"),
        (f"https://sub.ipfs.example/ipfs/{V0}", V0),
        (f"https://user:password@host/ipfs/{V0}", V0),
    ],
)
def test_every_form_is_reduced_to_the_canonical_one(text: str, expected: str) -> None:
    assert str(Address.parse(text)) == expected
    assert Address.parse(text).url(BASE) == f"{BASE}/{expected}"


@pytest.mark.parametrize(
    "text",
    [
        *["", "   ", "/", "?", "not-a-cid", "http://evil.example/", "http://evil.example/x", "https://host/ipfs/"],
        *[f"{V0}/../x", f"{V0}/%2e%2e/x", f"{V0}/a%2fb", f"{V0}/a%00b", f"{V0}/\x1b[2J", f"{V0}/\udc80", f"{V0}/%ff"],
        *["../../etc/passwd", f"{V0}@evil", f"https://evil/ipns/{V0}", "ipns://name", V0 * 300, "%51mb"],
    ],
)
def test_what_names_no_content_is_an_invalid_cid(text: str) -> None:
    with pytest.raises(InvalidCID, match=r"^Invalid CID$") as caught:
        Address.parse(text)
    assert caught.value.hint


def test_what_is_no_text_is_a_type_error() -> None:
    for value in (None, b"Qm", 5):
        with pytest.raises(TypeError, match="a CID is text"):
            Address.parse(value)  # type: ignore[arg-type]
    assert Address.parse(f"\ufeff{V0}").cid == V0


def test_a_path_is_kept_for_reads_and_refused_where_a_whole_cid_is_meant() -> None:
    assert Address.parse(f"{V0}/a").name == "a"
    assert Address.parse_root(V0) == Address(V0)
    assert Address.parse(V0).name == V0
    with pytest.raises(InvalidCID) as caught:
        Address.parse_root(f"https://gw/ipfs/{V0}/a")
    assert V0 in str(caught.value.hint)


TRICKY = [
    *[
        "/",
        "//",
        "..",
        ".",
        "%2e%2e",
        "%2f",
        "%5c",
        "\\",
        "@",
        ":",
        "#",
        "?",
        "%",
        "%25",
        "%00",
        "\x00",
        "\r\n",
        "\x1b[",
    ],
    *["http://", "https://", "ipfs://", "//evil/", "/ipfs/", "ipfs/", ".ipfs.", "evil.example", "127.0.0.1", "[::1]"],
    *[V0, V1, V1.upper(), "a", "ü", "\u202e", "\ufeff", " ", "\t", "&", "=", ";", "+", "a" * 3000],
]
REQUEST = re.compile(re.escape(BASE) + r"/(Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]+)((/[A-Za-z0-9_.~%-]+)*)")


def check_where_it_leads(text: str) -> bool:
    """Whether the text is an address at all; if so, its request is held against the rule."""
    try:
        address = Address.parse(text)
    except InvalidCID:
        return False
    url = address.url(BASE)
    assert REQUEST.fullmatch(url)
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("https", "gateway.example", "", "")
    assert not any(segment in (".", "..") for segment in parts.path.split("/"))
    assert Address.parse(str(address)) == address
    assert Address.parse(url) == address
    return True


def test_forty_thousand_tricky_inputs_lead_nowhere_but_below_the_gateway() -> None:
    chance = random.Random(7)
    addresses = 0
    for _ in range(40_000):
        start = chance.choice(["", V0, V1, "https://", "https://gw/ipfs/" + V0])
        addresses += check_where_it_leads(start + "".join(chance.choices(TRICKY, k=chance.randrange(7))))
    assert addresses > 5_000, "too few of the inputs were addresses for this to prove anything"


@settings(max_examples=1_000)
@given(st.text(max_size=60), st.sampled_from(["", V0 + "/", f"ipfs://{V1}/", f"https://gw/ipfs/{V0}"]))
@example("..;/x", V0)
@example("a" * 7000, V0 + "/")
def test_any_text_leads_nowhere_but_below_the_gateway(text: str, start: str) -> None:
    check_where_it_leads(start + text)
