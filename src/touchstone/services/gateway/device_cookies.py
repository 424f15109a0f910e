"""The cookie by which a device that has signed in before is recognised, although its network address is shut out.

This is OWASP's protocol ("Slow Down Online Guessing Attacks with Device Cookies"). The cookie proves nothing about the
person and opens nothing: a device that sends it only waits for its own wrong passwords, not for those of its address.
"""

import base64
import hmac
import re
import secrets
import time
from dataclasses import dataclass
from typing import Final

from touchstone.services.gateway.store import Found

COOKIE: Final = "touchstone_device"
LIFE_SECONDS: Final = 365 * 86_400
MAX_ACCOUNTS: Final = 5  # people who share a browser
_SEPARATOR: Final = "~"
_STAMP: Final = re.compile(r"(?P<nonce>[\w-]{22})\.(?P<issued>[0-9]{1,12})\.(?P<signature>[\w-]{43})", re.ASCII)


@dataclass(frozen=True, slots=True)
class DeviceCookies:
    """Issues and verifies device cookies: one signed stamp for each account that has signed in on the device.

    A stamp is signed together with the account's password hash, so that a new password makes all of them worthless.
    """

    key: bytes

    def verified_nonce(self, cookie: str | None, user: Found | None) -> str | None:
        """Return the nonce of the user's stamp; None when the cookie holds none that is genuine and recent."""
        for stamp in _stamps(cookie):
            expected = self._signature(user, stamp["nonce"], stamp["issued"])
            is_genuine = hmac.compare_digest(stamp["signature"], expected)
            if is_genuine and user is not None and int(stamp["issued"]) + LIFE_SECONDS > time.time():
                return stamp["nonce"]
        return None

    def renewed(self, cookie: str | None, user: Found) -> str:
        """Return the cookie with a new stamp for the user in place of an earlier one, and with those of others."""
        nonce, issued = secrets.token_urlsafe(16), str(int(time.time()))
        stamp = f"{nonce}.{issued}.{self._signature(user, nonce, issued)}"
        others = [other[0] for other in _stamps(cookie) if self.verified_nonce(other[0], user) is None]
        return _SEPARATOR.join((stamp, *others[: MAX_ACCOUNTS - 1]))

    def _signature(self, user: Found | None, nonce: str, issued: str) -> str:
        # An unknown account takes the same steps as a known one.
        account = f"{user['id']} {user['password_hash']}" if user else ""
        digest = hmac.digest(self.key, f"{account} {nonce} {issued}".encode(), "sha256")
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _stamps(cookie: str | None) -> list[re.Match[str]]:
    found = [_STAMP.fullmatch(part) for part in (cookie or "").split(_SEPARATOR, MAX_ACCOUNTS)[:MAX_ACCOUNTS]]
    return [stamp for stamp in found if stamp is not None]
