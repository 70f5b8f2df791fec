"""Profiles and settings in `config.toml`: read strictly; writing keeps the user's comments and order."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, get_args

from pinui.disk import lock_folder, private_folder, write_private
from pinui.sdk.urls import check_base_url, origin_text
from pinui.workspace.errors import ConfigError, UnknownProfile, WorkspaceError
from pinui.workspace.models import Profile, ProviderName

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["BUILT_IN", "ENVIRONMENT", "Profiles", "check_name", "check_url"]

LOCAL = Profile("local", "local")
PINATA = Profile("pinata", "pinata", "https://api.pinata.cloud", "https://gateway.pinata.cloud/ipfs")
BUILT_IN = {profile.name: profile for profile in (LOCAL, PINATA)}
ENVIRONMENT = "environment"
"""The name of the profile that `PINUI_API_URL` makes when none is chosen: its pins are not those of `local`."""

PROVIDERS = get_args(ProviderName)

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_name(name: str) -> str:
    """The name, if a profile may be called that; it is part of keyring entries and command lines."""
    if not NAME.fullmatch(name) or name == ENVIRONMENT:
        raise WorkspaceError(
            f"A profile cannot be called “{name}”.",
            hint="Use letters, digits, dots, dashes and underscores, beginning with a letter or digit.",
        )
    return name


def check_url(url: str, *, what: str) -> str:
    """The address without its trailing slash, if it is one that the SDK would talk to."""
    try:
        return check_base_url(url, what, allow_insecure=False)
    except ValueError as error:
        raise WorkspaceError(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None


class Profiles:
    """The profiles and settings of one home. Methods that write touch the disk: one small file."""

    def __init__(self, path: Path, *, chosen: str | None = None) -> None:
        self.path = path
        self._chosen = chosen

    # Reading

    def list(self) -> list[Profile]:
        """Every profile: the built-in ones first, then the user's own by name."""
        own = self._own()
        names = [*BUILT_IN, *sorted(own.keys() - BUILT_IN.keys())]
        return [own.get(name) or BUILT_IN[name] for name in names]

    def get(self, name: str) -> Profile:
        """One profile by name, as it is stored."""
        found = self._own().get(name) or BUILT_IN.get(name)
        if found is None:
            known = ", ".join(profile.name for profile in self.list())
            raise UnknownProfile(
                f"There is no profile “{name}”.", hint=f"There are: {known}. `pinui profile add` makes one."
            )
        return found

    @property
    def current(self) -> Profile:
        """The profile of this run: the chosen one, `PINUI_PROFILE`, the stored default, or `local`.

        `PINUI_API_URL` and `PINUI_GATEWAY_URL` win over what is stored.
        """
        name = self._chosen or os.environ.get("PINUI_PROFILE") or self.default
        return overridden(self.get(name), os.environ)

    @property
    def default(self) -> str:
        """The name of the profile that is used when none is chosen."""
        document = self._read()
        name = document.get("profile", "local")
        if not isinstance(name, str):
            raise self._wrong("profile", "should be a name in quotes", table=None)
        if name not in BUILT_IN and name not in self._own():
            raise self._wrong("profile", f"names “{name}”, which is not among the profiles", table=None)
        return name

    def setting(self, key: str) -> Any:
        """A remembered choice, such as the theme; None if there is none."""
        return self._table("settings").get(key)

    def keys(self) -> dict[str, Any]:
        """The keys that were chosen for commands of the workbench, as they are written."""
        return self._table("keys")

    # Writing

    def save(self, profile: Profile) -> None:
        """Add a profile, or change the one of that name. Its token stays with the address that it was entered for."""
        check_name(profile.name)
        if profile.name == LOCAL.name:
            raise WorkspaceError("The profile “local” is the embedded node and has nothing to set.")
        for what, url in (
            ("API URL", profile.api_url),
            *(("gateway URL", url) for url in (profile.gateway_url, *profile.gateways)),
        ):
            if url is not None:
                check_url(url, what=what)  # a name that could not be read again is refused

        before = self._own().get(profile.name) or BUILT_IN.get(profile.name)
        if before is not None and profile.token_for is None:
            profile = _bound(profile, before)

        def change(document: Any) -> None:
            table = _table_of(document, profile.name)
            fields: dict[str, Any] = {
                "preset": profile.preset,
                "api_url": profile.api_url,
                "gateway_url": profile.gateway_url,
                "dialect": profile.dialect,
                "gateways": list(profile.gateways) or None,
                "gateway_key": profile.gateway_key or None,
                "token_for": profile.token_for,
                "known_dialect": profile.known_dialect,
                "provider": None if profile.provider == "pinning" else profile.provider,
                "replication_min": profile.replication_min,
                "replication_max": profile.replication_max,
            }
            for key, value in fields.items():
                if value is None:
                    table.pop(key, None)
                elif table.get(key) != value:
                    table[key] = value

        self._change(change)

    def bind_token(self, name: str, url: str) -> None:
        """Remember that the token of a profile was entered for the service at this address."""
        self._set(name, "token_for", origin_text(url))

    def remember_dialect(self, name: str, dialect: str) -> None:
        """Remember which API of the service the token of a profile knows."""
        self._set(name, "known_dialect", dialect)

    def _set(self, name: str, key: str, value: str) -> None:
        def change(document: Any) -> None:
            _table_of(document, name)[key] = value

        self._change(change)

    def use(self, name: str) -> None:
        """Make a profile the default."""
        self.get(name)

        def change(document: Any) -> None:
            document["profile"] = name

        self._change(change)
        self._chosen = None

    def remove(self, name: str) -> None:
        """Forget a profile; if it was the default, `local` is again."""
        if name not in self._own():
            if name in BUILT_IN:
                raise WorkspaceError(f"The profile “{name}” is built in and stays.")
            self.get(name)

        def change(document: Any) -> None:
            document.get("profiles", {}).pop(name, None)
            if document.get("profile") == name and name not in BUILT_IN:
                document["profile"] = LOCAL.name

        self._change(change)

    def set_setting(self, key: str, value: Any) -> None:
        """Remember a choice."""

        def change(document: Any) -> None:
            document.setdefault("settings", _new_table())[key] = value

        self._change(change)

    # The file

    def _read(self) -> dict[str, Any]:
        return _parse(self.path, self._text())

    def _text(self) -> str:
        try:
            return self.path.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise _broken(self.path, f"line {line}: this is not UTF-8 text") from None
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be read: {error.strerror}.") from error

    def _table(self, name: str) -> dict[str, Any]:
        table = self._read().get(name, {})
        if not isinstance(table, dict):
            raise self._wrong(name, "should be a table", table=None)
        return cast("dict[str, Any]", table)

    def _own(self) -> dict[str, Profile]:
        return {name: self._profile(name, fields) for name, fields in self._table("profiles").items()}

    def _profile(self, name: str, fields: Any) -> Profile:
        def wrong(key: str, reason: str) -> ConfigError:
            return self._wrong(key, reason, table=f"profiles.{name}")

        if not isinstance(fields, dict):
            raise self._wrong(name, "should be a table", table="profiles")
        try:
            check_name(name)
        except WorkspaceError as error:
            raise self._wrong(f"profiles.{name}", f"is no name for a profile. {error.hint}", table=None) from None
        known = cast("dict[str, Any]", fields)
        base = BUILT_IN.get(name) or replace(PINATA if known.get("preset") == "pinata" else LOCAL, name=name)
        preset = known.get("preset", "custom" if name not in BUILT_IN else base.preset)
        if preset not in ("local", "pinata", "custom"):
            raise wrong("preset", "should be one of local, pinata, custom")
        provider = known.get("provider", "pinning")
        if provider not in PROVIDERS:
            raise wrong("provider", f"should be one of {', '.join(PROVIDERS)}")
        dialect, known_dialect = known.get("dialect", base.dialect), known.get("known_dialect")
        for key, value in (("dialect", dialect), ("known_dialect", known_dialect)):
            if value not in (None, "pin", "pinata", "pinata-v3"):
                raise wrong(key, "should be one of pin, pinata, pinata-v3")
        urls: dict[str, str | None] = {"api_url": base.api_url, "gateway_url": base.gateway_url}
        for key in urls:
            if key in known:
                if not isinstance(known[key], str):
                    raise wrong(key, "should be an address in quotes")
                try:
                    urls[key] = check_base_url(known[key], "", allow_insecure=False)
                except ValueError as error:
                    raise wrong(key, str(error).strip()) from None
        if preset == "custom" and urls["api_url"] is None:
            raise wrong("api_url", "is missing")
        further = known.get("gateways", [])
        if not isinstance(further, list) or not all(isinstance(url, str) for url in cast("list[Any]", further)):
            raise wrong("gateways", "should be a list of addresses in quotes")
        gateway_key = known.get("gateway_key", False)
        if not isinstance(gateway_key, bool):
            raise wrong("gateway_key", "should be true or false")
        token_for = known.get("token_for")
        if token_for is not None and not isinstance(token_for, str):
            raise wrong("token_for", "should be an address in quotes")
        factors = known.get("replication_min"), known.get("replication_max")
        if factors != (None, None):
            from pinui.sdk.models import check_replication

            try:
                check_replication(provider, *factors)
            except ValueError as error:
                key, _, reason = str(error).partition(" ")
                raise wrong(key, reason) from None
        gateways = tuple(cast("list[str]", further))
        return Profile(
            name=name,
            preset=preset,
            api_url=urls["api_url"],
            gateway_url=urls["gateway_url"],
            dialect=dialect,
            gateways=gateways,
            gateway_key=gateway_key,
            token_for=token_for,
            known_dialect=known_dialect,
            provider=provider,
            replication_min=factors[0],
            replication_max=factors[1],
        )

    def _wrong(self, key: str, reason: str, *, table: str | None) -> ConfigError:
        where = line_of(self._text(), key, table)
        place = f"line {where}: " if where else ""
        return _broken(self.path, f"{place}“{key}” {reason}")

    def _change(self, change: Callable[[Any], None]) -> None:
        """Read the file again, change it, and write it: changes by other processes and by hand stay."""
        import tomlkit  # keeps comments and order; only writing needs it

        try:
            folder = self.path.resolve().parent
            private_folder(folder)
            with lock_folder(folder):  # a change that another process makes meanwhile would be lost
                text = self._text()
                _parse(self.path, text)
                self._own()  # a file with wrong values is left for its owner to correct
                document = tomlkit.parse(text)
                change(document)
                changed = tomlkit.dumps(document)  # pyright: ignore[reportUnknownMemberType] – tomlkit's own signature
                _parse(self.path, changed)
                if changed != text:
                    write_private(self.path, changed)
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be written: {error.strerror}.") from error


