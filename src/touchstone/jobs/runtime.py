"""What a backend that has jobs holds: rows, artefacts, processes that work, and the loop that dispatches."""

import asyncio
import contextlib
import importlib.util
import os
from collections.abc import Sequence
from typing import Final, Self

import structlog

from touchstone.core.settings import Settings, SettingsError
from touchstone.database.engine import Database
from touchstone.jobs.artifact_store import Shelf
from touchstone.jobs.dispatcher import Dispatcher
from touchstone.jobs.execution.local import RAY_WORKER, ProcessExecutor, environment, spare_cores
from touchstone.jobs.execution.message_channel import ChannelClosed
from touchstone.jobs.execution.protocol import Executor
from touchstone.jobs.execution.ray_head import own_cluster
from touchstone.jobs.execution.synchronous import Errands
from touchstone.jobs.job_inputs import Inputs

WARM_AFTER_SECONDS: Final = 1.0
RAY_GRACE_SECONDS: Final = 1.0
log = structlog.get_logger("touchstone.jobs")


class Jobs:
    """The jobs of one process, of one kind or of several."""

    def __init__(
        self, settings: Settings, database: Database, kinds: Sequence[str], *, executor: Executor, errands: Executor
    ) -> None:
        self.settings = settings
        self.database = database
        self.shelf = Shelf(settings.artifacts_dir)
        self.inputs = Inputs(settings, self.shelf)
        self.errands = Errands(errands, settings)
        self.closing = asyncio.Event()
        self._executors = {executor, errands}
        self._dispatcher = Dispatcher(database, executor, self.shelf, kinds=kinds, settings=settings)
        self._warming = asyncio.ensure_future(self._warm(errands))

    @classmethod
    async def open(cls, settings: Settings, database: Database, kinds: Sequence[str]) -> Self:
        """A room for jobs of these kinds, with the executor that the settings name, at work."""
        local = ProcessExecutor()
        executor = _on_ray(settings) if settings.executor == "ray" else local
        jobs = cls(settings, database, kinds, executor=executor, errands=local)
        jobs.start()
        return jobs

    def start(self) -> None:
        """Begin to execute jobs, unless this process only accepts them."""
        if self.settings.job_workers:
            self._dispatcher.start()

    def wake(self) -> None:
        """There is a new job, or one to cancel."""
        self._dispatcher.wake()

    async def close(self) -> None:
        """Give the running jobs back, end the event streams and every process."""
        self.closing.set()
        self._warming.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._warming
        await self._dispatcher.close()
        for executor in self._executors:
            await executor.close()

    async def _warm(self, executor: Executor) -> None:
        # Not at once: loading the libraries takes seconds of a core, which the first requests need more.
        await asyncio.sleep(WARM_AFTER_SECONDS)
        try:
            await executor.warm()
        except ChannelClosed:
            log.error("the workers could not be started")


def _on_ray(settings: Settings) -> ProcessExecutor:
    """Jobs on Ray: Ray's own variables reach the drivers, with the address from our settings.

    Raises:
        SettingsError: Ray is not installed.
    """
    if importlib.util.find_spec("ray") is None:
        raise SettingsError("TOUCHSTONE_EXECUTOR: ray needs the extra `ray`: pip install 'touchstone[ray]'.")
    variables = {name: value for name, value in os.environ.items() if name.startswith("RAY_")}
    if settings.ray_address:
        variables["RAY_ADDRESS"] = settings.ray_address
    else:
        variables |= own_cluster()
    variables = environment(spare_cores()) | variables
    return ProcessExecutor(RAY_WORKER, grace=RAY_GRACE_SECONDS, bounded=False, variables=variables)
