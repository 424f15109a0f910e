"""Clients that occupy connections without finishing, and their effect on other users.

130 and then 900 sockets of each kind are opened from 127.0.0.2: headers that never end, a body of one byte every four
seconds, an answer that is never read, and half of a second request. Meanwhile, a few users on 127.0.0.1 request lists
at a steady rate. Targets: their p99 is at most 1.5 times the p99 in the quiet seconds before and after, and every slow
socket is closed within 10 s. `python -m benchmarks.slow_clients [--short] [--kinds KIND …]`
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import Final

from benchmarks.product_server import register_user, running_product
from benchmarks.raw_http import LIST_QUERY, MAX_READ_BYTES, encode_request, host_and_port, is_complete_response
from benchmarks.slow_sockets import ATTACK_SECONDS, KINDS

RECORDS: Final = 1000
CLOSED_TARGET_SECONDS: Final = 10.0
RATIO_TARGET: Final = 1.5
USERS: Final = 4
REQUESTS_PER_SECOND: Final = 100.0  # of all users together
SOCKET_COUNTS: Final = (130, 900)


class SteadyUsers:
    """A few users who send requests at a steady rate, regardless of response times."""

    def __init__(self, address: str, token: str) -> None:
        self.host, self.port = host_and_port(address)
        self.request = encode_request("GET", f"/api/v1/datasets/?{LIST_QUERY}", token=token)

    async def send_for(self, seconds: float) -> list[float]:
        """Send requests for the given time, and return their latencies in milliseconds.

        A response counts from the moment at which its request was due, even if the one before it was late.
        """
        users = [self._send_as_one_user(seconds, first_delay=number / REQUESTS_PER_SECOND) for number in range(USERS)]
        latencies_by_user = await asyncio.gather(*users)
        return [latency for latencies in latencies_by_user for latency in latencies]

    async def _send_as_one_user(self, seconds: float, *, first_delay: float) -> list[float]:
        """Send one user's requests on a separate connection, and return their latencies in milliseconds."""
        loop = asyncio.get_running_loop()
        reader, writer = await asyncio.open_connection(self.host, self.port)

        latencies = []
        due_at = loop.time() + first_delay
        end = loop.time() + seconds
        while due_at < end:
            await asyncio.sleep(max(0.0, due_at - loop.time()))
            writer.write(self.request)
            response = await _read_response(reader)
            assert response.startswith(b"HTTP/1.1 200"), response[:200]

            latencies.append((loop.time() - due_at) * 1000)
            due_at += USERS / REQUESTS_PER_SECOND

        writer.close()
        return latencies


async def _read_response(reader: asyncio.StreamReader) -> bytearray:
    """Return the next whole response on a connection."""
    response = bytearray()
    while not is_complete_response(response):
        chunk = await reader.read(MAX_READ_BYTES)
        assert chunk, "a user's connection was closed"
        response += chunk
    return response


@dataclass(frozen=True, slots=True)
class Measurement:
    """The users' p99 latency in milliseconds with and without slow sockets, and the fate of the sockets."""

    quiet_p99: float
    attacked_p99: float
    open_socket_count: int
    slowest_closed_seconds: float

    def print_row(self, name: str) -> None:
        """Print this measurement as a row of the table."""
        ratio = self.attacked_p99 / self.quiet_p99
        ratio_verdict = "pass" if ratio <= RATIO_TARGET else "missed"

        are_closed_in_time = not self.open_socket_count and self.slowest_closed_seconds <= CLOSED_TARGET_SECONDS
        closed_verdict = "pass" if are_closed_in_time else f"missed: {self.open_socket_count} open"

        cells = (
            name,
            f"{self.quiet_p99:.2f}",
            f"{self.attacked_p99:.2f}",
            f"{ratio:.2f}",
            f"≤ {RATIO_TARGET}: {ratio_verdict}",
            f"{self.slowest_closed_seconds:.1f}",
            f"≤ {CLOSED_TARGET_SECONDS:.0f}: {closed_verdict}",
        )
        print(f"| {' | '.join(cells)} |", flush=True)


async def measure(users: SteadyUsers, kind: str, socket_count: int) -> Measurement:
    """Measure the users' latencies before, during and after the attack of one kind of slow sockets."""
    quiet_latencies = await users.send_for(ATTACK_SECONDS / 2)

    arguments = [kind, str(socket_count), users.host, str(users.port)]
    attacker = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.slow_sockets", *arguments, stdout=subprocess.PIPE
    )
    attacked_latencies = await users.send_for(ATTACK_SECONDS)
    output, _ = await attacker.communicate()
    outcome = json.loads(output.splitlines()[-1])

    quiet_latencies += await users.send_for(ATTACK_SECONDS / 2)
    return Measurement(
        quiet_p99=percentile_99(quiet_latencies),
        attacked_p99=percentile_99(attacked_latencies),
        open_socket_count=outcome["still_open"],
        slowest_closed_seconds=outcome["slowest_seconds"],
    )


def percentile_99(values: list[float]) -> float:
    """Return the value that 99 of 100 values do not exceed."""
    return statistics.quantiles(values, n=100)[98]


def main() -> None:
    """Start the product and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="only 130 sockets of each kind")
    parser.add_argument("--kinds", choices=KINDS, nargs="+", default=tuple(KINDS))
    options = parser.parse_args()
    socket_counts = SOCKET_COUNTS[:1] if options.short else SOCKET_COUNTS

    with running_product(RECORDS) as product:
        users = SteadyUsers(product.address, register_user(product.address).token)
        print("| slow sockets | users' p99 in quiet, ms | beside, ms | ratio | target | slowest closed, s | target |")
        print("|---|---:|---:|---:|---|---:|---|")
        for socket_count in socket_counts:
            for kind in options.kinds:
                measurement = asyncio.run(measure(users, kind, socket_count))
                measurement.print_row(f"{socket_count} {kind}")


if __name__ == "__main__":
    main()
