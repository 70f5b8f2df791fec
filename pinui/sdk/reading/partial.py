"""Downloads that another process can go on with: the incomplete file, and the name of its version."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pinui.disk import temporary_beside
from pinui.sdk.models import Resume

__all__ = ["Partial", "kept_beside", "new_handle", "remove_partial"]


@dataclass(slots=True)
class Partial:
    """The incomplete file of a download, under a temporary name beside its destination."""

    path: Path
    etag: str | None
    """The version of the content, by which the gateway tells whether the rest still belongs to it."""
    keep: Callable[[str], None]

    @classmethod
    def of(cls, resume: Resume, to: Path) -> Partial:
        """The one that an earlier process left, or a new one; `keep` hears of it before anything is written."""
        known, to = _read(resume.handle), to.absolute()
        if known is not None and Path(known["partial"]).parent == to.parent:
            return cls(Path(known["partial"]), known["etag"], resume.keep)
        resume.keep(handle := new_handle(to))
        return cls.of(Resume(keep=resume.keep, handle=handle), to)

    def note(self, etag: str | None) -> None:
        """Keep the version of the content that is written now."""
        self.etag = etag
        self.keep(_handle(self.path, etag))

    @property
    def folder(self) -> Path:
        """The place for content that turns out to be a folder."""
        return self.path.with_suffix(".folder.part")

    def remove_file(self) -> None:
        """Remove the incomplete file that an earlier process left. Touches the disk."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove everything that an earlier process left. Touches the disk."""
        self.remove_file()
        for folder in (self.folder, kept_beside(self.folder)):
            shutil.rmtree(folder, ignore_errors=True)


def new_handle(to: Path) -> str:
    """The handle of a download that has not begun. Saved before it begins, no kill leaves a file that nobody knows."""
    return _handle(temporary_beside(to.absolute()), None)


def kept_beside(folder: Path) -> Path:
    """The place for the files of an earlier attempt, beside the incomplete folder."""
    return folder.with_suffix(".kept.part")


def remove_partial(handle: str) -> None:
    """Remove the incomplete file or folder of an abandoned download. Touches the disk."""
    if (known := _read(handle)) is not None:
        Partial(Path(known["partial"]), None, lambda _: None).remove()


def _handle(path: Path, etag: str | None) -> str:
    return json.dumps({"partial": str(path), "etag": etag})


def _read(handle: str | None) -> dict[str, Any] | None:
    with suppress(ValueError, TypeError):
        known = cast(object, json.loads(handle or ""))
        if isinstance(known, dict):
            found = cast(dict[str, Any], known)
            if isinstance(found.get("partial"), str) and isinstance(found.get("etag"), str | None):
                return found
    return None
