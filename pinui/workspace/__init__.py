"""The memory of this machine: paths, profiles, credentials, history and transfers, tied to a `Client`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pinui.workspace.credentials import Credentials
    from pinui.workspace.errors import (
        AlreadyExists,
        ConfigError,
        HistoryError,
        NotKept,
        NoToken,
        NotRecorded,
        UnknownProfile,
        WorkspaceError,
    )
    from pinui.workspace.history import History
    from pinui.workspace.models import (
        Credential,
        KeyringState,
        Profile,
        TestResult,
    )
    from pinui.workspace.paths import Paths
    from pinui.workspace.profiles import Profiles
    from pinui.workspace.rows import Entry, Query
    from pinui.workspace.transfers import Transfer
    from pinui.workspace.workspace import Workspace

__all__ = [
    "AlreadyExists",
    "ConfigError",
    "Credential",
    "Credentials",
    "Entry",
    "History",
    "HistoryError",
    "KeyringState",
    "NoToken",
    "NotKept",
    "NotRecorded",
    "Paths",
    "Profile",
    "Profiles",
    "Query",
    "TestResult",
    "Transfer",
    "UnknownProfile",
    "Workspace",
    "WorkspaceError",
]

HOMES = {
    "AlreadyExists": "errors",
    "Credentials": "credentials",
    "ConfigError": "errors",
    "HistoryError": "errors",
    "NoToken": "errors",
    "NotKept": "errors",
    "NotRecorded": "errors",
    "UnknownProfile": "errors",
    "WorkspaceError": "errors",
    "History": "history",
    "Paths": "paths",
    "Profiles": "profiles",
    "Entry": "rows",
    "Query": "rows",
    "Transfer": "transfers",
    "Workspace": "workspace",
}


def __getattr__(name: str) -> object:
    """Import a name on first use, so that a verb loads only the modules it needs."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"pinui.workspace.{HOMES.get(name, 'models')}"), name)
