"""`pinui profile`, `test`, `info` and `node`: services, their tokens, and what is said about them."""

from __future__ import annotations

import base64
import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pinui.workspace import Query
from pinui.workspace.credentials import Credentials
from pinui.workspace.history import HistoryFile
from pinui.workspace.history.account import account_state
from pinui.workspace.keyring_store import KeyringTrouble
from pinui.workspace.rows import AccountState
from tests.cli.conftest import PINUI, Run

CANARY = "canary-token-that-nobody-may-see"


@pytest.fixture
def service(environment: dict[str, str], tmp_path: Path) -> Iterator[dict[str, str]]:
    """A pinning service in a process of its own: `pinui node`."""
    command = [PINUI, "node", "--json", "--data", str(tmp_path / "service"), "--token", CANARY]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    yield json.loads(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    process.stdout.close()


def test_a_profile_is_tested_live_saved_used_and_removed(call: Run, service: dict[str, str], own_home: Path) -> None:
    urls = ("--api-url", service["api_url"], "--gateway-url", service["gateway_url"])
    added = call("profile", "add", "work", *urls, stdin=f' "{CANARY}"\n')
    assert added.code == 0
    assert "“work” is saved in" in added.err
    assert "token was not saved" in added.err
    assert "There is no session bus here" in added.err
    assert "PINUI_TOKEN" in added.err
    assert CANARY not in added.err + (own_home / "config.toml").read_text()

    no_token = call("--profile", "work", "test")
    assert no_token.code == 1
    assert "“work” has no token" in no_token.err
    assert re.fullmatch(r"work: ok \(\d+ ms\)", call("--profile", "work", "test", PINUI_TOKEN=CANARY).line)

    assert call("profile", "use", "work").code == 0
    cid = call("store", '{"a":1}', PINUI_TOKEN=CANARY).line
    assert call("retrieve", cid, PINUI_TOKEN=CANARY).out == '{"a":1}\n'
    assert call("history").out.split("\t")[5] == "work"
    assert call("--profile", "local", "retrieve", cid).code == 1, "another service, other pins"

    listed = [json.loads(line) for line in call("profile", "list", "--json").out.splitlines()]
    assert [(one["name"], one["current"]) for one in listed] == [("local", False), ("pinata", False), ("work", True)]
    assert call("profile", "remove", "work").code == 0
    assert call("profile").out.splitlines()[0] == "local\tlocal\t\t\tcurrent"


def test_a_keyring_that_keeps_the_token_keeps_the_profile(
    call: Run, service: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def locked(_self: Credentials, _profile: str) -> None:
        raise KeyringTrouble("The keyring is locked: unlock it and try again.")

    call("profile", "add", "work", "--api-url", service["api_url"], "--no-test", stdin=f"{CANARY}\n")
    monkeypatch.setattr(Credentials, "delete", locked)
    refused = call("profile", "remove", "work")
    assert (refused.code, "The keyring is locked" in refused.err) == (1, True)
    assert "work" in call("profile", "list").out


def test_removing_a_profile_deletes_the_copy_of_its_account(call: Run, service: dict[str, str], own_home: Path) -> None:
    urls = ("--api-url", service["api_url"], "--gateway-url", service["gateway_url"])
    call("profile", "add", "work", *urls, stdin=f"{CANARY}\n")
    call("--profile", "work", "store", '{"a":1}', PINUI_TOKEN=CANARY)
    call("history", "forget", "--all", "--yes")  # now the pin is known from the account alone
    call("--profile", "work", "sync", PINUI_TOKEN=CANARY)
    with HistoryFile(own_home / "history.db") as history:
        assert account_state(history, "work").elsewhere == 1
    assert call("profile", "remove", "work").code == 0
    with HistoryFile(own_home / "history.db") as history:
        assert account_state(history, "work") == AccountState()
        assert history.count(Query(of="both")) == 0


def test_a_profile_may_have_several_gateways_which_are_asked_in_order(
    call: Run, service: dict[str, str], own_home: Path
) -> None:
    nobody = "http://127.0.0.1:1/ipfs"
    gateways = ("--gateway-url", nobody, "--gateway-url", service["gateway_url"])
    assert call("profile", "add", "work", "--api-url", service["api_url"], *gateways, stdin=f"{CANARY}\n").code == 0
    cid = call("--profile", "work", "store", '{"a":1}', PINUI_TOKEN=CANARY).line
    assert call("--profile", "work", "retrieve", cid, PINUI_TOKEN=CANARY).out == '{"a":1}\n'

    config = own_home / "config.toml"
    config.write_text(config.read_text() + f'\n[profiles.local]\ngateways = ["{service["gateway_url"]}"]\n')
    assert call("--profile", "local", "retrieve", cid).out == '{"a":1}\n'

    before = config.read_text()
    wrong = call("profile", "add", "work", *gateways, "--gateway-url", "ftp://x", stdin=f"{CANARY}\n")
    assert wrong.code != 0
    assert "--gateway-url" in wrong.err
    assert config.read_text() == before


def test_a_token_that_the_service_refuses_saves_nothing(call: Run, service: dict[str, str], own_home: Path) -> None:
    ran = call("profile", "add", "work", "--api-url", service["api_url"], stdin="wrong-canary\n")
    assert ran.code == 1
    assert "nothing was saved" in ran.err
    assert "401" in ran.err
    assert "wrong-canary" not in ran.err
    assert not (own_home / "config.toml").exists()
    kept = call("profile", "add", "work", "--api-url", service["api_url"], "--no-test", stdin="wrong-canary\n")
    assert kept.code == 0


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        (("work", "--api-url", "ftp://x"), "t\n", "--api-url must be a web address"),
        (("work", "--api-url", "http://example.com"), "t\n", "https"),
        (("work", "--api-url", "http://127.0.0.1:9"), "t\n", "could not be reached"),
        (("work", "--api-url", "http://127.0.0.1:9"), "\n", "No token was given"),
        (("work", "--api-url", "http://127.0.0.1:9"), "two words\n", "no blanks"),
        (("a b", "--api-url", "http://127.0.0.1:9"), "t\n", "cannot be called"),
        (("local",), "t\n", "needs no set-up"),
        (("environment",), "t\n", "cannot be called"),
    ],
)
def test_a_mistake_saves_nothing(call: Run, own_home: Path, arguments: tuple[str, ...], stdin: str, words: str) -> None:
    ran = call("profile", "add", *arguments, stdin=stdin)
    assert ran.code == 1
    assert words in ran.err
    assert not (own_home / "config.toml").exists()


