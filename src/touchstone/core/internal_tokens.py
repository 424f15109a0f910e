"""Short-lived signed tokens that tell a backend in another process who the caller is."""

import time
from dataclasses import dataclass
from typing import Final

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from touchstone.core.errors import InvalidInternalToken
from touchstone.core.identity import Caller, Headers, parse_uuid

INTERNAL_HEADER: Final = b"x-touchstone-internal"
TOKEN_LIFE_SECONDS: Final = 60
MAX_CACHED_TOKENS: Final = 10_000
_ALGORITHM: Final = "HS256"
_AUDIENCE: Final = "touchstone-backend"
_CLAIMS_REGISTRY: Final = jwt.JWTClaimsRegistry(
    leeway=5,
    aud={"essential": True, "value": _AUDIENCE},
    exp={"essential": True},
    iat={"essential": True},
)


@dataclass(frozen=True, slots=True)
class _CachedToken:
    """A signed token, and the time when a new one has to be signed."""

    token: bytes
    renew_at: float


class InternalTokens:
    """Signs and verifies the short-lived tokens (JWT, HS256) that authenticate the gateway to a backend."""

    def __init__(self, key: str) -> None:
        self._key = OctKey.import_key(key.encode())
        self._cache: dict[Caller | None, _CachedToken] = {}

    def sign(self, caller: Caller | None) -> bytes:
        """Return a token as proof for a backend that the gateway has authenticated the caller.

        Tokens are reused for half of their lifetime, because signing one for every request would be slow.

        Args:
            caller: the user, or None for a request without a user.
        """
        now = time.time()
        cached = self._cache.get(caller)
        if cached is not None and cached.renew_at > now:
            return cached.token

        token = self._create_token(caller, issued_at=int(now))

        if len(self._cache) > MAX_CACHED_TOKENS:
            self._cache.clear()
        self._cache[caller] = _CachedToken(token, renew_at=now + TOKEN_LIFE_SECONDS / 2)
        return token

    def _create_token(self, caller: Caller | None, *, issued_at: int) -> bytes:
        """Return a new signed token, where `issued_at` is in seconds since 1970."""
        claims: dict[str, object] = {
            "aud": _AUDIENCE,
            "iat": issued_at,
            "exp": issued_at + TOKEN_LIFE_SECONDS,
        }
        if caller is not None:
            claims["sub"] = str(caller.id)
            claims["email"] = caller.email
            claims["adm"] = caller.is_admin
            claims["cur"] = caller.is_curator

        return jwt.encode({"alg": _ALGORITHM}, claims, self._key).encode()

    def verify(self, headers: Headers) -> Caller | None:
        """Verify the token in the headers of a request, and return the caller, or None if there is no user.

        Raises:
            InvalidInternalToken: the token is missing, repeated, expired or not signed with our key.
        """
        header_values = [value for name, value in headers if name == INTERNAL_HEADER]
        if len(header_values) != 1:
            raise InvalidInternalToken

        try:
            token_text = header_values[0].decode("ascii")
            token = jwt.decode(token_text, self._key, algorithms=[_ALGORITHM])
            _CLAIMS_REGISTRY.validate(token.claims)
        except (JoseError, ValueError) as error:
            raise InvalidInternalToken from error

        user_id = parse_uuid(str(token.claims.get("sub", "")))
        if user_id is None:
            return None

        email = str(token.claims.get("email", ""))
        is_admin = token.claims.get("adm") is True
        is_curator = token.claims.get("cur") is True
        return Caller(user_id, email, is_admin, is_curator)
