"""The job runtime of a process: the artifact store, the worker processes, and the dispatcher."""

import asyncio
import contextlib
import importlib.util
import os
from collections.abc import Sequence
from typing import Final, Self

import structlog

from touchstone.core.settings import Settings, SettingsError
from touchstone.database.engine import Database
from touchstone.jobs.artifact_store import ArtifactStore
from touchstone.jobs.dispatcher import Dispatcher
from touchstone.jobs.execution.local import RAY_WORKER_COMMAND, ProcessExecutor, spare_cores, worker_environment
from touchstone.jobs.execution.message_channel import ChannelClosed
from touchstone.jobs.execution.protocol import Executor
from touchstone.jobs.execution.ray_head import local_cluster_variables
from touchstone.jobs.execution.synchronous import SynchronousTasks
from touchstone.jobs.input_files import InputFiles

WARM_AFTER_SECONDS: Final = 1.0
RAY_GRACE_SECONDS: Final = 1.0
log = structlog.get_logger("touchstone.jobs")


class Jobs:
    """The jobs of one process, of one kind or of several.

    Attributes:
        artifact_store: the files that jobs have left.
        input_files: opens the files that jobs read.
        synchronous_tasks: runs the short tasks that requests wait for.
        closing: set when the process stops, so that event streams end.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        kinds: Sequence[str],
        *,
        executor: Executor,
        synchronous_executor: Executor,
    ) -> None:
        self.settings = settings
        self.database = database
        self.artifact_store = ArtifactStore(settings.artifacts_dir)
        self.input_files = InputFiles(settings, self.artifact_store)
        self.synchronous_tasks = SynchronousTasks(synchronous_executor, settings)
        self.closing = asyncio.Event()
        self._executors = {executor, synchronous_executor}
        self._dispatcher = Dispatcher(database, executor, self.artifact_store, kinds=kinds, settings=settings)
        self._warming = asyncio.ensure_future(_warm(synchronous_executor))

    @classmethod
    async def open(cls, settings: Settings, database: Database, kinds: Sequence[str]) -> Self:
        """Start executing jobs of these kinds with the executor that the settings name.

        Raises:
            SettingsError: the settings name Ray, which is not installed.
        """
        local_executor = ProcessExecutor()
        executor = _ray_executor(settings) if settings.executor == "ray" else local_executor
        jobs = cls(settings, database, kinds, executor=executor, synchronous_executor=local_executor)
        jobs.start()
        return jobs

    def start(self) -> None:
        """Start executing jobs, unless this process only accepts them."""
        if self.settings.job_workers:
            self._dispatcher.start()

    def wake(self) -> None:
        """Have the dispatcher look for a new job, or one to cancel, at once."""
        self._dispatcher.wake()

    async def close(self) -> None:
        """Return the running jobs to the queue, and end the event streams and every process."""
        self.closing.set()

        self._warming.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._warming

        await self._dispatcher.close()
        for executor in self._executors:
            await executor.close()


async def _warm(executor: Executor) -> None:
    """Load the libraries a moment after the start: it takes seconds of a core, which the first requests need more."""
    await asyncio.sleep(WARM_AFTER_SECONDS)
    try:
        await executor.warm()
    except ChannelClosed:
        log.error("the workers could not be started")


def _ray_executor(settings: Settings) -> ProcessExecutor:
    """Return an executor whose processes drive Ray; they get Ray's own variables, and the address of our settings.

    Raises:
        SettingsError: Ray is not installed.
    """
    if importlib.util.find_spec("ray") is None:
        raise SettingsError("TOUCHSTONE_EXECUTOR: ray needs the extra `ray`: pip install 'touchstone[ray]'.")

    ray_variables = {name: value for name, value in os.environ.items() if name.startswith("RAY_")}
    if settings.ray_address:
        ray_variables["RAY_ADDRESS"] = settings.ray_address
    else:
        ray_variables.update(local_cluster_variables())

    return ProcessExecutor(
        RAY_WORKER_COMMAND,
        grace_seconds=RAY_GRACE_SECONDS,
        limits_memory=False,
        variables=worker_environment(spare_cores()) | ray_variables,
    )