def test_unknown_and_built_in_profiles_are_said_so(call: Run) -> None:
    assert "There are: local, pinata" in call("profile", "use", "nobody").err
    assert "There are: local, pinata" in call("profile", "remove", "nobody").err
    assert "built in" in call("profile", "remove", "pinata").err


def test_a_broken_config_is_reported_with_its_line_and_stays(call: Run, own_home: Path) -> None:
    own_home.mkdir()
    (own_home / "config.toml").write_text("profile = 'local'\ntheme = \n")
    for arguments in (("store", "{}"), ("profile", "list"), ("profile", "use", "pinata")):
        ran = call(*arguments)
        assert ran.code == 1
        assert "config.toml cannot be used: line 2, column 9: invalid value" in ran.err
    assert (own_home / "config.toml").read_text() == "profile = 'local'\ntheme = \n"


def test_the_environment_is_a_profile_by_itself(call: Run, service: dict[str, str]) -> None:
    variables = {"PINUI_API_URL": service["api_url"], "PINUI_GATEWAY_URL": service["gateway_url"]}
    assert "Set PINUI_TOKEN" in call("store", "{}", **variables).err
    cid = call("store", "[]", PINUI_TOKEN=CANARY, **variables).line
    assert call("retrieve", cid, PINUI_TOKEN=CANARY, **variables).out == "[]\n"
    assert call("history").out.split("\t")[5] == "environment"


def test_a_profile_that_the_environment_chooses_already_can_still_be_added(call: Run) -> None:
    address = ("--api-url", "http://127.0.0.1:9", "--no-test", "--json")
    added = call("profile", "add", "work", *address, stdin="t\n", PINUI_PROFILE="work")
    assert json.loads(added.line) == {
        "name": "work",
        "preset": "custom",
        "provider": "pinning",
        "apiUrl": "http://127.0.0.1:9",
        "gatewayUrl": None,
        "current": False,
        "tokenSaved": False,
    }
    used = call("profile", "use", "work", "--json", PINUI_PROFILE="pinata")
    assert json.loads(used.line)["current"] is True
    assert "PINUI_PROFILE still chooses “pinata”" in used.err
    unreadable = call("retrieve", "QmNrEidQrAbxx3FzxNt9E6qjEDZrtvzxUVh47BXm55Zuen", PINUI_TOKEN="t")
    assert "“work” has no gateway to read from" in unreadable.err
    assert "pinui profile add work --gateway-url" in unreadable.err
    assert json.loads(call("profile", "remove", "work", "--json").line) == {"removed": "work"}


