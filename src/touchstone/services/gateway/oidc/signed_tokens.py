"""Signed values that the browser keeps for a few minutes."""

from typing import Any, Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

_ALGORITHM: Final = "HS256"


class SignedTokens:
    """Signs values that the browser keeps for a few minutes, and verifies them when they come back."""

    def __init__(self, key: bytes) -> None:
        """Store the key, which must not be used for anything else."""
        self._key = OctKey.import_key(key)
        self._claims_registry = jwt.JWTClaimsRegistry(exp={"essential": True})

    def sign(self, claims: dict[str, Any], *, expires_at: int) -> str:
        """Return a signed token with these claims, which expires at a time in seconds since 1970."""
        return jwt.encode({"alg": _ALGORITHM}, {**claims, "exp": expires_at}, self._key)

    def verify(self, token: str | None) -> dict[str, Any] | None:
        """Return the claims of a token, or None if it is missing, forged or expired."""
        if token is None:
            return None
        try:
            claims = jwt.decode(token, self._key, algorithms=[_ALGORITHM]).claims
            self._claims_registry.validate(claims)
        except (JoseError, ValueError, TypeError):
            return None
        return claims
