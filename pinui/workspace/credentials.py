"""A profile's token: from the environment, the OS keyring, or memory for this run; never from or to a plain file."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from pinui.sdk.secret import Secret
from pinui.sdk.urls import origin_text
from pinui.workspace.keyring_store import KeyringTrouble, OSKeyring
from pinui.workspace.models import Credential, KeyringState, Profile
from pinui.workspace.profiles import ENVIRONMENT

if TYPE_CHECKING:
    from pinui.workspace.paths import Paths

__all__ = ["Credentials", "ending", "expiry", "for_service", "tidy", "variable_of"]

SOON = timedelta(days=7)
INSTEAD = "Set PINUI_TOKEN to use a token without a keyring."


class Credentials:
    """The tokens of one home."""

    def __init__(self, paths: Paths, *, keyring: OSKeyring | None = None) -> None:
        self._mark = paths.mark
        self._keyring = keyring or OSKeyring()
        self._session: dict[str, tuple[Secret, str | None]] = {}
        self._variables: tuple[str, ...] = ("PINUI_TOKEN",)

    def of_each_profile(self) -> Credentials:
        """The same tokens without `PINUI_TOKEN`, for work that talks to several services: it is meant for one."""
        other = copy(self)
        other._variables = ()
        return other

    def variable_for(self, profile: str) -> str:
        """The environment variable to name to a person whose token is missing."""
        return self._variables[0] if self._variables else variable_of(profile)

    async def read(self, profile: str, *, from_keyring: bool = True) -> Credential:
        """The token of a profile: from `PINUI_TOKEN_<PROFILE>`, `PINUI_TOKEN`, this run, or the keyring."""
        for variable in (variable_of(profile), *self._variables):
            if from_environment := os.environ.get(variable):
                return replace(_credential(Secret(tidy(from_environment)), "environment"), variable=variable)
        return await self._read(profile) if from_keyring or profile in self._session else Credential(None, "none")

    async def save(self, profile: str, secret: Secret, *, service: str | None = None) -> Credential:
        """Keep a token in the keyring; where that fails, for this run, with the reason in `trouble`.

        `service` is the origin that the token was entered for.
        """
        return await self._save(profile, secret, service)

    async def read_gateway_key(self, profile: str) -> Credential:
        """The key of the profile's dedicated gateway."""
        return await self._read(f"{profile}:gateway")

    async def save_gateway_key(self, profile: str, secret: Secret) -> Credential:
        """Keep the key of the profile's dedicated gateway."""
        return await self._save(f"{profile}:gateway", secret)

    async def delete(self, profile: str) -> None:
        """Forget a profile's secrets; raises `KeyringTrouble` if the keyring fails."""
        items = (profile, f"{profile}:gateway")
        for item in items:  # all that is in memory first: a keyring that fails must not keep it there
            self._session.pop(item, None)
        for item in items:
            await self._keyring.delete(item + self._mark)

    async def keyring_state(self) -> KeyringState:
        """Whether the keyring works: it is really asked."""
        try:
            name = await self._keyring.name()
        except KeyringTrouble as trouble:
            return KeyringState(None, False, f"{trouble} {INSTEAD}")
        return KeyringState(name, True, f"The keyring works ({name}).")

    async def _read(self, item: str) -> Credential:
        if (held := self._session.get(item)) is not None:
            secret, service = held
            return replace(_credential(secret, "session"), token_for=service)
        try:
            text = await self._keyring.get(item + self._mark)
        except KeyringTrouble as trouble:
            variable = self.variable_for(item.partition(":")[0])
            return Credential(None, "none", f"{trouble} {INSTEAD.replace('PINUI_TOKEN', variable)}")
        return Credential(None, "none") if text is None else _credential(Secret(text), "keyring")

    async def _save(self, item: str, secret: Secret, service: str | None = None) -> Credential:
        try:
            await self._keyring.set(item + self._mark, secret.reveal())
        except KeyringTrouble as trouble:
            self._session[item] = secret, service
            return _credential(secret, "session", f"{trouble} {INSTEAD}")
        self._session.pop(item, None)
        return _credential(secret, "keyring")


def for_service(credential: Credential, profile: Profile) -> Credential:
    """The credential, unless its token was entered for another service than the one that the profile names now."""
    if credential.secret is None or credential.origin == "environment":
        return credential
    if profile.name == ENVIRONMENT:
        return Credential(None, "none")
    here = origin_text(profile.api_url or "")
    entered_for = credential.token_for or profile.token_for
    if entered_for in (None, here):
        return credential
    return Credential(None, "none", f"Its token was entered for {entered_for}, and is not sent to {here}.")


def variable_of(profile: str) -> str:
    """The environment variable with the token of one profile alone."""
    return f"PINUI_TOKEN_{re.sub('[^A-Z0-9]', '_', profile.upper())}"


def tidy(pasted: str) -> str:
    """A token as people paste it: without blanks, line ends, quotes or a leading “Bearer”."""
    text = pasted.strip().strip("\"'").strip()
    return text[7:].strip() if text[:7].lower() == "bearer " else text


def expiry(secret: Secret) -> datetime | None:
    """When a JWT says that it ends; None if it is none or does not say."""
    parts = secret.reveal().split(".")
    if len(parts) != 3:
        return None
    try:
        claims: Any = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        ends = cast("dict[str, Any]", claims)["exp"] if isinstance(claims, dict) else None
        return None if ends is None or isinstance(ends, bool) else datetime.fromtimestamp(ends, UTC)
    except (ValueError, KeyError, TypeError, OverflowError, OSError, RecursionError, binascii.Error):
        return None


def ending(expires_at: datetime | None, now: datetime | None = None) -> str | None:
    """A sentence about a token that has expired or soon will; None for any other."""
    if expires_at is None:
        return None
    left = expires_at - (now or datetime.now(UTC))
    day = f"{expires_at:%Y-%m-%d}"
    if left <= timedelta(0):
        return f"This token ended on {day}: make a new one at the service."
    if left > SOON:
        return None
    if left < timedelta(hours=1):
        return "This token ends within the hour: make a new one at the service."
    hours = int(left.total_seconds() // 3600)
    when = f"{hours} h" if hours < 48 else f"{hours // 24} days"
    return f"This token ends in {when}, on {day}: make a new one at the service."


def _credential(secret: Secret, origin: Any, trouble: str | None = None) -> Credential:
    return Credential(secret, origin, trouble, expiry(secret))
