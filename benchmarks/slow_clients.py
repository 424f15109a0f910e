"""Clients that keep a connection busy without ever finishing, and what everybody else notices of them.

130 and then 900 sockets of each kind come from 127.0.0.2: headers that never end, a body of one byte every four
seconds, an answer that is never read, and half of a second request. Meanwhile a few users on 127.0.0.1 ask for lists
at a steady rate. Targets: their p99 is at most 1.5 times that of the quiet seconds before and after, and every slow
socket is closed within 10 s. `python -m benchmarks.slow_clients [--short]`
"""

import argparse
import asyncio
import contextlib
import json
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.serving import LIST, Server, free_port, is_complete, raw, sign_in

SLOW_ADDRESS: Final = "127.0.0.2"
DRIP_SECONDS: Final = 4.0
ATTACK_SECONDS: Final = 12.0
CLOSED_GOAL, RATIO_GOAL = 10.0, 1.5
USERS, RATE = 4, 100.0
COUNTS: Final = (130, 900)


@dataclass(frozen=True, slots=True)
class Kind:
    """A way of being slow: what is sent at first, what is sent every four seconds, how much may be received."""

    first: bytes
    drip: bytes
    receive_buffer: int = 0


KINDS: Final = {
    "headers": Kind(b"GET / HTTP/1.1\r\nHost: bench\r\nX-Slow: ", b"a"),
    "body": Kind(b"POST /api/v1/auth/login HTTP/1.1\r\nHost: bench\r\nContent-Length: 1000\r\n\r\n", b"a"),
    "unread answer": Kind(b"GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\nHost: bench\r\n\r\n", b"", 4096),
    "second request": Kind(b"GET /health/live HTTP/1.1\r\nHost: bench\r\n\r\nGET / HTTP/1.1\r\nHost: b", b"a"),
}


def attack(address: str, name: str, count: int) -> None:
    """Open the slow sockets, keep them going, and print when each was closed, in seconds after it was opened."""
    kind, (host, port) = KINDS[name], address.removeprefix("http://").split(":")
    poll, opened, sockets = select.poll(), {}, {}
    for _ in range(count):
        client = socket.socket()
        if kind.receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, kind.receive_buffer)
        client.bind((SLOW_ADDRESS, 0))
        client.connect((host, int(port)))
        client.sendall(kind.first)
        client.setblocking(False)
        poll.register(client, select.POLLRDHUP)  # an end is noticed without reading
        sockets[client.fileno()] = client
        opened[client.fileno()] = time.monotonic()
    print("open", flush=True)

    closed: list[float] = []
    end, next_drip = time.monotonic() + ATTACK_SECONDS, time.monotonic() + DRIP_SECONDS
    while sockets and time.monotonic() < end:
        for descriptor, _ in poll.poll(100):
            closed.append(time.monotonic() - opened[descriptor])
            poll.unregister(descriptor)
            sockets.pop(descriptor).close()
        if kind.drip and time.monotonic() >= next_drip:
            next_drip += DRIP_SECONDS
            for client in sockets.values():
                with contextlib.suppress(OSError):  # closed since it was looked at: noticed in the next round
                    client.send(kind.drip)
    print(json.dumps({"open": len(sockets), "slowest": max(closed, default=0.0)}), flush=True)


class Users:
    """A few users who ask at a steady rate, whatever the answers take."""

    def __init__(self, address: str, token: str) -> None:
        self.question = raw("GET", f"/api/v1/datasets/?{LIST}", token=token)
        self.host, self.port = address.removeprefix("http://").split(":")

    async def ask(self, seconds: float) -> list[float]:
        """Ask for so long; how long each answer took, in milliseconds, from when it was due to be asked for."""
        users = [self._ask_one(seconds, number / RATE) for number in range(USERS)]
        return [taken for one in await asyncio.gather(*users) for taken in one]

    async def _ask_one(self, seconds: float, delay: float) -> list[float]:
        reader, writer = await asyncio.open_connection(self.host, int(self.port))
        taken, loop = [], asyncio.get_running_loop()
        due, end = loop.time() + delay, loop.time() + seconds
        while due < end:
            await asyncio.sleep(max(0.0, due - loop.time()))
            writer.write(self.question)
            received = bytearray()
            while not is_complete(received):
                part = await reader.read(1 << 20)
                assert part, "a user's connection was closed"
                received += part
            assert received.startswith(b"HTTP/1.1 200"), received[:200]
            taken.append((loop.time() - due) * 1000)
            due += USERS / RATE
        writer.close()
        return taken


def p99(values: list[float]) -> float:
    """The 99th percentile."""
    return statistics.quantiles(values, n=100)[98]


async def measure(users: Users, address: str, name: str, count: int) -> tuple[float, float, int, float]:
    """The users' p99 in quiet and beside the slow sockets, how many of these stayed open, and the slowest closing."""
    quiet = await users.ask(ATTACK_SECONDS / 2)
    command = [sys.executable, "-m", "benchmarks.slow_clients", "--attack", name, "--count", str(count)]
    attacker = await asyncio.create_subprocess_exec(*command, "--address", address, stdout=subprocess.PIPE)
    beside = await users.ask(ATTACK_SECONDS)
    lines = (await attacker.communicate())[0].splitlines()
    result = json.loads(lines[-1])
    quiet += await users.ask(ATTACK_SECONDS / 2)
    return p99(quiet), p99(beside), result["open"], result["slowest"]


def run(counts: Sequence[int], names: Sequence[str]) -> None:
    """Start the product and print the table for some kinds of slow sockets."""
    from benchmarks.catalogs import fill  # noqa: PLC0415 - the attackers do without it

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(fill(Path(folder) / "touchstone.db", 1000))
        port = free_port()
        variables = {
            "TOUCHSTONE_DATA_DIR": folder,
            "TOUCHSTONE_DEMO": "false",
            "TOUCHSTONE_LOG_LEVEL": "warning",
            "TOUCHSTONE_METRICS_PORT": "0",
            "TOUCHSTONE_PORT": str(port),
        }
        product = Server([sys.executable, "-m", "touchstone", "serve"], variables, f"http://127.0.0.1:{port}")
        users = Users(product.address, sign_in(product.address)[0])
        print("| slow sockets | users' p99 in quiet, ms | beside, ms | ratio | target | slowest closed, s | target |")
        print("|---|---:|---:|---:|---|---:|---|")
        for count in counts:
            for name in names:
                quiet, beside, still_open, slowest = asyncio.run(measure(users, product.address, name, count))
                ratio = beside / quiet
                ratio_verdict = "pass" if ratio <= RATIO_GOAL else "missed"
                closed_verdict = "pass" if not still_open and slowest <= CLOSED_GOAL else f"missed: {still_open} open"
                print(
                    f"| {count} {name} | {quiet:.2f} | {beside:.2f} | {ratio:.2f} | ≤ {RATIO_GOAL}: {ratio_verdict} |"
                    f" {slowest:.1f} | ≤ {CLOSED_GOAL:.0f}: {closed_verdict} |",
                    flush=True,
                )
        product.stop()


def main() -> None:
    """Run the comparison, or be the slow clients of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="130 sockets of each kind only")
    parser.add_argument("--kinds", choices=KINDS, nargs="+", default=tuple(KINDS))
    parser.add_argument("--attack", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.attack:
        attack(options.address, options.attack, options.count)
    else:
        run(COUNTS[:1] if options.short else COUNTS, options.kinds)


if __name__ == "__main__":
    main()
