"""The selection backend: opened once per process, an ASGI application until it is closed."""

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
from touchstone.services.selection import store
from touchstone.services.selection.datasets.answer_cache import RememberedAnswers
from touchstone.services.selection.datasets.editor import Recording
from touchstone.services.selection.datasets.routes import datasets, files
from touchstone.services.selection.demo_loader import load_demo
from touchstone.services.selection.files.data_files import DataFiles
from touchstone.services.selection.files.measurement import Measuring
from touchstone.services.selection.files.uploads import Uploading
from touchstone.services.selection.live_catalog import LiveCatalog
from touchstone.services.selection.openapi import describe_bodies
from touchstone.services.selection.projects.editor import Projects
from touchstone.services.selection.projects.routes import projects
from touchstone.services.selection.request_context import Parts

NAME: Final = "selection"
SLASHED: Final = frozenset({"/datasets"})


class Selection:
    """The catalog, scores and projects, and the task that follows the writes of other processes."""

    def __init__(self, parts: Parts, database: Database, tokens: InternalTokens | None) -> None:
        self.parts = parts
        self.resources = (Resource("database", database.ping),)
        routers = (datasets, files, projects)
        application = create_app(NAME, *routers, resources=self.resources)
        application.state.parts = parts
        describe_bodies(application)
        known = TrailingSlashMiddleware(AllowedMethodsMiddleware(application, *routers), SLASHED)
        self.app = BackendAuthMiddleware(FastPathMiddleware(known, application, *routers), tokens)
        self._following = asyncio.ensure_future(parts.catalog.follow())

    @classmethod
    async def open(cls, settings: Settings, database: Database, tokens: InternalTokens | None) -> Self:
        """Load the catalog (and into an empty one the demo catalog, if settings say so) and begin to follow it."""
        await store.prepare_versions(database)
        if settings.demo:
            await load_demo(database)
        catalog = LiveCatalog(database, snapshot=settings.index_file)
        await catalog.load()
        data_files = DataFiles(settings, database)
        parts = Parts(
            catalog=catalog,
            recording=Recording(catalog, Measuring(settings, data_files), quota_bytes=settings.record_quota_bytes),
            projects=Projects(database, catalog, quota_bytes=settings.project_quota_bytes),
            data_files=data_files,
            uploading=Uploading(settings, database),
            answers=RememberedAnswers(),
        )
        return cls(parts, database, tokens)

    async def close(self) -> None:
        """Stop following. The database belongs to who opened it."""
        self._following.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._following
        await self.parts.catalog.close()
