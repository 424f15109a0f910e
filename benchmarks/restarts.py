"""Restarts under load: 40 clients ask without a pause while the product is stopped and started again and again.

A request is cut when it was sent on an open connection and no complete answer came back. A connection that is refused
while nothing listens is no cut request: the client asks again. Each client keeps its connection for as long as the
product lets it. Target: none cut in 50 restarts. `python -m benchmarks.restarts [--short]`
"""

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

from benchmarks.catalogs import fill
from benchmarks.serving import LIST, Server, free_port, is_complete, raw, sign_in

CLIENTS: Final = 40
RUN_SECONDS: Final = 1.0
CLOSING: Final = re.compile(rb"\r\nconnection: close\r\n", re.IGNORECASE)


class Client:
    """One client that asks again as soon as it is answered, on the same connection while it may."""

    def __init__(self, address: str, question: bytes, counts: Counter[str]) -> None:
        self.host, self.port = address.removeprefix("http://").split(":")
        self.question, self.counts = question, counts

    async def ask_until(self, end: asyncio.Event) -> None:
        """Ask until the end."""
        while not end.is_set():
            try:
                reader, writer = await asyncio.open_connection(self.host, int(self.port))
            except OSError:
                self.counts["refused connections"] += 1
                await asyncio.sleep(0.1)
                continue
            await self._converse(reader, writer, end)
            writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, end: asyncio.Event) -> None:
        is_kept = True
        while is_kept and not end.is_set():
            received = bytearray()
            try:
                writer.write(self.question)
                while not is_complete(received):
                    part = await reader.read(1 << 20)
                    if not part:
                        raise ConnectionResetError
                    received += part
            except OSError:
                self.counts["cut requests"] += 1
                return
            self.counts["answers" if received.startswith(b"HTTP/1.1 200") else "other answers"] += 1
            is_kept = CLOSING.search(received, 0, received.find(b"\r\n\r\n") + 2) is None


async def restart(variables: dict[str, str], address: str, restarts: int) -> Counter[str]:
    """Count what the clients saw over so many restarts."""
    command = [sys.executable, "-m", "touchstone", "serve"]
    product = await asyncio.to_thread(Server, command, variables, address)
    question = raw("GET", f"/api/v1/datasets/?{LIST}", token=(await asyncio.to_thread(sign_in, address))[0])
    counts: Counter[str] = Counter()
    end = asyncio.Event()
    clients = [asyncio.create_task(Client(address, question, counts).ask_until(end)) for _ in range(CLIENTS)]
    stops = []
    for _ in range(restarts):
        await asyncio.sleep(RUN_SECONDS)
        begun = time.monotonic()
        await asyncio.to_thread(product.stop)
        stops.append(time.monotonic() - begun)
        product = await asyncio.to_thread(Server, command, variables, address)
    await asyncio.sleep(RUN_SECONDS)
    end.set()
    await asyncio.gather(*clients)
    await asyncio.to_thread(product.stop)
    print(f"{restarts} restarts under {CLIENTS} clients; a stop took {max(stops):.1f} s at most\n")
    return counts


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--restarts", type=int, default=50)
    parser.add_argument("--short", action="store_true", help="five restarts")
    options = parser.parse_args()
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
        counts = asyncio.run(restart(variables, f"http://127.0.0.1:{port}", 5 if options.short else options.restarts))
        print("| | count | target |\n|---|---:|---|")
        verdict = "pass" if counts["cut requests"] == 0 else "missed"
        print(f"| cut requests | {counts['cut requests']} | 0: {verdict} |")
        for name in ("answers", "other answers", "refused connections"):
            print(f"| {name} | {counts[name]} | |")


if __name__ == "__main__":
    main()
