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
    fits into a small share of `wait_seconds` is refused at once, unless another caller has more work waiting: then that
    caller's newest request is refused instead. A request that has waited for `wait_seconds` is refused as well.
    """

    def __init__(self, *, limit: int, wait_seconds: float) -> None:
        """Let at most `limit` requests run at once, and refuse those that have waited for `wait_seconds`."""
        self.limit = limit
        self.wait_seconds = wait_seconds
        self.running = 0
        self._max_seconds_ahead = PLANNED_SHARE * wait_seconds

        # A caller with many requests that wait for a job, or that are read slowly, must not keep all others out. Half
        # of the running requests may be anybody's, and of the other half each caller gets a share.
        self._unshared_places = limit // 2
        self._max_places_per_caller = max(1, limit // 4)  # at least one, even if `limit` is small
        self._places_by_caller: Counter[Hashable] = Counter()

        self._short = _Lane(seconds_at_once=SHORT_SECONDS_AT_ONCE)
        self._long = _Lane(seconds_at_once=0.0)
        self._lanes = (self._short, self._long)

    @property
    def waiting(self) -> int:
        """Number of requests that wait for their turn."""
        return len(self._short.waiting) + len(self._long.waiting)

    def has_room(self, cost_seconds: float) -> bool:
        """Return whether a request of this expected cost could start at once."""
        lane = self._lane_for(cost_seconds)
        return not lane.waiting and self._fits(lane, cost_seconds)

    def enter_at_once(self, cost_seconds: float) -> "Place | None":
        """Let a request run if there is room now, and return its place, or return None if it has to wait.

        A place counts the request as running until it is released. The caller need not be known, because as long as
        half of all places are free, anybody may have them.
        """
        if self.running >= self._unshared_places or not self.has_room(cost_seconds):
            return None

        place = self._create_place(caller=None, cost_seconds=cost_seconds)
        self._start(place)
        return place

    def would_refuse(self, caller: Hashable, cost_seconds: float) -> bool:
        """Return whether a request of this caller would be refused now, because it can neither run nor wait.

        If the queue is full, a request is only accepted if it may replace the newest request of another caller, who has
        more work waiting.
        """
        # Short and long requests wait in lanes of their own.
        lane = self._lane_for(cost_seconds)
        if self._fits(lane, cost_seconds) or not self._is_full(lane):
            return False

        backlog_seconds = lane.backlog_seconds_by_caller()
        if caller in backlog_seconds:
            new_backlog_seconds = backlog_seconds[caller] + cost_seconds
            return new_backlog_seconds >= max(backlog_seconds.values())

        # A caller that has nothing waiting yet replaces nobody if each of the others has only one request waiting.
        caller_count = len(backlog_seconds)
        return caller_count == len(lane.waiting)

    async def enter(self, caller: Hashable, cost_seconds: float) -> "Place":
        """Wait until a request may run, and return its place, which has to be released when the request ends.

        `cost_seconds` is the time for which the request is expected to hold the event loop.

        Raises:
            Overloaded: the request would have to wait too long, or has waited too long.
        """
        place = self.enter_at_once(cost_seconds)
        if place is not None:
            return place

        place = self._create_place(caller, cost_seconds)
        await self._wait_for_turn(place)
        return place

    def _create_place(self, caller: Hashable, cost_seconds: float) -> "Place":
        """Return a place for a request that is neither waiting nor running yet."""
        # After a whole turn other requests may run beside this one, so that it costs them no more time than that.
        cost_to_others_seconds = min(cost_seconds, TURN_SECONDS)
        return Place(self, self._lane_for(cost_seconds), caller=caller, cost_seconds=cost_to_others_seconds)

    async def _wait_for_turn(self, place: "Place") -> None:
        """Put a request into the queue, and return when it may run.

        Raises:
            Overloaded: the queue is full, the request has waited too long, or it had to make way for other callers.
        """
        lane = place.lane
        if self.would_refuse(place.caller, place.cost_seconds):
            raise Overloaded(retry_after=1, headers=_CLOSE)
        if self._is_full(lane):
            lane.drop_from_longest_backlog()

        loop = asyncio.get_running_loop()
        place.decision = loop.create_future()
        lane.append(place)
        self.start_next_requests()

        deadline = loop.call_later(self.wait_seconds, lane.refuse, place)
        try:
            is_admitted = await place.decision
        except BaseException:
            # The client has gone while the request was waiting, or just when it was admitted.
            lane.discard(place)
            place.release()
            raise
        finally:
            deadline.cancel()

        if not is_admitted:
            raise Overloaded(retry_after=1, headers=_CLOSE)

    def start_next_requests(self) -> None:
        """Let waiting requests run in the order of their turn, for as long as there is room for the next one.

        This has to be called whenever a request joins the queue, ends, or makes room for others.
        """
        for lane in self._lanes:
            while lane.waiting:
                place = lane.next_in_turn(self._places_by_caller, self._max_places_per_caller)
                if place is None or not self._fits(lane, place.cost_seconds):
                    break

                lane.take(place)
                is_still_wanted = place.settle(is_admitted=True)
                if is_still_wanted:
                    self._places_by_caller[place.caller] += 1
                    place.counts_for_caller = True
                    self._start(place)

    def end(self, place: "Place") -> None:
        """Stop counting a request that has finished, so that its place is free for another one."""
        self.running -= 1

        if place.counts_for_caller:
            self._places_by_caller[place.caller] -= 1
            if not self._places_by_caller[place.caller]:
                del self._places_by_caller[place.caller]

    def _start(self, place: "Place") -> None:
        """Count a request as running, among all requests and in its lane."""
        self.running += 1
        place.is_running = True
        place.holds_lane = True
        place.lane.running += 1
        place.lane.running_seconds += place.cost_seconds

    def _lane_for(self, cost_seconds: float) -> "_Lane":
        """Return the lane of requests with this expected cost."""
        return self._short if cost_seconds <= SHORT_SECONDS else self._long

    def _fits(self, lane: "_Lane", cost_seconds: float) -> bool:
        """Return whether a request may start beside those that are running; an empty lane has room for any request."""
        if self.running >= self.limit:
            return False
        return lane.running == 0 or lane.running_seconds + cost_seconds <= lane.seconds_at_once

    def _is_full(self, lane: "_Lane") -> bool:
        """Return whether another request would wait too long in this lane, or be one too many."""
        waiting_count = len(lane.waiting)
        if waiting_count >= self.limit:
            return True

        seconds_ahead = lane.running_seconds + lane.waiting_seconds()
        return waiting_count >= ALWAYS_WAITING and seconds_ahead > self._max_seconds_ahead


class _Lane:
    """The running and waiting requests of similar cost: there is a lane of short requests and one of long requests."""

    def __init__(self, *, seconds_at_once: float) -> None:
        self.seconds_at_once = seconds_at_once  # the cost of the requests that may run beside one another
        self.running = 0
        self.running_seconds = 0.0
        self.waiting: list[Place] = []
        self._virtual_time = 0.0
        self._finish_tags: dict[Hashable, float] = {}  # by caller: when its last request ends, in virtual time

    def waiting_seconds(self) -> float:
        """Return the expected cost of all waiting requests."""
        return sum(place.cost_seconds for place in self.waiting)

    def backlog_seconds_by_caller(self) -> dict[Hashable, float]:
        """Return the expected cost of each caller's waiting requests."""
        backlog_seconds: dict[Hashable, float] = defaultdict(float)
        for place in self.waiting:
            backlog_seconds[place.caller] += place.cost_seconds
        return backlog_seconds

    def append(self, place: "Place") -> None:
        """Add a request to the queue and set its start tag, which decides its turn: the lowest tag comes first.

        In start-time fair queueing, the start tag is the virtual time at which the caller's previous request ends, or
        the current virtual time if that is later. A caller with few requests therefore does not wait for one with many.
        """
        # Virtual time may start anew at any time, which also forgets callers that have no requests any more.
        if not self.waiting or len(self._finish_tags) >= MAX_CALLERS:
            self._finish_tags.clear()
            self._virtual_time = 0.0

        last_finish_tag = self._finish_tags.get(place.caller, 0.0)
        place.start_tag = max(self._virtual_time, last_finish_tag)
        self._finish_tags[place.caller] = place.start_tag + place.cost_seconds
        self.waiting.append(place)

    def next_in_turn(self, places_by_caller: Mapping[Hashable, int], max_places: int) -> "Place | None":
        """Return the waiting request whose turn it is, or None if there is none.

        The requests of callers that have `max_places` or more requests running are passed over.
        """
        candidates = (place for place in self.waiting if places_by_caller.get(place.caller, 0) < max_places)
        return min(candidates, key=lambda place: place.start_tag, default=None)

    def take(self, place: "Place") -> None:
        """Remove the request whose turn it is from the queue, and advance the virtual time to its turn."""
        self.waiting.remove(place)
        self._virtual_time = place.start_tag

    def discard(self, place: "Place") -> None:
        """Remove a request from the queue as if it had never come."""
        if place in self.waiting:
            self.waiting.remove(place)
            if place.caller in self._finish_tags:
                self._finish_tags[place.caller] -= place.cost_seconds

    def drop_from_longest_backlog(self) -> None:
        """Refuse the newest request of the caller with the most work waiting, preferably one with several requests."""
        backlog_seconds = self.backlog_seconds_by_caller()
        request_counts = Counter(place.caller for place in self.waiting)

        callers_with_several = [caller for caller, count in request_counts.items() if count > 1]
        candidates = callers_with_several or list(backlog_seconds)
        busiest_caller = max(candidates, key=lambda caller: backlog_seconds[caller])

        requests_of_caller = [place for place in self.waiting if place.caller == busiest_caller]
        newest_request = requests_of_caller[-1]
        self.refuse(newest_request)

    def refuse(self, place: "Place") -> None:
        """Refuse a waiting request."""
        self.discard(place)
        place.settle(is_admitted=False)

    def leave(self, place: "Place") -> None:
        """Stop counting a request as running in this lane, so that others may start."""
        self.running -= 1
        # Starting anew at zero keeps rounding errors from adding up.
        self.running_seconds = self.running_seconds - place.cost_seconds if self.running else 0.0


