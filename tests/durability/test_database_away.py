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

RECOVERY_SECONDS = 5.0


def log_entries_about(log: str, name: str) -> list[dict[str, Any]]:
    """Return the entries of the log about one kind of event."""
    log_entries = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    return [entry for entry in log_entries if entry["event"] == name]


def request_statuses(address: str, headers: dict[str, str]) -> dict[str, int]:
    """Return the statuses of requests that read, write, sign in, and check the health."""
    with httpx2.Client(base_url=address, headers=headers, timeout=30) as client:
        account = {"username": "writer@example.org", "password": "correct horse battery"}
        return {
            "projects": _checked_status(client.get("/api/v1/projects")),
            "create": _checked_status(client.post("/api/v1/projects", json={"name": "p"})),
            "login": _checked_status(client.post("/api/v1/auth/login", data=account)),
            "jobs": _checked_status(client.get("/api/v1/ml/jobs")),
            "live": client.get("/health/live").status_code,
            "ready": client.get("/health/ready").status_code,
        }


def _checked_status(response: httpx2.Response) -> int:
    """Return the status of a response, after checking that a refusal says when to try again."""
    assert response.status_code != 503 or int(response.headers["Retry-After"]) > 0
    return response.status_code


async def test_connections_to_a_restarted_server_are_replaced() -> None:
    """After a restart no query fails, although every connection in the pool has been closed by the server."""
    query = sa.select(sa.literal(1))
    with postgres_cluster() as cluster:
        database = Database(cluster.url)
        async with database.reading() as first_reader, database.reading() as second_reader:
            assert await first_reader.scalar(query) == await second_reader.scalar(query) == 1

        cluster.stop()
        cluster.start()
        async with (
            database.reading() as first_reader,
            database.reading() as second_reader,
            database.writing() as writer,
        ):
            assert (
                await first_reader.scalar(query) == await second_reader.scalar(query) == await writer.scalar(query) == 1
            )
        await database.close()


@pytest.mark.timeout(300)
def test_a_database_that_is_away_is_reported_once_and_recovers(tmp_path: Path) -> None:
    """Requests get 503 with Retry-After, the process stays alive, and recovers soon after the database does."""
    log_path = tmp_path / "data.log"
    with postgres_cluster() as cluster:
        serving = ServingProcess(tmp_path / "data", TOUCHSTONE_DATABASE_URL=cluster.url, TOUCHSTONE_DEMO="false")
        try:
            address = serving.start().address
            headers = sign_in(address)
            log_length_before = len(log_path.read_text())

            cluster.stop()
            stopped_at = time.monotonic()
            statuses_during_outage = []
            while time.monotonic() - stopped_at < 12:
                statuses_during_outage.append(request_statuses(address, headers))
                time.sleep(0.2)

            cluster.start()
            restarted_at = time.monotonic()
            while request_statuses(address, headers)["create"] != 201:
                assert time.monotonic() - restarted_at < RECOVERY_SECONDS
                time.sleep(0.1)
            time.sleep(1)
            statuses_after_recovery = request_statuses(address, headers)
        finally:
            serving.kill()

    for statuses in statuses_during_outage:
        assert statuses == dict.fromkeys(statuses, 503) | {"live": 200}, statuses
    assert statuses_after_recovery == {
        "projects": 200,
        "create": 201,
        "login": 200,
        "jobs": 200,
        "live": 200,
        "ready": 200,
    }
    log = log_path.read_text()[log_length_before:]
    assert log.count("Traceback") == 0, log[log.index("Traceback") - 2000 :][:6000]
    assert len(log_entries_about(log, "database away")) == 1
    assert len(log_entries_about(log, "database back")) == 1
    unexpected_lines = [
        line for line in log.splitlines() if '"event":"request"' not in line and "database " not in line
    ]
    assert unexpected_lines == []
