"""Admission control, which decides whether a request runs now, waits for its turn, or is refused.

All requests share one event loop, so running many at the same time would only slow down each of them. They are
therefore admitted by their expected cost, in seconds of event loop time. Long requests run one at a time, and short
ones run beside them. Waiting requests start in the order of start-time fair queueing (Goyal, Vin and Cheng, 1996), so
that a caller with many requests delays mostly itself.
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

SHORT_SECONDS: Final = 0.002  # a request with a higher expected cost is long
SHORT_SECONDS_AT_ONCE: Final = 0.005  # total expected cost of the short requests that run at the same time
TURN_SECONDS: Final = 0.05  # after this much event loop time, a request lets others start beside it
IDLE_GRACE_SECONDS: Final = 0.005  # after waiting this long for something else, a request lets others start beside it
# The work ahead of a request may take this share of the maximum waiting time. The share is small because costs are only
# estimates, and because a request should be refused early rather than after a long wait.
QUEUED_WORK_SHARE: Final = 0.03
MIN_QUEUE_LENGTH: Final = 4  # this many requests may wait in a lane, whatever their cost
MAX_CALLERS: Final = 1000  # callers that a lane remembers for the fair order
# Refused clients lose their connection. Otherwise an inactive client could keep it for as long as an idle connection.
_CLOSE: Final = {"Connection": "close"}
T = TypeVar("T")


class Admission:
    """The queue in front of an application.

    At most `limit` requests run at the same time. Short and long requests wait in separate lanes, in each of which at
    most `limit` requests may wait. A lane is also full if the work in it exceeds a small share of `wait_seconds`. A new
    request is then refused, unless another caller has more work waiting. In this case, the newest request of that
    caller is refused instead. Requests are also refused after waiting for `wait_seconds`.
    """

    def __init__(self, *, limit: int, wait_seconds: float) -> None:
        """Create an empty queue.

        Args:
            limit: the number of requests that may run at the same time.
            wait_seconds: the time after which a waiting request is refused.
        """
        self.limit = limit
        self.wait_seconds = wait_seconds
        self.running_count = 0
        self._max_seconds_ahead = QUEUED_WORK_SHARE * wait_seconds  # of work before a new request in its lane

        # A request that waits for a job or a slow client may run for a long time. A caller with many such requests must
        # not use up the limit, so half of the limit is open to everyone, and each caller gets at most half of the rest.
        self._unreserved_slots = limit // 2
        self._max_running_per_caller = max(1, limit // 4)  # at least one, even if `limit` is small
        self._running_by_caller: Counter[Hashable] = Counter()

        self._short_lane = _Lane(seconds_at_once=SHORT_SECONDS_AT_ONCE)
        self._long_lane = _Lane(seconds_at_once=0.0)  # one request at a time
        self._lanes = (self._short_lane, self._long_lane)

    @property
    def waiting_count(self) -> int:
        """Number of requests that wait for their turn."""
        return len(self._short_lane.waiting) + len(self._long_lane.waiting)

    def has_room(self, cost_seconds: float) -> bool:
        """Return whether a request of this expected cost could start immediately."""
        lane = self._lane_for(cost_seconds)
        return not lane.waiting and self._fits(lane, cost_seconds)

    def try_enter(self, cost_seconds: float) -> "Ticket | None":
        """Return the ticket of a request that may run immediately, or None if it has to wait.

        The request counts as running until its ticket is released. Its caller need not be identified, because half of
        the capacity is open to everyone.
        """
        if self.running_count >= self._unreserved_slots or not self.has_room(cost_seconds):
            return None

        ticket = self._create_ticket(caller=None, cost_seconds=cost_seconds)
        self._start(ticket)
        return ticket

    def would_refuse(self, caller: Hashable, cost_seconds: float) -> bool:
        """Return whether a request would be refused now, because it can neither run nor wait.

        If the lane is full, a request is only accepted if it may replace the newest request of another caller, who has
        more work waiting.
        """
        lane = self._lane_for(cost_seconds)
        if self._fits(lane, cost_seconds) or not self._is_full(lane):
            return False

        backlog_seconds = lane.backlog_seconds_by_caller()
        if caller in backlog_seconds:
            new_backlog_seconds = backlog_seconds[caller] + cost_seconds
            return new_backlog_seconds >= max(backlog_seconds.values())

        # A caller without waiting requests may only replace a request of a caller that has several.
        caller_count = len(backlog_seconds)
        return caller_count == len(lane.waiting)

    async def enter(self, caller: Hashable, cost_seconds: float) -> "Ticket":
        """Wait until a request may run, and return its ticket.

        The ticket must be released when the request ends.

        Args:
            caller: the user or address that the request is attributed to.
            cost_seconds: the time for which the request is expected to occupy the event loop.

        Raises:
            Overloaded: the request would have to wait too long, or has waited too long.
        """
        ticket = self.try_enter(cost_seconds)
        if ticket is not None:
            return ticket

        ticket = self._create_ticket(caller, cost_seconds)
        await self._wait_for_turn(ticket)
        return ticket

    def _create_ticket(self, caller: Hashable, cost_seconds: float) -> "Ticket":
        """Return a ticket for a request that is neither waiting nor running yet."""
        # After one turn, other requests may run beside this one, so it delays them by no more than that.
        delay_to_others_seconds = min(cost_seconds, TURN_SECONDS)
        return Ticket(self, self._lane_for(cost_seconds), caller=caller, cost_seconds=delay_to_others_seconds)

    async def _wait_for_turn(self, ticket: "Ticket") -> None:
        """Put a request into the queue, and return when it may run.

        Raises:
            Overloaded: the queue is full, the request has waited too long, or a request of another caller replaced it.
        """
        lane = ticket.lane
        if self.would_refuse(ticket.caller, ticket.cost_seconds):
            raise Overloaded(retry_after=1, headers=_CLOSE)
        if self._is_full(lane):
            lane.drop_from_longest_backlog()

        loop = asyncio.get_running_loop()
        ticket.decision = loop.create_future()
        lane.append(ticket)
        self.start_next_requests()

        deadline = loop.call_later(self.wait_seconds, lane.refuse, ticket)
        try:
            is_admitted = await ticket.decision
        except BaseException:
            # The client disconnected while the request was waiting, or just as it was admitted.
            lane.discard(ticket)
            ticket.release()
            raise
        finally:
            deadline.cancel()

        if not is_admitted:
            raise Overloaded(retry_after=1, headers=_CLOSE)

    def start_next_requests(self) -> None:
        """Start waiting requests in their fair order until the next one does not fit.

        This must be called whenever a request joins the queue, ends, or leaves its lane.
        """
        for lane in self._lanes:
            while lane.waiting:
                ticket = lane.next_in_turn(self._running_by_caller, self._max_running_per_caller)
                if ticket is None or not self._fits(lane, ticket.cost_seconds):
                    break

                lane.dequeue(ticket)
                is_still_waiting = ticket.decide(is_admitted=True)
                if is_still_waiting:
                    self._running_by_caller[ticket.caller] += 1
                    ticket.counts_toward_caller = True
                    self._start(ticket)

    def stop_counting(self, ticket: "Ticket") -> None:
        """Stop counting a request as running, among all requests and those of its caller."""
        self.running_count -= 1

        if ticket.counts_toward_caller:
            self._running_by_caller[ticket.caller] -= 1
            if not self._running_by_caller[ticket.caller]:
                del self._running_by_caller[ticket.caller]

    def _start(self, ticket: "Ticket") -> None:
        """Count a request as running, among all requests and in its lane."""
        self.running_count += 1
        ticket.is_running = True
        ticket.occupies_lane = True
        ticket.lane.running_count += 1
        ticket.lane.running_seconds += ticket.cost_seconds

    def _lane_for(self, cost_seconds: float) -> "_Lane":
        """Return the lane of requests with this expected cost."""
        return self._short_lane if cost_seconds <= SHORT_SECONDS else self._long_lane

    def _fits(self, lane: "_Lane", cost_seconds: float) -> bool:
        """Return whether a request may start beside the running ones. Any request fits into an empty lane."""
        if self.running_count >= self.limit:
            return False
        return lane.running_count == 0 or lane.running_seconds + cost_seconds <= lane.seconds_at_once

    def _is_full(self, lane: "_Lane") -> bool:
        """Return whether the lane has too many waiting requests or too much work for another request."""
        waiting_count = len(lane.waiting)
        if waiting_count >= self.limit:
            return True

        seconds_ahead = lane.running_seconds + lane.waiting_seconds()
        return waiting_count >= MIN_QUEUE_LENGTH and seconds_ahead > self._max_seconds_ahead


class _Lane:
    """The running and waiting requests of similar cost.

    Short requests and long requests have separate lanes.
    """

    def __init__(self, *, seconds_at_once: float) -> None:
        self.seconds_at_once = seconds_at_once  # the total expected cost of simultaneous requests
        self.running_count = 0
        self.running_seconds = 0.0
        self.waiting: list[Ticket] = []
        self._virtual_time = 0.0
        self._finish_tags: dict[Hashable, float] = {}  # the virtual time when the last request of a caller ends

    def waiting_seconds(self) -> float:
        """Return the expected cost of all waiting requests."""
        return sum(ticket.cost_seconds for ticket in self.waiting)

    def backlog_seconds_by_caller(self) -> dict[Hashable, float]:
        """Return the expected cost of each caller's waiting requests."""
        backlog_seconds: dict[Hashable, float] = defaultdict(float)
        for ticket in self.waiting:
            backlog_seconds[ticket.caller] += ticket.cost_seconds
        return backlog_seconds

    def append(self, ticket: "Ticket") -> None:
        """Add a request to the queue, and compute its start tag. The lowest start tag runs next.

        In start-time fair queueing, the start tag is the virtual time at which the caller's previous request ends, or
        the current virtual time if that is later. A caller with few requests therefore does not wait for one with many.
        """
        # Resetting the virtual time is always safe, and drops callers without requests.
        if not self.waiting or len(self._finish_tags) >= MAX_CALLERS:
            self._finish_tags.clear()
            self._virtual_time = 0.0

        last_finish_tag = self._finish_tags.get(ticket.caller, 0.0)
        ticket.start_tag = max(self._virtual_time, last_finish_tag)
        self._finish_tags[ticket.caller] = ticket.start_tag + ticket.cost_seconds
        self.waiting.append(ticket)

    def next_in_turn(self, running_by_caller: Mapping[Hashable, int], max_running: int) -> "Ticket | None":
        """Return the waiting request that should run next, or None if there is none.

        Args:
            running_by_caller: the number of running requests of each caller.
            max_running: callers with this many running requests are skipped.
        """
        candidates = (ticket for ticket in self.waiting if running_by_caller.get(ticket.caller, 0) < max_running)
        return min(candidates, key=lambda ticket: ticket.start_tag, default=None)

    def dequeue(self, ticket: "Ticket") -> None:
        """Remove the request that runs next from the queue, and advance the virtual time to its start tag."""
        self.waiting.remove(ticket)
        self._virtual_time = ticket.start_tag

    def discard(self, ticket: "Ticket") -> None:
        """Remove a request from the queue as if it had never been added."""
        if ticket in self.waiting:
            self.waiting.remove(ticket)
            if ticket.caller in self._finish_tags:
                self._finish_tags[ticket.caller] -= ticket.cost_seconds

    def drop_from_longest_backlog(self) -> None:
        """Refuse the newest request of the caller with the most work waiting.

        Callers with a single waiting request are only considered if no caller has several.
        """
        backlog_seconds = self.backlog_seconds_by_caller()
        request_counts = Counter(ticket.caller for ticket in self.waiting)

        callers_with_several = [caller for caller, count in request_counts.items() if count > 1]
        candidates = callers_with_several or list(backlog_seconds)
        busiest_caller = max(candidates, key=lambda caller: backlog_seconds[caller])

        requests_of_caller = [ticket for ticket in self.waiting if ticket.caller == busiest_caller]
        newest_request = requests_of_caller[-1]
        self.refuse(newest_request)

    def refuse(self, ticket: "Ticket") -> None:
        """Refuse a waiting request."""
        self.discard(ticket)
        ticket.decide(is_admitted=False)

    def remove_running(self, ticket: "Ticket") -> None:
        """Stop counting a request as running in this lane, so that others may start."""
        self.running_count -= 1
        # Resetting the sum to zero keeps rounding errors from accumulating.
        self.running_seconds = self.running_seconds - ticket.cost_seconds if self.running_count else 0.0


