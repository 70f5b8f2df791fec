"""Configuration is checked at once, records and messages keep the contract's names, secrets stay hidden."""

from __future__ import annotations

import copy
import pickle
import traceback
from typing import Any, get_type_hints

import httpx
import pytest

import pinui
from pinui import Client, ClusterProvider, KuboProvider, PinProvider
from pinui.sdk import errors
from pinui.sdk.errors import ContentError, NetworkTimeout, PinuiError, ProviderError, RateLimited, SerializationError
from pinui.sdk.models import (
    Blob,
    ClientConfig,
    ClientMessage,
    ClientRecord,
    ClientSettings,
    LeftOut,
    StoreOptions,
    Timeouts,
)
from pinui.sdk.secret import Secret
from pinui.sdk.stored_json import message_from
from pinui.sdk.transport.http import Head, SecretHeader

CANARY = "canary-token-1234567890"


def test_without_urls_the_public_service_is_meant() -> None:
    config = ClientConfig(provider_token=CANARY)
    assert config.pin_api_url == "https://api.pinata.cloud"
    assert config.gateway_url == "https://gateway.pinata.cloud/ipfs"
    assert config.wire_dialect == "pinata"


def test_another_service_speaks_the_neutral_dialect_and_names_its_own_gateway() -> None:
    config = ClientConfig(pin_api_url="http://127.0.0.1:1/", timeout=3, gateway_key=CANARY)
    assert (config.pin_api_url, config.gateway_url, config.wire_dialect) == ("http://127.0.0.1:1", None, "pin")
    assert config.timeout == Timeouts(connect=3, idle=3, total=3)
    assert ClientConfig(pin_api_url="http://127.0.0.1:1", dialect="pinata").wire_dialect == "pinata"
    assert ClientConfig(gateway_url="http://127.0.0.1:1/ipfs").pin_api_url == "https://api.pinata.cloud"


@pytest.mark.parametrize("name", ["pinning", "provider_b", "provider_c"])
async def test_the_contracts_three_provider_names_are_one_provider(name: Any) -> None:
    assert ClientConfig(provider=name).provider == name
    async with await Client.init(provider=name) as client:
        assert isinstance(client.provider, PinProvider)


async def test_kubo_is_on_this_machine_unless_it_is_said_where() -> None:
    config = ClientConfig(provider="kubo")
    assert (config.pin_api_url, config.gateway_url) == ("http://127.0.0.1:5001", "http://127.0.0.1:8080/ipfs")
    elsewhere = ClientConfig(provider="kubo", pin_api_url="https://kubo.example")
    assert (elsewhere.pin_api_url, elsewhere.gateway_url) == ("https://kubo.example", None)
    async with await Client.init(elsewhere) as client:
        assert isinstance(client.provider, KuboProvider)


async def test_a_cluster_is_on_this_machine_unless_it_is_said_where() -> None:
    config = ClientConfig(provider="cluster", replication_min=1, replication_max=2)
    assert (config.pin_api_url, config.gateway_url) == ("http://127.0.0.1:9094", "http://127.0.0.1:8080/ipfs")
    async with await Client.init(config) as client:
        assert isinstance(client.provider, ClusterProvider)
    for factors in ((-1, -1), (None, 3), (2, None), (None, -1)):
        ClientConfig(provider="cluster", replication_min=factors[0], replication_max=factors[1])


