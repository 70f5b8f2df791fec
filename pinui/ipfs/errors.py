"""Errors of content-addressed data.

ContentAddressError (ValueError)
├── MalformedContent      bytes that break their own format: CID, dag-pb, UnixFS, CAR
├── UnsupportedContent    well-formed, but of a kind, hash or size that is not handled here
├── WrongHash             a block whose bytes don't match its CID
├── MissingBlock          a linked block that can't be found
└── ForgottenBlock        a block that may have arrived, but is no longer kept
"""

from __future__ import annotations

__all__ = [
    "ContentAddressError",
    "ForgottenBlock",
    "MalformedContent",
    "MissingBlock",
    "UnsupportedContent",
    "WrongHash",
]


class ContentAddressError(ValueError):
    """Something is wrong with content-addressed data; the message is a sentence for a person."""


class MalformedContent(ContentAddressError):
    """Bytes that break their own format."""


class UnsupportedContent(ContentAddressError):
    """Well-formed, but of a kind, hash or size that is not handled here."""


class WrongHash(ContentAddressError):
    """A block whose bytes don't match its CID: proof that they were changed."""


class MissingBlock(ContentAddressError):
    """A linked block that can't be found."""


class ForgottenBlock(ContentAddressError):
    """A block that may have arrived, but is no longer kept: nothing is proven, either way."""
