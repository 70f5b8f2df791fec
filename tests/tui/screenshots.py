"""`make screenshots`: the README's pictures, drawn by the pilots of the tests."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path

from tests.tui import scene
from tests.tui.pilots import SCENES, svg, workbench

FOLDER = Path(__file__).parents[2] / "screenshots"
SIZE = (132, 33)
PICTURES = ("pins", "detail", "json", "files", "messages", "connection", "wizard", "revoke", "palette")


async def draw(name: str) -> str:
    """One picture, in a home of its own."""
    with tempfile.TemporaryDirectory(prefix="pinui-") as home:
        for variable, folder in (("HOME", "home"), ("PINUI_HOME", "pinui")):
            (Path(home) / folder).mkdir()
            os.environ[variable] = str(Path(home) / folder)
        async with workbench(size=SIZE) as (app, pilot):
            await scene.furnish(app.workspace, Path(home))
            await SCENES[name](app, pilot)
            return svg(app)


def main() -> None:
    """Draw all of them."""
    os.environ.update(TZ="UTC", COLORTERM="truecolor")
    time.tzset()
    for variable in [name for name in os.environ if name.startswith("PINUI_")]:
        del os.environ[variable]
    FOLDER.mkdir(exist_ok=True)
    for name in PICTURES:
        (FOLDER / f"{name}.svg").write_text(asyncio.run(draw(name)), "utf-8")
        print(f"screenshots/{name}.svg")


if __name__ == "__main__":
    main()
