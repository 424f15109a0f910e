"""Admission control decides which requests run, which wait and in what order, and which are refused."""

import asyncio
from collections.abc import Hashable
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from touchstone.core.errors import Overloaded
from touchstone.http.admission import QUEUED_WORK_SHARE, Admission, SameTicketMiddleware, Ticket
from touchstone.http.request_costs import DEFAULT_SECONDS, RequestCosts, classify_request

LONG_COST = 2**-6  # in seconds; a power of two, so that its multiples are exact
SHORT_COST = 0.001
DISTANT_DEADLINE = 1000.0  # a deadline that no test reaches
# Within this deadline, five long requests may wait behind another one.
DEADLINE_OF_FIVE_MORE = 5.5 * LONG_COST / QUEUED_WORK_SHARE


class Callers:
    """Requests of several callers, in the order in which they were started."""

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.started: list[str] = []
        self.refused: list[str] = []
        self.tickets: dict[str, Ticket] = {}
        self.requests: dict[str, asyncio.Task[None]] = {}

    async def request(self, name: str, cost: float = LONG_COST) -> None:
        """Let a request arrive, whose caller is the first letter of its name."""
        self.requests[name] = asyncio.create_task(self._enter(name, name[0], cost))
        await let_tasks_settle()

    async def finish(self, name: str) -> None:
        """Let a request that is running end."""
        self.tickets[name].release()
        await let_tasks_settle()

    async def finish_in_turn(self) -> None:
        """Let the running requests end one after another, in the order in which they started, until none is left."""
        finished_count = 0
        while finished_count < len(self.started):
            await self.finish(self.started[finished_count])
            finished_count += 1

    async def _enter(self, name: str, caller: Hashable, cost: float) -> None:
        try:
            self.tickets[name] = await self.admission.enter(caller, cost)
            self.started.append(name)
        except Overloaded:
            self.refused.append(name)


async def let_tasks_settle() -> None:
    """Let every task run until it waits for something."""
    for _ in range(10):
        await asyncio.sleep(0)


def create_admission(**options: Any) -> Admission:
    """Return an admission control that admits many requests at once, unless other options are given."""
    return Admission(**({"limit": 64, "wait_seconds": DISTANT_DEADLINE} | options))


async def test_callers_take_turns_however_much_each_of_them_asks() -> None:
    """A caller with one request who arrives behind many requests of another caller waits for only one of them."""
    callers = Callers(create_admission())
    for name in ("a1", "a2", "a3", "a4", "b1", "c1", "b2"):
        await callers.request(name)
    await callers.finish_in_turn()
    assert callers.started == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]


async def test_a_caller_with_cheap_requests_gets_more_of_them_than_one_with_expensive_ones() -> None:
    """Callers share the time equally, not the number of requests."""
    callers = Callers(create_admission())
    await callers.request("x")
    for number in range(3):
        await callers.request(f"e{number}", 2 * LONG_COST)
    for number in range(6):
        await callers.request(f"c{number}", LONG_COST)
    await callers.finish_in_turn()
    assert callers.started == ["x", "e0", "c0", "c1", "e1", "c2", "c3", "e2", "c4", "c5"]


async def test_long_requests_run_one_at_a_time_and_short_ones_beside_them() -> None:
    """Neither one short request nor several wait for a long one."""
    callers = Callers(create_admission())
    for name, cost in (("a1", LONG_COST), ("a2", LONG_COST), ("b1", SHORT_COST), ("b2", SHORT_COST)):
        await callers.request(name, cost)
    assert callers.started == ["a1", "b1", "b2"]
    await callers.finish("a1")
    assert callers.started == ["a1", "b1", "b2", "a2"]


async def test_no_more_requests_run_than_the_limit() -> None:
    """Even short requests beyond the limit wait; as many may wait as may run, and further ones are refused."""
    callers = Callers(create_admission(limit=2))
    for name in ("a1", "b1", "c1", "d1", "e1"):
        await callers.request(name, 0.0)
    assert (callers.started, callers.refused) == (["a1", "b1"], ["e1"])
    await callers.finish("b1")
    assert callers.started == ["a1", "b1", "c1"]


async def test_one_caller_cannot_use_the_whole_capacity() -> None:
    """One caller gets at most three quarters of the capacity, so that a request of another caller can start at once."""
    admission_control = create_admission(limit=8)
    callers = Callers(admission_control)
    for number in range(8):
        await callers.request(f"a{number}", 0.0)
    assert (len(callers.started), admission_control.waiting_count) == (6, 2)
    await callers.request("b0", 0.0)
    assert callers.started[-1] == "b0"
    await callers.finish("a5")
    await callers.finish("b0")
    assert (callers.started[-1], admission_control.waiting_count) == ("a6", 1)


