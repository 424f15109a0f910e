"""Random tokens, and the digests by which they are stored."""

import hashlib
import secrets


def generate_token() -> str:
    """Return a token of 256 random bits."""
    return secrets.token_urlsafe(32)


def digest_token(token: str) -> str:
    """Return the SHA-256 digest of a token: a stolen database then signs nobody in."""
    return hashlib.sha256(token.encode()).hexdigest()