@pytest.mark.parametrize("token", ["two words", "é"])
def test_a_token_that_can_be_none_is_said_so_and_not_shown(call: Run, token: str) -> None:
    ran = call("test", PINUI_API_URL="http://127.0.0.1:9", PINUI_TOKEN=token)
    assert ran.code == 1
    assert "cannot be used: its token holds characters that no token has" in ran.err
    assert token not in ran.err
    assert "?." not in ran.err


def test_a_token_about_to_end_is_said_so(call: Run, environment: dict[str, str], tmp_path: Path) -> None:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": time.time() + 5 * 3600}).encode()).decode()
    jwt = f"e30.{claims.rstrip('=')}.sig"
    command = [PINUI, "node", "--json", "--data", str(tmp_path / "service"), "--token", jwt]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        api_url = json.loads(process.stdout.readline())["api_url"]
        ran = call("test", PINUI_API_URL=api_url, PINUI_TOKEN=jwt)
        process.terminate()
    assert ran.code == 0
    assert re.search(r"This token ends in [45] h", ran.err)


def test_a_wrong_token_is_told_apart_from_no_network(call: Run, service: dict[str, str]) -> None:
    wrong = call("test", PINUI_API_URL=service["api_url"], PINUI_TOKEN="wrong-canary")
    assert wrong.code == 1
    assert "401" in wrong.err
    lost = call("test", "--json", PINUI_API_URL="http://127.0.0.1:9", PINUI_TOKEN="wrong-canary")
    assert lost.code == 1
    assert json.loads(lost.out)["ok"] is False
    assert "could not be reached" in lost.err
    assert "Start the service there (`pinui node` is one), and check the address." in lost.err


@pytest.mark.parametrize("arguments", [("upload", "-"), ("info",)])
def test_a_token_is_in_no_output_not_even_a_traceback(
    run: Run, environment: dict[str, str], arguments: tuple[str, ...]
) -> None:
    ran = subprocess.run(
        [PINUI, "--debug", *arguments],
        env=environment | {"PINUI_API_URL": "http://127.0.0.1:9", "PINUI_TOKEN": CANARY},
        capture_output=True,
        text=True,
        input="x",
        check=False,
    )
    assert CANARY not in ran.stdout + ran.stderr
    assert ("Traceback" in ran.stderr) == (ran.returncode != 0)


def test_info_says_where_things_are(call: Run, own_home: Path) -> None:
    told = json.loads(call("info", "--json").line)
    assert told["settings"] == str(own_home / "config.toml")
    assert told["profile"] == "local"
    assert "no session bus" in told["keyring"]
    assert call("info").out.startswith("pinui:")
    with_token = call("info", PINUI_PROFILE="pinata", PINUI_TOKEN=CANARY)
    assert "from PINUI_TOKEN\n" in with_token.out
    own = call("info", PINUI_PROFILE="pinata", PINUI_TOKEN=CANARY, PINUI_TOKEN_PINATA=CANARY)
    assert "from PINUI_TOKEN_PINATA\n" in own.out
    assert CANARY not in with_token.out


@pytest.mark.parametrize("port", ["0", "65536", "x", "-1"])
def test_a_port_that_is_none_is_wrong_usage(call: Run, port: str) -> None:
    ran = call("node", f"--port={port}")
    assert ran.code == 2
    assert "from 1 to 65535" in ran.err


