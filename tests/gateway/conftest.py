"""The gateway alone, on each database."""

from collections.abc import AsyncIterator

import pytest

from tests.gateway.standing import Standing, in_process, recorders
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.services.gateway.app import Gateway


@pytest.fixture
async def standing(settings: Settings, database: Database) -> AsyncIterator[Standing]:
    """A gateway in front of three recording backends."""
    backends = recorders()
    gateway = await Gateway.open(settings, database, None, in_process(backends))
    yield Standing(gateway, settings, database, backends)
    await gateway.close()
