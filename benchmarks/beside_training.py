"""Scoring while a training runs: the p99 of other people's requests, beside that of a quiet service.

`python -m benchmarks.beside_training [--requests 1500] [--rate 100]`. One process serves everything, as installed; the
requests come at a fixed rate, each with weights that nobody asked for before, and wait in no queue of the client's.
Blocks alternate between quiet and training, so that what the machine does besides falls on both.
"""

import argparse
import asyncio
import contextlib
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import msgspec

from benchmarks.catalogs import fill
from benchmarks.serving import Server, free_port, is_complete, raw, sign_in
from touchstone.demo import tables_folder
from touchstone.ranking.criteria import CRITERION_NAMES

RECORDS = 10_000
TABLE, TARGET = "adult.parquet", "income"


def question(token: str) -> bytes:
    """A ranking of the top 20 by weights of its own."""
    weights = [{"criterion_name": name, "weight": random.random()} for name in CRITERION_NAMES]
    body = msgspec.json.encode({"filters": {}, "weights": weights})
    return raw("POST", "/api/v1/datasets/score?limit=20", body, token=token)


async def paced(address: str, token: str, count: int, rate: float) -> list[float]:
    """The seconds that each of `count` requests took, `rate` of them begun a second."""
    host, port = address.removeprefix("http://").split(":")
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def one() -> float:
        connection = idle.pop() if idle else await asyncio.open_connection(host, int(port), limit=2**24)
        reader, writer = connection
        request, begun = question(token), time.perf_counter()
        writer.write(request)
        received = bytearray()
        while not is_complete(received):
            received += await reader.read(2**16)
        taken = time.perf_counter() - begun
        assert received.startswith(b"HTTP/1.1 200"), received[:1000]
        idle.append(connection)
        return taken

    begun, asked = time.perf_counter(), []
    for number in range(count):
        await asyncio.sleep(max(0.0, begun + number / rate - time.perf_counter()))
        asked.append(asyncio.ensure_future(one()))
    taken = await asyncio.gather(*asked)
    for _, writer in idle:
        writer.close()
    return taken


@contextlib.asynccontextmanager
async def training(client: httpx2.AsyncClient, dataset_id: int) -> AsyncIterator[None]:
    """Somebody's long training, running; cancelled afterwards."""
    order = {"dataset_id": dataset_id, "target": TARGET, "budget": {"max_trials": 200}}
    started = (await client.post("/api/v1/ml/train", json=order)).raise_for_status()
    address = started.headers["location"]
    while (job := (await client.get(address)).json())["progress"]["phase"] != "searching":
        assert not job["done"], job["error"]
        await asyncio.sleep(0.1)
    yield
    assert (await client.get(address)).json()["status"] == "running"
    await client.post(f"{address}/cancel")
    while not (await client.get(address)).json()["done"]:
        await asyncio.sleep(0.1)


async def compared(address: str, count: int, rate: float, rounds: int) -> None:
    """Print the p99 of quiet and of training blocks, and their ratio."""
    token, _ = sign_in(address)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=address, headers=headers, timeout=60) as client:
        content = (tables_folder() / TABLE).read_bytes()
        sent = (await client.post("/api/v1/files", params={"name": TABLE}, content=content)).raise_for_status()
        record = {"name": "Adult", "description": "", "file_path": sent.json()["file_path"], "file_type": "parquet"}
        dataset = (await client.post("/api/v1/datasets/", json=record)).raise_for_status().json()["id"]
        await paced(address, token, count // 3, rate)  # warm
        quiet, busy = [], []
        for _ in range(rounds):
            quiet.append(p99(await paced(address, token, count, rate)))
            async with training(client, dataset):
                busy.append(p99(await paced(address, token, count, rate)))
            print(f"p99 quiet {quiet[-1] * 1000:.2f} ms, while training {busy[-1] * 1000:.2f} ms", flush=True)
    ratio = statistics.median(busy) / statistics.median(quiet)
    print(f"median of {rounds}: {ratio:.2f} <= 1.50: {'pass' if ratio <= 1.5 else 'missed'}")


def p99(taken: list[float]) -> float:
    """The value that 99 of 100 stay below."""
    return statistics.quantiles(taken, n=100)[98]


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1500, help="of one block")
    parser.add_argument("--rate", type=float, default=100.0, help="requests a second")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(fill(Path(folder) / "touchstone.db", RECORDS))
        port = free_port()
        variables = {
            "TOUCHSTONE_DATA_DIR": folder,
            "TOUCHSTONE_DEMO": "false",
            "TOUCHSTONE_METRICS_PORT": "0",
            "TOUCHSTONE_LOG_LEVEL": "warning",
            "TOUCHSTONE_PORT": str(port),
        }
        server = Server([sys.executable, "-m", "touchstone", "serve"], variables, f"http://127.0.0.1:{port}")
        try:
            asyncio.run(compared(server.address, asked.requests, asked.rate, asked.rounds))
        finally:
            server.stop()


if __name__ == "__main__":
    main()
