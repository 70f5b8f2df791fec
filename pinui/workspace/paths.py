"""The places of pinui's files: under `PINUI_HOME` if that is set, else the usual folders of the OS."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from pinui.workspace.errors import WorkspaceError

__all__ = ["Paths"]


@dataclass(frozen=True, slots=True)
class Paths:
    """The places of one home."""

    config: Path
    history: Path
    node: Path
    """The data folder of the embedded node."""
    crashes: Path
    """The folder for crash reports."""
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
    def drafts(self) -> Path:
        """The folder for unsaved text."""
        return self.history.with_name("drafts")

    @property
    def transfers(self) -> Path:
        """The ledger of transfers."""
        return self.history.with_name("transfers.db")

    @property
    def view(self) -> Path:
        """The view of the last run."""
        return self.history.with_name("view.json")

    @property
    def debug_log(self) -> Path:
        """The workbench's log with `--debug`."""
        return self.history.with_name("debug.log")

    @property
    def mark(self) -> str:
        """The ending of this home's keyring entries: a test home never touches the real token."""
        if self.home is None:
            return ""
        import hashlib  # only credentials need it

        return "@" + hashlib.sha256(str(self.home).encode()).hexdigest()[:8]


def _platform_folders() -> tuple[Path, Path]:
    """The folders for settings and for data that this OS wants."""
    if sys.platform == "linux":
        # The same as platformdirs, but its import takes longer than everything else in `pinui history`.
        settings, data = os.environ.get("XDG_CONFIG_HOME", ""), os.environ.get("XDG_DATA_HOME", "")
        return (
            Path(settings if settings.strip() else "~/.config").expanduser() / "pinui",
            Path(data if data.strip() else "~/.local/share").expanduser() / "pinui",
        )
    import platformdirs

    folders = platformdirs.PlatformDirs("pinui", appauthor=False)
    return Path(folders.user_config_dir), Path(folders.user_data_dir)
