"""Who is calling: the user behind a request, and the gateway's signed proof of it between processes."""

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
    """The UUID written as 8-4-4-4-12 hexadecimal digits in either case, or None for every other spelling."""
    return UUID(value) if UUID_TEXT.fullmatch(value) else None


def read_user_id(headers: Headers) -> UUID | None:
    """The value of `X-User-ID`: None when there is none.

    Raises:
        InvalidUserId: it is repeated or is not a UUID.
    """
    values = [value for name, value in headers if name == USER_ID_HEADER]
    if not values:
        return None
    found = parse_uuid(values[0].decode("latin-1")) if len(values) == 1 else None
    if found is None:
        raise InvalidUserId
    return found


class InternalTokens:
    """Signs and verifies the short-lived token (JWT, HS256) by which a backend knows the gateway."""

    def __init__(self, key: str) -> None:
        self._key = OctKey.import_key(key.encode())
        self._signed: dict[Caller | None, tuple[float, bytes]] = {}

    def sign(self, caller: Caller | None) -> bytes:
        """A token for `caller` (None: nobody is signed in), renewed at half its life."""
        now = time.time()
        kept = self._signed.get(caller)
        if kept and kept[0] > now:
            return kept[1]
        claims: dict[str, object] = {"aud": _AUDIENCE, "iat": int(now), "exp": int(now) + INTERNAL_LIFE_SECONDS}
        if caller:
            claims |= {"sub": str(caller.id), "email": caller.email, "adm": caller.is_admin}
        token = jwt.encode({"alg": _ALGORITHM}, claims, self._key).encode()
        if len(self._signed) > 10_000:
            self._signed.clear()
        self._signed[caller] = (now + INTERNAL_LIFE_SECONDS / 2, token)
        return token

    def verify(self, headers: Headers) -> Caller | None:
        """The caller whom the gateway vouches for; None when the gateway forwarded nobody.

        Raises:
            InvalidInternalToken: no token, several, or not one of the gateway's.
        """
        values = [value for name, value in headers if name == INTERNAL_HEADER]
        if len(values) != 1:
            raise InvalidInternalToken
        try:
            token = jwt.decode(values[0].decode("ascii"), self._key, algorithms=[_ALGORITHM])
            _CLAIMS.validate(token.claims)
        except (JoseError, ValueError) as problem:
            raise InvalidInternalToken from problem
        subject = parse_uuid(str(token.claims.get("sub", "")))
        return (
            None
            if subject is None
            else Caller(subject, str(token.claims.get("email", "")), token.claims.get("adm") is True)
        )
