"""Admission control: which requests are handled now, which wait for their turn, and which are refused at once.

All requests share one event loop, so handling many at once would only make each of them slow. They are therefore
admitted by their expected cost, in seconds of the loop: long ones one at a time, and short ones beside them. Waiting
requests start in the order of start-time fair queueing (Goyal, Vin and Cheng, 1996): each caller's requests follow one
another at the pace of their cost, so that a caller with many requests delays mostly itself.
"""

import asyncio
import time
import types
from collections import Counter, defaultdict
from collections.abc import Awaitable, Generator, Hashable, Mapping
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone.core.errors import Overloaded

SHORT_SECONDS: Final = 0.002  # a request that costs more is long
SHORT_SECONDS_AT_ONCE: Final = 0.005
TURN_SECONDS: Final = 0.05  # a request that has run for so long lets others start beside it
GRACE_SECONDS: Final = 0.005
# The share of the waiting time that the work ahead of a request may take. It is small because costs are estimates, and
# a request that waits in vain is refused late.
PLANNED_SHARE: Final = 0.03
ALWAYS_WAITING: Final = 4  # this many requests may wait in a lane, however long they take
MAX_CALLERS: Final = 1000
# A client that neither reads nor sends another request would keep its connection for as long as an idle one.
_CLOSE: Final = {"Connection": "close"}
T = TypeVar("T")


