"""The selection backend as an ASGI application, with the services that it opens once per process."""

import asyncio
import contextlib
from typing import Final, Self

from touchstone.core.identity import InternalTokens
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.app import create_app
from touchstone.http.backend_auth import BackendAuthMiddleware
from touchstone.http.health import Resource
from touchstone.http.routing import AllowedMethodsMiddleware, FastPathMiddleware, TrailingSlashMiddleware
from touchstone.services.selection.context import SelectionServices
from touchstone.services.selection.datasets import routes as dataset_routes
from touchstone.services.selection.datasets.answer_cache import AnswerCache
from touchstone.services.selection.datasets.editor import DatasetEditor
from touchstone.services.selection.demo_loader import load_demo
from touchstone.services.selection.files import routes as file_routes
from touchstone.services.selection.files.data_files import DataFiles
from touchstone.services.selection.files.measurement import FileMeasurer
from touchstone.services.selection.files.uploads import Uploads
from touchstone.services.selection.live_catalog import LiveCatalog
from touchstone.services.selection.openapi import add_body_schemas
from touchstone.services.selection.projects import routes as project_routes
from touchstone.services.selection.projects.editor import ProjectEditor

NAME: Final = "selection"
# The one path whose registered form ends with a slash.
SLASHED_PATHS: Final = frozenset({"/datasets"})


class Selection:
    """The selection backend: its application, and the task that follows the writes of other processes."""

    def __init__(self, services: SelectionServices, database: Database, tokens: InternalTokens | None) -> None:
        self.services = services
        self.resources = (Resource("database", database.ping),)

        routers = (dataset_routes.router, file_routes.router, project_routes.router)
        application = create_app(NAME, *routers, resources=self.resources)
        application.state.services = services
        add_body_schemas(application)

        checked = TrailingSlashMiddleware(AllowedMethodsMiddleware(application, *routers), SLASHED_PATHS)
        self.app = BackendAuthMiddleware(FastPathMiddleware(checked, application, *routers), tokens)
        self._following = asyncio.ensure_future(services.catalog.follow())

    @classmethod
    async def open(cls, settings: Settings, database: Database, tokens: InternalTokens | None) -> Self:
        """Load the catalog and start following it; if settings say so, load the demo records into a new catalog."""
        if settings.demo:
            await load_demo(database)
        catalog = LiveCatalog(database, snapshot_path=settings.index_file)
        await catalog.load()

        data_files = DataFiles(settings, database)
        measurer = FileMeasurer(settings, data_files)
        services = SelectionServices(
            catalog=catalog,
            datasets=DatasetEditor(catalog, measurer, quota_bytes=settings.record_quota_bytes),
            projects=ProjectEditor(database, catalog, quota_bytes=settings.project_quota_bytes),
            data_files=data_files,
            uploads=Uploads(settings, database),
            answers=AnswerCache(),
        )
        return cls(services, database, tokens)

    async def close(self) -> None:
        """Stop following the catalog; whoever opened the database closes it."""
        self._following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._following
        await self.services.catalog.close()
