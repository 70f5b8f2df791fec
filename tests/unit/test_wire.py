"""Bodies out and refusals in, in every shape that has been seen."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.sdk.errors import NetworkError, NetworkTimeout, ProviderError, RateLimited
from pinui.sdk.models import Totals
from pinui.sdk.providers import wire
from pinui.sdk.transport import refusals
from pinui.sdk.transport.http import Breakdown, Rejection

HTML = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"


def refusal(status: int, body: Any, headers: dict[str, str] | None = None, *, gateway: bool = False) -> ProviderError:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refusals.provider_error(Rejection(status, headers or {}, data, "https://x"), now=0, gateway=gateway)


@pytest.mark.parametrize(
    ("status", "body", "message", "reason"),
    [
        (400, {"error": {"reason": "KEYS_MUST_BE_STRINGS", "details": "No keys"}}, "No keys", "KEYS_MUST_BE_STRINGS"),
        (400, {"error": "Invalid request format."}, "Invalid request format.", None),
        (400, {"error": {"reason": "ONLY_A_REASON"}}, "ONLY_A_REASON", "ONLY_A_REASON"),
        (400, {"error": {"message": "words"}}, "words", None),
        (400, {"message": "plain message"}, "plain message", None),
        (400, {"error": {}}, "HTTP error 400", None),
        (400, {"error": {"details": 5}}, "HTTP error 400", None),
        (400, [], "HTTP error 400", None),
        (403, {"error": {"reason": "NO_SCOPES_FOUND", "details": "No scopes"}}, "No scopes", "NO_SCOPES_FOUND"),
        (404, {"error": {"reason": "OBJECT_NOT_FOUND", "details": "Not there"}}, "Not there", "OBJECT_NOT_FOUND"),
        (502, HTML, "HTTP error 502", None),
        (503, b"Service Unavailable", "Service Unavailable", None),
        (500, b"x" * 5000, "HTTP error 500", None),
        (500, b"", "HTTP error 500", None),
        (500, b"\xff\xfe\x00", "HTTP error 500", None),
        (500, b"\x00\x01", "HTTP error 500", None),
        (500, b'"quoted words"', "quoted words", None),
        (502, {"error": HTML.decode(), "message": "no upstream"}, "no upstream", None),
        (502, {"error": HTML.decode()}, "HTTP error 502", None),
        (502, {"error": {"details": HTML.decode(), "reason": "UPSTREAM"}}, "UPSTREAM", "UPSTREAM"),
        (400, {"error": {"details": "size must be < 10"}}, "size must be < 10", None),
        (404, b"The owner of this gateway does not have this content pinned ERR_ID:00006", None, "ERR_ID:00006"),
    ],
)  # fmt: skip
def test_every_body_becomes_the_right_message(status: int, body: Any, message: str | None, reason: str | None) -> None:
    error = refusal(status, body)
    assert message is None or str(error) == message
    assert error.reason == reason
    assert error.status == status
    assert "<html" not in str(error)


def test_a_refused_token_is_the_contracts_sentence_with_the_providers_words_beside_it() -> None:
    error = refusal(401, {"error": {"reason": "INVALID_CREDENTIALS", "details": "Invalid/expired credentials"}})
    assert str(error) == "HTTP error 401"
    assert error.details == "Invalid/expired credentials"
    assert error.reason == "INVALID_CREDENTIALS"
    assert "token" in str(error.hint)


def test_who_gave_no_token_is_told_so_and_not_that_it_is_wrong() -> None:
    for status, body in ((401, b""), (400, b'{"error":{"reason":"KEYS_MUST_BE_STRINGS"}}')):
        error = refusals.provider_error(Rejection(status, {}, body, "https://x"), now=0, has_token=False)
        assert "No token was sent" in str(error.hint)
    other = refusals.provider_error(Rejection(400, {}, b'{"error":"Invalid"}', "https://x"), now=0, has_token=False)
    assert other.hint is None


def test_a_page_of_a_proxy_is_never_shown() -> None:
    assert str(refusal(502, b"gateway timeout", {"content-type": "text/html"})) == "HTTP error 502"


def test_too_many_requests_carries_the_wait() -> None:
    error = refusal(429, {"error": "slow down"}, {"retry-after": "120"})
    assert isinstance(error, RateLimited)
    assert (str(error), error.retry_after) == ("slow down", 120)


@pytest.mark.parametrize(
    ("status", "body", "gateway", "word"),
    [
        (403, {"error": {"reason": "NO_SCOPES_FOUND"}}, False, "scopes"),
        (403, {}, False, "permissions"),
        (404, {}, True, "gateway"),
        (504, b"", True, "found no peer"),
        (404, {}, False, "URL"),
        (401, {}, True, "key of its own"),
        (403, {}, True, "key of its own"),
        (302, b"", False, "redirect"),
        (500, b"", False, "other side"),
        (413, b"", False, "larger"),
        (400, {"error": {"reason": "CURRENT_USER_HAS_NOT_PINNED_CID"}}, False, "not pinned"),
    ],
)
def test_the_hint_says_what_to_do(status: int, body: Any, gateway: bool, word: str) -> None:
    assert word in str(refusal(status, body, gateway=gateway).hint)


def test_some_refusals_need_no_hint() -> None:
    assert refusal(400, {}).hint is None


def test_the_word_of_a_daemon_is_final() -> None:
    told = Rejection(500, {}, b'{"Message":"context deadline exceeded"}', "https://x", final=True)
    assert refusals.provider_error(told, now=0).hint is None
    assert "in time" in str(refusals.provider_error(told, now=0, gateway=True).hint)


@given(st.binary(max_size=200) | st.text().map(str.encode), st.integers(300, 599))
def test_no_body_breaks_it(body: bytes, status: int) -> None:
    error = refusal(status, body)
    assert str(error)
    assert "<" not in str(error) or body.lstrip().startswith((b"{", b'"'))


def test_not_pinned_is_known_in_every_services_words() -> None:
    assert refusals.is_not_pinned(refusal(400, {"error": {"reason": "CURRENT_USER_HAS_NOT_PINNED_CID"}}))
    assert refusals.is_not_pinned(refusal(404, {}))
    assert not refusals.is_not_pinned(refusal(400, {}))
    for words in ("path 'QmX' is not pinned", "not pinned or pinned indirectly"):
        assert refusals.is_not_pinned(refusal(500, {"Message": words, "Code": 0, "Type": "error"}))
    assert not refusals.is_not_pinned(refusal(500, {"Message": "pin: context deadline exceeded"}))


def test_the_json_body_in_both_dialects() -> None:
    assert wire.pin_json_body('{"a":1}', name="client-1", dialect="pin", cid_version=None) == (
        b'{"pinContent":{"a":1},"pinMetadata":{"name":"client-1"}}'
    )
    assert wire.pin_json_body("1", name="n", dialect="pinata", cid_version=1) == (
        b'{"pinataContent":1,"pinataMetadata":{"name":"n"},"pinataOptions":{"cidVersion":1}}'
    )
    assert wire.options_field("pin", 0) == ("pinOptions", '{"cidVersion":0}')


def test_answers_are_read_with_care() -> None:
    assert wire.read_pinned_cid(200, b'{"IpfsHash":"Qm","PinSize":1,"unknown":[]}') == "Qm"
    assert wire.read_authentication(200, b'{"message":"Congratulations!"}') is True
    assert wire.read_totals(200, b'{"pin_count":2,"pin_size_total":"30"}') == Totals(2, 30)
    for read in (wire.read_pinned_cid, wire.read_authentication, wire.read_totals):
        for body in (b"", b"[]", b"{}", HTML, b'{"IpfsHash":"","message":1,"pin_count":"x","pin_size_total":null}'):
            with pytest.raises(ProviderError, match="not understood"):
                read(200, body)


@pytest.mark.parametrize("cid", ["QmTest", "bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"])
def test_a_cid_is_one_word(cid: str) -> None:
    assert wire.read_pinned_cid(200, json.dumps({"IpfsHash": cid}).encode()) == cid


@pytest.mark.parametrize(
    "text",
    [
        "Qm\x1b]52;c;ZXZpbA==\x07",
        "QmOne\nQmTwo",
        "QmOne\n",
        " QmOne",
        "QmOne\tQmTwo",
        "QmOne QmTwo",
        "../x",
        "Qmü",
        "Q" * 5000,
    ],
)
def test_any_other_text_in_place_of_a_cid_is_an_error(text: str) -> None:
    with pytest.raises(ProviderError, match="not understood: its IpfsHash is no CID") as refused:
        wire.read_pinned_cid(200, json.dumps({"IpfsHash": text}).encode())
    assert text not in str(refused.value)


def test_no_answer_is_a_network_error() -> None:
    error = refusals.network_error(Breakdown("connect", "api.example could not be reached", hint="check"))
    assert (type(error), str(error), error.hint) == (NetworkError, "api.example could not be reached", "check")
    assert type(refusals.network_error(Breakdown("sent", "late", timed_out=True))) is NetworkTimeout


@pytest.mark.parametrize(
    ("body", "objects"), [(b'[{"a": 1}, 2, {"b": 3}]', [{"a": 1}, {"b": 3}]), (b'{"a": 1}', []), (HTML, []), (b"", [])]
)
def test_an_answer_that_is_no_list_of_objects_holds_none(body: bytes, objects: list[dict[str, int]]) -> None:
    assert wire.answer_list(body) == objects
