"""A backend that has jobs of one kind: opened once per process, an ASGI application until it is closed."""

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
from touchstone.jobs.routes import Desk, jobs
from touchstone.jobs.runtime import Jobs
from touchstone.jobs.start import Starting


class JobBackend:
    """Starts and reports jobs of `kind`; `routes` are those that other kinds do not have."""

    name: ClassVar[str]
    kind: ClassVar[str]
    address: ClassVar[str]
    routes: ClassVar[APIRouter]

    def __init__(
        self, room: Jobs, selection: InternalClient, tokens: InternalTokens | None, *, owns_room: bool
    ) -> None:
        self.resources = (Resource("database", room.database.ping),)
        application = create_app(self.name, self.routes, jobs, resources=self.resources)
        application.state.desk = Desk(room, self.kind, self.address)
        application.state.starting = Starting(room, selection)
        self.app = BackendAuthMiddleware(
            TrailingSlashMiddleware(AllowedMethodsMiddleware(application, self.routes, jobs), frozenset()), tokens
        )
        self._room = room if owns_room else None

    @classmethod
    async def open(
        cls,
        settings: Settings,
        database: Database,
        tokens: InternalTokens | None,
        selection: Upstream,
        *,
        room: Jobs | None = None,
    ) -> Self:
        """Open the backend with a room of its own, or with one that it shares with others in this process."""
        used = room or await Jobs.open(settings, database, (cls.kind,))
        return cls(used, InternalClient(selection, tokens), tokens, owns_room=room is None)

    async def close(self) -> None:
        """Close its own room. The database belongs to who opened it."""
        if self._room is not None:
            await self._room.close()
