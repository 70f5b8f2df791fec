"""Every public name has a docstring, and the examples in docstrings are what happens, on a real node."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import doctest
import inspect
import io
import pydoc
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pinui
import pinui.sync
import pinui.testing
from pinui.testing import PinningNode

# A type that is no class has no docstring: the module's own example shows it.
ALIASES = {"OnProgress", "OnVerdict", "Uploadable", "Verification"}
MODULES = (pinui, pinui.sync, pinui.testing)


def public() -> Iterator[tuple[str, object]]:
    for module in MODULES:
        yield module.__name__, module
        for name in sorted(set(module.__all__) - ALIASES - {"__version__"}):
            value = getattr(module, name)
            yield f"{module.__name__}.{name}", value
            if name in ("Client", "PinningNode"):
                for method, function in vars(value).items():
                    if not method.startswith("_") and not isinstance(function, property):
                        yield f"{module.__name__}.{name}.{method}", getattr(value, method)


NAMES = dict(public())


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PinningNode]:
    with PinningNode(tmp_path_factory.mktemp("node")) as node:
        yield node


@pytest.fixture
def client_without_await(node: PinningNode) -> Iterator[pinui.sync.Client]:
    with pinui.sync.Client.init(**node.settings()) as client:
        yield client


@pytest.mark.parametrize("name", NAMES)
async def test_the_examples_of(
    name: str, node: PinningNode, client_without_await: pinui.sync.Client, tmp_path: Path
) -> None:
    documented = NAMES[name]
    text = inspect.getdoc(documented) or ""
    examples = doctest.DocTestParser().get_examples(text)
    assert examples or isinstance(documented, types.ModuleType), f"{name} has no example"
    node.heal()
    async with await pinui.Client.init(**node.settings()) as client:
        for pin in node.pins():
            await client.revoke(pin.cid)
        cid = (await client.upload(b"hello")).cid
        names: dict[str, Any] = {**vars(pinui), **{one: getattr(pinui, one) for one in pinui.__all__}}
        names |= {"client": client, "cid": cid, "folder": tmp_path, "node": node, "settings": node.settings()}
        if ".sync" in name:
            names |= {"client": client_without_await, "Client": pinui.sync.Client}
        if ".testing" in name:
            names |= {"client": client_without_await, "folder": tmp_path / "another", "PinningNode": PinningNode}
        for example in examples:
            assert await told(example, names) == (example.exc_msg or example.want), example.source


@pytest.mark.parametrize("wrong", [">>> 1 + 1\n3\n", ">>> int('x')\nTraceback (most recent call last):\nKeyError\n"])
async def test_a_wrong_example_is_found(wrong: str) -> None:
    (example,) = doctest.DocTestParser().get_examples(wrong)
    assert await told(example, {}) != (example.exc_msg or example.want)


def test_every_name_is_covered_but_types_that_an_example_shows() -> None:
    for module in MODULES:
        assert {f"{module.__name__}.{name}" for name in module.__all__} - NAMES.keys() <= {
            f"pinui.{name}" for name in (*ALIASES, "__version__")
        }
    assert {name for name in ALIASES if name not in (pinui.__doc__ or "")} == set()


def test_every_setting_is_explained_where_pydoc_shows_it() -> None:
    text = inspect.getdoc(pinui.ClientConfig) or ""
    assert [one.name for one in dataclasses.fields(pinui.ClientConfig) if not re.search(rf"\b{one.name}\b", text)] == []


async def told(example: doctest.Example, names: dict[str, Any]) -> str:
    """What an example prints, or the last line of the error that it ends with."""
    code = compile(example.source, "<example>", "single", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            result = types.FunctionType(code, names)()
            if inspect.iscoroutine(result):
                await result
    except Exception as error:
        if example.exc_msg is None:
            raise
        kind = type(error)
        return f"{kind.__module__}.{kind.__name__}: {error}\n"
    return output.getvalue()


def test_pydoc_reads_well() -> None:
    text = pydoc.plain(pydoc.render_doc(pinui))
    assert text.index("NAME\n    pinui - Content-addressed storage on IPFS") < text.index("class Client(")
    assert not [name for name in pinui.__all__ if name not in text and name != "__version__"]
