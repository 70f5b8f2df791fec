"""Settings that all processes with one data folder share: its token and its port."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from pinui.disk import replacing, temporary_beside

__all__ = ["read_port", "read_token", "remember_port"]


def read_token(folder: Path) -> str:
    """The folder's token, made by the first process; only its owner can read it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return _agree(folder / "token", f"pinui_{secrets.token_urlsafe(32)}", bool)


def read_port(folder: Path) -> int:
    """The port that this folder's gateway addresses were made with; 0 if none is known."""
    try:
        return _port(_read(folder / "port"))
    except OSError:
        return 0


def remember_port(folder: Path, port: int) -> None:
    """Keep the port, unless another process has just done so."""
    with contextlib.suppress(OSError):
        _agree(folder / "port", str(port), lambda text: bool(_port(text)))


def _port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        return 0
    return port if 0 < port < 65536 else 0


def _agree(path: Path, proposal: str, is_good: Callable[[str], bool]) -> str:
    """The file's text; if it is missing or bad, the proposal of the first process."""
    if not is_good(_read(path)):
        draft = temporary_beside(path)
        with replacing(draft, mode=0o600) as file:
            file.write(proposal.encode("ascii"))
        try:
            # A link fails where a rename would replace: the first one stays.
            os.link(draft, path)
        except FileExistsError:
            if not is_good(_read(path)):
                draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    return _read(path)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return ""
