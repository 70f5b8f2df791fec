"""The rooms: what is loaded when, and which names a module gives to others."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pinui

ROOT = Path(pinui.__file__).parent

LOADED = """
import sys
sys.argv = ["pinui", *{arguments!r}]
from pinui.cli import main
try:
    main()
except SystemExit:
    pass
heavy = ("textual", "rich", "httpx", "aiohttp", "keyring")
print(*(name for name in heavy if name in sys.modules), file=sys.stderr)
"""


def test_the_version_loads_no_heavy_library() -> None:
    code = LOADED.format(arguments=["--version"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pinui ")
    assert done.stderr.strip() == ""


def test_a_module_lists_every_name_that_another_one_imports_from_it() -> None:
    modules = {_dotted(path): ast.parse(path.read_text("utf-8")) for path in ROOT.rglob("*.py")}
    unlisted = [
        f"{node.module}.{name.name}, imported by {importer}"
        for importer, tree in modules.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (listed := _listed(modules.get(node.module or "")))
        for name in node.names
        if name.name not in listed and f"{node.module}.{name.name}" not in modules
    ]
    assert unlisted == []


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


def _listed(tree: ast.Module | None) -> list[str]:
    for node in tree.body if tree else ():
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return ast.literal_eval(node.value)
    return []
