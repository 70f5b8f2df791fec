"""Errors of the SDK, as classes with fields.

PinuiError
├── InvalidCID (ValueError)             the text names no content; nothing was sent
├── SerializationError (ValueError)     the value can't be written as JSON without loss
├── ContentError (ValueError)           the wrong kind of content came back: no JSON, no message, too large
├── SourceChanged (OSError)             the file changed while it was uploaded; nothing is recorded
├── NetworkError (ConnectionError)      the provider or gateway could not be reached, or the connection broke
│   └── NetworkTimeout (TimeoutError)   it was reached and did not answer in time
├── ProviderError                       it refused the request
│   └── RateLimited                     it asked for a pause that is too long to wait
├── Unsupported (NotImplementedError)   this service can't do that; nothing was sent
└── IntegrityError (ValueError)         the bytes provably don't match the CID

The message is the contract's: `HTTP error {status}`, `Invalid CID`, or the provider's own words. Facts are
attributes, and `hint` is the next step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pinui.sdk.models import ClientRecord

__all__ = [
    "ContentError",
    "IntegrityError",
    "InvalidCID",
    "NetworkError",
    "NetworkTimeout",
    "PinuiError",
    "ProviderError",
    "RateLimited",
    "SerializationError",
    "SourceChanged",
    "Unsupported",
]


class PinuiError(Exception):
    """Any failure of the SDK. `message` is for a person; `hint`, where there is one, says what to do.

    >>> try:
    ...     await client.retrieve("nonsense")
    ... except PinuiError as error:
    ...     print(f"{error}. {error.hint}")
    Invalid CID. Give a CID such as bafy… or Qm…, or a URL that contains /ipfs/ and one.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        # OSError's own __str__ would write an errno for the subclasses that are also built-in errors.
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.__dict__.copy())


def _rebuild(kind: type[PinuiError], message: str, state: dict[str, Any]) -> PinuiError:
    error = kind.__new__(kind, message)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    return error


class InvalidCID(PinuiError, ValueError):
    """The text is no CID and no address of one. Nothing was sent.

    >>> await client.retrieve("nonsense")
    Traceback (most recent call last):
    pinui.InvalidCID: Invalid CID
    """

    def __init__(self, message: str = "Invalid CID", *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)


class SerializationError(PinuiError, ValueError):
    """The value can't be written as JSON without loss. `path` names the place, such as `$.user.id`.

    >>> try:
    ...     await client.store({"user": {"id": 2**60}})
    ... except SerializationError as error:
    ...     print(error.path)
    $.user.id
    """

    def __init__(self, message: str, *, path: str = "$", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class ContentError(PinuiError, ValueError):
    """The wrong kind of content came back: no JSON, no message, or more than the limit.

    >>> try:
    ...     await client.retrieve(cid)  # it is text
    ... except ContentError as error:
    ...     print(str(error).removeprefix(cid))
     is not JSON: Expecting value at line 1, column 1
    """


class SourceChanged(PinuiError, OSError):
    """The source changed while it was read. Nothing was recorded; the provider may have refused it or not.

    >>> issubclass(SourceChanged, OSError)
    True
    """


class NetworkError(PinuiError, ConnectionError):
    """The provider or gateway could not be reached, or the connection broke.

    >>> nobody = await Client.init(pin_api_url="http://127.0.0.1:1", retries=0)
    >>> try:
    ...     await nobody.test_connection()
    ... except NetworkError as error:
    ...     print(type(error).__name__)
    NetworkError
    >>> await nobody.aclose()
    """


class NetworkTimeout(NetworkError, TimeoutError):
    """The service was not reached in time, or did not answer in time.

    >>> issubclass(NetworkTimeout, TimeoutError)
    True
    """


class ProviderError(PinuiError):
    """The provider or gateway answered, and the answer is no.

    `status` is the HTTP status; `reason` the provider's code, such as `NO_SCOPES_FOUND`; `details` its own words;
    `retry_after` the seconds it asked to wait.

    >>> node.fail_next(403)
    >>> try:
    ...     await client.store("x")
    ... except ProviderError as error:
    ...     print(error.status, error.reason)
    403 TEST_FAULT
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        details: str | None = None,
        reason: str | None = None,
        retry_after: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.details = details
        self.reason = reason
        self.retry_after = retry_after


class RateLimited(ProviderError):
    """The provider asked to wait, longer or more often than we are willing to. `retry_after` is in seconds.

    >>> node.fail_next(429, headers={"Retry-After": "3600"})
    >>> try:
    ...     await client.store("x")
    ... except RateLimited as error:
    ...     print(error.retry_after)
    3600.0
    """


class Unsupported(PinuiError, NotImplementedError):
    """This service can't do what was asked of it. Nothing was sent.

    >>> await client.status(cid)  # at a service that is no cluster
    Traceback (most recent call last):
    pinui.Unsupported: This service can't tell where a pin is kept
    """


class IntegrityError(PinuiError, ValueError):
    """The bytes are provably not what the CID names, or, where proof was required, could not be proven.

    A read returned and wrote nothing. A write was done nevertheless: `record` carries what the provider answered.

    >>> IntegrityError("The gateway sent other bytes").verification
    'mismatch'
    """

    def __init__(
        self,
        message: str,
        *,
        verification: Literal["unverifiable", "mismatch"] = "mismatch",
        record: ClientRecord[Any] | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.verification = verification
        self.record = record


for _public in __all__:
    globals()[_public].__module__ = "pinui"  # as people import them, also in a traceback
