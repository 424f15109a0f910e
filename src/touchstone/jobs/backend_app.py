"""The base class of the training and the explanation service, which only differ in a few routes."""

from typing import ClassVar, Self

from fastapi import APIRouter

from touchstone.core.internal_tokens import InternalTokens
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.app import create_app
from touchstone.http.backend_auth import BackendAuthMiddleware
from touchstone.http.health import Resource
from touchstone.http.internal_client import InternalClient
from touchstone.http.routing import AllowedMethodsMiddleware, TrailingSlashMiddleware
from touchstone.http.upstream import Upstream
from touchstone.jobs.job_kinds import JobKind
from touchstone.jobs.job_routes import job_router
from touchstone.jobs.job_runtime import JobRuntime
from touchstone.jobs.request_context import JobServiceState
from touchstone.jobs.selection_client import SelectionClient


class JobBackend:
    """A service that starts and reports the jobs of one kind.

    Attributes:
        kind: the kind of its jobs.
        routers: the routes that are specific to this kind of job.
        app: the ASGI application.
        resources: the resources that the health check tests.
    """

    kind: ClassVar[JobKind]
    routers: ClassVar[tuple[APIRouter, ...]]

    def __init__(
        self, runtime: JobRuntime, selection: InternalClient, tokens: InternalTokens | None, *, owns_runtime: bool
    ) -> None:
        """Create the application.

        Args:
            runtime: the open job runtime.
            selection: the client for requests to the selection service.
            tokens: the keys for verifying that requests were signed by the gateway, or None to accept all requests.
            owns_runtime: whether `close` also closes the runtime.
        """
        self._owned_runtime = runtime if owns_runtime else None
        # Selection is not among them: while it is down, jobs still run, and the gateway reports which service is down.
        self.resources = (Resource("database", runtime.database.ping),)

        # The routes, and the state that their handlers share.
        application = create_app(self.kind.service, *self.routers, job_router, resources=self.resources)
        application.state.job_service = JobServiceState(self.kind, runtime, SelectionClient(selection))

        # The middleware, from the innermost layer to the outermost: a request is authenticated first.
        with_allowed_methods = AllowedMethodsMiddleware(application, *self.routers, job_router)
        with_plain_paths = TrailingSlashMiddleware(with_allowed_methods, frozenset())
        self.app = BackendAuthMiddleware(with_plain_paths, tokens)

    @classmethod
    async def open(
        cls,
        settings: Settings,
        database: Database,
        tokens: InternalTokens | None,
        selection: Upstream,
        *,
        shared_runtime: JobRuntime | None = None,
    ) -> Self:
        """Open the service in this process.

        Args:
            settings: the settings of the process.
            database: the database that contains the jobs.
            tokens: the keys for signing and verifying internal requests, or None without a gateway.
            selection: the selection service.
            shared_runtime: the job runtime shared by all services of this process. By default the service opens and
                closes its own runtime.
        """
        selection_client = InternalClient(selection, tokens)
        if shared_runtime is not None:
            return cls(shared_runtime, selection_client, tokens, owns_runtime=False)

        own_runtime = await JobRuntime.open(settings, database, (cls.kind.name,))
        return cls(own_runtime, selection_client, tokens, owns_runtime=True)

    async def close(self) -> None:
        """Close the job runtime if this service owns it. The database is closed by its opener."""
        if self._owned_runtime is not None:
            await self._owned_runtime.close()
