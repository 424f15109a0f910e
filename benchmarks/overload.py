"""Overload: useful answers, waiting and refusals at multiples of capacity, and one user's load beside another's list.

`python -m benchmarks.overload [--seconds 6] [--records 5000] [--limit 1000] [--loads 0.5 1 2 5 10]`. Rankings with full
explanations (of `--limit` places) are asked of the whole product by a load generator in a process of its own. Requests
arrive at random (Poisson) moments and whether or not earlier ones have been answered, each on an idle connection or a
new one. Capacity is what 4 connections get that always ask, right before and after each load; "normal" is the 99th
percentile of the answer times at half of it. Times count from the arrival, so a generator that is late counts against
the service.
"""

import argparse
import asyncio
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self, cast

import httpx2
import uvloop

from benchmarks.catalogs import fill
from benchmarks.serving import BODY, Server, free_port, is_complete, raw

RANKING: Final = "/api/v1/datasets/score?limit={limit}&explain=true"
LIST: Final = "/api/v1/datasets/?page=1&page_size=20"
TIMEOUT_SECONDS: Final = 10.0
CAPACITY_CONNECTIONS: Final = 4
GREEDY_CONNECTIONS: Final = 128
RECOVERY_INTERVAL_SECONDS: Final = 0.05
THROUGHPUT_TARGET, SLOWDOWN_TARGET = 0.95, 2.0
REFUSAL_TARGET_MS, RECOVERY_TARGET_SECONDS = 20.0, 1.0
PASSWORD: Final = "a long enough one"


@dataclass
class Outcome:
    """What the clients of one run saw: answer times in milliseconds by status, and how many gave up."""

    seconds: float = 0.0
    times: dict[str, list[float]] = field(default_factory=dict)
    timeouts: int = 0

    def add(self, status: str, seconds: float) -> None:
        """Count one answer."""
        self.times.setdefault(status, []).append(seconds * 1000)

    @property
    def answers(self) -> list[float]:
        """The times of useful answers."""
        return self.times.get("200", [])

    @property
    def refusals(self) -> list[float]:
        """The times of all other answers."""
        return [time for status, times in self.times.items() if status != "200" for time in times]


