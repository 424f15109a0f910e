"""The cookie that recognises a device on which a user has signed in before.

This is OWASP's protocol "Slow Down Online Guessing Attacks with Device Cookies". The cookie does not authenticate
anybody. A device that sends it is throttled for its own wrong passwords only, not for those of its network address.
"""

import base64
import hmac
import re
import secrets
import time
from dataclasses import dataclass
from typing import Final

from touchstone.services.gateway.user_store import UserRecord

COOKIE_NAME: Final = "touchstone_device"
LIFETIME_SECONDS: Final = 365 * 86_400
MAX_ACCOUNTS: Final = 5  # people who share a browser
_SEPARATOR: Final = "~"
_STAMP: Final = re.compile(r"(?P<nonce>[\w-]{22})\.(?P<issued>[0-9]{1,12})\.(?P<signature>[\w-]{43})", re.ASCII)


@dataclass(frozen=True, slots=True)
class DeviceCookies:
    """Issues and verifies device cookies, which have a signed stamp for each account that has signed in on the device.

    The signature covers the account's password hash, so that a change of password invalidates the stamps.
    """

    key: bytes

    def find_nonce(self, cookie: str | None, user: UserRecord | None) -> str | None:
        """Return the nonce of the user's stamp; None if the cookie has no genuine and recent stamp of this user."""
        oldest = time.time() - LIFETIME_SECONDS
        for stamp in _parse_stamps(cookie):
            expected_signature = self._sign(user, stamp["nonce"], stamp["issued"])
            is_genuine = hmac.compare_digest(stamp["signature"], expected_signature)
            if is_genuine and user is not None and int(stamp["issued"]) > oldest:
                return stamp["nonce"]
        return None

    def renew(self, cookie: str | None, user: UserRecord) -> str:
        """Return the cookie with a new stamp of the user, in place of an earlier one, and the stamps of other users."""
        nonce = secrets.token_urlsafe(16)
        issued = str(int(time.time()))
        new_stamp = f"{nonce}.{issued}.{self._sign(user, nonce, issued)}"

        stamps = [stamp[0] for stamp in _parse_stamps(cookie)]
        other_stamps = [stamp for stamp in stamps if self.find_nonce(stamp, user) is None]
        return _SEPARATOR.join((new_stamp, *other_stamps[: MAX_ACCOUNTS - 1]))

    def _sign(self, user: UserRecord | None, nonce: str, issued: str) -> str:
        # An unknown account is signed as well, so that the response time does not tell that it is unknown.
        account = f"{user.id} {user.password_hash}" if user else ""
        signature = hmac.digest(self.key, f"{account} {nonce} {issued}".encode(), "sha256")
        return base64.urlsafe_b64encode(signature).rstrip(b"=").decode()


def _parse_stamps(cookie: str | None) -> list[re.Match[str]]:
    """Return the well-formed stamps of a cookie."""
    if cookie is None:
        return []
    candidates = cookie.split(_SEPARATOR, MAX_ACCOUNTS)[:MAX_ACCOUNTS]
    matches = [_STAMP.fullmatch(candidate) for candidate in candidates]
    return [match for match in matches if match is not None]
