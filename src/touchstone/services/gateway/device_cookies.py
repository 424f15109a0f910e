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
from typing import Final, NamedTuple

from touchstone.services.gateway.user_store import UserRecord

COOKIE_NAME: Final = "touchstone_device"
LIFETIME_SECONDS: Final = 365 * 86_400
MAX_ACCOUNTS: Final = 5  # people who share a browser
_SEPARATOR: Final = "~"
_STAMP: Final = re.compile(r"(?P<nonce>[\w-]{22})\.(?P<issued>[0-9]{1,12})\.(?P<signature>[\w-]{43})", re.ASCII)


class _Stamp(NamedTuple):
    """A well-formed stamp in a cookie, genuine or not, with its parts; `issued` is in seconds since 1970."""

    text: str
    nonce: str
    issued: str
    signature: str


@dataclass(frozen=True, slots=True)
class DeviceCookies:
    """Issues and verifies device cookies, which have a signed stamp for each account that has signed in on the device.

    The signature covers the account's password hash, so that a change of password invalidates the stamps.
    """

    key: bytes

    def find_nonce(self, cookie: str | None, user: UserRecord | None) -> str | None:
        """Return the random id of the device, if its cookie proves that the user has signed in on it before.

        The cookie proves this by a signed stamp for the user that is not older than a year. Otherwise the result is
        None. The signatures are also computed for an unknown user (None), so that the response time does not reveal
        which users exist.
        """
        oldest_issue_time = time.time() - LIFETIME_SECONDS
        for stamp in _parse_stamps(cookie):
            expected_signature = self._sign(user, stamp.nonce, stamp.issued)
            is_genuine = hmac.compare_digest(stamp.signature, expected_signature)
            is_expired = int(stamp.issued) <= oldest_issue_time
            if is_genuine and not is_expired and user is not None:
                return stamp.nonce

        return None

    def renew(self, cookie: str | None, user: UserRecord) -> str:
        """Return the new cookie of a device on which the user has just signed in, given the one that it has sent.

        It contains a new signed stamp for this user, and the stamps of other users of the device, up to `MAX_ACCOUNTS`
        stamps in all.
        """
        nonce = secrets.token_urlsafe(16)
        issued = str(int(time.time()))
        signature = self._sign(user, nonce, issued)
        new_stamp = f"{nonce}.{issued}.{signature}"

        earlier_stamps = [stamp.text for stamp in _parse_stamps(cookie)]
        other_stamps = [stamp for stamp in earlier_stamps if self.find_nonce(stamp, user) is None]
        retained_stamps = other_stamps[: MAX_ACCOUNTS - 1]
        return _SEPARATOR.join((new_stamp, *retained_stamps))

    def _sign(self, user: UserRecord | None, nonce: str, issued: str) -> str:
        """Return the signature of a stamp, which becomes invalid when the user changes the password.

        A stamp of an unknown user (None) is signed as well, so that the response time does not reveal who has an
        account.
        """
        account = f"{user.id} {user.password_hash}" if user else ""
        signature = hmac.digest(self.key, f"{account} {nonce} {issued}".encode(), "sha256")
        return base64.urlsafe_b64encode(signature).rstrip(b"=").decode()


def _parse_stamps(cookie: str | None) -> list[_Stamp]:
    """Return the well-formed stamps of a cookie; whether they are genuine is not checked here."""
    if cookie is None:
        return []

    candidates = cookie.split(_SEPARATOR, MAX_ACCOUNTS)[:MAX_ACCOUNTS]
    matches = [_STAMP.fullmatch(candidate) for candidate in candidates]
    return [
        _Stamp(match[0], match["nonce"], match["issued"], match["signature"]) for match in matches if match is not None
    ]
