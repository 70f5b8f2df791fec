"""Which servers are talked to."""

from __future__ import annotations

import re

import pytest

from pinui.sdk.urls import check_base_url, is_loopback, is_pinata, loggable, origin, origin_text, redirect_target

CID = "bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.pinata.cloud", "https://api.pinata.cloud"),
        (" https://gw.example/ipfs/ ", "https://gw.example/ipfs"),
        ("http://127.0.0.1:8080/ipfs//", "http://127.0.0.1:8080/ipfs"),
        ("http://localhost:1", "http://localhost:1"),
        ("http://[::1]:5001", "http://[::1]:5001"),
    ],
)
def test_good_addresses_lose_only_their_trailing_slashes(url: str, expected: str) -> None:
    assert check_base_url(url, "pin_api_url", allow_insecure=False) == expected


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "web address"),
        ("api.pinata.cloud", "web address"),
        ("ftp://host", "web address"),
        ("https://", "web address"),
        ("https://host:port", "web address"),
        ("https://[::1", "web address"),
        ("https://ho st", "web address"),
        ("https://host\\evil", "web address"),
        ("https://user:password@host", "user name"),
        ("http://localhost@evil.example", "user name"),
        ("https://host/?key=1", "query"),
        ("https://host/#x", "query"),
        ("http://example.com", "https://"),
        ("http://127.0.0.1.evil.example", "https://"),
        ("http://2130706433", "https://"),
        ("http://0x7f.1", "https://"),
        ("http://[::ffff:127.0.0.1]", "https://"),
        ("http://192.168.1.1", "https://"),
    ],
)
def test_bad_addresses_are_refused_with_a_sentence(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_base_url(url, "pin_api_url", allow_insecure=False)


def test_http_elsewhere_can_be_allowed() -> None:
    assert check_base_url("http://nas.example/", "gateway_url", allow_insecure=True) == "http://nas.example"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *[(host, True) for host in ("localhost", "LOCALHOST.", "x.localhost", "127.9.9.9", "::1")],
        *[
            (host, False)
            for host in ("localhost.evil", "127.0.0.1.evil", "::ffff:127.0.0.1", "0.0.0.0", "", "2130706433")
        ],
    ],
)
def test_loopback_is_only_what_can_mean_nothing_else(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
    assert is_loopback(None) is False


def test_origins_compare_with_their_default_ports() -> None:
    assert origin("https://Host/x") == origin("https://host:443/y")
    assert origin("https://host") != origin("http://host:443")
    assert origin("mailto:x") is None


def test_only_the_service_itself_gets_its_dialect() -> None:
    assert is_pinata("https://api.pinata.cloud/x")
    assert not is_pinata("https://api.pinata.cloud.evil.example")
    assert not is_pinata("https://notpinata.cloud")


HERE = "https://gw.example/ipfs/x"


@pytest.mark.parametrize(
    ("url", "location", "expected"),
    [
        (HERE, "/ipfs/y", "https://gw.example/ipfs/y"),
        (HERE, "https://other.example/y", "https://other.example/y"),
        (HERE, "//other.example/y", "https://other.example/y"),
        (HERE, "http://gw.example/y", None),
        (HERE, "http://other.example/y", None),
        (HERE, "http://127.0.0.1/y", None),
        (HERE, "https://localhost/y", None),
        (HERE, "https://user@other.example/", None),
        (HERE, "ftp://other.example/", None),
        (HERE, "javascript:alert(1)", None),
        (HERE, "https://[::1/", None),
        ("http://127.0.0.1:1/x", "http://localhost:2/y", "http://localhost:2/y"),
        ("http://127.0.0.1:1/x", "http://example.com/y", None),
        ("http://127.0.0.1:1/x", "https://example.com/y", "https://example.com/y"),
        ("nonsense", "https://example.com/", None),
    ],
)
def test_redirects_lead_only_where_they_may(url: str, location: str, expected: str | None) -> None:
    assert redirect_target(url, location, keep_origin=False, allow_insecure=False) == expected


def test_calls_with_a_token_stay_at_their_origin() -> None:
    assert redirect_target(HERE, "https://other.example/", keep_origin=True, allow_insecure=False) is None
    assert redirect_target(HERE, "/y", keep_origin=True, allow_insecure=False) == "https://gw.example/y"


def test_plain_http_redirects_only_where_that_is_allowed_already() -> None:
    assert redirect_target("http://a.example/", "http://b.example/", keep_origin=False, allow_insecure=True)
    assert redirect_target(HERE, "http://b.example/", keep_origin=False, allow_insecure=True) is None


@pytest.mark.parametrize("url", ["htps://ann:hunter2hunter2@example.com", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x"])
def test_a_wrong_address_is_told_without_the_secret_in_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"must be a web address .*\*\*\*") as caught:
        check_base_url(url, "pin_api_url", False)
    assert "hunter2" not in str(caught.value)
    assert "eyJzdWIi" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/a?format=car&limit=10", "https://example.com/a?format=car&limit=10"),
        ("https://ann:pass@example.com/a", "https://***@example.com/a"),
        ("https://example.com/?pinataGatewayToken=abc&x=1", "https://example.com/?pinataGatewayToken=***&x=1"),
        ("https://example.com/?X-Amz-Signature=0a1b&X-Amz-Credential=c/d", None),
        ("https://example.com/?sig=a&Policy=b&AccessKeyId=d&jwt=e&password=f&auth=g&x=1", None),
        (f"https://example.com/?anything={'a' * 60}", "https://example.com/?anything=***"),
        (f"https://example.com/?arg={CID}", f"https://example.com/?arg={CID}"),
        ("https://example.com/?eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x", "https://example.com/?***"),
        ("https://example.com/a\x1b[31m?b\n=c", None),
    ],
)
def test_an_address_is_logged_without_secrets(url: str, shown: str | None) -> None:
    logged = loggable(url)
    if shown is None:
        values = re.findall(r"=([^&]*)", logged)
        assert "\x1b" not in logged
        assert "\n" not in logged
        assert set(values) <= {"***", "1", "c"}
    else:
        assert logged == shown


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://API.example.com/v2/", "https://api.example.com"),
        ("https://api.example.com:443", "https://api.example.com"),
        ("http://127.0.0.1:5001/api", "http://127.0.0.1:5001"),
        ("http://[::1]:80", "http://[::1]"),
        ("ftp://example.com", ""),
    ],
)
def test_an_origin_is_written_as_people_write_it(url: str, text: str) -> None:
    assert origin_text(url) == text