def percentile(times: list[float], share: float = 0.99) -> float:
    """The time that this share of the requests did not exceed."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))] if times else float("nan")


class Connection(asyncio.Protocol):
    """One connection of the load generator, with one request on its way at most."""

    def __init__(self) -> None:
        self.received = bytearray()
        self.answer: asyncio.Future[str] | None = None
        self.is_open = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        self.transport = cast(asyncio.Transport, transport)

    async def ask(self, question: bytes) -> str:
        """The status of the answer, once it is complete."""
        self.answer = asyncio.get_running_loop().create_future()
        self.transport.write(question)
        return await self.answer

    def data_received(self, data: bytes) -> None:
        """Collect the answer."""
        self.received += data
        if self.answer and not self.answer.done() and is_complete(self.received):
            status = self.received[9:12].decode()
            self.is_open = b"connection: close" not in self.received[:1000]
            self.received.clear()
            self.answer.set_result(status)

    def connection_lost(self, exc: Exception | None) -> None:
        """An answer that is missing counts as a connection that broke."""
        self.is_open = False
        if self.answer and not self.answer.done():
            self.answer.set_result("cut")


class Generator:
    """The load on one address, from one user."""

    def __init__(self, port: int, question: bytes) -> None:
        self.port = port
        self.question = question
        self.idle: deque[Connection] = deque()
        self.outcome = Outcome()

    async def request(self, arrival: float) -> str:
        """One request: on an idle connection, else on a new one."""
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                connection = self.idle.popleft() if self.idle else await self._connect()
                status = await connection.ask(self.question)
        except TimeoutError:
            self.outcome.timeouts += 1
            return "timeout"
        if connection.is_open:
            self.idle.append(connection)
        self.outcome.add(status, time.perf_counter() - arrival)
        return status

    async def open_loop(self, rate: float, seconds: float) -> Outcome:
        """Requests at random moments, `rate` a second."""
        chance, begin = random.Random(1), time.perf_counter()
        arrival, requests = begin, []
        while (arrival := arrival + chance.expovariate(rate)) < begin + seconds:
            if (pause := arrival - time.perf_counter()) > 0:
                await asyncio.sleep(pause)
            requests.append(asyncio.ensure_future(self.request(arrival)))
        self.outcome.seconds = time.perf_counter() - begin
        answered = len(self.outcome.answers)
        await asyncio.gather(*requests)
        self.outcome.times["after the end"] = [0.0] * (len(self.outcome.answers) - answered)
        return self.outcome

    async def closed_loop(self, connections: int, seconds: float) -> Outcome:
        """Connections that ask again as soon as they have an answer."""
        begin = time.perf_counter()

        async def converse() -> None:
            while time.perf_counter() < begin + seconds:
                await self.request(time.perf_counter())

        await asyncio.gather(*(converse() for _ in range(connections)))
        self.outcome.seconds = time.perf_counter() - begin
        return self.outcome

    async def regular(self, pause: float, seconds: float) -> Outcome:
        """One request after the other, with a pause between."""
        begin = time.perf_counter()
        while time.perf_counter() < begin + seconds:
            await self.request(time.perf_counter())
            await asyncio.sleep(pause)
        self.outcome.seconds = time.perf_counter() - begin
        return self.outcome

    async def recovery(self, normal: float) -> Outcome:
        """Requests after an overload, until three in a row are answered within twice `normal` milliseconds."""
        begin, good = time.perf_counter(), 0
        while good < 3 and time.perf_counter() < begin + 30:
            asked = time.perf_counter()
            status = await self.request(asked)
            good = good + 1 if status == "200" and time.perf_counter() - asked <= 2 * normal / 1000 else 0
            if good == 1:
                self.outcome.seconds = time.perf_counter() - begin
            await asyncio.sleep(RECOVERY_INTERVAL_SECONDS)
        return self.outcome

    async def _connect(self) -> Connection:
        _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", self.port)
        return connection


class Load:
    """A generator at work in a process of its own."""

    def __init__(self, port: int, question: bytes, way: str, *amounts: float) -> None:
        command = [sys.executable, "-m", "benchmarks.overload", "--generate", way, *map(str, amounts)]
        self.output = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe would hold a long outcome back
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.output)
        assert self.process.stdin
        self.process.stdin.write(json.dumps([port, question.decode()]).encode() + b"\n")
        self.process.stdin.flush()

    def outcome(self) -> Outcome:
        """What its clients saw, once it has ended."""
        self.process.communicate()
        with self.output:
            self.output.seek(0)
            return Outcome(**json.load(self.output))


def generate(way: str, amounts: list[float]) -> None:
    """Be the process of a generator: its target comes on the standard input, its outcome goes to the output."""
    port, question = json.loads(sys.stdin.readline())
    generator = Generator(port, question.encode())
    ways: dict[str, Any] = {
        "open": generator.open_loop,
        "closed": lambda connections, seconds: generator.closed_loop(int(connections), seconds),
        "regular": generator.regular,
        "recovery": generator.recovery,
    }
    print(json.dumps(asdict(uvloop.run(ways[way](*amounts)))))


@dataclass(frozen=True)
class Service:
    """The product under test, and two users' requests."""

    server: Server
    port: int
    ranking: bytes
    list: bytes

    @classmethod
    def start(cls, folder: Path, limit: int) -> Self:
        """Serve the database in a folder, and prepare requests for rankings of `limit` places."""
        port = free_port()
        variables = {
            "TOUCHSTONE_DATA_DIR": str(folder),
            "TOUCHSTONE_PORT": str(port),
            "TOUCHSTONE_METRICS_PORT": "0",
            "TOUCHSTONE_DEMO": "false",
            "TOUCHSTONE_LOG_LEVEL": "error",
        }
        server = Server([sys.executable, "-m", "touchstone", "serve"], variables, f"http://127.0.0.1:{port}")
        greedy, other = (_token(server.address, f"{name}@example.org") for name in ("greedy", "other"))
        return cls(
            server, port, raw("POST", RANKING.format(limit=limit), BODY, token=greedy), raw("GET", LIST, token=other)
        )

    def load(self, way: str, *amounts: float) -> tuple[Outcome, float]:
        """The outcome of a load of rankings, and the CPU seconds of the service meanwhile."""
        before = self.server.cpu_seconds()
        outcome = Load(self.port, self.ranking, way, *amounts).outcome()
        return outcome, self.server.cpu_seconds() - before

    def capacity(self, seconds: float) -> float:
        """The answers per second that connections which always ask get."""
        outcome, _ = self.load("closed", CAPACITY_CONNECTIONS, seconds)
        return len(outcome.answers) / outcome.seconds


def _token(address: str, email: str) -> str:
    account = {"email": email, "password": PASSWORD}
    httpx2.post(f"{address}/api/v1/auth/register", json=account, timeout=30).raise_for_status()
    credentials = {"username": email, "password": PASSWORD}
    answer = httpx2.post(f"{address}/api/v1/auth/login", data=credentials, timeout=30).raise_for_status()
    token: str = answer.json()["access_token"]
    return token