class Admission:
    """The queue in front of an application.

    At most `limit` requests run at once, and as many may wait in each lane. A request with more work ahead of it than
    fits into 3 % of `wait_seconds` is refused at once, unless another caller has more work waiting: then that
    caller's newest request is refused instead. A request that has waited for `wait_seconds` is refused as well.
    """

    def __init__(self, *, limit: int, wait_seconds: float) -> None:
        self.limit = limit
        self.wait_seconds = wait_seconds
        self._planned_seconds = PLANNED_SHARE * wait_seconds
        self.running = 0
        # A caller whose requests wait for a job or are read slowly must not hold every place: the first half is open to
        # everybody, and of the rest each caller gets a share.
        self._unshared = limit // 2
        self._share = max(1, limit // 4)
        self._shares: Counter[Hashable] = Counter()
        self._short = _Lane(SHORT_SECONDS_AT_ONCE)
        self._long = _Lane(0.0)
        self._lanes = (self._short, self._long)

    @property
    def waiting(self) -> int:
        """Number of requests that wait for their turn."""
        return len(self._short.waiting) + len(self._long.waiting)

    def has_room(self, cost: float) -> bool:
        """Return whether a request of this cost could start at once."""
        lane = self._lane(cost)
        return not lane.waiting and self._has_room(lane, cost)

    def enter_at_once(self, cost: float) -> "Place | None":
        """Return a place for a request if there is room now, or None if it has to wait."""
        if self.running >= self._unshared or not self.has_room(cost):
            return None
        place = Place(self, self._lane(cost), None, min(cost, TURN_SECONDS))
        self._start(place)
        return place

    def refuses(self, caller: Hashable, cost: float) -> bool:
        """Return whether a request of this caller would be refused instead of waiting."""
        lane = self._lane(cost)
        if self._has_room(lane, cost) or not self._is_full(lane):
            return False
        backlogs = lane.backlogs()
        if caller not in backlogs:
            return len(backlogs) == len(lane.waiting)  # nobody has more than one request waiting
        return backlogs[caller] + cost >= max(backlogs.values())

    async def enter(self, caller: Hashable, cost: float) -> "Place":
        """Return a place for a request that costs about `cost` seconds, once it is its turn.

        Raises:
            Overloaded: the request would have to wait too long, or has waited too long.
        """
        place = self.enter_at_once(cost)
        if place is None:
            place = Place(self, self._lane(cost), caller, min(cost, TURN_SECONDS))
            await self._wait(place)
        return place

    async def _wait(self, place: "Place") -> None:
        lane = place.lane
        if self.refuses(place.caller, place.cost):
            raise Overloaded(retry_after=1, headers=_CLOSE)
        if self._is_full(lane):
            lane.drop_from_longest_backlog()

        loop = asyncio.get_running_loop()
        place.turn = loop.create_future()
        lane.append(place)
        self.start_waiting()
        deadline = loop.call_later(self.wait_seconds, lane.refuse, place)
        try:
            is_admitted = await place.turn
        except BaseException:
            lane.discard(place)
            place.release()  # it may have been admitted at the same moment
            raise
        finally:
            deadline.cancel()
        if not is_admitted:
            raise Overloaded(retry_after=1, headers=_CLOSE)

    def start_waiting(self) -> None:
        """Start every waiting request for which there is room."""
        for lane in self._lanes:
            while lane.waiting:
                place = lane.next(self._shares, self._share)
                if place is None or not self._has_room(lane, place.cost):
                    break
                lane.take(place)
                if place.answer(True):
                    self._shares[place.caller] += 1
                    place.is_shared = True
                    self._start(place)

    def end(self, place: "Place") -> None:
        """Release the place of a request that has finished."""
        self.running -= 1
        if place.is_shared:
            self._shares[place.caller] -= 1
            if not self._shares[place.caller]:
                del self._shares[place.caller]

    def _start(self, place: "Place") -> None:
        self.running += 1
        place.is_running = place.holds_lane = True
        place.lane.count += 1
        place.lane.seconds += place.cost

    def _lane(self, cost: float) -> "_Lane":
        return self._short if cost <= SHORT_SECONDS else self._long

    def _has_room(self, lane: "_Lane", cost: float) -> bool:
        return self.running < self.limit and (lane.count == 0 or lane.seconds + cost <= lane.seconds_at_once)

    def _is_full(self, lane: "_Lane") -> bool:
        waiting_count = len(lane.waiting)
        if waiting_count >= self.limit:
            return True
        seconds_ahead = lane.seconds + lane.seconds_waiting()
        return waiting_count >= ALWAYS_WAITING and seconds_ahead > self._planned_seconds


class _Lane:
    """Requests of similar cost: how many are running, and which wait, in the order of their arrival."""

    def __init__(self, seconds_at_once: float) -> None:
        self.seconds_at_once = seconds_at_once
        self.count = 0
        self.seconds = 0.0
        self.waiting: list[Place] = []
        self._virtual_time = 0.0
        self._finish_tags: dict[Hashable, float] = {}  # by caller: when its last request ends, in virtual time

    def seconds_waiting(self) -> float:
        """Return the expected cost of all waiting requests."""
        return sum(place.cost for place in self.waiting)

    def backlogs(self) -> dict[Hashable, float]:
        """Return the expected cost of the waiting requests of each caller."""
        backlogs: dict[Hashable, float] = defaultdict(float)
        for place in self.waiting:
            backlogs[place.caller] += place.cost
        return backlogs

    def append(self, place: "Place") -> None:
        """Add a request to the queue."""
        if not self.waiting or len(self._finish_tags) >= MAX_CALLERS:
            self._finish_tags.clear()
            self._virtual_time = 0.0
        place.start_tag = max(self._virtual_time, self._finish_tags.get(place.caller, 0.0))
        self._finish_tags[place.caller] = place.start_tag + place.cost
        self.waiting.append(place)

    def next(self, shares: Mapping[Hashable, int], share: int) -> "Place | None":
        """Return the waiting request with the smallest start tag, and among equals the one that came first.

        Callers that hold their share of the places already are skipped.
        """
        candidates = (place for place in self.waiting if shares.get(place.caller, 0) < share)
        return min(candidates, key=lambda place: place.start_tag, default=None)

    def take(self, place: "Place") -> None:
        """Remove the request whose turn it is from the queue."""
        self.waiting.remove(place)
        self._virtual_time = place.start_tag

    def discard(self, place: "Place") -> None:
        """Remove a request from the queue as if it had never come."""
        if place in self.waiting:
            self.waiting.remove(place)
            if place.caller in self._finish_tags:
                self._finish_tags[place.caller] -= place.cost

    def drop_from_longest_backlog(self) -> None:
        """Refuse the newest request of the caller with the most work waiting, preferably one with several requests."""
        backlogs = self.backlogs()
        counts = Counter(place.caller for place in self.waiting)
        caller = max(backlogs, key=lambda caller: (counts[caller] > 1, backlogs[caller]))
        newest = next(place for place in reversed(self.waiting) if place.caller == caller)
        self.refuse(newest)

    def refuse(self, place: "Place") -> None:
        """Refuse a waiting request."""
        self.discard(place)
        place.answer(False)

    def leave(self, place: "Place") -> None:
        """Stop counting a request as running, so that others may start."""
        self.count -= 1
        self.seconds = self.seconds - place.cost if self.count else 0.0


class Place:
    """The place of one request: its expected cost, the time for which it has held the loop, and its state.

    `cost` and `used` are in seconds of the event loop.
    """

    __slots__ = (
        "_timer",
        "admission",
        "caller",
        "cost",
        "holds_lane",
        "is_running",
        "is_shared",
        "lane",
        "start_tag",
        "turn",
        "used",
    )

    def __init__(self, admission: Admission, lane: _Lane, caller: Hashable, cost: float) -> None:
        self.admission = admission
        self.lane = lane
        self.caller = caller
        self.cost = cost
        self.used = 0.0
        self.start_tag = 0.0
        self.turn: asyncio.Future[bool] | None = None
        self.is_running = False
        self.is_shared = False
        self.holds_lane = False
        self._timer: asyncio.TimerHandle | None = None

    @types.coroutine
    def run(self, work: Awaitable[T]) -> Generator[Any, Any, T]:
        """Await the work of the request and measure the time for which it holds the event loop.

        Other requests may start while it waits for something else (a database, a job, its client) for more than a
        moment.
        """
        _CURRENT_PLACE.set(self)
        steps = work.__await__()
        error: BaseException | None = None
        while True:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

            started_at = time.perf_counter()
            try:
                awaited = steps.send(None) if error is None else steps.throw(error)
            except StopIteration as stop:
                result: T = stop.value
                return result
            finally:
                self.used += time.perf_counter() - started_at

            if self.used > TURN_SECONDS:
                self.make_room()
            elif awaited is not None and self.holds_lane:
                self._timer = asyncio.get_running_loop().call_later(GRACE_SECONDS, self.make_room)

            error = None
            try:
                yield awaited
            except BaseException as thrown:  # noqa: BLE001 - every exception is passed on to the work
                error = thrown

    def answer(self, is_admitted: bool) -> bool:
        """Tell a waiting request whether it is admitted, and return False if it no longer waits."""
        if self.turn is None or self.turn.done():
            return False
        self.turn.set_result(is_admitted)
        return True

    def make_room(self) -> None:
        """Let other requests start while this one keeps its place among the `limit`."""
        if self.holds_lane:
            self.holds_lane = False
            self.lane.leave(self)
            self.admission.start_waiting()

    def release(self) -> None:
        """Give the place back; repeated calls do nothing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.is_running:
            self.is_running = False
            self.admission.end(self)
            if self.holds_lane:
                self.holds_lane = False
                self.lane.leave(self)
            self.admission.start_waiting()


_CURRENT_PLACE: Final[ContextVar[Place]] = ContextVar("place")


class SamePlaceMiddleware:
    """Runs an application within the place of the request on whose behalf another application calls it.

    The pages call the API in this way. The caller may use a task of its own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application in the place of the current request, if there is one."""
        place = _CURRENT_PLACE.get(None)
        if place is None:
            await self.app(scope, receive, send)
        else:
            await place.run(self.app(scope, receive, send))