def test_a_password_may_hold_what_no_token_does() -> None:
    assert ClientConfig(provider="kubo", provider_token=" ann:pass word é ").provider_token == "ann:pass word é"
    wrong: list[ClientSettings] = [
        {"provider_token": "ann:pass word"},
        {"provider": "kubo", "provider_token": "a b"},
        {"provider": "kubo", "provider_token": "ann:two\nlines"},
    ]
    for settings in wrong:
        with pytest.raises(ValueError, match="characters that no token has"):
            ClientConfig(**settings)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"provider": "other"}, "provider must be one of pinning, provider_b, provider_c, kubo, cluster, psa"),
        ({"dialect": "x"}, "dialect"),
        ({"known_dialect": "x"}, "known_dialect"),
        ({"replication_min": 1}, "are for provider="),
        ({"provider": "cluster", "replication_min": 0}, "replication_min must be a number of peers"),
        ({"provider": "cluster", "replication_max": "2"}, "replication_max must be a number of peers"),
        ({"provider": "cluster", "replication_max": True}, "replication_max must be a number of peers"),
        ({"provider": "cluster", "replication_min": 3, "replication_max": 2}, "larger than replication_max"),
        ({"provider": "cluster", "replication_min": 1, "replication_max": -1}, "both -1, or neither"),
        ({"verify": "maybe"}, "verify"),
        ({"cid_version": 2}, "cid_version"),
        ({"retries": -1}, "retries"),
        ({"retries": "4"}, "retries must be a whole number"),
        ({"retries": None}, "retries must be a whole number"),
        ({"max_json_bytes": -1}, "max_json_bytes must be a whole number"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": None}, "timeout must be a number of seconds"),
        ({"timeout": "5"}, "timeout must be a number of seconds"),
        ({"timeout": float("nan")}, "timeout must be a number of seconds"),
        ({"provider_token": b"bytes"}, "provider_token must be text, not bytes"),
        ({"provider_token": 5}, "provider_token must be text, not int"),
        ({"provider_token": None}, "provider_token is None"),
        ({"provider_token": "abc”def"}, "characters that no token has"),
        ({"gateway_key": "a\x00b"}, "gateway_key holds characters"),
        ({"gateways": "https://gw.example/ipfs"}, "several addresses"),
        ({"pin_api_url": "http://example.com"}, "https://"),
        ({"gateway_url": "gateway"}, "gateway_url must be a web address"),
        ({"gateway_url": ""}, "gateway_url must be a web address"),
        ({"pin_api_url": ""}, "pin_api_url must be a web address"),
        ({"pin_api_url": 5}, "pin_api_url must be a web address"),
    ],
)
def test_bad_settings_are_refused_with_a_sentence(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        ClientConfig(**settings)


def test_limits_on_waiting_are_checked_one_by_one() -> None:
    for wrong in (-1, 0, True, None):
        with pytest.raises(ValueError, match="timeout must be"):
            Timeouts(idle=wrong)  # type: ignore[arg-type]


def test_editors_are_told_every_setting_that_init_takes() -> None:
    names = {"httpx": httpx}  # models.py names its type without loading it
    assert get_type_hints(ClientSettings, localns=names) == get_type_hints(ClientConfig, localns=names)


def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret(CANARY)
    config = ClientConfig(provider_token=CANARY, gateway_key=CANARY)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret!s:>20}", repr(config), repr([secret]), repr(vars)]
    assert not any(CANARY in text for text in shown)
    assert secret.reveal() == CANARY
    assert repr(Secret("")) == "Secret('')"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert copy.deepcopy(config) == config
    assert copy.copy(secret) is secret


def test_a_traceback_with_locals_shows_no_secret() -> None:
    def fail() -> None:
        secret = Secret(CANARY)
        config = ClientConfig(provider_token=secret)
        raise RuntimeError(str(config.provider))

    try:
        fail()
    except RuntimeError as error:
        text = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())
    assert "secret = Secret('***')" in text
    assert CANARY not in text


def with_locals(error: BaseException) -> str:
    return "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())


@pytest.mark.parametrize(
    "wrong",
    [
        {"pin_api_url": "http://example.com"},
        {"verify": "maybe"},
        {"gateway_key": "a b"},
        {"retries": -1},
        {"unknown": 1},
        {"transport": 5},
    ],
)
async def test_a_wrong_setting_shows_no_secret_among_the_variables_of_its_traceback(wrong: dict[str, Any]) -> None:
    def settings() -> dict[str, Any]:
        return {"provider_token": CANARY, "gateway_key": CANARY, **wrong}

    def make() -> ClientConfig:
        return ClientConfig(**settings())

    with pytest.raises((ValueError, TypeError), match=next(iter(wrong))) as caught:
        PinProvider(make())
    assert CANARY not in with_locals(caught.value)
    with pytest.raises((ValueError, TypeError), match=next(iter(wrong))) as caught:
        await Client.init(**settings())
    assert CANARY not in with_locals(caught.value)
    with pytest.raises(TypeError, match="either") as caught:
        await Client.init(ClientConfig(), provider_token=CANARY)
    assert CANARY not in with_locals(caught.value)


def test_secrets_compare_by_their_text() -> None:
    assert Secret(CANARY) == Secret(CANARY) == CANARY
    assert Secret(Secret("a")) != "b"
    assert Secret("a") != 1
    assert len({Secret("a"), Secret("a")}) == 1
    assert (bool(Secret("")), len(Secret("abc"))) == (False, 3)


def test_a_secret_header_belongs_to_one_origin() -> None:
    header = SecretHeader("Authorization", Secret(CANARY), "https://api.example/v1", scheme="Bearer")
    assert header.belongs_to("https://api.example:443/other")
    for url in (
        "http://api.example/",
        "https://api.example:444/",
        "https://evil.example/",
        "https://api.example.evil/",
    ):
        assert not header.belongs_to(url)
    assert not SecretHeader("x", Secret(""), "https://api.example").belongs_to("https://api.example")


