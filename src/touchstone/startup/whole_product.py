"""The whole product in one process, with the gateway, the web pages and all backends."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.upstream import InProcessBackend, Upstream
from touchstone.jobs.job_kinds import JOB_KIND_NAMES
from touchstone.jobs.job_runtime import JobRuntime
from touchstone.services.gateway.app import Gateway
from touchstone.services.selection.app import Selection
from touchstone.startup.database_preparation import open_prepared_database
from touchstone.startup.open_services import JOB_BACKENDS, OpenServices
from touchstone.startup.public_site import open_public_site


@asynccontextmanager
async def open_product(settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open all services in this process, and yield the application for the web pages and the API.

    The services and the database are closed at the end of the block.

    Raises:
        SettingsError: a service cannot use the database.
        SchemaError: the database needs `touchstone db upgrade`, or is newer than this code.
    """
    async with open_prepared_database(settings) as database, OpenServices(settings) as services:
        gateway = await _open_gateway_with_backends(settings, database, services)
        yield await open_public_site(settings, gateway, services)


async def openapi(settings: Settings) -> dict[str, Any]:
    """Return the public OpenAPI document of the whole product.

    This does not use the data of the installation.
    """
    with tempfile.TemporaryDirectory() as folder:
        empty_installation = settings.model_copy(
            update={"data_dir": Path(folder), "database_url": None, "demo": False, "job_workers": 0}
        )
        async with open_prepared_database(empty_installation) as database, OpenServices(empty_installation) as services:
            gateway = await _open_gateway_with_backends(empty_installation, database, services)
            return await gateway.openapi()


async def _open_gateway_with_backends(settings: Settings, database: Database, services: OpenServices) -> Gateway:
    """Open the backends and the gateway in this process, and return the gateway.

    Requests between them do not leave the process, so they need not be signed.
    """
    backends = await _open_all_backends(settings, database, services)
    return await services.add(Gateway.open(settings, database, tokens=None, upstreams=backends))


async def _open_all_backends(settings: Settings, database: Database, services: OpenServices) -> dict[str, Upstream]:
    """Open all backends in this process, and return the interfaces for the gateway by name."""
    selection = await services.add(Selection.open(settings, database, tokens=None))
    selection_upstream = InProcessBackend(selection.app, check_ready=selection.services.catalog.check_loaded)
    backends: dict[str, Upstream] = {"selection": selection_upstream}

    # The other backends read datasets from the selection backend, and share one pool of worker processes for jobs.
    job_runtime = await services.add(JobRuntime.open(settings, database, JOB_KIND_NAMES))
    for name, backend_class in JOB_BACKENDS.items():
        opening = backend_class.open(
            settings, database, tokens=None, selection=selection_upstream, shared_runtime=job_runtime
        )
        backend = await services.add(opening)
        backends[name] = InProcessBackend(backend.app)

    return backends
