"""The opened services and connections of a process, which are closed when it ends."""

from collections.abc import Awaitable, Mapping
from contextlib import AsyncExitStack
from typing import Final, Protocol, TypeVar

from starlette.types import ASGIApp

from touchstone.core.settings import Settings
from touchstone.jobs.backend_app import JobBackend
from touchstone.services.explanation.app import Explanation
from touchstone.services.training.app import Training
from touchstone.startup.database_error_messages import startup_errors

# The backends that execute jobs, by name.
JOB_BACKENDS: Final[Mapping[str, type[JobBackend]]] = {"training": Training, "explanation": Explanation}


class Closable(Protocol):
    """A resource that must be closed."""

    async def close(self) -> None:
        """Release its resources."""


class Backend(Closable, Protocol):
    """An opened backend."""

    @property
    def app(self) -> ASGIApp:
        """The application that handles its requests."""


Service = TypeVar("Service", bound=Closable)


class OpenServices(AsyncExitStack):
    """The opened services and connections of a process.

    They are closed in reverse order at the end of the `async with` block.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings

    async def add(self, opening: Awaitable[Service]) -> Service:
        """Wait until a service is open, and return it. It is closed at the end of the block.

        Raises:
            SettingsError: the service cannot use the database.
        """
        with startup_errors(self._settings):
            service = await opening
        self.push_async_callback(service.close)
        return service
