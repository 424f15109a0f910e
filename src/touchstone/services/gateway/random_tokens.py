"""Random tokens and their digests."""

import hashlib
import secrets


def generate_token() -> str:
    """Return a token of 256 random bits."""
    return secrets.token_urlsafe(32)


def digest_token(token: str) -> str:
    """Return the SHA-256 digest of a token.

    Only digests are stored, so that a stolen database contains no usable tokens.
    """
    return hashlib.sha256(token.encode()).hexdigest()
