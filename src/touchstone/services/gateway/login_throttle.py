"""Rate limits for guessing passwords and reset tokens, and for creating accounts."""

import asyncio
import hashlib
import math
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from touchstone.core.client_address import rate_limit_key
from touchstone.core.errors import InvalidCredentials, InvalidResetToken, ServiceError, TooManyAttempts, WrongPassword
from touchstone.core.identity_provider_errors import InvalidIdentity

# The maximum numbers of failures within five minutes: per account and client, per client, per known device, and for
# reset tokens and at identity providers per client.
ACCOUNT_LIMIT: Final = RateLimitItemPerMinute(10, 5, namespace="account")
CLIENT_LIMIT: Final = RateLimitItemPerMinute(100, 5, namespace="client")
DEVICE_LIMIT: Final = RateLimitItemPerMinute(10, 5, namespace="device")
RESET_LIMIT: Final = RateLimitItemPerMinute(20, 5, namespace="reset")
PROVIDER_LIMIT: Final = RateLimitItemPerMinute(100, 5, namespace="provider")
REGISTRATIONS_PER_HOUR: Final = 100


class LoginThrottle:
    """Moving-window counters of failed attempts and of registrations.

    Failed sign-ins are counted per account and client, per client, and per device if the user has signed in on it
    before. The counters are in memory, so each gateway process has separate ones.
    """

    def __init__(self, registrations_per_hour: int = REGISTRATIONS_PER_HOUR) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._registration_limit = RateLimitItemPerHour(registrations_per_hour, namespace="registration")

    @asynccontextmanager
    async def limit_password_attempts(
        self, account: str, client_address: str, *, device: str | None = None
    ) -> AsyncIterator[None]:
        """Limit guesses of passwords. The body of the `async with` statement must verify one password.

        If the password is wrong, the failure is counted for the account, the client and the device. A known device is
        not affected by the failures of others, unless it has failed too often itself.

        Args:
            account: the folded e-mail address of the account.
            client_address: the network address of the client.
            device: identifies a device on which the user has signed in before, or None for an unknown device.

        Raises:
            TooManyAttempts: there were too many failures, so the password must not be verified.
        """
        client_key = rate_limit_key(client_address)
        account_key = hashlib.sha256(f"{client_key} {account}".encode()).hexdigest()
        counters: list[tuple[RateLimitItem, str]] = [(ACCOUNT_LIMIT, account_key), (CLIENT_LIMIT, client_key)]
        if device is not None:
            counters.append((DEVICE_LIMIT, device))

        # The lock keeps parallel guesses from passing the check before the first failure is counted.
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

    def limit_reset_attempts(self, client_address: str) -> AbstractAsyncContextManager[None]:
        """Limit guesses of reset tokens. The body of the `async with` statement must verify one token.

        Raises:
            TooManyAttempts: there were too many failures, so the token must not be verified.
        """
        return self._limit_failures(RESET_LIMIT, client_address, InvalidResetToken)

    def limit_provider_attempts(self, client_address: str) -> AbstractAsyncContextManager[None]:
        """Limit sign-ins that fail because an identity provider's answer is not valid.

        The body of the `async with` statement must verify one answer. Each verification sends requests to the provider,
        which might refuse to respond to this service after too many of them.

        Raises:
            TooManyAttempts: there were too many failures, so the provider must not be asked.
        """
        return self._limit_failures(PROVIDER_LIMIT, client_address, InvalidIdentity)

    @asynccontextmanager
    async def _limit_failures(
        self, limit: RateLimitItem, client_address: str, failure: type[ServiceError]
    ) -> AsyncIterator[None]:
        """Count the failures of a client in the body of the `async with` statement, and limit their number.

        Raises:
            TooManyAttempts: there were too many failures already.
        """
        client_key = rate_limit_key(client_address)
        self._check_limit(limit, client_key)

        try:
            yield
        except failure:
            self._limiter.hit(limit, client_key)
            raise

    def count_registration(self, client_address: str) -> None:
        """Count a registration before the account is created, and refuse it if there are too many.

        Failed registrations also count, because they also compute a password hash and reveal which addresses have
        accounts.

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
            TooManyAttempts: the limit is reached. The error contains the number of seconds to wait.
        """
        if self._limiter.test(limit, key):
            return

        reset_time = self._limiter.get_window_stats(limit, key).reset_time
        remaining_seconds = math.ceil(reset_time - time.time())

        # The window may have moved since the test, but the client should wait for at least one second.
        raise TooManyAttempts(seconds=max(1, remaining_seconds))
