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
TOKEN_LIFE_SECONDS: Final = 60
MAX_CACHED_TOKENS: Final = 10_000
_ALGORITHM: Final = "HS256"
_AUDIENCE: Final = "touchstone-backend"
_CLAIMS_CHECK: Final = jwt.JWTClaimsRegistry(
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


def parse_uuid(text: str) -> UUID | None:
    """Return the UUID written as 8-4-4-4-12 hexadecimal digits in either case, or None for any other spelling."""
    return UUID(text) if UUID_TEXT.fullmatch(text) else None


def read_user_id(headers: Headers) -> UUID | None:
    """Return the user id in the `X-User-ID` header of a request, or None if there is no such header.

    Backends without an internal key learn from this header on whose behalf they are called.

    Raises:
        InvalidUserId: the header is repeated or is not a UUID.
    """
    header_values = [value for name, value in headers if name == USER_ID_HEADER]
    if not header_values:
        return None
    if len(header_values) > 1:
        raise InvalidUserId

    user_id = parse_uuid(header_values[0].decode("latin-1"))
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
        """Return a token by which a backend knows that the gateway has authenticated `caller`.

        None stands for a request without a user. A token is reused for half of its life, because signing one for
        every request would be slow.
        """
        now = time.time()
        cached = self._cache.get(caller)
        if cached is not None and cached.renew_at > now:
            return cached.token

        claims: dict[str, object] = {"aud": _AUDIENCE, "iat": int(now), "exp": int(now) + TOKEN_LIFE_SECONDS}
        if caller is not None:
            claims |= {"sub": str(caller.id), "email": caller.email, "adm": caller.is_admin}
        token = jwt.encode({"alg": _ALGORITHM}, claims, self._key).encode()

        if len(self._cache) > MAX_CACHED_TOKENS:
            self._cache.clear()
        self._cache[caller] = _CachedToken(token, renew_at=now + TOKEN_LIFE_SECONDS / 2)
        return token

    def verify(self, headers: Headers) -> Caller | None:
        """Return the caller whom the gateway vouches for, or None if it forwarded a request without a user.

        Raises:
            InvalidInternalToken: the token is missing, repeated, expired or not signed with our key.
        """
        header_values = [value for name, value in headers if name == INTERNAL_HEADER]
        if len(header_values) != 1:
            raise InvalidInternalToken

        try:
            token = jwt.decode(header_values[0].decode("ascii"), self._key, algorithms=[_ALGORITHM])
            _CLAIMS_CHECK.validate(token.claims)
        except (JoseError, ValueError) as error:
            raise InvalidInternalToken from error

        user_id = parse_uuid(str(token.claims.get("sub", "")))
        if user_id is None:
            return None

        email = str(token.claims.get("email", ""))
        is_admin = token.claims.get("adm") is True
        return Caller(user_id, email, is_admin)
