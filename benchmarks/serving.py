"""The CPU time per request of the whole product, compared with a plain FastAPI and SQLAlchemy service.

Both serve the same 10,000 records from the same database file, and receive blocks of requests alternately. CPU time is
the time of all threads of the server process. The "ready answer" is a FastAPI route with a model of the body and a
`response_model`, which returns the same items as the product from Python objects in memory. It has no users, logs
nothing and sends two headers. "Direct" is the selection backend in a separate process, with requests of the same user.
"""

import argparse
import asyncio
import functools
import itertools
import statistics
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import httpx2
import uvloop

from benchmarks.product_server import (
    DATABASE_NAME,
    ServerProcess,
    User,
    catalog_folder,
    free_port,
    register_user,
    start_product,
)
from benchmarks.raw_http import LIST_QUERY, SCORE_BODY, encode_request, host_and_port, is_complete_response

JSON_HEADERS: Final = {"Content-Type": "application/json"}
CONNECTIONS: Final = 16
CONNECTIONS_FOR_LONG_ANSWERS: Final = 4  # with more connections, admission control would refuse requests
READY_ITEMS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Servers:
    """The product, its selection backend on its own, and the plain service, all on one database."""

    product: ServerProcess
    selection: ServerProcess
    plain: ServerProcess

    @classmethod
    def start(cls, data_dir: Path, stack: ExitStack) -> "Servers":
        """Start the three servers one after the other, and register them in `stack` to be stopped."""
        product = start_product(data_dir)
        stack.callback(product.stop)
        selection = start_product(data_dir, "selection")
        stack.callback(selection.stop)
        plain = start_plain_service(data_dir / DATABASE_NAME)
        stack.callback(plain.stop)
        return cls(product, selection, plain)


def start_plain_service(database: Path) -> ServerProcess:
    """Start the service that the product is compared with, as uvicorn serves it without an access log."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "uvicorn", "benchmarks.plain_service:app"),
        *("--port", str(port), "--no-access-log", "--log-level", "warning"),
    ]
    service = ServerProcess(command, {"PLAIN_DATABASE": str(database)}, f"http://127.0.0.1:{port}")
    service.wait_until_ready()
    return service


class RequestingConnection(asyncio.Protocol):
    """A connection that sends its next request as soon as a response is complete.

    All connections take their requests from the same iterator. `finished` is set when there are none left.
    """

    def __init__(self, requests: Iterator[bytes], finished: asyncio.Future[None]) -> None:
        self.requests = requests
        self.finished = finished
        self.received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        self.transport = cast(asyncio.Transport, transport)
        self._send_next()

    def data_received(self, data: bytes) -> None:
        """Send the next request after a complete response. A status other than 200 ends the benchmark."""
        self.received += data
        if is_complete_response(self.received):
            assert self.received.startswith(b"HTTP/1.1 200"), self.received[:1000]
            self.received.clear()
            self._send_next()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let the benchmark fail if the server closes the connection before all requests are answered."""
        if not self.finished.done():
            self.finished.set_exception(exc or ConnectionResetError())

    def _send_next(self) -> None:
        """Send the next request, or close the connection if there is none."""
        request = next(self.requests, None)
        if request is not None:
            self.transport.write(request)
        else:
            self.finished.set_result(None)
            self.transport.close()


async def send_all(address: str, requests: Iterator[bytes], connection_count: int) -> None:
    """Send the requests over a few parallel connections, and wait for all responses."""
    loop = asyncio.get_running_loop()
    host, port = host_and_port(address)
    finished: list[asyncio.Future[None]] = [loop.create_future() for _ in range(connection_count)]

    for connection_finished in finished:
        protocol = functools.partial(RequestingConnection, requests, connection_finished)
        await loop.create_connection(protocol, host, port)
    await asyncio.gather(*finished)


def measure_cpu_microseconds(
    server: ServerProcess, requests: Iterator[bytes], block_seconds: float, connection_count: int
) -> float:
    """Return the CPU time per request, measured over about `block_seconds`.

    The number of requests in a block is not known beforehand, so blocks grow until one of them takes long enough.
    """
    request_count = 2 * connection_count
    while True:
        cpu_seconds_before = server.cpu_seconds()
        uvloop.run(send_all(server.address, itertools.islice(requests, request_count), connection_count))
        used_seconds = server.cpu_seconds() - cpu_seconds_before

        if used_seconds >= block_seconds / 2:
            return used_seconds / request_count * 1e6
        request_count *= 3


