"""List and score through the whole product, beside a plain FastAPI + SQLAlchemy service, in CPU time a request.

Both serve the same 10 000 records from the same database file; blocks of requests alternate between them in one run,
and the CPU time is the server process's own, threads included. The "ready answer" is FastAPI with a model of the body
and a `response_model` over the very items that the product answers with, as Python objects in memory; it knows no
users, logs nothing and sends two headers. "Direct" is the selection backend on its own, asked for the same user.
"""

import argparse
import asyncio
import functools
import itertools
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import httpx2
import uvloop

from benchmarks.catalogs import fill

LIST = "page=1&page_size=20&sort_by=dataset_name&year_min=2000"
BODY = (
    b'{"filters":{"year_min":2000},"weights":[{"criterion_name":"ethical_score","weight":0.4},'
    b'{"criterion_name":"technical_score","weight":0.4},{"criterion_name":"popularity_score","weight":0.2}]}'
)
JSON = {"Content-Type": "application/json"}
CONNECTIONS = 16
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


class Server:
    """A server process and its CPU time."""

    def __init__(self, command: list[str], environment: dict[str, str], address: str) -> None:
        own = {k: v for k, v in os.environ.items() if not k.startswith("TOUCHSTONE_")}
        self.address = address
        self.process = subprocess.Popen(command, env=own | environment, stdout=subprocess.DEVNULL)
        for _ in range(600):
            try:
                if httpx2.get(f"{address}/openapi.json", timeout=5).status_code == 200:
                    return
            except httpx2.HTTPError:
                time.sleep(0.1)
        raise SystemExit(f"{command} did not answer")

    def cpu_seconds(self) -> float:
        """User and system time of the process so far, to the nanosecond: ticks of 10 ms would blur short blocks."""
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9

    def stop(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.wait(30)


def raw(method: str, target: str, body: bytes = b"", *, token: str = "", user_id: str = "") -> bytes:
    """The bytes of one request on a connection that is kept."""
    lines = [f"{method} {target} HTTP/1.1", "Host: bench", f"Content-Length: {len(body)}"]
    lines += ["Content-Type: application/json"] if body else []
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += [f"X-User-ID: {user_id}"] if user_id else []
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


class Client(asyncio.Protocol):
    """One connection that asks its next question as soon as an answer is complete."""

    def __init__(self, questions: Iterator[bytes], done: asyncio.Future[None]) -> None:
        self.questions, self.done = questions, done
        self.received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask the first question."""
        self.transport = cast(asyncio.Transport, transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        """Ask the next question once the answer is complete."""
        self.received += data
        if is_complete(self.received):
            assert self.received.startswith(b"HTTP/1.1 200"), self.received[:1000]
            self.received.clear()
            self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody may hang up before all is answered."""
        if not self.done.done():
            self.done.set_exception(exc or ConnectionResetError())

    def _ask(self) -> None:
        question = next(self.questions, None)
        if question is not None:
            self.transport.write(question)
        else:
            self.done.set_result(None)
            self.transport.close()


def is_complete(received: bytearray) -> bool:
    """Whether this is a whole answer, as long as its headers say or in chunks."""
    end = received.find(b"\r\n\r\n")
    length = LENGTH.search(received, 0, end)
    if length:
        return len(received) >= end + 4 + int(length[1])
    return received.endswith(b"\r\n0\r\n\r\n")


async def converse(address: str, questions: Iterator[bytes]) -> None:
    """Ask the questions over a few connections at once, and wait for every answer."""
    loop, (host, port) = asyncio.get_running_loop(), address.removeprefix("http://").split(":")
    ends: list[asyncio.Future[None]] = [loop.create_future() for _ in range(CONNECTIONS)]
    for end in ends:
        await loop.create_connection(functools.partial(Client, questions, end), host, int(port))
    await asyncio.gather(*ends)


def block(server: Server, questions: Iterator[bytes], seconds: float) -> float:
    """CPU microseconds a request over about `seconds` of work."""
    count, spent = 2 * CONNECTIONS, 0.0
    while spent < seconds / 2:
        before = server.cpu_seconds()
        uvloop.run(converse(server.address, itertools.islice(questions, count)))
        spent = server.cpu_seconds() - before
        count = count if spent >= seconds / 2 else count * 3
    return spent / count * 1e6


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def start(folder: Path) -> tuple[Server, Server, Server]:
    """The product, its selection backend on its own, and the peer, all on one database."""
    ports = [free_port() for _ in range(3)]
    variables = {
        "TOUCHSTONE_DATA_DIR": str(folder),
        "TOUCHSTONE_METRICS_PORT": "0",
        "TOUCHSTONE_DEMO": "false",
        "TOUCHSTONE_LOG_LEVEL": "warning",
    }
    serve = [sys.executable, "-m", "touchstone", "serve"]
    product, backend = (
        Server([*serve, *part], variables | {"TOUCHSTONE_PORT": str(port)}, f"http://127.0.0.1:{port}")
        for part, port in (([], ports[0]), (["selection"], ports[1]))
    )
    options = ["--port", str(ports[2]), "--no-access-log", "--log-level", "warning"]
    peer = Server(
        [sys.executable, "-m", "uvicorn", "benchmarks.plain_service:app", *options],
        {"PLAIN_DATABASE": str(folder / "touchstone.db")},
        f"http://127.0.0.1:{ports[2]}",
    )
    return product, backend, peer


def sign_in(address: str) -> tuple[str, str]:
    """The token and the id of a new user."""
    account = {"email": "bench@example.org", "password": "a long enough one"}
    made = httpx2.post(f"{address}/api/v1/auth/register", json=account, timeout=30).raise_for_status()
    credentials = {"username": account["email"], "password": account["password"]}
    answer = httpx2.post(f"{address}/api/v1/auth/login", data=credentials, timeout=30).raise_for_status()
    return answer.json()["access_token"], made.json()["id"]


def make_ready(product: Server, peer: Server, token: str, count: int) -> None:
    """Hand the product's ranking to the peer as its ready result, and make sure that both then answer the same."""
    mine = httpx2.post(
        f"{product.address}/api/v1/datasets/score?limit={count}",
        content=BODY,
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
    )
    items = mine.raise_for_status().content
    httpx2.put(f"{peer.address}/ready", content=items, headers=JSON, timeout=60).raise_for_status()
    theirs = httpx2.post(f"{peer.address}/ready?limit={count}", content=BODY, headers=JSON, timeout=60)
    assert mine.json() == theirs.raise_for_status().json()


def anew(method: str, target: str, token: str = "") -> Iterator[bytes]:
    """The question with another weight each time, so that no answer is remembered."""
    for number in itertools.count():
        yield raw(method, target, BODY.replace(b"0.4}", b"0.4%06d}" % number), token=token)


@dataclass(frozen=True, slots=True)
class Measure:
    """Two ways of answering, and how many times less CPU a request ours is to cost; 0: a figure without a goal."""

    name: str
    ours: tuple[Server, Iterator[bytes]]
    other: tuple[Server, Iterator[bytes]]
    goal: float = 0.0


def measures(product: Server, backend: Server, peer: Server) -> list[Measure]:
    """What is compared with what."""
    token, user_id = sign_in(product.address)
    make_ready(product, peer, token, 10_000)
    score = "/api/v1/datasets/score?limit="
    top20 = itertools.repeat(raw("POST", f"{score}20", BODY, token=token))
    ready20 = itertools.repeat(raw("POST", "/ready?limit=20", BODY))
    fresh20 = anew("POST", f"{score}20", token)
    return [
        Measure(
            "list of 20, beside plain",
            (product, itertools.repeat(raw("GET", f"/api/v1/datasets/?{LIST}", token=token))),
            (peer, itertools.repeat(raw("GET", f"/datasets?{LIST}"))),
            3.0,
        ),
        Measure(
            "top 20, asked anew, beside plain",
            (product, fresh20),
            (peer, itertools.repeat(raw("POST", "/datasets/score?limit=20", BODY))),
            3.0,
        ),
        Measure("top 20, beside a ready answer", (product, top20), (peer, ready20), 3.5),
        Measure("top 20, asked anew, beside a ready answer", (product, fresh20), (peer, ready20)),
        Measure(
            "10 000 items, beside a ready answer",
            (product, itertools.repeat(raw("POST", f"{score}10000", BODY, token=token))),
            (peer, itertools.repeat(raw("POST", "/ready?limit=10000", BODY))),
            1.0,
        ),
        Measure(
            "top 20 through the gateway, beside direct",
            (product, top20),
            (backend, itertools.repeat(raw("POST", "/datasets/score?limit=20", BODY, user_id=user_id))),
            1 / 1.15,
        ),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds of one block")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(fill(Path(name) / "touchstone.db", wanted.records))
        servers = start(Path(name))
        print(f"{wanted.records} records, CPU µs a request, median of {wanted.rounds} alternating blocks\n")
        print(f"| {'':42}|     ours |    other | other ÷ ours | wanted |\n|---|---:|---:|---:|---|")
        for one in measures(*servers):
            report(one, wanted.rounds, wanted.seconds)
        for server in servers:
            server.stop()


def report(one: Measure, rounds: int, seconds: float) -> None:
    """Measure and print a line."""
    pairs = [(block(*one.ours, seconds), block(*one.other, seconds)) for _ in range(rounds)]
    ratio = statistics.median(other / ours for ours, other in pairs)
    ours, other = (statistics.median(column) for column in zip(*pairs, strict=True))
    verdict = f"≥ {one.goal:.2f}: {'pass' if ratio >= one.goal else 'missed'}" if one.goal else ""
    print(f"| {one.name:42}| {ours:8.1f} | {other:8.1f} | {ratio:12.2f} | {verdict} |", flush=True)


if __name__ == "__main__":
    main()