class TestAKuboThatMoved:
    """A daemon with another port than the one that a profile names; Kubo writes its addresses into its repository."""

    @pytest.fixture
    def add(self, call: Run, tmp_path: Path) -> Callable[..., dict[str, str]]:
        def run(*options: str, api: str, gateway: str = "") -> dict[str, str]:
            repository = tmp_path / "repository"
            repository.mkdir(exist_ok=True)
            (repository / "api").write_text(api)
            (repository / "gateway").write_text(gateway)
            added = call(
                "profile", "add", "mine", *options, "--no-test", "--json", stdin="\n", IPFS_PATH=str(repository)
            )
            told = json.loads(added.line)
            return {"api": told["apiUrl"], "gateway": told["gatewayUrl"]}

        return run

    def test_is_found_again(self, add: Callable[..., dict[str, str]]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            add("--provider", "kubo", api="/ip4/127.0.0.1/tcp/9", gateway="http://127.0.0.1:10")
            for options in (("--provider", "kubo"), ()):
                add(*options, "--api-url", "http://127.0.0.1:9", api="")
                moved = add(*options, api=f"/ip4/127.0.0.1/tcp/{port}", gateway="http://127.0.0.1:12")
                assert moved == {"api": f"http://127.0.0.1:{port}", "gateway": "http://127.0.0.1:12/ipfs"}
        assert add(api="/ip4/127.0.0.1/tcp/9")["api"] == moved["api"], "neither runs"

    def test_is_left_alone_where_the_address_is_elsewhere_or_answers(self, add: Callable[..., dict[str, str]]) -> None:
        elsewhere = "https://kubo.example.com"
        with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as other:
            first, second = (one.getsockname()[1] for one in (server, other))
            for own in (elsewhere, f"http://127.0.0.1:{first}"):
                urls = ("--provider", "kubo", "--api-url", own, "--gateway-url", f"{own}/ipfs")
                add(*urls, api=f"/ip4/127.0.0.1/tcp/{second}")
                again = add("--provider", "kubo", api=f"/ip4/127.0.0.1/tcp/{second}", gateway="http://127.0.0.1:12")
                assert again == {"api": own, "gateway": f"{own}/ipfs"}


class TestUsage:
    def test_bare_pinui_without_a_terminal_shows_the_help(self, run: Run) -> None:
        ran = run()
        assert (ran.code, ran.out) == (2, "")
        assert 'pinui store \'{"hello":"world"}\'' in ran.err

    @pytest.mark.parametrize(
        ("typed", "meant"), [("stroe", "store"), ("ls", "pins"), ("list", "pins"), ("add", "upload"), ("rm", "revoke")]
    )
    def test_a_slip_or_a_word_of_another_tool_is_answered_with_the_right_word(
        self, typed: str, meant: str, call: Run
    ) -> None:
        ran = call(typed, "{}")
        assert ran.code == 2
        assert ran.err == f"pinui: there is no “{typed}” here; did you mean “{meant}”?\n       See `pinui --help`.\n"

    @pytest.mark.parametrize(
        ("line", "option", "verb"),
        [
            ("-p nobody store {}", "-p", ""),
            ("--json --prof=nobody pins", "--prof", "pins "),
            ("-p store {}", "-p", "store "),
            ("store {} --nmae photo", "--nmae", "store "),
        ],
    )
    def test_an_option_that_does_not_exist_is_named(self, line: str, option: str, verb: str, call: Run) -> None:
        ran = call(*line.split())
        assert ran.code == 2
        assert ran.err == f"pinui: there is no option {option}\n       See `pinui {verb}--help`.\n"

    def test_list_is_answered_with_the_verb_that_lists(self, call: Run) -> None:
        for verb in ("history", "transfers"):
            ran = call(verb, "list")
            assert ran.code == 2
            assert f"`pinui {verb}` by itself lists." in ran.err

    def test_a_choice_that_is_none_is_answered_with_the_choices(self, call: Run) -> None:
        ran = call("history", "--kind", "picture")
        assert ran.code == 2
        assert "--kind is one of json, file, message, not “picture”" in ran.err

    def test_json_without_quotes_is_answered_with_how_to_quote_it(self, call: Run) -> None:
        ran = call("store", "{a:", "1}")
        assert ran.code == 2
        assert """pinui store '{"hello":"world"}'""" in ran.err

    def test_words_that_came_from_elsewhere_cannot_steer_the_terminal(self, call: Run) -> None:
        for arguments in (("\x1b[2J",), ("history", "--kind", "\x1b[2J"), ("history", "\x1b[2J", "--limit", "\x1b")):
            assert "\x1b" not in call(*arguments).err

    def test_help_is_also_a_word(self, call: Run) -> None:
        assert call("help").out == call("--help").out
        assert call("help", "history", "forget").out == call("history", "forget", "--help").out

    def test_every_verb_has_a_help_with_an_example(self, call: Run) -> None:
        from pinui.cli.examples import EXAMPLES
        from pinui.cli.main import VERBS

        assert {words.split()[0] for words in EXAMPLES} == set(VERBS)
        for words in EXAMPLES:
            ran = call(*words.split(), "--help")
            assert ran.code == 0
            assert re.search("examples?:\n  ", ran.out)
            assert f"pinui {words}" in ran.out or f"pinui --profile work {words}" in ran.out

    def test_options_stand_before_or_behind_the_verb(self, call: Run) -> None:
        assert call("--json", "profile").out == call("profile", "list", "--json").out
        assert call("--profile", "nobody", "info").err == call("info", "--profile", "nobody").err
