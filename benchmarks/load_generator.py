"""A load generator in a separate process, so that it does not compete with the process that prints the results.

`python -m benchmarks.load_generator PATTERN AMOUNT …` reads the target as a line of JSON, sends requests in the given
pattern, and prints what the clients observed as JSON.
"""

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Final, cast

import uvloop

from benchmarks.raw_http import is_complete_response

TIMEOUT_SECONDS: Final = 10.0
RECOVERY_INTERVAL_SECONDS: Final = 0.05
MAX_RECOVERY_SECONDS: Final = 30.0
GOOD_RESPONSES_AFTER_RECOVERY: Final = 3


class Pattern(StrEnum):
    """How a generator spaces its requests, with the amounts that it needs."""

    OPEN = "open"  # requests per second, seconds
    CLOSED = "closed"  # connections, seconds
    REGULAR = "regular"  # pause in seconds, seconds
    RECOVERY = "recovery"  # normal latency in milliseconds


@dataclass
class Outcome:
    """The measurements of the clients in one run.

    Attributes:
        seconds: the duration of sending or, for the pattern RECOVERY, the time that the service needed to recover.
        latencies: milliseconds from arrival to response, by the status of the response; "cut" is a broken connection.
        timeouts: the number of requests that timed out.
        late_answers: the number of answers after the last request was sent.
    """

    seconds: float = 0.0
    latencies: dict[str, list[float]] = field(default_factory=dict)
    timeouts: int = 0
    late_answers: int = 0

    def add(self, status: str, latency_seconds: float) -> None:
        """Count one response."""
        self.latencies.setdefault(status, []).append(latency_seconds * 1000)

    @property
    def answers(self) -> list[float]:
        """The latencies of useful responses."""
        return self.latencies.get("200", [])

    @property
    def refusals(self) -> list[float]:
        """The latencies of all other responses."""
        other_latencies = [latencies for status, latencies in self.latencies.items() if status != "200"]
        return [latency for latencies in other_latencies for latency in latencies]


