"""The application of a job service: opened once per process, an ASGI application until it is closed."""

from typing import ClassVar, Self

from fastapi import APIRouter

from touchstone.core.identity import InternalTokens
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.app import create_app
from touchstone.http.backend_auth import BackendAuthMiddleware
from touchstone.http.health import Resource
from touchstone.http.internal_client import InternalClient
from touchstone.http.routing import AllowedMethodsMiddleware, TrailingSlashMiddleware
from touchstone.http.upstream import Upstream
from touchstone.jobs.kinds import JobKind
from touchstone.jobs.request_context import JobService
from touchstone.jobs.routes import jobs as job_routes
from touchstone.jobs.runtime import Jobs
from touchstone.jobs.selection_client import SelectionClient


class JobBackend:
    """Starts and reports the jobs of one kind; `routes` are those that other kinds do not have."""

    kind: ClassVar[JobKind]
    routes: ClassVar[APIRouter]

    def __init__(
        self, jobs: Jobs, selection: InternalClient, tokens: InternalTokens | None, *, owns_jobs: bool
    ) -> None:
        self.resources = (Resource("database", jobs.database.ping),)
        application = create_app(self.kind.service, self.routes, job_routes, resources=self.resources)
        application.state.job_service = JobService(self.kind, jobs, SelectionClient(selection))
        routed = AllowedMethodsMiddleware(application, self.routes, job_routes)
        self.app = BackendAuthMiddleware(TrailingSlashMiddleware(routed, frozenset()), tokens)
        self._owned_jobs = jobs if owns_jobs else None

    @classmethod
    async def open(
        cls,
        settings: Settings,
        database: Database,
        tokens: InternalTokens | None,
        selection: Upstream,
        *,
        jobs: Jobs | None = None,
    ) -> Self:
        """Open the service, with a job runtime that it shares with others in this process or with one of its own."""
        owns_jobs = jobs is None
        runtime = jobs or await Jobs.open(settings, database, (cls.kind.name,))
        return cls(runtime, InternalClient(selection, tokens), tokens, owns_jobs=owns_jobs)

    async def close(self) -> None:
        """Close the job runtime if the service has its own. The database belongs to whoever opened it."""
        if self._owned_jobs is not None:
            await self._owned_jobs.close()
