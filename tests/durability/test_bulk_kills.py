"""A bulk import that `kill -9` interrupts is resumed by key: no record is lost or doubled, and the ranking is exact."""

import contextlib
import json
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.api.test_scores import row_of
from tests.ranking import by_hand
from tests.serving_process import ServingProcess, sign_in
from touchstone.core.text import fold
from touchstone.ranking.weight_profiles import PROFILES

RECORD_COUNT = 3000
LINES_PER_CHUNK = 100


@pytest.fixture
def server(tmp_path: Path, database_url: str) -> Iterator[ServingProcess]:
    """A product on the database under test, without the demo catalog, which the test starts."""
    process = ServingProcess(tmp_path / "data", TOUCHSTONE_DATABASE_URL=database_url, TOUCHSTONE_DEMO="false")
    yield process
    process.kill()


def record_of(number: int) -> dict[str, Any]:
    """Return a record with a key, whose attributes depend on its number."""
    generator = random.Random(number)
    return {
        "name": f"Table {generator.randrange(50)}",
        "description": "d",
        "file_path": "none.csv",
        "file_type": "csv",
        "citations": generator.randrange(2000),
        "year": generator.randrange(1990, 2024),
        "instances_number": generator.choice((None, 10, 5000)),
        "transparency": generator.choice((True, False, None)),
        "is_split": generator.choice((True, None)),
        "metadata": {"source": {"name": "Archive", "key": str(number)}},
    }


def send_body(first_line_sent: threading.Event) -> Iterator[bytes]:
    """Yield all lines in chunks, with pauses between them, as over a network."""
    for start in range(0, RECORD_COUNT, LINES_PER_CHUNK):
        numbers = range(start, start + LINES_PER_CHUNK)
        yield b"".join(json.dumps(record_of(number)).encode() + b"\n" for number in numbers)
        first_line_sent.set()
        time.sleep(0.002)


def import_all(address: str, headers: dict[str, str], first_line_sent: threading.Event) -> dict[str, Any]:
    """Import all records, and return the last line of the report, or nothing if the server is killed."""
    with contextlib.suppress(httpx2.HTTPError), httpx2.Client(base_url=address, headers=headers, timeout=120) as client:
        response = client.post(
            "/api/v1/datasets/bulk",
            content=send_body(first_line_sent),
            headers={"Content-Type": "application/x-ndjson"},
        )
        if response.status_code == 200 and response.text:
            totals: dict[str, Any] = json.loads(response.text.splitlines()[-1])
            return totals
    return {}


def stored_records(client: httpx2.Client) -> list[dict[str, Any]]:
    """Return all records of the catalog."""
    export = client.get("/api/v1/datasets/export.jsonl")
    return [json.loads(line) for line in export.text.splitlines()]


@pytest.mark.timeout(1800)
def test_an_interrupted_import_is_resumed(server: ServingProcess, request: pytest.FixtureRequest) -> None:
    """After every kill the same lines are sent again; in the end each record exists once, and the ranking is exact."""
    kill_count = 20 if request.config.getoption("--long") else 2
    for _ in range(kill_count):
        server.start()
        headers = sign_in(server.address)
        first_line_sent = threading.Event()
        import_thread = threading.Thread(target=import_all, args=(server.address, headers, first_line_sent))
        import_thread.start()
        first_line_sent.wait(60)
        time.sleep(random.uniform(0, 0.8))
        server.kill()
        import_thread.join()

    server.start()
    headers = sign_in(server.address)
    totals = import_all(server.address, headers, threading.Event())
    assert (totals["done"], totals["refused"], totals["updated"]) == (True, 0, 0)
    assert totals["made"] + totals["unchanged"] == RECORD_COUNT

    with httpx2.Client(base_url=server.address, headers=headers, timeout=120) as client:
        records = stored_records(client)
        keys = sorted(int(record["metadata"]["source"]["key"]) for record in records)
        assert keys == list(range(RECORD_COUNT))
        for profile in PROFILES.values():
            weights = [{"criterion_name": name, "weight": weight} for name, weight in profile.weights.items()]
            items = client.post("/api/v1/datasets/score", json={"weights": weights}).json()
            expected = sorted(
                (-by_hand.score(row_of(record), dict(profile.weights)), fold(record["name"]), record["id"])
                for record in records
            )
            assert [(-item["score"], fold(item["dataset_name"]), item["id"]) for item in items] == expected