class Ticket:
    """The state of one request in the queue and, once it is admitted, among the running requests.

    Attributes:
        cost_seconds: the event loop time that the request is expected to use before others may run beside it.
        used_seconds: the event loop time that it has used so far.
        start_tag: its position in the queue, in the virtual time of fair queueing.
        decision: a future that becomes true if the waiting request is admitted, and false if it is refused; None before
            the request waits.
        is_running: whether it counts as running in the server.
        occupies_lane: whether it also counts as running in its lane, and so keeps others from starting.
        counts_toward_caller: whether it counts among the running requests of its caller.
    """

    __slots__ = (
        "_timer",
        "admission",
        "caller",
        "cost_seconds",
        "counts_toward_caller",
        "decision",
        "is_running",
        "lane",
        "occupies_lane",
        "start_tag",
        "used_seconds",
    )

    def __init__(self, admission: Admission, lane: _Lane, *, caller: Hashable, cost_seconds: float) -> None:
        """Create the ticket of a request that is neither waiting nor running yet.

        Args:
            admission: the queue that the request belongs to.
            lane: the lane in which it waits and runs.
            caller: the user or address that the request is attributed to.
            cost_seconds: the event loop time that it is expected to use before others may run beside it.
        """
        self.admission = admission
        self.lane = lane
        self.caller = caller
        self.cost_seconds = cost_seconds
        self.used_seconds = 0.0
        self.start_tag = 0.0
        self.decision: asyncio.Future[bool] | None = None
        self.is_running = False
        self.occupies_lane = False
        self.counts_toward_caller = False
        self._timer: asyncio.TimerHandle | None = None

    @types.coroutine
    def run(self, work: Awaitable[T]) -> Generator[Any, Any, T]:
        """Await the work of a request, measure the event loop time that it uses, and return its result.

        A coroutine runs in steps, each of which ends with a future that it waits for. This function runs the steps
        itself, as an event loop does, because the time of a single step cannot be measured from outside.

        Other requests may start beside this one once it has used the event loop for a whole turn (`TURN_SECONDS`), or
        once it has waited for `IDLE_GRACE_SECONDS` for something else, such as a database, a job or its client.
        """
        _CURRENT_TICKET.set(self)
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
                self.yield_lane()
            elif future is not None and self.occupies_lane:
                self._timer = asyncio.get_running_loop().call_later(IDLE_GRACE_SECONDS, self.yield_lane)

            error = None
            try:
                yield future
            except BaseException as thrown:  # noqa: BLE001 - every exception is passed on to the work
                error = thrown

    def _run_step(self, steps: Generator[Any, Any, Any], error: BaseException | None) -> Any:
        """Run the work until it waits for a future, and return the future.

        The elapsed time is added to `used_seconds`.

        Args:
            steps: the iterator over the futures that the work waits for.
            error: the exception of the previous future, which is thrown into the work, or None if it succeeded.

        Raises:
            StopIteration: the work has ended. The exception contains its result.
        """
        # Wall-clock time includes the time of other processes, but reading it is cheap. Long requests are measured in
        # processor time, which needs a system call that would be too slow for short requests.
        clock = time.perf_counter if self.cost_seconds < SHORT_SECONDS else time.thread_time
        started_at = clock()
        try:
            return steps.send(None) if error is None else steps.throw(error)
        finally:
            self.used_seconds += clock() - started_at

    def decide(self, *, is_admitted: bool) -> bool:
        """Admit or refuse a waiting request.

        Returns:
            False if the request was no longer waiting, so that the decision has no effect.
        """
        if self.decision is None or self.decision.done():
            return False

        self.decision.set_result(is_admitted)
        return True

    def yield_lane(self) -> None:
        """Let other requests start beside this one, which still counts among the `limit` running requests."""
        if self.occupies_lane:
            self.occupies_lane = False
            self.lane.remove_running(self)
            self.admission.start_next_requests()

    def release(self) -> None:
        """Stop counting the request as running, so that others may start. Repeated calls do nothing.

        This is called when the request ends, or earlier if its client reads the response slowly.
        """
        self._cancel_timer()
        if not self.is_running:
            return

        self.is_running = False
        self.admission.stop_counting(self)

        if self.occupies_lane:
            self.occupies_lane = False
            self.lane.remove_running(self)

        self.admission.start_next_requests()

    def _cancel_timer(self) -> None:
        """Cancel the timer for `yield_lane`."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


_CURRENT_TICKET: Final[ContextVar[Ticket]] = ContextVar("ticket")


class SameTicketMiddleware:
    """Runs an in-process call under the ticket of the request that makes it.

    The web app calls the API within its own requests. The time of the call then counts toward the original request,
    even if the call is made in another task.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the application under the ticket of the current request, if there is one."""
        ticket = _CURRENT_TICKET.get(None)
        if ticket is None:
            await self.app(scope, receive, send)
        else:
            await ticket.run(self.app(scope, receive, send))
