"""Access tokens: signed, short-lived, bound to a session; the key that signs them; and how a request carries one."""

import hmac
import os
import re
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from touchstone.core.errors import Unauthorized
from touchstone.core.identity import Headers, parse_uuid
from touchstone.core.settings import MINIMUM_KEY_BYTES, Settings, SettingsError

KEY_FILE: Final = "signing.key"
LEEWAY_SECONDS: Final = 1
_ALGORITHM: Final = "HS256"
_ISSUER: Final = "touchstone"
_AUDIENCE: Final = "touchstone"
_MAX_TOKEN: Final = 4096
# 32 bytes of signature are 43 characters of which the last carries four bits: only one spelling of it is canonical.
_BEARER: Final = re.compile(rb"(?i:bearer) ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])")


@dataclass(frozen=True, slots=True)
class Claims:
    """What a valid access token says: whose it is, of which session, and when it ends (seconds since 1970)."""

    user_id: UUID
    session_id: UUID
    expires: int


class AccessTokens:
    """Issues and reads access tokens: JWT (RFC 7519), HS256 and nothing else, with all of `iss aud sub iat exp jti`."""

    def __init__(self, key: bytes, seconds: int) -> None:
        self.seconds = seconds
        self._key = OctKey.import_key(key)
        self._claims = jwt.JWTClaimsRegistry(
            leeway=LEEWAY_SECONDS,
            iss={"essential": True, "value": _ISSUER},
            aud={"essential": True, "value": _AUDIENCE},
            sub={"essential": True},
            iat={"essential": True},
            exp={"essential": True},
            jti={"essential": True},
        )

    def issue(self, user_id: UUID, session_id: UUID) -> str:
        """A new token of the session."""
        now = int(time.time())
        claims: dict[str, object] = {
            "iss": _ISSUER,
            "aud": _AUDIENCE,
            "sub": str(user_id),
            "iat": now,
            "exp": now + self.seconds,
            "jti": f"{session_id.hex}.{secrets.token_urlsafe(12)}",
        }
        return jwt.encode({"alg": _ALGORITHM, "typ": "JWT"}, claims, self._key)

    def read(self, token: str) -> Claims:
        """The claims of a valid token.

        Raises:
            Unauthorized: it is not one of ours, has run out, or lacks a claim.
        """
        try:
            claims = jwt.decode(token, self._key, algorithms=[_ALGORITHM]).claims
            self._claims.validate(claims)
            return Claims(_subject(claims["sub"]), UUID(hex=claims["jti"].partition(".")[0]), int(claims["exp"]))
        except (JoseError, ValueError, TypeError) as problem:
            raise Unauthorized from problem


def authorization(headers: Headers) -> bytes:
    """The value of the one Authorization header.

    Raises:
        Unauthorized: there is none, or more than one.
    """
    values = [value for name, value in headers if name == b"authorization"]
    if len(values) != 1:
        raise Unauthorized
    return values[0]


def bearer_token(value: bytes) -> str:
    """The token in an Authorization header (RFC 6750, section 2.1): the scheme, one space, the token, nothing else.

    Raises:
        Unauthorized: it is anything else.
    """
    found = _BEARER.fullmatch(value) if len(value) <= _MAX_TOKEN else None
    if found is None:
        raise Unauthorized
    return found[1].decode("ascii")


def signing_key(settings: Settings) -> bytes:
    """The key of the access tokens: the setting, or the file in the data folder, made at the first start.

    Raises:
        SettingsError: the file can be read by others, or is too short to be a key.
    """
    if settings.signing_key is not None:
        return settings.signing_key.get_secret_value().encode()
    path = settings.data_dir / KEY_FILE
    if not path.exists():
        _make_key(path)
    return _read_key(path)


def derived_key(key: bytes, purpose: str) -> bytes:
    """Return the key for another purpose than signing access tokens, so that nothing signed for one fits another."""
    return hmac.digest(key, purpose.encode(), "sha256")


def _make_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{KEY_FILE}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(MINIMUM_KEY_BYTES))
        file.flush()
        os.fsync(file.fileno())
    try:
        # A link never replaces what is there: of two processes that start together both end with the same key.
        path.hardlink_to(fresh)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()


def _read_key(path: Path) -> bytes:
    if path.stat().st_mode & 0o077:
        raise SettingsError(f"{path} can be read by others; run: chmod 600 {path}")
    key = path.read_bytes()
    if len(key) < MINIMUM_KEY_BYTES:
        raise SettingsError(f"{path} is shorter than {MINIMUM_KEY_BYTES} bytes; delete it to have a new one made")
    return key


def _subject(value: str) -> UUID:
    found = parse_uuid(value)
    if found is None:
        raise ValueError("not a user")
    return found
