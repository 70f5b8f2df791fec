"""The rules by which an upload of a folder leaves names out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pinui.sdk.errors import PinuiError

__all__ = ["EVERYTHING", "IGNORE_FILE", "USUAL", "FolderRules", "is_hidden"]

IGNORE_FILE: Final = ".ipfsignore"


def is_hidden(name: str) -> bool:
    """Whether a name in a folder is hidden from its owner: the rule of the workbench's browser, too."""
    return name.startswith(".")


@dataclass(frozen=True, slots=True)
class FolderRules:
    """The rules of a folder's upload: hidden files, links, and the names that it leaves out."""

    hidden: bool = False
    """Take names that begin with a dot."""
    follow_links: bool = False
    """Take the targets of links."""
    exclude: Sequence[str] | None = ()
    """Patterns of names to leave out, as in a `.gitignore`, besides those in the folder's `.ipfsignore`; None: that
    file has no effect, either."""

    def excluded_in(self, folder: Path) -> Callable[[str], bool] | None:
        """A function for names below a folder, those of folders with `/` at the end: whether the patterns match."""
        if self.exclude is None:
            return None
        patterns = [*_own_patterns(folder), *self.exclude]
        if not patterns:
            return None
        from pathspec import GitIgnoreSpec
        from pathspec.patterns.gitignore import GitIgnorePatternError

        try:
            # For pathspec, `dir/**` matches `dir/` itself, too. Folders in it are not entered: `dir/*` says the same.
            lines = [line.rstrip()[:-1] if line.rstrip().endswith("/**") else line for line in patterns]
            return GitIgnoreSpec.from_lines(lines).match_file
        except (GitIgnorePatternError, re.error) as error:
            raise PinuiError(f"A pattern of names to leave out is wrong: {error}") from error


USUAL: Final = FolderRules()
EVERYTHING: Final = FolderRules(hidden=True, exclude=None)
"""For a copy of a folder that must get the CID of the original."""


def _own_patterns(folder: Path) -> list[str]:
    """The lines of the folder's `.ipfsignore`."""
    path = folder / IGNORE_FILE
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return []
    except UnicodeDecodeError as error:
        raise PinuiError(f"{path} is no UTF-8 text, so its patterns can't be read") from error
