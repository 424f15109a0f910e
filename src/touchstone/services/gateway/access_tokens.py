"""Access tokens, which are short-lived signed tokens of a session, and their form in a request."""

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

# A token is accepted for this time after its expiry, in case of slightly different clocks.
LEEWAY_SECONDS: Final = 1
_ALGORITHM: Final = "HS256"
_ISSUER: Final = "touchstone"
_AUDIENCE: Final = "touchstone"
_MAX_HEADER_BYTES: Final = 4096
# The last character of a signature encodes only four bits. Only the canonical spelling of these bits is accepted.
_BEARER: Final = re.compile(rb"(?i:bearer) ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])")


@dataclass(frozen=True, slots=True)
class AccessTokenClaims:
    """The content of a valid access token.

    Attributes:
        user_id: the user.
        session_id: the session of the user.
        expires: the time of expiry, in seconds since 1970.
    """

    user_id: UUID
    session_id: UUID
    expires: int


class AccessTokens:
    """Creates and verifies access tokens, which are JSON Web Tokens (RFC 7519) signed with HS256.

    The claims have the standard names: `iss` (issuer), `aud` (audience), `sub` (subject, which is the user), `iat` and
    `exp` (times of issue and expiry), and `jti` (id of the token).
    """

    def __init__(self, key: bytes, lifetime_seconds: int) -> None:
        """Store the signing key, and define the rules for valid claims.

        All claims are required. The issuer and the audience must be this service.
        """
        self.lifetime_seconds = lifetime_seconds
        self._key = OctKey.import_key(key)

        # The library calls a required claim "essential".
        self._claims_registry = jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": _ISSUER},
            aud={"essential": True, "value": _AUDIENCE},
            sub={"essential": True},
            iat={"essential": True},
            exp={"essential": True},
            jti={"essential": True},
        )

    def create_token(self, user_id: UUID, session_id: UUID) -> str:
        """Return a new signed access token for a session.

        The token expires after `lifetime_seconds`, but is rejected earlier if the session ends.
        """
        issued_at = int(time.time())
        expires_at = issued_at + self.lifetime_seconds

        # The token id contains the session id for `verify`.
        random_suffix = secrets.token_urlsafe(12)
        token_id = f"{session_id.hex}.{random_suffix}"

        # The names of the claims are prescribed by RFC 7519.
        claims: dict[str, object] = {
            "iss": _ISSUER,
            "aud": _AUDIENCE,
            "sub": str(user_id),
            "iat": issued_at,
            "exp": expires_at,
            "jti": token_id,
        }
        header = {"alg": _ALGORITHM, "typ": "JWT"}
        return jwt.encode(header, claims, self._key)

    def verify(self, token: str) -> AccessTokenClaims:
        """Return the claims of an access token after checking its signature, its expiry and its form.

        The caller has to check that the session is still active, which requires a query.

        Raises:
            Unauthorized: the signature is wrong, the token has expired, or a claim is missing or malformed.
        """
        try:
            claims = jwt.decode(token, self._key, algorithms=[_ALGORITHM]).claims
            self._claims_registry.validate(claims)

            user_id = parse_uuid(claims["sub"])
            if user_id is None:
                raise Unauthorized

            # The token id is the session id followed by a dot and random characters.
            token_id = claims["jti"]
            session_hex, _, _ = token_id.partition(".")
            session_id = UUID(hex=session_hex)

            return AccessTokenClaims(user_id, session_id, expires=int(claims["exp"]))
        except (JoseError, ValueError, TypeError) as error:
            raise Unauthorized from error


def read_authorization(headers: Headers) -> bytes:
    """Return the value of the Authorization header of a request.

    Raises:
        Unauthorized: the header is missing or repeated. Different servers might use different ones of repeated headers.
    """
    values = [value for name, value in headers if name == b"authorization"]
    if len(values) != 1:
        raise Unauthorized
    return values[0]


def parse_bearer_token(authorization: bytes) -> str:
    """Return the token in the value of an Authorization header.

    The only accepted form is the word `Bearer` in any case, one space, and a token in the form of a JWT (RFC 6750,
    section 2.1). The signature of the token is not verified here.

    Raises:
        Unauthorized: the value has another form, or is longer than any valid one.
    """
    if len(authorization) > _MAX_HEADER_BYTES:
        raise Unauthorized

    match = _BEARER.fullmatch(authorization)
    if match is None:
        raise Unauthorized

    token = match[1]
    return token.decode("ascii")