def verdict(value: float, target: float, *, at_least: bool = False) -> str:
    """The value with whether it reaches its target; a dash if nothing was measured."""
    if math.isnan(value):
        return "–"
    is_reached = value >= target if at_least else value <= target
    return f"{value:.3g} {'pass' if is_reached else 'missed'}"


def report_loads(service: Service, loads: list[float], seconds: float) -> None:
    """Print a line for each load."""
    service.load("closed", CAPACITY_CONNECTIONS, 2)  # so that the costs of requests are known
    busy, cpu = service.load("closed", CAPACITY_CONNECTIONS, seconds)
    capacity = len(busy.answers) / busy.seconds
    half, _ = service.load("open", capacity / 2, 2 * seconds)
    normal = percentile(half.answers)
    print(f"Capacity {capacity:.1f} answers a second ({1000 * cpu / len(busy.answers):.1f} ms of CPU each);")
    print(f"at half of it p99 {normal:.0f} ms (normal), median {statistics.median(half.answers):.0f} ms.\n")
    print("| load | requests | useful ÷ capacity | p99 admitted ÷ normal | p99 refused, ms | timeouts |", end="")
    print(" requests per CPU second | recovery, s |\n|---:|---:|---|---|---|---:|---:|---|")
    for load in loads:
        report_load(service, load, normal, seconds)


def report_load(service: Service, load: float, normal: float, seconds: float) -> None:
    """Print the line of one load, whose capacity is measured right before and after it."""
    before = service.capacity(seconds / 2)
    outcome, cpu = service.load("open", load * before, seconds)
    recovery, _ = service.load("recovery", normal)
    capacity = statistics.mean((before, service.capacity(seconds / 2)))

    in_time = len(outcome.answers) - len(outcome.times.pop("after the end"))
    requests = len(outcome.answers) + len(outcome.refusals) + outcome.timeouts
    throughput = in_time / outcome.seconds / capacity
    cells = (
        f"{load:g}×",
        str(requests),
        verdict(throughput, THROUGHPUT_TARGET, at_least=True) if load > 1 else f"{throughput:.3g}",
        verdict(percentile(outcome.answers) / normal, SLOWDOWN_TARGET),
        verdict(percentile(outcome.refusals), REFUSAL_TARGET_MS),
        str(outcome.timeouts),
        f"{requests / cpu:.0f}",
        verdict(recovery.seconds, RECOVERY_TARGET_SECONDS),
    )
    statuses = Counter({status: len(times) for status, times in outcome.times.items()})
    print(f"| {' | '.join(cells)} |", flush=True)
    print(f"  {dict(statuses)}", file=sys.stderr)


def report_fairness(service: Service, seconds: float) -> None:
    """Print how one user's list fares beside another user's rankings and lists on many connections."""
    print(f"\nOne user's list of 20 beside another user's {GREEDY_CONNECTIONS} connections that always ask:\n")
    print("| the other asks for | median, ms | p99, ms | refused |\n|---|---:|---:|---:|")
    other_lists = raw("GET", LIST + "&sort_by=dataset_name", token=_bearer(service.ranking))
    for name, question in (("nothing", b""), ("rankings", service.ranking), ("lists", other_lists)):
        load = Load(service.port, question, "closed", GREEDY_CONNECTIONS, seconds + 1) if question else None
        time.sleep(1)
        outcome = Load(service.port, service.list, "regular", 0.02, seconds - 1).outcome()
        if load:
            load.outcome()
        times = outcome.answers
        print(
            f"| {name} | {percentile(times, 0.5):.1f} | {percentile(times):.1f} | {len(outcome.refusals)} |",
            flush=True,
        )


def _bearer(question: bytes) -> str:
    return question.partition(b"Bearer ")[2].partition(b"\r\n")[0].decode()


def main() -> None:
    """Print the tables; or be a load generator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=5000)
    parser.add_argument("--limit", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--loads", type=float, nargs="+", default=[0.5, 1, 2, 5, 10])
    parser.add_argument("--generate", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.generate:
        generate(options.generate[0], [float(amount) for amount in options.generate[1:]])
        return
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(fill(Path(name) / "touchstone.db", options.records))
        service = Service.start(Path(name), options.limit)
        try:
            report_loads(service, options.loads, options.seconds)
            report_fairness(service, options.seconds)
        finally:
            service.server.stop()


if __name__ == "__main__":
    main()
