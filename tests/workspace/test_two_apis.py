"""The hosted service's two APIs as the workspace, the verbs and the wizard tell of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pinui.workspace import Profile, Profiles, Workspace
from pinui.workspace.paths import Paths
from pinui.workspace.sentences import api_sentence
from tests.cli.conftest import Run, call, environment  # noqa: F401  fixtures

SEEN: list[str] = []


class Refusing(BaseHTTPRequestHandler):
    """A service whose key knows the newer API alone."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        SEEN.append(self.path)
        if self.path == "/v3/files":
            self.reply(
                200, b'{"data": {"id": "1", "cid": "bafkreic2u5rk4ob7xnzhv46hunwusqffxdcavgeukljdat6jld7t6nkopi"}}'
            )
        else:
            self.reply(403, b'{"error": {"reason": "NO_SCOPES_FOUND", "details": "This key lacks scopes"}}')

    def do_GET(self) -> None:
        self.reply(200, b'{"message": "Congratulations!"}')

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hosted(monkeypatch: pytest.MonkeyPatch, own_home: Path) -> Iterator[Profiles]:
    """The settings of a home whose profile `hosted` is at a service that counts as the hosted one."""
    for module in ("pinui.sdk.models", "pinui.workspace.sentences"):
        monkeypatch.setattr(f"{module}.is_pinata", lambda url: "127.0.0.1" in url)
    SEEN.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    profiles = Profiles(Paths.find(own_home).config)
    profiles.save(Profile("hosted", "custom", url, f"{url}/ipfs"))
    yield profiles
    server.shutdown()
    thread.join()
    server.server_close()


async def test_the_api_that_a_key_knows_is_remembered_for_the_profile(
    hosted: Profiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PINUI_TOKEN", "t")
    async with await Workspace.open(profile="hosted") as workspace:
        assert "the first operation shows" in (api_sentence(workspace.profile) or "")
        await workspace.store("hello")
        assert "newer API" in (api_sentence(workspace.profile) or "")
    assert hosted.get("hosted").known_dialect == "pinata-v3"
    assert SEEN == ["/pinning/pinJSONToIPFS", "/v3/files"]
    async with await Workspace.open(profile="hosted") as workspace:
        await workspace.store("hello")
    assert SEEN[2:] == ["/v3/files"], "the next run begins with it"


def test_the_verb_test_tells_it_in_a_sentence(hosted: Profiles, call: Run) -> None:  # noqa: F811
    tested = call("--profile", "hosted", "test", PINUI_TOKEN="t")
    assert (tested.code, tested.out.startswith("hosted: ok")) == (0, True)
    assert tested.err.splitlines() == ["The service has two APIs; the first operation shows which one the token knows."]
    hosted.remember_dialect("hosted", "pinata-v3")
    assert "newer API (v3)" in call("--profile", "hosted", "test", PINUI_TOKEN="t").err
    assert "newer API (v3)" in call("--profile", "hosted", "--json", "test", PINUI_TOKEN="t").out


def test_other_services_have_one_api() -> None:
    assert api_sentence(Profile("x", "custom", "https://pin.example")) is None
    assert "older" in (api_sentence(Profile("x", "pinata", "https://api.pinata.cloud", dialect="pinata")) or "")
