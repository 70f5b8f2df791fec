"""The OS keyring behind a time limit: one call at a time, each on a thread that never delays quitting."""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KeyringTrouble", "KeyringUnavailable", "OSKeyring"]

SERVICE = "pinui"
READ_SECONDS = 3.0
WRITE_SECONDS = 60.0  # the user may be asked to unlock it

# The stores of the OS itself. Others ask on the terminal, or keep plain text in a file.
OWN_STORES = (
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
    "keyring.backends.Windows",
)

T = TypeVar("T")


class KeyringTrouble(Exception):
    """The keyring failed; the message says what to do."""


class KeyringUnavailable(KeyringTrouble):
    """There is no keyring here that could be asked."""


class OSKeyring:
    """The secrets of this program in the OS's own store."""

    def __init__(self, *, read_seconds: float = READ_SECONDS, write_seconds: float = WRITE_SECONDS) -> None:
        self._read_seconds = read_seconds
        self._write_seconds = write_seconds
        self._turn = asyncio.Lock()
        self._unanswered: threading.Event | None = None

    async def get(self, user: str) -> str | None:
        """The secret of an entry, or None if there is no such entry."""
        return await self._call(lambda store: store.get_password(SERVICE, user), self._read_seconds)

    async def set(self, user: str, text: str) -> None:
        """Keep a secret. Only that it can be read back proves that it was kept."""

        def keep(store: Any) -> bool:
            store.set_password(SERVICE, user, text)
            return store.get_password(SERVICE, user) == text

        if not await self._call(keep, self._write_seconds):
            raise KeyringTrouble("The keyring took the token and gives back another; it is not used.")

    async def delete(self, user: str) -> None:
        """Remove an entry; one that is not there is fine."""

        def remove(store: Any) -> None:
            if store.get_password(SERVICE, user) is not None:
                store.delete_password(SERVICE, user)

        await self._call(remove, self._write_seconds)

    async def name(self) -> str:
        """The store's own name. Reading a missing entry proves that it answers."""

        def look(store: Any) -> str:
            store.get_password(SERVICE, "a-probe-that-is-never-written")
            return _store_name(store)

        return await self._call(look, self._read_seconds)

    async def _call(self, work: Callable[[Any], T], seconds: float) -> T:
        answered = threading.Event()
        try:
            async with asyncio.timeout(seconds), self._turn:
                if self._unanswered is not None and not self._unanswered.is_set():
                    raise KeyringTrouble(  # another thread would hang in the same place
                        "The keyring has not answered an earlier question yet; it may be waiting for you to unlock it."
                    )
                self._unanswered = None
                try:
                    return await _in_daemon(work, answered)
                except asyncio.CancelledError:
                    self._unanswered = answered
                    raise
        except TimeoutError:
            raise KeyringTrouble(
                f"The keyring did not answer within {seconds:.0f} seconds."
                " If it asks for its password in a window, answer there and try again."
            ) from None


def _in_daemon(work: Callable[[Any], T], answered: threading.Event) -> asyncio.Future[T]:
    """Run some work on a daemon thread: Python waits for an executor's thread at exit, and this one may hang."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work(_find_store())
        except KeyringTrouble as trouble:
            report(answer.set_exception, trouble)
        except Exception as error:  # noqa: BLE001 – stores raise what their own libraries raise
            report(answer.set_exception, _explained(error))
        else:
            report(answer.set_result, result)

    def report(settle: Callable[[Any], None], value: Any) -> None:
        answered.set()

        def hand_over() -> None:
            if not answer.done():
                settle(value)

        with suppress(RuntimeError):  # the program may have gone on and closed its loop
            loop.call_soon_threadsafe(hand_over)

    threading.Thread(target=run, name="pinui-keyring", daemon=True).start()
    return answer


def _find_store() -> Any:
    """The OS's own store, or `KeyringUnavailable` with the reason."""
    if sys.platform != "darwin":  # it would look for Apple's libraries, with a program that it starts for each
        sys.modules.setdefault("keyring.backends.macOS.api", None)  # pyright: ignore[reportArgumentType]  # no module
    import keyring  # slow, and not needed by most verbs
    from keyring.backends import chainer, fail, null

    store: Any = keyring.get_keyring()
    if isinstance(store, chainer.ChainerBackend):
        own = [inner for inner in store.backends if _is_own(inner)]
        store = own[0] if own else store
    if _is_own(store):
        return store
    if isinstance(store, null.Keyring):
        raise KeyringUnavailable("Python's keyring is switched off here, so the token cannot be kept.")
    if isinstance(store, fail.Keyring):
        raise KeyringUnavailable(_why_none())
    raise KeyringUnavailable(
        f"The keyring set up for Python ({type(store).__module__}) is not the system's own store and is not used."
    )


def _is_own(store: Any) -> bool:
    return type(store).__module__ in OWN_STORES


def _store_name(store: Any) -> str:
    return type(store).__module__.rpartition(".")[2]


def _why_none() -> str:
    """The reason for a missing store, as far as this system tells."""
    if not sys.platform.startswith("linux"):
        return "This system offers no keyring to pinui."
    import os

    from keyring.backends import SecretService

    address = os.environ.get("DBUS_SESSION_BUS_ADDRESS")
    try:
        _ = SecretService.Keyring.priority
    except Exception as error:  # noqa: BLE001 – jeepney and secretstorage raise many kinds
        reason = str(error)
    else:
        return "This system offers no keyring to pinui."
    if "neither running nor activatable" in reason:
        return "No keyring service runs in this session (gnome-keyring, KWallet and KeePassXC are such services)."
    if address:
        return "The session bus that DBUS_SESSION_BUS_ADDRESS names does not answer, so the keyring cannot be reached."
    return "There is no session bus here (as in containers and over plain SSH), so there is no keyring."


def _explained(error: Exception) -> KeyringTrouble:
    """A sentence for an error of the store. The store's words may be shown: they never hold the secret."""
    from keyring import errors

    if isinstance(error, errors.KeyringLocked):
        return KeyringTrouble("The keyring is locked and was not unlocked: unlock it and try again.")
    if isinstance(error, errors.NoKeyringError):
        return KeyringUnavailable("There is no keyring here.")
    if isinstance(error, errors.InitError):
        return KeyringTrouble(
            "The keyring has not been set up yet: log in to the desktop once, or create a default keyring."
        )
    if type(error).__name__ in ("DBusErrorResponse", "ConnectionResetError", "EOFError"):
        return KeyringTrouble("The keyring service closed the connection: start it again, or log in again.")
    words = " ".join(str(error).split())[:200] or type(error).__name__
    return KeyringTrouble(f"The keyring refused: {words.rstrip('.')}.")
