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

from touchstone.core.client_address import rate_limit_key
from touchstone.core.errors import InvalidCredentials, InvalidResetToken, TooManyAttempts, WrongPassword

# Failures within five minutes: by account and client, by client, by known device, and with reset tokens by client.
ACCOUNT_LIMIT: Final = RateLimitItemPerMinute(10, 5, namespace="account")
CLIENT_LIMIT: Final = RateLimitItemPerMinute(100, 5, namespace="client")
DEVICE_LIMIT: Final = RateLimitItemPerMinute(10, 5, namespace="device")
RESET_LIMIT: Final = RateLimitItemPerMinute(20, 5, namespace="reset")
REGISTRATIONS_PER_HOUR: Final = 100


class LoginThrottle:
    """Moving-window counters of failed attempts and of registrations.

    Failed sign-ins count for the account and the client together, for the client alone, and for the device if it has
    signed in to the account before. The counters live in memory, so that each gateway process has its own.
    """

    def __init__(self, registrations_per_hour: int = REGISTRATIONS_PER_HOUR) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._registration_limit = RateLimitItemPerHour(registrations_per_hour, namespace="registration")

    @asynccontextmanager
    async def limit_password_attempts(
        self, account: str, client_address: str, *, device: str | None = None
    ) -> AsyncIterator[None]:
        """Limit how often passwords can be guessed: the body of the `async with` statement checks one password.

        If the check fails, the failure is counted for the account, for the client (the network of its address), and for
        the device. `device` identifies a device on which the user of the account has signed in before. Such a device
        need not wait because others have guessed wrong, unless it has failed too often itself.

        Raises:
            TooManyAttempts: there were too many failures, so the password is not checked.
        """
        client_key = rate_limit_key(client_address)
        account_key = hashlib.sha256(f"{client_key} {account}".encode()).hexdigest()
        counters: list[tuple[RateLimitItem, str]] = [(ACCOUNT_LIMIT, account_key), (CLIENT_LIMIT, client_key)]
        if device is not None:
            counters.append((DEVICE_LIMIT, device))

        # Attempts wait for each other: guesses sent in parallel must not all pass before the first failure is counted.
        lock_key = device or account_key
        lock = self._locks.setdefault(lock_key, asyncio.Lock())
        async with lock:
            is_trusted_device = device is not None and self._limiter.test(DEVICE_LIMIT, device)
            if not is_trusted_device:
                self._check_limit(ACCOUNT_LIMIT, account_key)
                self._check_limit(CLIENT_LIMIT, client_key)

            try:
                yield
            except (InvalidCredentials, WrongPassword):
                for limit, key in counters:
                    self._limiter.hit(limit, key)
                raise

    @asynccontextmanager
    async def limit_reset_attempts(self, client_address: str) -> AsyncIterator[None]:
        """Limit how often a client can guess reset tokens: the body of the `async with` statement checks one token.

        Raises:
            TooManyAttempts: there were too many failures, so the token is not checked.
        """
        client_key = rate_limit_key(client_address)
        self._check_limit(RESET_LIMIT, client_key)

        try:
            yield
        except InvalidResetToken:
            self._limiter.hit(RESET_LIMIT, client_key)
            raise

    def count_registration(self, client_address: str) -> None:
        """Count a registration, before the account is created, and refuse it if the client has made too many.

        Registrations that fail count as well: they also take a password hash, and reveal which addresses have accounts.

        Raises:
            TooManyAttempts: the client has made too many registrations within an hour.
        """
        client_key = rate_limit_key(client_address)
        is_admitted = self._limiter.hit(self._registration_limit, client_key)
        if not is_admitted:
            self._check_limit(self._registration_limit, client_key)

    def _check_limit(self, limit: RateLimitItem, key: str) -> None:
        """Check that the counter with this key has not reached its limit.

        Raises:
            TooManyAttempts: the limit is reached; the error says how many seconds to wait.
        """
        if self._limiter.test(limit, key):
            return

        reset_time = self._limiter.get_window_stats(limit, key).reset_time
        remaining_seconds = math.ceil(reset_time - time.time())

        # The window may have moved on since the test, and a client must not be told to wait for 0 seconds.
        raise TooManyAttempts(seconds=max(1, remaining_seconds))
