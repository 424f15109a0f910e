"""Responses reveal nothing about the records of other users: not in their bytes, their work or their version."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx2
import pytest
import sqlalchemy as sa

from tests.selection.conftest import FOUR, client_of, create_record
from touchstone.database.engine import Database
from touchstone.services.selection.app import Selection

VARYING_HEADERS = {"date", "x-request-id"}
CLAIM_PATH = f"/evidence/{uuid4()}"
CALLS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "", None),
    ("GET", "/source", None),
    ("GET", "/evidence", None),
    ("POST", "/evidence", {"attribute": "transparency", "value": True}),
    ("POST", f"{CLAIM_PATH}/review", {"decision": "accept"}),
    ("POST", f"{CLAIM_PATH}/withdraw", None),
    ("PATCH", "", {"year": 2000}),
    ("DELETE", "", None),
)


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """Collect the SQL statements that read datasets by id or in windows."""
    executed_statements: list[str] = []

    def collect_statement(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "FROM datasets" in statement:
            executed_statements.append(statement)

    engines = {id(engine): engine.sync_engine for engine in (database._reading_engine, database._writing_engine)}
    for engine in engines.values():
        sa.event.listen(engine, "before_cursor_execute", collect_statement)
    yield executed_statements
    for engine in engines.values():
        sa.event.remove(engine, "before_cursor_execute", collect_statement)


def visible_part(answer: httpx2.Response) -> tuple[int, dict[str, str], bytes]:
    """Return what a caller can compare: everything except the time and the request id."""
    headers = {name: value for name, value in answer.headers.items() if name.lower() not in VARYING_HEADERS}
    return answer.status_code, headers, answer.content


@pytest.mark.parametrize("cached", [True, False])
async def test_a_foreign_record_costs_what_a_missing_one_costs(
    selection: Selection, database: Database, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, cached: bool
) -> None:
    """By either id, a private record causes the same statements and the same bytes as a missing one."""
    private_record = await create_record(ada, visibility="private", metadata={"note": "x" * 1000})
    missing_record = {"id": private_record["id"] + 1000, "dataset_id": str(uuid4())}
    if not cached:
        selection.services.catalog.records.cache.drop([private_record["id"]])
    for key in ("id", "dataset_id"):
        for method, suffix, body in CALLS:
            answers, costs = [], []
            for record in (private_record, missing_record):
                with statements(database) as executed_statements:
                    answer = await bob.request(method, f"/datasets/{record[key]}{suffix}", json=body)
                answers.append(visible_part(answer))
                costs.append(executed_statements)
            assert answers[0] == answers[1], (method, suffix)
            assert answers[0][0] == 404
            assert costs[0] == costs[1], (method, suffix)
            assert len(costs[0]) >= 1
    assert (await ada.get(f"/datasets/{private_record['id']}")).json() == private_record


async def test_a_foreign_choice_costs_what_a_missing_one_costs(
    database: Database, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """A project that chooses a private record of another user is refused like one that chooses a missing record."""
    private_record = await create_record(ada, visibility="private")
    answers, costs = [], []
    for dataset_id in (private_record["id"], private_record["id"] + 1000):
        with statements(database) as executed_statements:
            answer = await bob.post("/projects", json={"name": "x", "chosen_dataset_id": dataset_id})
        answers.append(visible_part(answer))
        costs.append(executed_statements)
    assert answers[0] == answers[1]
    assert answers[0][0] == 422
    assert costs[0] == costs[1]


async def test_an_entity_tag_does_not_count_the_writes_of_others(selection: Selection) -> None:
    """The tag of a record depends only on the record, and changes with each of its changes."""
    async with client_of(selection, None) as client:
        first_response = await client.post("/datasets/", json=FOUR)
        path = f"/datasets/{first_response.json()['id']}"
        for _ in range(3):
            await create_record(client)
        assert (await client.get(path)).headers["ETag"] == first_response.headers["ETag"]
        tags = {(await client.post("/datasets/", json=FOUR)).headers["ETag"] for _ in range(3)}
    assert len(tags | {first_response.headers["ETag"]}) == 4
    for tag in tags:
        assert len(tag) == 34
        int(tag.strip('"'), 16)


async def test_entity_tags_of_earlier_releases_are_simply_out_of_date(ada: httpx2.AsyncClient) -> None:
    """With an old tag, a write is refused with 412, and a read returns the whole record."""
    record = await create_record(ada)
    path = f"/datasets/{record['id']}"
    for version in range(1, 5):
        outdated_headers = {"If-Match": f'"{version}"', "If-None-Match": f'"{version}"'}
        assert (await ada.patch(path, json={"year": 2001}, headers=outdated_headers)).status_code == 412
        assert (await ada.delete(path, headers=outdated_headers)).status_code == 412
        assert (await ada.get(path, headers=outdated_headers)).json() == record
