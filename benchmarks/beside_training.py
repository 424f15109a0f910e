"""Scoring during a training: the p99 latency of requests, compared with an idle service.

`python -m benchmarks.beside_training [--requests 1500] [--rate 100] [--rounds 3]`. One process serves everything, as
installed. Requests are sent at a fixed rate, and none waits for the response to another one. All have different
weights, so that no response comes from a cache. Blocks without and with a training alternate, so that other load on the
machine affects both.
"""

import argparse
import asyncio
import random
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx2
import msgspec

from benchmarks.product_server import User, register_user, running_product
from benchmarks.raw_http import encode_request, host_and_port, is_complete_response
from touchstone.demo.packaged_records import tables_folder
from touchstone.ranking.criteria import CRITERION_NAMES

RECORDS: Final = 10_000
TABLE: Final = "adult.parquet"
TARGET_COLUMN: Final = "income"
TARGET_RATIO: Final = 1.5
POLL_SECONDS: Final = 0.1
READ_BYTES: Final = 2**16
BUFFER_BYTES: Final = 2**24


def ranking_request(token: str) -> bytes:
    """Return a request for the top 20 by random weights, so that no cache contains the response."""
    weights = [{"criterion_name": name, "weight": random.random()} for name in CRITERION_NAMES]
    body = msgspec.json.encode({"filters": {}, "weights": weights})
    return encode_request("POST", "/api/v1/datasets/score?limit=20", body, token=token)


class PacedClient:
    """A client that sends requests at a fixed rate, regardless of response times."""

    def __init__(self, address: str, token: str) -> None:
        self.host, self.port = host_and_port(address)
        self.token = token
        self._idle_connections: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def send(self, request_count: int, rate: float) -> list[float]:
        """Send `request_count` requests, `rate` per second, and return their durations in seconds."""
        began_at = time.perf_counter()
        requests = []
        for number in range(request_count):
            due_at = began_at + number / rate
            await asyncio.sleep(max(0.0, due_at - time.perf_counter()))
            requests.append(asyncio.ensure_future(self._send_one()))
        durations = await asyncio.gather(*requests)

        for _, writer in self._idle_connections:
            writer.close()
        self._idle_connections.clear()
        return durations

    async def _send_one(self) -> float:
        """Send one request on an idle or new connection, and return the seconds until its response."""
        if self._idle_connections:
            reader, writer = self._idle_connections.pop()
        else:
            reader, writer = await asyncio.open_connection(self.host, self.port, limit=BUFFER_BYTES)

        request = ranking_request(self.token)
        response = bytearray()
        sent_at = time.perf_counter()
        writer.write(request)
        while not is_complete_response(response):
            response += await reader.read(READ_BYTES)
        duration = time.perf_counter() - sent_at

        assert response.startswith(b"HTTP/1.1 200"), response[:1000]
        self._idle_connections.append((reader, writer))
        return duration


@asynccontextmanager
async def running_training(client: httpx2.AsyncClient, dataset_id: int) -> AsyncIterator[None]:
    """Run a long training during the block, and cancel it at the end.

    The block begins after the training has read its data, during the search for models.
    """
    request = {"dataset_id": dataset_id, "target": TARGET_COLUMN, "budget": {"max_trials": 200}}
    response = (await client.post("/api/v1/ml/train", json=request)).raise_for_status()
    job_url = response.headers["location"]

    while (job := (await client.get(job_url)).json())["progress"]["phase"] != "searching":
        assert not job["done"], job["error"]
        await asyncio.sleep(POLL_SECONDS)

    yield

    assert (await client.get(job_url)).json()["status"] == "running"
    await client.post(f"{job_url}/cancel")
    while not (await client.get(job_url)).json()["done"]:
        await asyncio.sleep(POLL_SECONDS)


async def upload_dataset(client: httpx2.AsyncClient) -> int:
    """Upload a table of the demo catalog as a new dataset, and return the id of the dataset."""
    content = (tables_folder() / TABLE).read_bytes()
    upload = await client.post("/api/v1/files", params={"name": TABLE}, content=content)
    file_path = upload.raise_for_status().json()["file_path"]

    record = {"name": "Adult", "description": "", "file_path": file_path, "file_type": "parquet"}
    creation = await client.post("/api/v1/datasets/", json=record)
    dataset_id: int = creation.raise_for_status().json()["id"]
    return dataset_id


async def compare(address: str, user: User, options: argparse.Namespace) -> None:
    """Print the p99 latencies of blocks without and with a training, and the ratio of their medians."""
    async with httpx2.AsyncClient(base_url=address, headers=user.headers, timeout=60) as client:
        dataset_id = await upload_dataset(client)
        paced_client = PacedClient(address, user.token)
        await paced_client.send(options.requests // 3, options.rate)  # warm up

        quiet_p99s = []
        training_p99s = []
        for _ in range(options.rounds):
            quiet_p99 = percentile_99(await paced_client.send(options.requests, options.rate))
            async with running_training(client, dataset_id):
                training_p99 = percentile_99(await paced_client.send(options.requests, options.rate))

            quiet_p99s.append(quiet_p99)
            training_p99s.append(training_p99)
            print(f"p99 quiet {quiet_p99 * 1000:.2f} ms, while training {training_p99 * 1000:.2f} ms", flush=True)

    ratio = statistics.median(training_p99s) / statistics.median(quiet_p99s)
    verdict = "pass" if ratio <= TARGET_RATIO else "missed"
    print(f"median of {options.rounds}: {ratio:.2f} <= {TARGET_RATIO:.2f}: {verdict}")


def percentile_99(values: list[float]) -> float:
    """Return the 99th percentile."""
    return statistics.quantiles(values, n=100)[98]


def main() -> None:
    """Start the product with a new catalog, and run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=1500, help="requests per block")
    parser.add_argument("--rate", type=float, default=100.0, help="requests per second")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()

    with running_product(RECORDS) as product:
        user = register_user(product.address)
        asyncio.run(compare(product.address, user, options))


if __name__ == "__main__":
    main()
