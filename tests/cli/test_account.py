"""`pinui pins`, `sync`, `pin`, `rename` and `revoke --filter`, on the embedded node."""

from __future__ import annotations

import json

from tests.cli.conftest import Run


def test_pins_lists_what_the_service_holds(call: Run) -> None:
    first = call("store", '{"a":1}').line
    second = call("store", '{"a":2}').line
    call("rename", second, "café two")
    listed = [line.split("\t") for line in call("pins").out.splitlines()]
    assert {fields[0] for fields in listed} == {first, second}
    assert all(len(fields) == 4 and fields[1].isdigit() and fields[2] for fields in listed)
    found = json.loads(call("--json", "pins", "--filter", "cafe size:<1kb").line)
    assert (found["cid"], found["name"], found["status"]) == (second, "café two", "pinned")
    for without in (["--filter=-cafe"], ["--filter", "-cafe"], ["--filter", "-cafe size:<1kb"]):
        assert call("pins", *without).out.split("\t")[0] == first
    assert call("pins", "--filter", "--json").code == 2, "an option is no filter"


def test_sync_tells_how_much_is_known(call: Run) -> None:
    call("store", '{"a":1}')
    ran = call("sync")
    assert (ran.code, ran.out) == (0, "")
    assert "1 pin of local" in ran.err
    assert json.loads(call("--json", "sync", "--full").line) == {"pins": 1, "size": 7, "elsewhere": 0}


def test_pin_keeps_what_the_node_can_reach(call: Run) -> None:
    cid = call("store", '{"a":1}').line
    assert call("pin", cid, "--name", "kept").line == f"{cid}\tpinned"
    assert call("pins").line.startswith(cid)


def test_revoke_by_filter_shows_first_and_revokes_with_yes(call: Run) -> None:
    call("store", '{"keep":1}', "--name", "keep me")
    drafts = {call("store", f'{{"draft":{number}}}', "--name", f"draft {number}").line for number in range(3)}
    dry = call("revoke", "--filter", "draft", "--dry-run")
    assert (dry.code, set(dry.out.split())) == (0, drafts)
    assert "draft 2" in dry.err
    assert "3 pins" in dry.err
    assert call("revoke", "--filter", "draft").code == 2, "nobody was asked"
    assert set(call("revoke", "--filter", "draft", "--yes").out.split()) == drafts
    assert len(call("pins").out.splitlines()) == 1
    again = call("revoke", "--filter", "draft", "--yes")
    assert (again.code, again.out) == (0, "")


def test_a_mistake_in_a_filter_is_told(call: Run) -> None:
    for verb in ("pins", "history", "revoke"):
        ran = call(verb, "--filter", "size:>1mbb")
        assert (ran.code, ran.out) == (2, "")
        assert "size:>1mbb: a size such as >1mb or <300kb" in ran.err
