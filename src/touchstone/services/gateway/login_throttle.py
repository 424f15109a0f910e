"""Rate limits for guessing passwords and reset tokens, and for creating accounts."""

import asyncio
import hashlib
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from touchstone.core.client_address import address_block
from touchstone.core.errors import InvalidCredentials, InvalidResetToken, TooManyAttempts, WrongPassword

# Failures within five minutes: by account and client, by client, by known device, and with reset tokens by client.
ACCOUNT_LIMIT: Final = RateLimitItemPerMinute(10, 5, namespace="account")
CLIENT_LIMIT: Final = RateLimitItemPerMinute(100, 5, namespace="client")
DEVICE_LIMIT: Final = RateLimitItemPerMinute(10, 5, namespace="device")
RESET_LIMIT: Final = RateLimitItemPerMinute(20, 5, namespace="reset")
REGISTRATIONS_PER_HOUR: Final = 100


class LoginThrottle:
    """Moving-window counters of failed attempts and of registrations; `client` is always a network address.

    Failed sign-ins count for the account and the client together, for the client alone, and for the device if it has
    signed in to the account before. The counters live in memory, so that each gateway process has its own.
    """

    def __init__(self, registrations_per_hour: int = REGISTRATIONS_PER_HOUR) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._registration_limit = RateLimitItemPerHour(registrations_per_hour, namespace="registration")

    @asynccontextmanager
    async def limit_password_attempts(
        self, account: str, client: str, *, device: str | None = None
    ) -> AsyncIterator[None]:
        """Run one check of a password, and count it if it fails.

        `device` identifies a device that has signed in to the account before. It does not wait because of others;
        once it has failed too often itself, it is treated like any other device.

        Raises:
            TooManyAttempts: there were too many failures, and the password is not checked.
        """
        block = address_block(client)
        account_and_client = hashlib.sha256(f"{block} {account}".encode()).hexdigest()
        counters: list[tuple[RateLimitItem, str]] = [(ACCOUNT_LIMIT, account_and_client), (CLIENT_LIMIT, block)]
        if device is not None:
            counters.append((DEVICE_LIMIT, device))

        # Attempts wait for each other: guesses sent in parallel must not all pass before the first failure is counted.
        lock = self._locks.setdefault(device or account_and_client, asyncio.Lock())
        async with lock:
            is_trusted_device = device is not None and self._limiter.test(DEVICE_LIMIT, device)
            if not is_trusted_device:
                self._check_limit(ACCOUNT_LIMIT, account_and_client)
                self._check_limit(CLIENT_LIMIT, block)
            try:
                yield
            except (InvalidCredentials, WrongPassword):
                for limit, key in counters:
                    self._limiter.hit(limit, key)
                raise

    @asynccontextmanager
    async def limit_reset_attempts(self, client: str) -> AsyncIterator[None]:
        """Run one check of a reset token, and count it if it fails.

        Raises:
            TooManyAttempts: there were too many failures, and the token is not checked.
        """
        block = address_block(client)
        self._check_limit(RESET_LIMIT, block)
        try:
            yield
        except InvalidResetToken:
            self._limiter.hit(RESET_LIMIT, block)
            raise

    def count_registration(self, client: str) -> None:
        """Count one registration.

        Failed registrations count as well: they also cost a password hash and reveal which addresses have an account.

        Raises:
            TooManyAttempts: the client has made too many registrations within an hour.
        """
        block = address_block(client)
        if not self._limiter.hit(self._registration_limit, block):
            self._check_limit(self._registration_limit, block)

    def _check_limit(self, limit: RateLimitItem, key: str) -> None:
        """Raise `TooManyAttempts`, with the time to wait, if the counter has reached its limit."""
        if self._limiter.test(limit, key):
            return

        reset_time = self._limiter.get_window_stats(limit, key).reset_time
        seconds = max(1, math.ceil(reset_time - time.time()))
        raise TooManyAttempts(seconds=seconds)