def overridden(profile: Profile, environment: Mapping[str, str]) -> Profile:
    """The profile with the overrides from the environment."""
    api_url, gateway_url = environment.get("PINUI_API_URL"), environment.get("PINUI_GATEWAY_URL")
    if api_url:
        url = check_url(api_url, what="PINUI_API_URL")
        is_local = profile.preset == "local"
        profile = Profile(ENVIRONMENT, "custom", url) if is_local else _bound(replace(profile, api_url=url), profile)
    if gateway_url:
        url = check_url(gateway_url, what="PINUI_GATEWAY_URL")
        has_key = profile.gateway_key and origin_text(url) == origin_text(profile.gateway_url or "")
        profile = replace(profile, gateway_url=url, gateway_key=has_key)
    return profile


def _bound(profile: Profile, before: Profile) -> Profile:
    """The profile with its token bound to the address that it had before."""
    return replace(profile, token_for=before.token_for or origin_text(before.api_url or "") or None)


def line_of(text: str, key: str, table: str | None) -> int | None:
    """The line number of a key; dotted and inline tables have none."""
    header, header_line = f"[{table or key}]", None
    inside = table is None
    assignment = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*=""")
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip().replace('"', "")
        if bare.startswith("["):
            inside = table is not None and bare.startswith(header)
            header_line = number if bare.startswith(header) else header_line
        elif inside and assignment.match(line):
            return number
    return header_line


def _parse(path: Path, text: str) -> dict[str, Any]:
    import tomllib  # a verb that needs no settings does not pay for it

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, place = str(error).partition(" (at ")
        place = place.rstrip(")").replace("end of document", f"line {text.rstrip().count(chr(10)) + 1}, its end")
        raise _broken(path, f"{place or 'somewhere'}: {reason[:1].lower()}{reason[1:]}") from None


def _broken(path: Path, what: str) -> ConfigError:
    return ConfigError(f"{path} cannot be used: {what}.", hint="Correct the file or move it away; nothing was changed.")


def _table_of(document: Any, name: str) -> Any:
    """A profile's table, added if there is none."""
    return document.setdefault("profiles", _new_table(is_super=True)).setdefault(name, _new_table())


def _new_table(*, is_super: bool = False) -> Any:
    import tomlkit

    return tomlkit.table(is_super_table=is_super or None)
