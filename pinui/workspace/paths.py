"""Where pinui keeps things: under `PINUI_HOME` if that is set, else where the OS wants them."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pinui.workspace.errors import WorkspaceError

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["Paths", "changing", "private_folder", "write_private"]


@dataclass(frozen=True, slots=True)
class Paths:
    """The places of one home."""

    config: Path
    history: Path
    node: Path
    """The data folder of the embedded node."""
    crashes: Path
    """Where reports of crashes go."""
    home: Path | None = None
    """Set if everything is under one folder that the user chose."""

    @classmethod
    def find(cls, home: Path | None = None) -> Paths:
        """The places for this run; nothing is created."""
        chosen = home or (Path(given).expanduser() if (given := os.environ.get("PINUI_HOME")) else None)
        if chosen is not None:
            chosen = chosen.absolute()
            return cls(chosen / "config.toml", chosen / "history.db", chosen / "node", chosen / "crashes", chosen)
        try:
            config, data = _platform_folders()
        except RuntimeError:  # no HOME, and an account that the system does not know
            raise WorkspaceError(
                "There is no home folder to keep things in.", hint="Set PINUI_HOME to a folder for pinui."
            ) from None
        return cls(config / "config.toml", data / "history.db", data / "node", data / "crashes")

    @property
    def debug_log(self) -> Path:
        """Where the workbench logs with `--debug`."""
        return self.history.with_name("debug.log")

    @property
    def mark(self) -> str:
        """What keyring entries of this home end in, so that a test home never touches the real token."""
        if self.home is None:
            return ""
        import hashlib  # only credentials need it

        return "@" + hashlib.sha256(str(self.home).encode()).hexdigest()[:8]


def _platform_folders() -> tuple[Path, Path]:
    """The folders for settings and for data that this OS wants."""
    if sys.platform == "linux":
        # What platformdirs would say; importing it takes longer than all else that `pinui history` does.
        settings, data = os.environ.get("XDG_CONFIG_HOME", ""), os.environ.get("XDG_DATA_HOME", "")
        return (
            Path(settings if settings.strip() else "~/.config").expanduser() / "pinui",
            Path(data if data.strip() else "~/.local/share").expanduser() / "pinui",
        )
    import platformdirs

    folders = platformdirs.PlatformDirs("pinui", appauthor=False)
    return Path(folders.user_config_dir), Path(folders.user_data_dir)


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner can enter; one that is there stays as the user made it."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def changing(path: Path) -> Generator[None]:
    """Keep other processes from changing a file until this one has: what they changed meanwhile would be lost."""
    folder = path.resolve().parent
    private_folder(folder)
    try:
        import fcntl
    except ImportError:  # Windows, where a folder cannot be locked: the last one wins there
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network disks lock no folders
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_private(path: Path, text: str) -> None:
    """Replace a file so that it is the old or the new one whole, readable by its owner alone."""
    target = path.resolve()  # a link (people keep settings in a repository) stays a link
    private_folder(target.parent)
    import secrets  # only writing needs it

    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
