"""Access tokens: short-lived signed tokens of a session, and how a request carries one."""

import re
import secrets
import time
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from touchstone.core.errors import Unauthorized
from touchstone.core.identity import Headers, parse_uuid

LEEWAY_SECONDS: Final = 1
_ALGORITHM: Final = "HS256"
_ISSUER: Final = "touchstone"
_AUDIENCE: Final = "touchstone"
_MAX_HEADER_BYTES: Final = 4096
# The 43rd character of a signature encodes four bits only; the other spellings of the same bits are not accepted.
_BEARER: Final = re.compile(rb"(?i:bearer) ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])")


@dataclass(frozen=True, slots=True)
class AccessTokenClaims:
    """The content of a valid access token; `expires` is in seconds since 1970."""

    user_id: UUID
    session_id: UUID
    expires: int


class AccessTokens:
    """Issues and verifies access tokens: JWT (RFC 7519) with HS256 and the claims `iss aud sub iat exp jti`."""

    def __init__(self, key: bytes, lifetime_seconds: int) -> None:
        self.lifetime_seconds = lifetime_seconds
        self._key = OctKey.import_key(key)
        self._claims_registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": _ISSUER},
            aud={"essential": True, "value": _AUDIENCE},
            sub={"essential": True},
            iat={"essential": True},
            exp={"essential": True},
            jti={"essential": True},
        )

    def issue(self, user_id: UUID, session_id: UUID) -> str:
        """Return a new token of the session."""
        now = int(time.time())
        claims: dict[str, object] = {
            "iss": _ISSUER,
            "aud": _AUDIENCE,
            "sub": str(user_id),
            "iat": now,
            "exp": now + self.lifetime_seconds,
            "jti": f"{session_id.hex}.{secrets.token_urlsafe(12)}",
        }
        return jwt.encode({"alg": _ALGORITHM, "typ": "JWT"}, claims, self._key)

    def verify(self, token: str) -> AccessTokenClaims:
        """Return the claims of a valid token.

        Raises:
            Unauthorized: the signature is wrong, the token has expired, or a claim is missing or malformed.
        """
        try:
            claims = jwt.decode(token, self._key, algorithms=[_ALGORITHM]).claims
            self._claims_registry.validate(claims)

            user_id = parse_uuid(claims["sub"])
            if user_id is None:
                raise Unauthorized
            session_id = UUID(hex=claims["jti"].partition(".")[0])
            return AccessTokenClaims(user_id, session_id, int(claims["exp"]))
        except (JoseError, ValueError, TypeError) as problem:
            raise Unauthorized from problem


def read_authorization(headers: Headers) -> bytes:
    """Return the value of the Authorization header.

    Raises:
        Unauthorized: the header is missing or repeated.
    """
    values = [value for name, value in headers if name == b"authorization"]
    if len(values) != 1:
        raise Unauthorized
    return values[0]


def parse_bearer_token(authorization: bytes) -> str:
    """Return the token in an Authorization header: the scheme, one space and the token (RFC 6750, section 2.1).

    Raises:
        Unauthorized: the value has another form.
    """
    if len(authorization) > _MAX_HEADER_BYTES:
        raise Unauthorized
    match = _BEARER.fullmatch(authorization)
    if match is None:
        raise Unauthorized
    return match[1].decode("ascii")