def test_a_head_reads_its_length_and_type_with_care() -> None:
    head = Head(200, {"content-length": "12", "content-type": "Text/HTML; charset=utf-8"}, "")
    assert (head.length, head.media_type) == (12, "text/html")
    assert Head(200, {"content-length": "-1"}, "").length is None
    assert Head(200, {}, "").length is None


def test_records_keep_the_contracts_names() -> None:
    message = ClientMessage("alice", "hi", 5)
    record = ClientRecord(cid="Qm", timestamp=1, data=message, size=2, verification="verified")
    assert record.to_json() == {
        "cid": "Qm",
        "timestamp": 1,
        "data": {"recipientId": "alice", "payload": "hi", "timestamp": 5},
        "size": 2,
    }
    assert ClientRecord(cid="Qm", timestamp=1, size=2).to_json() == {"cid": "Qm", "timestamp": 1, "size": 2}
    with pytest.raises(AttributeError):
        record.cid = "other"  # type: ignore[misc]


def test_a_blob_knows_its_size_and_does_not_print_its_bytes() -> None:
    blob = Blob(b"x" * 1000, "text/plain", "a.txt")
    assert blob.size == 1000
    assert "xxx" not in repr(blob)
    assert StoreOptions(encrypt=True, label="a").label == "a"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ([1], "not an object"),
        ({}, "no recipientId"),
        ({"recipientId": 1, "payload": "", "timestamp": 1}, "no recipientId"),
        ({"recipientId": "a", "timestamp": 1}, "no payload"),
        ({"recipientId": "a", "payload": "x", "timestamp": True}, "no timestamp"),
        ({"recipientId": "a", "payload": "x"}, "no timestamp"),
        ({"recipientId": "a", "payload": "x", "timestamp": float("inf")}, "no timestamp"),
        ({"recipientId": "a", "payload": "x", "timestamp": "1"}, "no timestamp"),
    ],
)
def test_what_is_no_message_is_refused_with_a_sentence(document: object, reason: str) -> None:
    with pytest.raises(ContentError, match=f"not a message: .*{reason}"):
        message_from(document)


def test_a_message_is_read_as_it_was_written() -> None:
    message = ClientMessage("alice", "hi", 1700000000000)
    assert message_from({**message.to_json(), "more": 1}) == message
    assert message_from({**message.to_json(), "timestamp": 5.0}).timestamp == 5
    assert message_from({**message.to_json(), "timestamp": 10**400}).timestamp == 10**400


@pytest.mark.parametrize(
    "error",
    [
        PinuiError("m", hint="h"),
        errors.InvalidCID(),
        SerializationError("m", path="$.a"),
        ContentError("m"),
        errors.SourceChanged("m", hint="h"),
        errors.NetworkError("m"),
        NetworkTimeout("m"),
        ProviderError("m", status=400, details="d", reason="r", retry_after=1.0, hint="h"),
        RateLimited("m", status=429),
        errors.IntegrityError("m"),
    ],
)
def test_errors_survive_a_pickle_with_their_facts(error: PinuiError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error) == error.message
    assert vars(again) == vars(error)


def test_errors_are_what_a_python_user_expects() -> None:
    assert issubclass(errors.InvalidCID, ValueError)
    assert issubclass(SerializationError, ValueError)
    assert issubclass(errors.NetworkError, ConnectionError)
    assert issubclass(NetworkTimeout, TimeoutError)
    assert issubclass(errors.SourceChanged, OSError)
    assert str(errors.InvalidCID()) == "Invalid CID"


def test_every_public_name_is_there_and_no_other() -> None:
    for name in pinui.__all__:
        assert getattr(pinui, name) is not None
    assert dir(pinui) == sorted(pinui.__all__)
    assert set(errors.__all__) <= set(pinui.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pinui.nothing  # noqa: B018


def test_counts_of_left_out_names_add_up() -> None:
    both = LeftOut(hidden=1, links=2) + LeftOut(hidden=3, empty_folders=4)
    assert both == LeftOut(hidden=4, links=2, empty_folders=4)
    assert both
    assert not LeftOut()


def test_a_public_name_is_known_by_the_name_that_people_import() -> None:
    named = {name: getattr(pinui, name) for name in pinui.__all__}
    kinds = {name: kind for name, kind in named.items() if isinstance(kind, type)}
    assert len(kinds) > 30
    assert {name: kind.__module__ for name, kind in kinds.items()} == dict.fromkeys(kinds, "pinui")
