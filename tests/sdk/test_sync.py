"""The SDK without `await`: in scripts, in threads, and where an event loop is running."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, assert_type

import pytest

import pinui
from pinui import Blob, ClientRecord, InvalidCID, Pin, ProviderError, Verification
from pinui.node import Node
from pinui.sync import Client
from tests.servers import settings_of


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path / "node")
    node.start()
    yield node
    node.stop()


@pytest.fixture
def client(node: Node) -> Iterator[Client]:
    with Client.init(**settings_of(node)) as client:
        yield client


def test_every_operation_answers_without_await(client: Client, tmp_path: Path) -> None:
    record = client.store({"hello": "world"})
    assert client.retrieve(record.cid) == {"hello": "world"}
    sent = client.send("alice", "hello")
    assert client.receive(sent.cid) == sent.data
    cat = client.upload(b"meow")
    assert client.download(cat.cid).data == b"meow"
    assert client.download(cat.cid, to=tmp_path / "cat").read_bytes() == b"meow"
    with client.stream(cat.cid) as stream:
        assert (stream.size, b"".join(stream), stream.verification) == (4, b"meow", "verified")
    assert {pin.cid for pin in client.pins()} == {record.cid, sent.cid, cat.cid}
    assert client.totals().pins == 3
    assert client.verify(cat.cid) == "verified"
    assert client.test_connection()
    assert client.revoke(cat.cid)
    with pytest.raises(ProviderError, match="not pinned"):
        client.revoke(cat.cid)
    with pytest.raises(InvalidCID):
        client.retrieve("nonsense")


def test_no_name_of_the_asynchronous_client_is_missing() -> None:
    def public(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert public(Client) - {"close", "provider"} == public(pinui.Client) - {"aclose"}
    for name in public(Client) - {"init", "provider"}:
        method = getattr(Client, name)
        assert method.__doc__, name
        assert "await" not in method.__doc__, name
        assert not inspect.iscoroutinefunction(method), name


def types_are_real(client: Client, cid: str, path: Path) -> None:
    """No test at run time: the type checker reads this."""
    assert_type(client.store({"a": 1}), ClientRecord[dict[str, int]])
    assert_type(client.upload(path), ClientRecord[None])
    assert_type(client.download(cid), Blob)
    assert_type(client.download(cid, to=path), Path)
    assert_type(client.pins(name="cat"), Generator[Pin])
    assert_type(client.verify(cid), Verification | None)
    client.store()  # pyright: ignore[reportCallIssue]  # an argument is missing


async def test_it_works_where_a_loop_is_running(tmp_path: Path) -> None:
    async with Node(tmp_path / "node") as node:
        with Client.init(**settings_of(node)) as client:
            assert client.retrieve(client.store([1, 2]).cid) == [1, 2]


def test_threads_share_a_client(client: Client) -> None:
    def there_and_back(number: int) -> Any:
        return client.retrieve(client.store(number).cid)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(there_and_back, range(40))) == list(range(40))


def test_a_list_of_pins_can_be_left_early(client: Client) -> None:
    for number in range(3):
        client.store(number)
    with_rest = client.pins()
    assert next(with_rest).status == "pinned"
    with_rest.close()
    assert client.totals().pins == 3


def test_a_callback_that_waits_gets_a_sentence_and_no_deadlock(client: Client) -> None:
    def store_again(_done: int, _total: int | None) -> None:
        client.store("again")

    with pytest.raises(RuntimeError, match="A callback"):
        client.upload(b"meow", on_progress=store_again)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_a_download_and_its_file(client: Client, tmp_path: Path) -> None:
    record = client.upload(bytes(3_000_000))
    target = tmp_path / "target"
    target.mkdir()
    noticed = threading.Event()

    def interrupt(_done: int, _total: int | None) -> None:
        if not noticed.is_set():  # another one would end the wait for the end
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            noticed.wait()  # or else all bytes might be there before

    def notice(_number: int, _frame: object) -> None:
        noticed.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, notice)
    try:
        with pytest.raises(KeyboardInterrupt):
            client.download(record.cid, to=target / "file", on_progress=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    assert list(target.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_child_process_has_a_loop_of_its_own(node: Node, client: Client) -> None:
    code = """
import os, sys
from pinui.sync import Client
def stored():
    with Client.init(provider_token=sys.argv[1], pin_api_url=sys.argv[2]) as client:
        return client.store("x").cid
assert stored()
child = os.fork()
if not child:
    os._exit(0 if stored() else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, node.token, node.api_url], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_script_that_forgets_to_close_ends_in_silence(node: Node) -> None:
    code = """
import sys
from pinui.sync import Client
print(Client.init(provider_token=sys.argv[1], pin_api_url=sys.argv[2]).store("x").cid)
"""
    done = subprocess.run([sys.executable, "-c", code, node.token, node.api_url], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Qm")


def test_it_is_loaded_by_those_who_ask_for_it_alone() -> None:
    code = "import sys, pinui; pinui.Client; print('pinui.sync' in sys.modules, 'pinui.testing' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_a_traceback_shows_no_token(node: Node) -> None:
    from traceback import TracebackException

    try:
        Client.init(provider_token="canary-token", verify="maybe")  # pyright: ignore[reportArgumentType]
    except ValueError as error:
        shown = "".join(TracebackException.from_exception(error, capture_locals=True).format())
    assert "canary" not in shown.replace('provider_token="canary-token"', "")


def test_an_operation_in_a_thread_of_asyncio_leaves_the_loop_free(node: Node) -> None:
    async def work() -> Any:
        with Client.init(**settings_of(node)) as client:
            return await asyncio.to_thread(client.store, "x")

    assert asyncio.run(work()).size == 3
