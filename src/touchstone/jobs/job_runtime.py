"""The job runtime of a process, with its artifact store, its worker processes and its dispatcher."""

import asyncio
import contextlib
import importlib.util
import os
from collections.abc import Sequence
from typing import Final, Self

import structlog

from touchstone.core.settings import Settings, SettingsError
from touchstone.database.engine import Database
from touchstone.jobs.artifact_files import ArtifactStore
from touchstone.jobs.dispatcher import Dispatcher
from touchstone.jobs.execution.message_channel import ChannelClosed
from touchstone.jobs.execution.process_executor import (
    RAY_FORK_SERVER_COMMAND,
    ProcessExecutor,
    task_thread_count,
    worker_environment,
)
from touchstone.jobs.execution.protocol import Executor
from touchstone.jobs.execution.ray_head import local_cluster_variables
from touchstone.jobs.execution.synchronous_tasks import SynchronousTasks
from touchstone.jobs.input_files import InputFiles

WARM_UP_DELAY_SECONDS: Final = 1.0
RAY_GRACE_SECONDS: Final = 1.0
log = structlog.get_logger("touchstone.jobs")


class JobRuntime:
    """The components that one process needs to accept and execute jobs.

    Attributes:
        artifact_store: the files that jobs have produced.
        input_files: opens the files that jobs read.
        synchronous_tasks: runs the short tasks that requests wait for.
        closing: set when the process shuts down, so that event streams end.
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
        """Create the runtime, which does not execute jobs until `start` is called.

        Args:
            settings: the settings of the process.
            database: the database that contains the jobs.
            kinds: the kinds of the jobs to execute.
            executor: the executor for the tasks of jobs.
            synchronous_executor: the executor for the short tasks that requests wait for, which may be the same
                executor. It loads its libraries after `WARM_UP_DELAY_SECONDS`.
        """
        self.settings = settings
        self.database = database
        self.artifact_store = ArtifactStore(settings.artifacts_dir)
        self.input_files = InputFiles(settings, self.artifact_store)
        self.synchronous_tasks = SynchronousTasks(synchronous_executor, settings)
        self.closing = asyncio.Event()
        self._executors = {executor, synchronous_executor}
        self._dispatcher = Dispatcher(database, executor, self.artifact_store, kinds=kinds, settings=settings)
        self._warm_up = asyncio.ensure_future(_warm_up_later(synchronous_executor))

    @classmethod
    async def open(cls, settings: Settings, database: Database, kinds: Sequence[str]) -> Self:
        """Create the runtime with the executor from the settings, and start executing jobs of these kinds.

        Tasks that a request waits for always run on this machine, even if jobs run on Ray.

        Raises:
            SettingsError: the settings request Ray, which is not installed.
        """
        local_executor = ProcessExecutor()
        job_executor = _create_ray_executor(settings) if settings.executor == "ray" else local_executor

        runtime = cls(settings, database, kinds, executor=job_executor, synchronous_executor=local_executor)
        runtime.start()
        return runtime

    def start(self) -> None:
        """Start executing jobs, unless this process only accepts them according to the settings."""
        if self.settings.job_workers > 0:
            self._dispatcher.start()

    def wake(self) -> None:
        """Make the dispatcher look immediately for new and for cancelled jobs."""
        self._dispatcher.wake()

    async def close(self) -> None:
        """End the event streams, return the running jobs to the queue, and end every worker process."""
        self.closing.set()

        self._warm_up.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._warm_up

        await self._dispatcher.close()
        for executor in self._executors:
            await executor.close()


async def _warm_up_later(executor: Executor) -> None:
    """Make the executor load its libraries after a short delay.

    Loading them keeps a core busy for seconds, which would slow down the first requests of the process.
    """
    await asyncio.sleep(WARM_UP_DELAY_SECONDS)
    try:
        await executor.warm_up()
    except ChannelClosed:
        log.error("the workers could not be started")


def _create_ray_executor(settings: Settings) -> ProcessExecutor:
    """Return an executor that runs each task on a Ray cluster, controlled by a local process.

    The local processes receive Ray's environment variables. Without a cluster in the settings, a cluster is started on
    this machine.

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
        RAY_FORK_SERVER_COMMAND,
        grace_seconds=RAY_GRACE_SECONDS,
        limits_memory=False,
        variables=worker_environment(thread_count=task_thread_count()) | ray_variables,
    )
