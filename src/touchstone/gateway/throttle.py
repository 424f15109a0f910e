"""How many sign-ins may fail before one has to wait."""

import asyncio
import hashlib
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakValueDictionary

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from touchstone.core.errors import InvalidCredentials, TooManyAttempts, WrongPassword

PAIR: Final = RateLimitItemPerMinute(10, 5, namespace="account")
CLIENT: Final = RateLimitItemPerMinute(100, 5, namespace="client")


class Throttle:
    """Counts failures in a moving window, by account and client address together, and by client address alone.

    The counts live in this process: each gateway process has its own.
    """

    def __init__(self) -> None:
        self._windows = MovingWindowRateLimiter(MemoryStorage())
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def attempt(self, account: str, client: str) -> AsyncIterator[None]:
        """Around one check of a password; a failure of it is counted, a success is not.

        Raises:
            TooManyAttempts: too many have failed already; the check is not made.
        """
        pair = hashlib.sha256(f"{client} {account}".encode()).hexdigest()
        limits = ((PAIR, pair), (CLIENT, client))
        # One at a time for an account from one address: guesses sent at once must not all pass before the first counts.
        async with self._turns.setdefault(pair, asyncio.Lock()):
            for limit, key in limits:
                self._refuse_when_full(limit, key)
            try:
                yield
            except (InvalidCredentials, WrongPassword):
                for limit, key in limits:
                    self._windows.hit(limit, key)
                raise

    def _refuse_when_full(self, limit: RateLimitItem, key: str) -> None:
        if self._windows.test(limit, key):
            return
        free_at = self._windows.get_window_stats(limit, key).reset_time
        seconds = max(1, math.ceil(free_at - time.time()))
        raise TooManyAttempts(seconds=seconds, headers={"Retry-After": str(seconds)})