def prepare_ready_answer(servers: Servers, user: User) -> None:
    """Give the product's ranking to the plain service as its ready answer, and check that both then answer the same."""
    target = f"score?limit={READY_ITEMS}"
    product_answer = httpx2.post(
        f"{servers.product.address}/api/v1/datasets/{target}", content=SCORE_BODY, headers=user.headers, timeout=60
    ).raise_for_status()

    ready_url = f"{servers.plain.address}/ready"
    httpx2.put(ready_url, content=product_answer.content, headers=JSON_HEADERS, timeout=60).raise_for_status()
    plain_answer = httpx2.post(
        f"{ready_url}?limit={READY_ITEMS}", content=SCORE_BODY, headers=JSON_HEADERS, timeout=60
    ).raise_for_status()
    assert product_answer.json() == plain_answer.json()


def requests_with_new_weights(target: str, token: str) -> Iterator[bytes]:
    """Yield scoring requests with different weights, so that the product cannot answer from its cache."""
    for number in itertools.count():
        body = SCORE_BODY.replace(b"0.4}", b"0.4%06d}" % number)
        yield encode_request("POST", target, body, token=token)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison between the product and a baseline for the same request.

    Attributes:
        target_ratio: the smallest ratio between the CPU times of the baseline and the product, or 0 without a target.
    """

    name: str
    product: tuple[ServerProcess, Iterator[bytes]]
    baseline: tuple[ServerProcess, Iterator[bytes]]
    target_ratio: float = 0.0
    connection_count: int = CONNECTIONS


def comparisons(servers: Servers) -> list[Comparison]:
    """Return the comparisons for a newly registered user."""
    user = register_user(servers.product.address)
    prepare_ready_answer(servers, user)

    def score(path: str, *, token: str = "", user_id: str = "") -> Iterator[bytes]:
        return itertools.repeat(encode_request("POST", path, SCORE_BODY, token=token, user_id=user_id))

    list_request = encode_request("GET", f"/api/v1/datasets/?{LIST_QUERY}", token=user.token)
    product_list = (servers.product, itertools.repeat(list_request))
    product_top20 = (servers.product, score("/api/v1/datasets/score?limit=20", token=user.token))
    product_all = (servers.product, score("/api/v1/datasets/score?limit=10000", token=user.token))
    new_weights = requests_with_new_weights("/api/v1/datasets/score?limit=20", user.token)
    product_new_top20 = (servers.product, new_weights)
    direct_top20 = (servers.selection, score("/datasets/score?limit=20", user_id=user.id))

    plain_list = (servers.plain, itertools.repeat(encode_request("GET", f"/datasets?{LIST_QUERY}")))
    plain_top20 = (servers.plain, score("/datasets/score?limit=20"))
    ready_top20 = (servers.plain, score("/ready?limit=20"))
    ready_all = (servers.plain, score("/ready?limit=10000"))

    return [
        Comparison("list of 20, beside plain", product_list, plain_list, target_ratio=3.0),
        Comparison("top 20, asked anew, beside plain", product_new_top20, plain_top20, target_ratio=3.0),
        Comparison("top 20, beside a ready answer", product_top20, ready_top20, target_ratio=3.5),
        Comparison("top 20, asked anew, beside a ready answer", product_new_top20, ready_top20),
        Comparison(
            "10,000 items, beside a ready answer",
            product_all,
            ready_all,
            target_ratio=1.0,
            connection_count=CONNECTIONS_FOR_LONG_ANSWERS,
        ),
        Comparison("top 20 through the gateway, beside direct", product_top20, direct_top20, target_ratio=1 / 1.15),
    ]


def print_comparison(comparison: Comparison, rounds: int, block_seconds: float) -> None:
    """Measure both servers alternately, and print the row of the table with their medians."""
    measurements = [
        (
            measure_cpu_microseconds(*comparison.product, block_seconds, comparison.connection_count),
            measure_cpu_microseconds(*comparison.baseline, block_seconds, comparison.connection_count),
        )
        for _ in range(rounds)
    ]
    product_median = statistics.median(product_cost for product_cost, _ in measurements)
    baseline_median = statistics.median(baseline_cost for _, baseline_cost in measurements)
    ratio = statistics.median(baseline_cost / product_cost for product_cost, baseline_cost in measurements)

    verdict = ""
    if comparison.target_ratio:
        is_reached = ratio >= comparison.target_ratio
        verdict = f"≥ {comparison.target_ratio:.2f}: {'pass' if is_reached else 'missed'}"
    cells = f"{comparison.name:42}| {product_median:8.1f} | {baseline_median:8.1f} | {ratio:12.2f} | {verdict}"
    print(f"| {cells} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds of one block")
    options = parser.parse_args()

    with catalog_folder(options.records) as data_dir, ExitStack() as stack:
        servers = Servers.start(data_dir, stack)
        print(f"{options.records} records, CPU µs per request, median of {options.rounds} alternating blocks\n")
        print(f"| {'':42}|     ours |    other | other ÷ ours | target |\n|---|---:|---:|---:|---|")
        for comparison in comparisons(servers):
            print_comparison(comparison, options.rounds, options.seconds)


if __name__ == "__main__":
    main()
