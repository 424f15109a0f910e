"""The cookie that identifies a device on which a user has signed in before.

This is OWASP's protocol "Slow Down Online Guessing Attacks with Device Cookies". The cookie does not authenticate the
user. A device that sends it is only throttled for its own wrong passwords, not for those from its network address.

The cookie consists of stamps, one for each user who has signed in on the device. A stamp is a random id of the device,
the time of the sign-in, and a signature that binds both to the user.
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
_STAMP: Final = re.compile(r"(?P<nonce>[\w-]{22})\.(?P<issued_at>[0-9]{1,12})\.(?P<signature>[\w-]{43})", re.ASCII)


class _Stamp(NamedTuple):
    """A well-formed stamp in a cookie, whose signature has not been verified.

    Attributes:
        text: the whole stamp.
        nonce: a random id of the device, which changes with each sign-in.
        issued_at: when the stamp was issued, in seconds since 1970.
        signature: the encoded signature.
    """

    text: str
    nonce: str
    issued_at: str
    signature: str


@dataclass(frozen=True, slots=True)
class DeviceCookies:
    """Issues and verifies device cookies.

    The signature of a stamp covers the user's password hash, so that a password change invalidates the stamp.

    Attributes:
        key: the secret key for the signatures.
    """

    key: bytes

    def find_nonce(self, cookie: str | None, user: UserRecord | None) -> str | None:
        """Return the nonce of the user's valid stamp in a device cookie, or None if there is none.

        A stamp is valid for a year. Signatures are also computed if the user is unknown (None), so that the response
        time does not reveal which users exist.
        """
        oldest_issue_time = time.time() - LIFETIME_SECONDS
        for stamp in _parse_stamps(cookie):
            expected_signature = self._sign(user, stamp.nonce, stamp.issued_at)
            is_genuine = hmac.compare_digest(stamp.signature, expected_signature)
            is_expired = int(stamp.issued_at) <= oldest_issue_time
            if is_genuine and not is_expired and user is not None:
                return stamp.nonce

        return None

    def issue_cookie(self, cookie: str | None, user: UserRecord) -> str:
        """Return a new cookie for a device on which the user has just signed in.

        It contains a new stamp for this user, followed by the stamps of the other users of the device. If there are
        more than `MAX_ACCOUNTS`, the oldest stamps are dropped.

        Args:
            cookie: the cookie sent by the device, or None if it has sent none.
            user: the user who has signed in.
        """
        nonce = secrets.token_urlsafe(16)
        issued_at = str(int(time.time()))
        signature = self._sign(user, nonce, issued_at)
        new_stamp = f"{nonce}.{issued_at}.{signature}"

        # The new stamp replaces the earlier stamp of this user, which is the one that is valid for the user.
        earlier_stamps = [stamp.text for stamp in _parse_stamps(cookie)]
        stamps_of_others = [stamp for stamp in earlier_stamps if self.find_nonce(stamp, user) is None]

        # Each sign-in puts its stamp first, so the last ones are the oldest.
        retained_stamps = stamps_of_others[: MAX_ACCOUNTS - 1]
        return _SEPARATOR.join((new_stamp, *retained_stamps))

    def _sign(self, user: UserRecord | None, nonce: str, issued_at: str) -> str:
        """Return the signature of a stamp for a user. It takes the same time for an unknown user, given as None."""
        account = f"{user.id} {user.password_hash}" if user else ""
        signature = hmac.digest(self.key, f"{account} {nonce} {issued_at}".encode(), "sha256")
        return base64.urlsafe_b64encode(signature).rstrip(b"=").decode()


def _parse_stamps(cookie: str | None) -> list[_Stamp]:
    """Return the well-formed stamps in a cookie, without verifying their signatures."""
    if cookie is None:
        return []

    candidates = cookie.split(_SEPARATOR, MAX_ACCOUNTS)[:MAX_ACCOUNTS]
    matches = [_STAMP.fullmatch(candidate) for candidate in candidates]
    return [
        _Stamp(match[0], match["nonce"], match["issued_at"], match["signature"])
        for match in matches
        if match is not None
    ]
