"""`pinui pins`, `sync`, `pin`, `rename` and `revoke --filter`, on the embedded node."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pinui.node import Node
from pinui.sdk.client import Client
from pinui.sdk.models import Pin
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
        assert "size:>1mbb: give a size such as >1mb or <300kb" in ran.err


def test_an_unknown_size_or_date_is_in_no_revoke(call: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    cid = call("store", '{"made":"elsewhere"}').line
    assert call("history", "forget", "--all", "--yes").code == 0
    listed = Client.pins

    async def untold(client: Client, **options: Any) -> AsyncGenerator[Pin]:
        async with aclosing(listed(client, **options)) as listing:
            async for pin in listing:
                yield replace(pin, size=None, created=None)

    monkeypatch.setattr(Client, "pins", untold)
    for text in ("age:<1h", "size:<1kb", "-size:>1kb", "-age:>1h"):
        assert call("pins", f"--filter={text}").out == "", text
        found = call("revoke", f"--filter={text}", "--dry-run")
        assert (found.code, found.out) == (0, ""), text
        assert "No pin matches" in found.err
    dry = call("revoke", "--filter", cid, "--dry-run")
    assert dry.line == cid
    assert "1 pin, size unknown." in dry.err
    assert json.loads(call("--json", "sync").line) == {"pins": 1, "size": None, "elsewhere": 1}


def test_a_revoke_of_few_pins_ends_with_a_summary(call: Run) -> None:
    for number in range(3):
        call("store", f'{{"draft":{number}}}', "--name", f"draft {number}")
    assert "3 revoked." in call("revoke", "--filter", "draft", "--yes").err


def test_a_revoke_of_many_pins_says_how_many_are_not_named(call: Run) -> None:
    lines = [json.dumps({"draft": number}) for number in range(23)]
    for line in lines:
        call("store", line, "--name", f"draft {line[10:-1]}")
    ran = call("revoke", "--filter", "draft", "--yes")
    assert "  … and 3 more" in ran.err.splitlines()
    assert ran.err.count("  draft ") == 20
    assert "23 revoked." in ran.err


def test_a_word_finds_a_cid_by_the_same_letters_in_every_verb(call: Run) -> None:
    cid = call("store", '{"a":1}').line
    found = {
        text: [cid in call(*verb, f"--filter={text}").out for verb in (["pins"], ["revoke", "--dry-run"], ["history"])]
        for text in (cid[-3:], cid[-4:], cid[:2], cid[:3], cid[-5:].upper(), cid[5:12], cid)
    }
    assert all(len(set(answers)) == 1 for answers in found.values()), found
    assert not found[cid[-3:]][0]
    assert found[cid[-4:]][0]


@pytest.mark.parametrize("text", ["kind:json", "-to:alice", "on:here", "is:verified", "-is:revoked"])
def test_a_live_list_refuses_terms_about_facts_of_this_machine(call: Run, text: str) -> None:
    ran = call("pins", f"--filter={text}")
    assert (ran.code, ran.out) == (2, "")
    assert "The service can't tell kinds, recipients, verdicts, or what is known here." in ran.err


def test_the_history_says_which_pins_are_gone_from_the_account(call: Run) -> None:
    kept, gone = (call("store", f'{{"number":{number}}}', "--name", f"draft {number}").line for number in range(2))
    assert call("sync").code == 0
    folder = Path(json.loads(call("--json", "info").line)["node"])

    async def unpin() -> None:
        async with (
            Node(folder) as node,
            await Client.init(provider_token=node.token, pin_api_url=node.api_url) as other,
        ):
            await other.revoke(gone)

    asyncio.run(unpin())
    assert call("sync", "--full").code == 0
    states = {fields[0]: fields[4] for fields in (line.split("\t") for line in call("history").out.splitlines())}
    assert states == {kept: "pinned", gone: "gone"}
    assert call("revoke", "--filter", "draft", "--dry-run").line == kept
    assert call("history", "--filter", "is:pinned").out.startswith(kept)


def test_one_pin_is_known_and_two_are(call: Run) -> None:
    call("store", '{"a":1}')
    assert "1 pin of local is known here now." in call("sync").err
    call("store", '{"a":2}')
    assert "2 pins of local are known here now." in call("sync").err


def test_a_pin_is_not_renamed_to_nothing(call: Run) -> None:
    cid = call("store", '{"a":1}').line
    for name in ("", "  "):
        ran = call("rename", cid, name)
        assert (ran.code, ran.out) == (2, "")
        assert "The name is empty." in ran.err


def test_a_request_to_pin_that_fails_tells_one_cause(call: Run) -> None:
    ran = call("pin", "bafybeiffndsajwhk3lwjewwdxqntmjm4b5wxaaanokonsggenkbw6slwk4")
    assert ran.code == 1
    assert "the node looks nowhere else" in ran.err
    assert "check the API's URL" not in ran.err
