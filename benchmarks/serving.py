"""List and score through the whole product, beside a plain FastAPI + SQLAlchemy service, in requests per CPU second.

Both serve the same 10 000 records from the same database file; blocks of requests alternate between them in one run,
and the CPU time is the server process's own, threads included.
"""

import argparse
import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx2

from benchmarks.catalogs import fill

LIST = "page=1&page_size=20&sort_by=dataset_name&year_min=2000"
BODY = b'{"filters":{"year_min":2000},"weights":[]}'


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
        """User and system time of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.wait(30)


def raw(method: str, target: str, token: str = "", body: bytes = b"") -> bytes:
    """The bytes of one request on a connection that is kept."""
    lines = [f"{method} {target} HTTP/1.1", "Host: bench", f"Content-Length: {len(body)}"]
    lines += ["Content-Type: application/json"] if body else []
    lines += [f"Authorization: Bearer {token}"] if token else []
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


async def requests(address: str, request: bytes, count: int) -> None:
    """Send one request `count` times over one connection, reading each answer whole."""
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**24)
    for _ in range(count):
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        await read_body(reader, head.lower())
    writer.close()


async def read_body(reader: asyncio.StreamReader, head: bytes) -> None:
    """Read the body that these lower-cased headers announce."""
    if b"content-length: " in head:
        await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
        return
    while size := int(await reader.readline(), 16):
        await reader.readexactly(size + 2)
    await reader.readline()


def block(server: Server, request: bytes, seconds: float) -> float:
    """Requests per CPU second over about `seconds` of work."""
    count, spent = 10, 0.0
    while spent < seconds / 2:
        before = server.cpu_seconds()
        asyncio.run(requests(server.address, request, count))
        spent = server.cpu_seconds() - before
        count = count if spent >= seconds / 2 else count * 3
    return count / spent


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


def sign_in(address: str) -> str:
    """The token of a new user."""
    account = {"email": "bench@example.org", "password": "a long enough one"}
    httpx2.post(f"{address}/api/v1/auth/register", json=account, timeout=30).raise_for_status()
    credentials = {"username": account["email"], "password": account["password"]}
    answer = httpx2.post(f"{address}/api/v1/auth/login", data=credentials, timeout=30)
    token: str = answer.raise_for_status().json()["access_token"]
    return token


@dataclass(frozen=True, slots=True)
class Measure:
    """Two ways of answering, and the ratio of their requests per CPU second that is to be reached."""

    name: str
    ours: tuple[Server, bytes]
    other: tuple[Server, bytes]
    goal: float


def measures(product: Server, backend: Server, peer: Server) -> list[Measure]:
    """What is compared with what."""
    token = sign_in(product.address)
    score = "/datasets/score?limit="
    top20 = raw("POST", f"/api/v1{score}20", token, BODY)
    return [
        Measure(
            "list of 20, beside plain",
            (product, raw("GET", f"/api/v1/datasets/?{LIST}", token)),
            (peer, raw("GET", f"/datasets?{LIST}")),
            3.0,
        ),
        Measure("top 20, beside plain", (product, top20), (peer, raw("POST", f"{score}20", "", BODY)), 3.0),
        Measure("top 20, beside a ready answer", (product, top20), (peer, raw("GET", "/ready/20")), 3.5),
        Measure(
            "10 000 items, beside a ready answer",
            (product, raw("POST", f"/api/v1{score}10000", token, b"{}")),
            (peer, raw("GET", "/ready/10000")),
            1.0,
        ),
        Measure(
            "through the gateway, beside direct",
            (product, top20),
            (backend, raw("POST", f"{score}20", "", BODY)),
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
        print(f"{wanted.records} records, requests per CPU second, median of {wanted.rounds} alternating blocks\n")
        print(f"{'':38}{'ours':>9}{'other':>9}{'ratio':>8}   goal")
        for one in measures(*servers):
            pairs = [
                (block(*one.ours, wanted.seconds), block(*one.other, wanted.seconds)) for _ in range(wanted.rounds)
            ]
            ratio = statistics.median(a / b for a, b in pairs)
            ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
            verdict = "pass" if ratio >= one.goal else "missed"
            print(f"{one.name:38}{ours:9.0f}{theirs:9.0f}{ratio:8.2f}   >= {one.goal:.2f}: {verdict}", flush=True)
        for server in servers:
            server.stop()


if __name__ == "__main__":
    main()