class Connection(asyncio.Protocol):
    """A connection of the load generator, with at most one request on its way."""

    def __init__(self) -> None:
        self.is_open = True
        self._received = bytearray()
        self._status: asyncio.Future[str] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport for sending requests."""
        self._transport = cast(asyncio.Transport, transport)

    async def send(self, request: bytes) -> str:
        """Send a request, and return the status of its response once this is complete."""
        self._status = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._status

    def data_received(self, data: bytes) -> None:
        """Collect the response, and report its status once it is complete."""
        self._received += data
        is_expected = self._status is not None and not self._status.done()
        if is_expected and is_complete_response(self._received):
            self.is_open = b"connection: close" not in self._received[:1000]
            self._report_status(self._received[9:12].decode())
            self._received.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        """Report a response that will not come as "cut"."""
        self.is_open = False
        self._report_status("cut")

    def _report_status(self, status: str) -> None:
        """Return the status from `send`, if a request is on its way."""
        if self._status is not None and not self._status.done():
            self._status.set_result(status)


class LoadGenerator:
    """The load that one user puts on a server of this machine."""

    def __init__(self, port: int, request: bytes) -> None:
        self.port = port
        self.request = request
        self.outcome = Outcome()
        self._idle_connections: deque[Connection] = deque()

    async def run(self, pattern: Pattern, amounts: list[float]) -> Outcome:
        """Send requests in the given pattern, and return the outcome."""
        if pattern is Pattern.OPEN:
            await self._send_at_random(*amounts)
        elif pattern is Pattern.CLOSED:
            connection_count, seconds = amounts
            await self._send_without_pause(int(connection_count), seconds)
        elif pattern is Pattern.REGULAR:
            await self._send_regularly(*amounts)
        else:
            await self._send_until_recovered(*amounts)
        return self.outcome

    async def _send_at_random(self, rate: float, seconds: float) -> None:
        """Send `rate` requests per second at random times, without waiting for earlier responses."""
        generator = random.Random(1)
        began_at = time.perf_counter()

        requests = []
        arrival = began_at + generator.expovariate(rate)
        while arrival < began_at + seconds:
            delay = arrival - time.perf_counter()
            if delay > 0:
                await asyncio.sleep(delay)
            requests.append(asyncio.ensure_future(self._send_one(arrival)))
            arrival += generator.expovariate(rate)

        self.outcome.seconds = time.perf_counter() - began_at
        answers_in_time = len(self.outcome.answers)
        await asyncio.gather(*requests)
        self.outcome.late_answers = len(self.outcome.answers) - answers_in_time

    async def _send_without_pause(self, connection_count: int, seconds: float) -> None:
        """Send the next request on each connection as soon as the last one is answered."""
        began_at = time.perf_counter()

        async def use_connection() -> None:
            while time.perf_counter() < began_at + seconds:
                await self._send_one(time.perf_counter())

        await asyncio.gather(*(use_connection() for _ in range(connection_count)))
        self.outcome.seconds = time.perf_counter() - began_at

    async def _send_regularly(self, pause_seconds: float, seconds: float) -> None:
        """Send one request after the other, with a pause after each response."""
        began_at = time.perf_counter()
        while time.perf_counter() < began_at + seconds:
            await self._send_one(time.perf_counter())
            await asyncio.sleep(pause_seconds)
        self.outcome.seconds = time.perf_counter() - began_at

    async def _send_until_recovered(self, normal_milliseconds: float) -> None:
        """Send requests after an overload until several consecutive ones take at most twice the normal time.

        The service counts as recovered at the first of these requests.
        """
        began_at = time.perf_counter()
        good_in_a_row = 0
        while good_in_a_row < GOOD_RESPONSES_AFTER_RECOVERY and time.perf_counter() < began_at + MAX_RECOVERY_SECONDS:
            sent_at = time.perf_counter()
            status = await self._send_one(sent_at)

            latency_milliseconds = (time.perf_counter() - sent_at) * 1000
            is_good = status == "200" and latency_milliseconds <= 2 * normal_milliseconds
            good_in_a_row = good_in_a_row + 1 if is_good else 0
            if good_in_a_row == 1:
                self.outcome.seconds = time.perf_counter() - began_at
            await asyncio.sleep(RECOVERY_INTERVAL_SECONDS)

    async def _send_one(self, arrival: float) -> str:
        """Send one request, on an idle connection or else on a new one, and return the status of the response.

        The latency is measured from `arrival`, the time at which the request was due.
        """
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                connection = self._idle_connections.popleft() if self._idle_connections else await self._connect()
                status = await connection.send(self.request)
        except TimeoutError:
            self.outcome.timeouts += 1
            return "timeout"

        if connection.is_open:
            self._idle_connections.append(connection)
        self.outcome.add(status, time.perf_counter() - arrival)
        return status

    async def _connect(self) -> Connection:
        """Return a new connection."""
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(Connection, "127.0.0.1", self.port)
        return connection


class GeneratorProcess:
    """A running load generator in a separate process."""

    def __init__(self, port: int, request: bytes, pattern: Pattern, *amounts: float) -> None:
        command = [sys.executable, "-m", "benchmarks.load_generator", pattern, *map(str, amounts)]
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - a pipe would hold a long outcome back
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self._output)

        # The request contains a token, which must not appear on a command line.
        assert self._process.stdin
        self._process.stdin.write(json.dumps([port, request.decode()]).encode() + b"\n")
        self._process.stdin.flush()

    def wait(self) -> Outcome:
        """Wait for the end of the generator, and return its outcome."""
        self._process.communicate()
        with self._output:
            self._output.seek(0)
            return Outcome(**json.load(self._output))


def main() -> None:
    """Run a load generator as configured on the command line and standard input."""
    pattern, *amounts = sys.argv[1:]
    port, request = json.loads(sys.stdin.readline())
    generator = LoadGenerator(port, request.encode())
    outcome = uvloop.run(generator.run(Pattern(pattern), [float(amount) for amount in amounts]))
    print(json.dumps(asdict(outcome)))


if __name__ == "__main__":
    main()
