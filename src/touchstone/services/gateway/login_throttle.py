"""How often a client may guess a password or a reset token, and make an account."""

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

PAIR: Final = RateLimitItemPerMinute(10, 5, namespace="account")
CLIENT: Final = RateLimitItemPerMinute(100, 5, namespace="client")
DEVICE: Final = RateLimitItemPerMinute(10, 5, namespace="device")
RESET: Final = RateLimitItemPerMinute(20, 5, namespace="reset")
REGISTRATIONS_PER_HOUR: Final = 100


class Throttle:
    """Counts in moving windows what a client does too often; `client` is always its network address.

    Failed sign-ins count by account and client together, by client alone, and by the device that has signed in to the
    account before. The counts live in this process: each gateway process has its own.
    """

    def __init__(self, registrations_per_hour: int = REGISTRATIONS_PER_HOUR) -> None:
        self._windows = MovingWindowRateLimiter(MemoryStorage())
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._registrations = RateLimitItemPerHour(registrations_per_hour, namespace="registration")

    @asynccontextmanager
    async def attempt(self, account: str, client: str, *, device: str | None = None) -> AsyncIterator[None]:
        """Around one check of a password; a failure of it is counted, a success is not.

        `device` names the device that has signed in to the account before: it need not wait because of others. When it
        has failed too often itself it is treated like any other.

        Raises:
            TooManyAttempts: too many have failed already; the check is not made.
        """
        block = address_block(client)
        pair = hashlib.sha256(f"{block} {account}".encode()).hexdigest()
        counts: list[tuple[RateLimitItem, str]] = [(PAIR, pair), (CLIENT, block)]
        if device is not None:
            counts.append((DEVICE, device))

        # One at a time for an account from one address: guesses sent at once must not all pass before the first counts.
        async with self._turns.setdefault(device or pair, asyncio.Lock()):
            if device is None or not self._windows.test(DEVICE, device):
                self._refuse_when_full(PAIR, pair)
                self._refuse_when_full(CLIENT, block)
            try:
                yield
            except (InvalidCredentials, WrongPassword):
                for limit, key in counts:
                    self._windows.hit(limit, key)
                raise

    @asynccontextmanager
    async def reset(self, client: str) -> AsyncIterator[None]:
        """Around one check of a password reset token; only a wrong one is counted.

        Raises:
            TooManyAttempts: too many were wrong already; the check is not made.
        """
        block = address_block(client)
        self._refuse_when_full(RESET, block)
        try:
            yield
        except InvalidResetToken:
            self._windows.hit(RESET, block)
            raise

    def registration(self, client: str) -> None:
        """Count one registration, successful or not: both cost a password hash, and both tell which addresses exist.

        Raises:
            TooManyAttempts: the client has made too many within an hour.
        """
        block = address_block(client)
        if not self._windows.hit(self._registrations, block):
            self._refuse_when_full(self._registrations, block)

    def _refuse_when_full(self, limit: RateLimitItem, key: str) -> None:
        if self._windows.test(limit, key):
            return
        free_at = self._windows.get_window_stats(limit, key).reset_time
        seconds = max(1, math.ceil(free_at - time.time()))
        raise TooManyAttempts(seconds=seconds)
