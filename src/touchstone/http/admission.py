"""Admission control: which requests are worked on now, which wait for their turn, and which are refused at once.

All work shares one event loop, so working on many requests at once would only make each of them slow. Requests are
therefore admitted by what they cost, in seconds of the loop: long ones one at a time, and short ones beside them. Those
that wait are started in the order of start-time fair queueing (Goyal, Vin and Cheng, 1996): each caller's requests
follow one another at the pace of their cost, so that a caller with many requests delays mostly itself.
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
TURN_SECONDS: Final = 0.05  # who has worked for so long lets others start beside it
GRACE_SECONDS: Final = 0.005
# Of the time that a request may wait, what the work ahead of it may take: costs are estimates, and whoever waits in
# vain learns late that it is refused.
PLANNED_SHARE: Final = 0.05
ALWAYS_WAITING: Final = 4  # so many may wait in a lane, however long they take
MAX_CALLERS: Final = 1000
# A client that neither reads nor asks again would keep its connection for as long as an idle one.
_CLOSE: Final = {"Connection": "close"}
T = TypeVar("T")


class Admission:
    """The queue in front of an application.

    At most `limit` requests are worked on at once, and as many may wait in each lane. A request with more work ahead of
    it than fits into a twentieth of `wait_seconds` is refused at once; where somebody else has more work waiting, that
    caller's newest request is refused in its stead. So is a request that has waited for `wait_seconds` in vain.
    """

    def __init__(self, *, limit: int, wait_seconds: float) -> None:
        self.limit = limit
        self.wait_seconds = wait_seconds
        self._planned_seconds = PLANNED_SHARE * wait_seconds
        self.working = 0
        # One caller whose requests wait for a job or read slowly must not hold every place: the first half goes to
        # whoever comes, and of the rest each caller gets a part.
        self._unshared = limit // 2
        self._share = max(1, limit // 4)
        self._shares: Counter[Hashable] = Counter()
        self._short = _Lane(SHORT_SECONDS_AT_ONCE)
        self._long = _Lane(0.0)
        self._lanes = (self._short, self._long)

    @property
    def waiting(self) -> int:
        """The number of requests that wait for their turn."""
        return len(self._short.waiting) + len(self._long.waiting)

    def has_room(self, cost: float) -> bool:
        """Return whether a request could be worked on at once."""
        lane = self._lane(cost)
        return not lane.waiting and self._has_room(lane, cost)

    def enter_at_once(self, cost: float) -> "Place | None":
        """Return the place of a request for which there is room now."""
        if self.working >= self._unshared or not self.has_room(cost):
            return None
        place = Place(self, self._lane(cost), None, min(cost, TURN_SECONDS))
        self._start(place)
        return place

    def refuses(self, caller: Hashable, cost: float) -> bool:
        """Return whether a request of this caller would be refused at once."""
        lane = self._lane(cost)
        if self._has_room(lane, cost) or not self._is_full(lane):
            return False
        backlogs = lane.backlogs()
        if caller not in backlogs:
            return len(backlogs) == len(lane.waiting)  # everybody else has only one request waiting as well
        return backlogs[caller] + cost >= max(backlogs.values())

    async def enter(self, caller: Hashable, cost: float) -> "Place":
        """Return the place of a request that costs about `cost` seconds, once it is its turn.

        Raises:
            Overloaded: it would have to wait too long, or has.
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
            place.release()  # its turn may have come in the same moment
            raise
        finally:
            deadline.cancel()
        if not is_admitted:
            raise Overloaded(retry_after=1, headers=_CLOSE)

    def start_waiting(self) -> None:
        """Start every waiting request that there is room for."""
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
        """Take back the place of a request that is done."""
        self.working -= 1
        if place.is_shared:
            self._shares[place.caller] -= 1
            if not self._shares[place.caller]:
                del self._shares[place.caller]

    def _start(self, place: "Place") -> None:
        self.working += 1
        place.is_working = place.holds_lane = True
        place.lane.count += 1
        place.lane.seconds += place.cost

    def _lane(self, cost: float) -> "_Lane":
        return self._short if cost <= SHORT_SECONDS else self._long

    def _has_room(self, lane: "_Lane", cost: float) -> bool:
        return self.working < self.limit and (lane.count == 0 or lane.seconds + cost <= lane.seconds_at_once)

    def _is_full(self, lane: "_Lane") -> bool:
        waiting = len(lane.waiting)
        too_long = lane.seconds + lane.seconds_waiting() > self._planned_seconds
        return waiting >= self.limit or (waiting >= ALWAYS_WAITING and too_long)


