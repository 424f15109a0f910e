"""The identity of a caller, and the signed token with which the gateway proves it to other processes."""

import re
import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from touchstone.core.errors import InvalidInternalToken, InvalidUserId

UUID_TEXT: Final = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
INTERNAL_HEADER: Final = b"x-touchstone-internal"
USER_ID_HEADER: Final = b"x-user-id"
USER_EMAIL_HEADER: Final = b"x-user-email"
INTERNAL_LIFE_SECONDS: Final = 60
MAX_CACHED_TOKENS: Final = 10_000
_ALGORITHM: Final = "HS256"
_AUDIENCE: Final = "touchstone-backend"
_CLAIMS: Final = jwt.JWTClaimsRegistry(
    leeway=5,
    aud={"essential": True, "value": _AUDIENCE},
    exp={"essential": True},
    iat={"essential": True},
)

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Caller:
    """The user on whose behalf a backend works."""

    id: UUID
    email: str = ""
    is_admin: bool = False


def parse_uuid(value: str) -> UUID | None:
    """Return the UUID written as 8-4-4-4-12 hexadecimal digits in either case, or None for any other spelling."""
    return UUID(value) if UUID_TEXT.fullmatch(value) else None


def read_user_id(headers: Headers) -> UUID | None:
    """Return the user id in `X-User-ID`, or None if there is no such header.

    Raises:
        InvalidUserId: the header is repeated or is not a UUID.
    """
    values = [value for name, value in headers if name == USER_ID_HEADER]
    if not values:
        return None

    user_id = parse_uuid(values[0].decode("latin-1")) if len(values) == 1 else None
    if user_id is None:
        raise InvalidUserId
    return user_id


@dataclass(frozen=True, slots=True)
class _CachedToken:
    """A signed token, with the time from which a new one is signed instead."""

    token: bytes
    renew_at: float


class InternalTokens:
    """Signs and verifies the short-lived tokens (JWT, HS256) that prove the gateway to a backend."""

    def __init__(self, key: str) -> None:
        self._key = OctKey.import_key(key.encode())
        self._cache: dict[Caller | None, _CachedToken] = {}

    def sign(self, caller: Caller | None) -> bytes:
        """Return a token for `caller`, or for a request without a user; it is cached for half of its life."""
        now = time.time()
        cached = self._cache.get(caller)
        if cached is not None and cached.renew_at > now:
            return cached.token

        claims: dict[str, object] = {"aud": _AUDIENCE, "iat": int(now), "exp": int(now) + INTERNAL_LIFE_SECONDS}
        if caller:
            claims |= {"sub": str(caller.id), "email": caller.email, "adm": caller.is_admin}
        token = jwt.encode({"alg": _ALGORITHM}, claims, self._key).encode()

        if len(self._cache) > MAX_CACHED_TOKENS:
            self._cache.clear()
        self._cache[caller] = _CachedToken(token, now + INTERNAL_LIFE_SECONDS / 2)
        return token

    def verify(self, headers: Headers) -> Caller | None:
        """Return the caller whom the gateway vouches for, or None if it forwarded a request without a user.

        Raises:
            InvalidInternalToken: the token is missing, repeated, expired or not signed with our key.
        """
        values = [value for name, value in headers if name == INTERNAL_HEADER]
        if len(values) != 1:
            raise InvalidInternalToken

        try:
            token = jwt.decode(values[0].decode("ascii"), self._key, algorithms=[_ALGORITHM])
            _CLAIMS.validate(token.claims)
        except (JoseError, ValueError) as error:
            raise InvalidInternalToken from error

        user_id = parse_uuid(str(token.claims.get("sub", "")))
        if user_id is None:
            return None
        return Caller(
            id=user_id,
            email=str(token.claims.get("email", "")),
            is_admin=token.claims.get("adm") is True,
        )