async def test_a_request_that_would_wait_too_long_is_refused_at_once() -> None:
    """The expected time of the work ahead decides: five more requests fit into the deadline here, the next does not."""
    admission_control = create_admission(wait_seconds=DEADLINE_OF_FIVE_MORE)
    callers = Callers(admission_control)
    for number in range(6):
        assert not admission_control.would_refuse("a", LONG_COST)
        await callers.request(f"a{number}")
    assert admission_control.would_refuse("a", LONG_COST)
    await callers.request("a6")
    assert (callers.started, callers.refused, admission_control.waiting_count) == (["a0"], ["a6"], 5)


async def test_a_burst_of_a_few_requests_waits_however_long_they_take() -> None:
    """Four pages with slow charts that are opened together are answered one after another; further ones are refused."""
    callers = Callers(create_admission(wait_seconds=1.0))
    for number in range(6):
        await callers.request(f"a{number}", 1.0)
    assert (callers.started, callers.refused) == (["a0"], ["a5"])


async def test_a_full_queue_refuses_the_newest_request_of_the_busiest_caller() -> None:
    """A second caller replaces the newest request of the caller who fills the queue."""
    admission_control = create_admission(wait_seconds=DEADLINE_OF_FIVE_MORE)
    callers = Callers(admission_control)
    for name in ("a0", "a1", "a2", "a3", "a4", "a5"):
        await callers.request(name)
    assert admission_control.would_refuse("a", LONG_COST)
    assert not admission_control.would_refuse("b", LONG_COST)
    await callers.request("b1")
    assert callers.refused == ["a5"]
    await callers.finish_in_turn()
    assert callers.started == ["a0", "a1", "b1", "a2", "a3", "a4"]


async def test_a_caller_with_one_request_is_not_refused_because_of_busier_ones() -> None:
    """Even an expensive request is accepted while several cheap ones of another caller wait."""
    admission_control = create_admission(wait_seconds=DEADLINE_OF_FIVE_MORE)
    callers = Callers(admission_control)
    for name in ("a0", "a1", "a2", "a3", "a4", "a5"):
        await callers.request(name)

    assert not admission_control.would_refuse("b", 100 * LONG_COST)
    await callers.request("b1", 100 * LONG_COST)
    assert callers.refused == ["a5"]


async def test_a_request_that_has_waited_for_the_whole_time_is_refused() -> None:
    """If no capacity becomes free in time, the waiting request is refused, and nothing of it is left in the queue."""
    admission_control = create_admission(wait_seconds=0.05)
    callers = Callers(admission_control)
    await callers.request("a1")
    await callers.request("b1")
    await callers.requests["b1"]
    assert (callers.refused, admission_control.waiting_count) == (["b1"], 0)
    await callers.finish("a1")
    await callers.request("b2")
    assert callers.started == ["a1", "b2"]


async def test_a_cancelled_request_gives_up_its_place() -> None:
    """The next request starts, whether the cancelled one was waiting or running."""
    admission_control = create_admission()
    callers = Callers(admission_control)
    for name in ("a1", "b1", "c1"):
        await callers.request(name)
    callers.requests["b1"].cancel()
    await let_tasks_settle()
    assert admission_control.waiting_count == 1

    async def work() -> None:
        ticket = callers.tickets["a1"]
        try:
            await ticket.run(asyncio.Event().wait())
        finally:
            ticket.release()

    running_request = asyncio.create_task(work())
    await let_tasks_settle()
    running_request.cancel()
    await let_tasks_settle()
    assert running_request.cancelled()
    assert callers.started == ["a1", "c1"]
    await callers.finish("c1")
    assert (admission_control.running_count, admission_control.waiting_count) == (0, 0)


async def test_a_request_that_is_cancelled_when_its_turn_comes_passes_it_on() -> None:
    """The capacity that it has just been given is not lost."""
    callers = Callers(create_admission())
    for name in ("a1", "b1", "c1"):
        await callers.request(name)
    callers.tickets["a1"].release()
    callers.requests["b1"].cancel()
    await let_tasks_settle()
    assert callers.started == ["a1", "c1"]