class _Lane:
    """Requests of about the same cost: what is worked on, and who waits, in the order of their arrival."""

    def __init__(self, seconds_at_once: float) -> None:
        self.seconds_at_once = seconds_at_once
        self.count = 0
        self.seconds = 0.0
        self.waiting: list[Place] = []
        self._virtual_time = 0.0
        self._finish: dict[Hashable, float] = {}  # by caller: when its last request ends, in virtual time

    def seconds_waiting(self) -> float:
        """Return how much work waits."""
        return sum(place.cost for place in self.waiting)

    def backlogs(self) -> dict[Hashable, float]:
        """Return how much work of each caller waits."""
        backlogs: dict[Hashable, float] = defaultdict(float)
        for place in self.waiting:
            backlogs[place.caller] += place.cost
        return backlogs

    def append(self, place: "Place") -> None:
        """Let a request wait."""
        if not self.waiting or len(self._finish) >= MAX_CALLERS:
            self._finish.clear()
            self._virtual_time = 0.0
        place.start_tag = max(self._virtual_time, self._finish.get(place.caller, 0.0))
        self._finish[place.caller] = place.start_tag + place.cost
        self.waiting.append(place)

    def next(self, shares: Mapping[Hashable, int], share: int) -> "Place | None":
        """Return the request whose turn is next: the smallest start tag, among equals the first that came.

        Callers that hold their share of the places already are passed over.
        """
        candidates = (place for place in self.waiting if shares.get(place.caller, 0) < share)
        return min(candidates, key=lambda place: place.start_tag, default=None)

    def take(self, place: "Place") -> None:
        """Take out the request whose turn it is."""
        self.waiting.remove(place)
        self._virtual_time = place.start_tag

    def discard(self, place: "Place") -> None:
        """Take out a request that waits no longer, as if it had never come."""
        if place in self.waiting:
            self.waiting.remove(place)
            if place.caller in self._finish:
                self._finish[place.caller] -= place.cost

    def drop_from_longest_backlog(self) -> None:
        """Refuse the newest request of the caller with the most work waiting; who has several goes first."""
        backlogs = self.backlogs()
        counts = Counter(place.caller for place in self.waiting)
        caller = max(backlogs, key=lambda caller: (counts[caller] > 1, backlogs[caller]))
        self.refuse(next(place for place in reversed(self.waiting) if place.caller == caller))

    def refuse(self, place: "Place") -> None:
        """Refuse a request that waits."""
        self.discard(place)
        place.answer(False)

    def leave(self, place: "Place") -> None:
        """Make room for others."""
        self.count -= 1
        self.seconds = self.seconds - place.cost if self.count else 0.0


class Place:
    """One request's place: what it is expected to cost, what it has cost the loop so far, and whether it works."""

    __slots__ = (
        "_timer",
        "admission",
        "caller",
        "cost",
        "holds_lane",
        "is_shared",
        "is_working",
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
        self.is_working = False
        self.is_shared = False
        self.holds_lane = False
        self._timer: asyncio.TimerHandle | None = None

    @types.coroutine
    def run(self, work: Awaitable[T]) -> Generator[Any, Any, T]:
        """Await the work of the request, counting the time that it holds the event loop.

        While it waits for something else (a database, a job, its client) for longer than a moment, others may start.
        """
        _CURRENT.set(self)
        steps = work.__await__()
        problem: BaseException | None = None
        while True:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

            began = time.perf_counter()
            try:
                awaited = steps.send(None) if problem is None else steps.throw(problem)
            except StopIteration as end:
                result: T = end.value
                return result
            finally:
                self.used += time.perf_counter() - began

            if self.used > TURN_SECONDS:
                self.make_room()
            elif awaited is not None and self.holds_lane:
                self._timer = asyncio.get_running_loop().call_later(GRACE_SECONDS, self.make_room)
            problem = None
            try:
                yield awaited
            except BaseException as thrown:  # noqa: BLE001 - whatever it is, it is thrown into the work
                problem = thrown

    def answer(self, is_admitted: bool) -> bool:
        """Tell the request whether it is admitted; return whether it still waits for that."""
        if self.turn is None or self.turn.done():
            return False
        self.turn.set_result(is_admitted)
        return True

    def make_room(self) -> None:
        """Let others start, while this request keeps its place among the `limit`."""
        if self.holds_lane:
            self.holds_lane = False
            self.lane.leave(self)
            self.admission.start_waiting()

    def release(self) -> None:
        """Give the place back; only the first call does something."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.is_working:
            self.is_working = False
            self.admission.end(self)
            if self.holds_lane:
                self.holds_lane = False
                self.lane.leave(self)
            self.admission.start_waiting()


_CURRENT: Final[ContextVar[Place]] = ContextVar("place")


class InSamePlace:
    """An application that another one calls in a task of its own, on behalf of a request that has its place already."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Work in the place of the request that this call belongs to."""
        place = _CURRENT.get(None)
        work = self.app(scope, receive, send)
        await (work if place is None else place.run(work))
