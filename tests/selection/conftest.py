"""The selection backend on its own, on every database, called through its ASGI application."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.selection.seeded import seed
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.services.selection.app import Selection

ADA, BOB = UUID(int=0xADA), UUID(int=0xB0B)
FOUR = {"name": "Cohort", "description": "d", "file_path": "none.csv", "file_type": "csv"}


@pytest.fixture
async def selection(settings: Settings, database: Database) -> AsyncIterator[Selection]:
    """Open the backend without demo records."""
    selection = await Selection.open(settings, database, None)
    yield selection
    await selection.close()


@pytest.fixture
async def seeded_client(
    request: pytest.FixtureRequest, settings: Settings, database: Database
) -> AsyncIterator[httpx2.AsyncClient]:
    """Return a client of a backend with the records that the module calls `ROWS`."""
    await seed(database, request.module.ROWS)
    selection = await Selection.open(settings, database, None)
    async with client_of(selection) as client:
        yield client
    await selection.close()


@pytest.fixture(scope="module")
async def reader(module_settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """Return a client of a backend without records, which the tests of a module share: they change nothing in it."""
    database = Database(module_settings.effective_database_url)
    selection = await Selection.open(module_settings, database, None)
    async with client_of(selection) as client:
        yield client
    await selection.close()
    await database.close()


def client_of(selection: Selection, user: UUID | None = ADA, **headers: str) -> httpx2.AsyncClient:
    """Return a client of the backend that acts as a user."""
    if user:
        headers["X-User-ID"] = str(user)
    transport = httpx2.ASGITransport(selection.app)
    return httpx2.AsyncClient(transport=transport, base_url="http://selection.test", headers=headers, timeout=60)


@pytest.fixture
async def ada(selection: Selection) -> AsyncIterator[httpx2.AsyncClient]:
    """Return a client that acts as one user."""
    async with client_of(selection) as client:
        yield client


@pytest.fixture
async def bob(selection: Selection) -> AsyncIterator[httpx2.AsyncClient]:
    """Return a client that acts as another user."""
    async with client_of(selection, BOB) as client:
        yield client


async def create_record(client: httpx2.AsyncClient, **fields: Any) -> dict[str, Any]:
    """Create a record and return it."""
    answer = await client.post("/datasets/", json={**FOUR, **fields})
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record