async def test_a_request_that_waits_for_something_else_makes_room() -> None:
    """While a long request waits for its database or its client, the next one may use the event loop."""
    callers = Callers(create_admission())
    await callers.request("a1")
    await callers.request("b1")
    database_answered = asyncio.Event()
    running_request = asyncio.ensure_future(wait_with_ticket(callers.tickets["a1"], database_answered))
    async with asyncio.timeout(10):
        await callers.requests["b1"]
    assert callers.started == ["a1", "b1"]
    database_answered.set()
    await running_request


async def test_a_request_that_takes_very_long_lets_others_start() -> None:
    """A long request that never waits shares the event loop with the next one once its turn is over."""
    callers = Callers(create_admission())
    await callers.request("a1", 100.0)
    await callers.request("b1")

    async def work_until_the_next_has_started() -> None:
        while "b1" not in callers.started:
            await asyncio.sleep(0)

    async with asyncio.timeout(10):
        await callers.tickets["a1"].run(work_until_the_next_has_started())


async def wait_with_ticket(ticket: Ticket, event: asyncio.Event) -> None:
    """Do nothing but wait for an event, as the work of the request that has this ticket."""
    await ticket.run(event.wait())


async def test_only_the_time_on_the_event_loop_is_counted() -> None:
    """Waiting is not counted, and a call in another task is counted towards the request that made it."""
    ticket = await create_admission().enter("a", SHORT_COST)
    tickets_of_calls: list[Ticket] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        tickets_of_calls.append(ticket)
        sum(range(200_000))

    async def receive() -> Any:
        raise AssertionError

    async def send(message: Any) -> None:
        raise AssertionError(message)

    async def work() -> None:
        await asyncio.sleep(0.2)
        seconds_before = ticket.used_seconds
        assert seconds_before < 0.2
        await asyncio.create_task(SameTicketMiddleware(application)({}, receive, send))
        assert ticket.used_seconds > seconds_before

    await ticket.run(work())
    assert tickets_of_calls == [ticket]


async def test_the_result_of_the_work_is_returned_and_its_exception_raised() -> None:
    """A wait in the middle of the work changes neither."""
    ticket = await create_admission().enter("a", SHORT_COST)

    async def fail() -> None:
        await asyncio.sleep(0)
        raise KeyError("lost")

    assert await ticket.run(asyncio.sleep(0, "done")) == "done"
    with pytest.raises(KeyError, match="lost"):
        await ticket.run(fail())


async def test_idle_callers_are_forgotten() -> None:
    """The memory of past callers stays small, however many there have been."""
    admission_control = create_admission()
    running_place = await admission_control.enter("first", LONG_COST)
    requests = [asyncio.create_task(admission_control.enter("second", LONG_COST))]
    for number in range(3000):
        requests.append(asyncio.create_task(admission_control.enter(number, LONG_COST)))
        await asyncio.sleep(0)
        running_place.release()
        running_place = await requests.pop(0)
    assert admission_control.waiting_count == 1
    assert len(admission_control._long_lane._finish_tags) <= 1001


def test_costs_are_learned_by_route_and_size() -> None:
    """The cost of a ranking with explanations is expected of later ones of about the same size, and of nothing else."""
    costs = RequestCosts()
    path = "/api/v1/datasets/score"
    for _ in range(50):
        costs.record(classify_request("POST", path, b"limit=1000&explain=true"), 0.02)
    similar_kind = classify_request("POST", path, b"explain=true&limit=900")
    assert costs.expected_seconds(similar_kind) == pytest.approx(0.02, rel=0.01)
    for query in (b"limit=20&explain=true", b"limit=1000", b""):
        assert costs.expected_seconds(classify_request("POST", path, query)) == DEFAULT_SECONDS


def test_records_of_one_route_share_their_cost() -> None:
    """Identifiers of both kinds are ignored in a path, but the rest of the path is not."""
    path = "/api/v1/datasets/0190b7a8-0000-7000-8000-000000000001"
    assert classify_request("GET", path, b"") == classify_request("GET", "/api/v1/datasets/7", b"")
    assert classify_request("GET", f"{path}/source", b"") != classify_request("GET", path, b"")


def test_addresses_do_not_fill_the_memory() -> None:
    """Learned costs take little memory, however many addresses there are and however long they are."""
    costs = RequestCosts()
    for number in range(5000):
        costs.record(classify_request("GET", f"/app/static/{number:06}x" + "y" * 1000, b""), 0.001)
        costs.record(classify_request("GET", f"/app/static/{number:06}x", b""), 0.001)
    assert len(costs._averages) <= 1000
    assert max(len(path) for _, path, _, _ in costs._averages) <= 500
