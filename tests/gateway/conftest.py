"""The gateway alone, on each database."""

from collections.abc import AsyncIterator

import pytest

from tests.gateway.harness import GatewayHarness, in_process_upstreams, recording_backends
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.services.gateway.app import Gateway


@pytest.fixture
async def harness(settings: Settings, database: Database) -> AsyncIterator[GatewayHarness]:
    """Open a gateway in front of three recording backends."""
    backends = recording_backends()
    gateway = await Gateway.open(settings, database, None, in_process_upstreams(backends))
    yield GatewayHarness(gateway, settings, database, backends)
    await gateway.close()
