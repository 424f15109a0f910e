"""When the database is unavailable, responses say when to try again, and the log remains readable."""

import json
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa

from tests.postgres_cluster import postgres_cluster
from tests.serving_process import ServingProcess, sign_in
from touchstone.database.engine import Database

BACK_SECONDS = 5.0


def events(log: str, name: str) -> list[dict[str, Any]]:
    """Return the lines of the log about one kind of event."""
    found = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    return [event for event in found if event["event"] == name]


def statuses(address: str, headers: dict[str, str]) -> dict[str, int]:
    """Return the statuses of requests that read, write, sign in, and check the health."""
    with httpx2.Client(base_url=address, headers=headers, timeout=30) as client:
        account = {"username": "writer@example.org", "password": "correct horse battery"}
        return {
            "projects": _answered(client.get("/api/v1/projects")),
            "create": _answered(client.post("/api/v1/projects", json={"name": "p"})),
            "login": _answered(client.post("/api/v1/auth/login", data=account)),
            "jobs": _answered(client.get("/api/v1/ml/jobs")),
            "live": client.get("/health/live").status_code,
            "ready": client.get("/health/ready").status_code,
        }


def _answered(answer: httpx2.Response) -> int:
    assert answer.status_code != 503 or int(answer.headers["Retry-After"]) > 0
    return answer.status_code


async def test_connections_to_a_restarted_server_are_replaced() -> None:
    """After a restart no query fails, although every connection in the pool has been closed by the server."""
    query = sa.select(sa.literal(1))
    with postgres_cluster() as cluster:
        database = Database(cluster.url)
        async with database.reading() as first, database.reading() as second:
            assert await first.scalar(query) == await second.scalar(query) == 1

        cluster.stop()
        cluster.start()
        async with database.reading() as first, database.reading() as second, database.writing() as third:
            assert await first.scalar(query) == await second.scalar(query) == await third.scalar(query) == 1
        await database.close()


@pytest.mark.timeout(300)
def test_a_database_that_is_away_costs_answers_and_three_lines(tmp_path: Path) -> None:
    """Requests get 503 with Retry-After, the process stays alive, and recovers soon after the database does."""
    log_path = tmp_path / "data.log"
    with postgres_cluster() as cluster:
        serving = ServingProcess(tmp_path / "data", TOUCHSTONE_DATABASE_URL=cluster.url, TOUCHSTONE_DEMO="false")
        try:
            address = serving.start().address
            headers = sign_in(address)
            before = len(log_path.read_text())

            cluster.stop()
            away = time.monotonic()
            seen = []
            while time.monotonic() - away < 12:
                seen.append(statuses(address, headers))
                time.sleep(0.2)

            cluster.start()
            back = time.monotonic()
            while statuses(address, headers)["create"] != 201:
                assert time.monotonic() - back < BACK_SECONDS
                time.sleep(0.1)
            time.sleep(1)
            final = statuses(address, headers)
        finally:
            serving.kill()

    for found in seen:
        assert found == dict.fromkeys(found, 503) | {"live": 200}, found
    assert final == {"projects": 200, "create": 201, "login": 200, "jobs": 200, "live": 200, "ready": 200}
    log = log_path.read_text()[before:]
    assert log.count("Traceback") == 0, log[log.index("Traceback") - 2000 :][:6000]
    assert len(events(log, "database away")) == 1
    assert len(events(log, "database back")) == 1
    others = [line for line in log.splitlines() if '"event":"request"' not in line and "database " not in line]
    assert others == []
