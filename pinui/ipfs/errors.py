"""What can be wrong with content-addressed data.

ContentAddressError (ValueError)
├── MalformedContent      bytes that break their own format: CID, dag-pb, UnixFS, CAR
├── UnsupportedContent    well-formed, but of a kind, hash or size that is not handled here
├── WrongHash             a block whose bytes are not what its CID says
├── MissingBlock          a block that the content links to and nobody has
└── ForgottenBlock        a block that may have come, but too long ago to be still at hand
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
    """A block whose bytes are not what its CID says: proof that they were changed."""


class MissingBlock(ContentAddressError):
    """A block that the content links to and that nobody has."""


class ForgottenBlock(ContentAddressError):
    """A block that may have come, but too long ago to be still at hand: nothing is proven, either way."""
