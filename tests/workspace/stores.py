"""Stores that stand for the OS keyring where a real one cannot be made to fail."""

from __future__ import annotations

from typing import TypeVar

import keyring
import keyring.backend
import pytest

S = TypeVar("S", bound="FakeOSStore")


class FakeOSStore(keyring.backend.KeyringBackend):
    """Keeps secrets in a dictionary and says that it is the Secret Service."""

    priority = -1  # never chosen by keyring itself  # pyright: ignore[reportAssignmentType]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.asked = False

    def get_password(self, service: str, username: str) -> str | None:
        self.asked = True
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.asked = True
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]

    def __init_subclass__(cls) -> None:
        cls.__module__ = FakeOSStore.__module__


FakeOSStore.__module__ = "keyring.backends.SecretService"


def use_store(monkeypatch: pytest.MonkeyPatch, store: S) -> S:
    """Make this the keyring of the test."""
    monkeypatch.setattr(keyring, "get_keyring", lambda: store)
    return store