class Place:
    """The place of one request in the queue and, once it is admitted, among the running requests.

    Attributes:
        cost_seconds: for how long the request is expected to hold the event loop.
        used_seconds: for how long it has held the event loop so far.
        start_tag: its turn in the queue, in the virtual time of fair queueing.
        decision: tells a waiting request whether it is admitted.
        is_running: whether it counts among the running requests of the server.
        holds_lane: whether it counts among those of its lane as well, and so keeps others from starting.
        counts_for_caller: whether it counts among the places that its caller holds.
    """

    __slots__ = (
        "_timer",
        "admission",
        "caller",
        "cost_seconds",
        "counts_for_caller",
        "decision",
        "holds_lane",
        "is_running",
        "lane",
        "start_tag",
        "used_seconds",
    )

    def __init__(self, admission: Admission, lane: _Lane, *, caller: Hashable, cost_seconds: float) -> None:
        """Create the place of a request that is neither waiting nor running yet."""
        self.admission = admission
        self.lane = lane
        self.caller = caller
        self.cost_seconds = cost_seconds
        self.used_seconds = 0.0
        self.start_tag = 0.0
        self.decision: asyncio.Future[bool] | None = None
        self.is_running = False
        self.holds_lane = False
        self.counts_for_caller = False
        self._timer: asyncio.TimerHandle | None = None

    @types.coroutine
    def run(self, work: Awaitable[T]) -> Generator[Any, Any, T]:
        """Await the work of a request, measure for how long it holds the event loop, and return its result.

        A coroutine runs in steps, each of which ends with a future that it waits for. This function runs the steps
        itself, as an event loop does, because the time of a single step cannot be measured from outside.

        Other requests may start beside this one once it has held the event loop for a whole turn (`TURN_SECONDS`), or
        once it waits for more than a moment for something else, such as a database, a job or its client.
        """
        _CURRENT_PLACE.set(self)
        steps = work.__await__()
        error: BaseException | None = None  # raised by the future that the work waited for

        while True:
            self._cancel_timer()
            try:
                future = self._run_step(steps, error)
            except StopIteration as end:
                result: T = end.value
                return result

            if self.used_seconds > TURN_SECONDS:
                self.make_room()
            elif future is not None and self.holds_lane:
                self._timer = asyncio.get_running_loop().call_later(GRACE_SECONDS, self.make_room)

            error = None
            try:
                yield future
            except BaseException as thrown:  # noqa: BLE001 - every exception is passed on to the work
                error = thrown

    def _run_step(self, steps: Generator[Any, Any, Any], error: BaseException | None) -> Any:
        """Run the work until it waits for a future, return this future, and measure the time that the step takes.

        If the last future has failed with `error`, the work receives that error.

        Raises:
            StopIteration: the work has ended; the exception contains its result.
        """
        # On a busy machine the wall clock also counts the time that other processes take. That does not matter for a
        # short request, for which the system call that returns the processor time would take too long.
        clock = time.perf_counter if self.cost_seconds < SHORT_SECONDS else time.thread_time
        started_at = clock()
        try:
            return steps.send(None) if error is None else steps.throw(error)
        finally:
            self.used_seconds += clock() - started_at

    def settle(self, *, is_admitted: bool) -> bool:
        """Tell a waiting request whether it is admitted, and return False if it no longer waits."""
        if self.decision is None or self.decision.done():
            return False

        self.decision.set_result(is_admitted)
        return True

    def make_room(self) -> None:
        """Let other requests start beside this one, which still counts among the `limit` running requests."""
        if self.holds_lane:
            self.holds_lane = False
            self.lane.leave(self)
            self.admission.start_next_requests()

    def release(self) -> None:
        """Stop counting the request as running, so that others may start; repeated calls do nothing.

        This is called when the request ends, or earlier if its client reads the response slowly.
        """
        self._cancel_timer()
        if not self.is_running:
            return

        self.is_running = False
        self.admission.end(self)

        if self.holds_lane:
            self.holds_lane = False
            self.lane.leave(self)

        self.admission.start_next_requests()

    def _cancel_timer(self) -> None:
        """Cancel the timer that would let other requests start beside this one, because it no longer waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


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
