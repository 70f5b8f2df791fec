"""Content that the account holds already: found whatever size the service tells of it, and read only if it may be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pinui.workspace import Workspace, held_content
from pinui.workspace.transfers.queue import upload_options


@pytest.fixture
async def workspace(own_home: Path) -> AsyncIterator[Workspace]:
    async with await Workspace.open() as workspace:
        await workspace.connect()
        yield workspace


def make_folder(folder: Path, files: int) -> Path:
    for number in range(files):
        path = folder / f"{number % 3}" / f"{number} with a name that is longer than its content.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(number))
    return folder


async def upload(workspace: Workspace, path: Path) -> str:
    """What a person is told at the end of an upload."""
    transfers = workspace.transfers
    transfer = transfers.start(transfers.new("upload", path.name, upload_options([str(path)])))
    items = [item async for item in transfers.results(transfer)]
    return "held" if items[0].was_held else "sent"


@pytest.mark.parametrize("files", [1, 50])
async def test_a_folder_that_another_program_pinned_is_found(workspace: Workspace, tmp_path: Path, files: int) -> None:
    folder = make_folder(tmp_path / "folder", files)
    await (await workspace.service.open_to_read()).upload(folder)  # past the history
    await workspace.sync(full=True)
    assert await upload(workspace, folder) == "held"


async def test_content_of_a_size_that_is_not_known_is_not_read(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("something")
    (tmp_path / "b").write_text("anything")
    assert await upload(workspace, tmp_path / "a") == "sent"
    monkeypatch.setattr(held_content, "predict_source", lambda *_: pytest.fail("it was read"))
    assert await upload(workspace, tmp_path / "b") == "sent"
