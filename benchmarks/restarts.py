"""Restarts under load: 40 clients send requests without a pause while the product is stopped and started repeatedly.

A request is cut off if it was sent on an open connection and no complete answer came back. It is not cut off if the
connection is refused while nothing listens, and the client tries again. Each client keeps its connection until the
product closes it. Target: none is cut off in 50 restarts. `python -m benchmarks.restarts [--restarts 50] [--short]`
"""

import argparse
import asyncio
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.product_server import catalog_folder, free_port, register_user, start_product
from benchmarks.raw_http import LIST_QUERY, MAX_READ_BYTES, encode_request, host_and_port, is_complete_response

RECORDS: Final = 1000
CLIENTS: Final = 40
RUN_SECONDS: Final = 1.0
SHORT_RESTARTS: Final = 5
RECONNECT_SECONDS: Final = 0.1
_CLOSE_HEADER: Final = re.compile(rb"\r\nconnection: close\r\n", re.IGNORECASE)


@dataclass(slots=True)
class Tally:
    """The responses that all clients have received so far."""

    answers: int = 0
    other_answers: int = 0
    cut_requests: int = 0
    refused_connections: int = 0


class Client:
    """A client that sends its next request as soon as it is answered, on the same connection while it may."""

    def __init__(self, address: str, request: bytes, tally: Tally) -> None:
        self.host, self.port = host_and_port(address)
        self.request = request
        self.tally = tally

    async def send_until(self, end: asyncio.Event) -> None:
        """Send requests until the event is set, connecting again whenever a connection has ended."""
        while not end.is_set():
            try:
                reader, writer = await asyncio.open_connection(self.host, self.port)
            except OSError:
                self.tally.refused_connections += 1
                await asyncio.sleep(RECONNECT_SECONDS)
                continue

            await self._use_connection(reader, writer, end)
            writer.close()

    async def _use_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, end: asyncio.Event
    ) -> None:
        """Send requests on one connection until the server announces its end, cuts it, or the event is set."""
        may_continue = True
        while may_continue and not end.is_set():
            try:
                response = await self._send_one(reader, writer)
            except OSError:
                self.tally.cut_requests += 1
                return

            if response.startswith(b"HTTP/1.1 200"):
                self.tally.answers += 1
            else:
                self.tally.other_answers += 1

            headers_end = response.find(b"\r\n\r\n") + 2
            may_continue = _CLOSE_HEADER.search(response, 0, headers_end) is None

    async def _send_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytearray:
        """Send a request and return its whole response.

        Raises:
            OSError: the connection ended before the response was complete.
        """
        response = bytearray()
        writer.write(self.request)
        while not is_complete_response(response):
            chunk = await reader.read(MAX_READ_BYTES)
            if not chunk:
                raise ConnectionResetError
            response += chunk
        return response


async def restart_under_load(data_dir: Path, restart_count: int) -> Tally:
    """Restart the product repeatedly while clients use it, and return the responses of the clients."""
    port = free_port()
    product = await asyncio.to_thread(start_product, data_dir, port=port)
    stop_durations = []
    try:
        user = await asyncio.to_thread(register_user, product.address)
        request = encode_request("GET", f"/api/v1/datasets/?{LIST_QUERY}", token=user.token)

        tally = Tally()
        end = asyncio.Event()
        clients = [Client(product.address, request, tally) for _ in range(CLIENTS)]
        client_tasks = [asyncio.create_task(client.send_until(end)) for client in clients]

        for _ in range(restart_count):
            await asyncio.sleep(RUN_SECONDS)
            stop_began_at = time.monotonic()
            await asyncio.to_thread(product.stop)
            stop_durations.append(time.monotonic() - stop_began_at)
            product = await asyncio.to_thread(start_product, data_dir, port=port)

        await asyncio.sleep(RUN_SECONDS)
        end.set()
        await asyncio.gather(*client_tasks)
    finally:
        await asyncio.to_thread(product.stop)

    print(f"{restart_count} restarts under {CLIENTS} clients; a stop took {max(stop_durations):.1f} s at most\n")
    return tally


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--restarts", type=int, default=50)
    parser.add_argument("--short", action="store_true", help="five restarts")
    options = parser.parse_args()
    restart_count = SHORT_RESTARTS if options.short else options.restarts

    with catalog_folder(RECORDS) as data_dir:
        tally = asyncio.run(restart_under_load(data_dir, restart_count))

    verdict = "pass" if tally.cut_requests == 0 else "missed"
    print("| | count | target |\n|---|---:|---|")
    print(f"| cut requests | {tally.cut_requests} | 0: {verdict} |")
    print(f"| answers | {tally.answers} | |")
    print(f"| other answers | {tally.other_answers} | |")
    print(f"| refused connections | {tally.refused_connections} | |")


if __name__ == "__main__":
    main()
