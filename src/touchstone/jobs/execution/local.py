"""The local executor: every task runs in a fresh process, forked by a fork server that this process starts."""

import asyncio
import os
import resource
import sys
from collections.abc import Mapping, Sequence
from typing import BinaryIO, Final

from msgspec.structs import replace

from touchstone.jobs.execution.fork_server_client import KILLED, ForkServer
from touchstone.jobs.execution.message_channel import ChannelClosed
from touchstone.jobs.execution.protocol import ProcessDied, ProgressListener, TaskFailed, TaskOutcome, WorkItem

WORKER_COMMAND: Final = (sys.executable, "-I", "-m", "touchstone.jobs.execution.worker_main")
RAY_WORKER_COMMAND: Final = (sys.executable, "-I", "-m", "touchstone.jobs.execution.ray_worker_main")

_THREAD_VARIABLES: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# An operator may pin the kernels of the linear algebra, so that different machines produce the same bytes.
_INHERITED_VARIABLES: Final = ("OPENBLAS_CORETYPE",)


def worker_environment(threads: int) -> dict[str, str]:
    """Return the environment variables of workers: none of our settings and secrets, and a bounded thread count."""
    fixed = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", "OMP_WAIT_POLICY": "passive"}
    inherited = {name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
    return fixed | inherited | dict.fromkeys(_THREAD_VARIABLES, str(threads))


def spare_cores() -> int:
    """Return the number of cores that tasks may use: all but one, which is left to the API."""
    return max(1, (os.cpu_count() or 2) - 1)


class ProcessExecutor:
    """Runs each task in a process of its own.

    Attributes:
        command: starts the fork server.
        grace_seconds: time between SIGTERM and SIGKILL when a task is cancelled; 0 unless it has to clean up elsewhere.
        limits_memory: False for processes that only drive an engine which maps much memory.
        variables: the environment of the processes.
    """

    def __init__(
        self,
        command: Sequence[str] = WORKER_COMMAND,
        *,
        grace_seconds: float = 0.0,
        limits_memory: bool = True,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.command = tuple(command)
        self.grace_seconds = grace_seconds
        self.limits_memory = limits_memory
        self.variables = dict(worker_environment(spare_cores()) if variables is None else variables)
        self._server: asyncio.Future[ForkServer] | None = None

    async def warm(self) -> None:
        """Start the fork server, and return when it has loaded its libraries."""
        await self._running_server()

    async def run(
        self, item: WorkItem, files: Sequence[BinaryIO], *, listener: ProgressListener, seconds: float
    ) -> TaskOutcome:
        """Run one task; when this is cancelled or out of time, the process is gone before it returns."""
        if not self.limits_memory:
            item = replace(item, limits=replace(item.limits, memory_bytes=resource.RLIM_INFINITY))

        try:
            server = await self._running_server()
            process = await server.fork()
        except ChannelClosed:
            return ProcessDied(status=KILLED)

        try:
            async with asyncio.timeout(seconds):
                return await process.run(item, [file.fileno() for file in files], listener)
        except TimeoutError:
            return TaskFailed(code="out_of_time", phase="working", facts={"seconds": int(seconds)})
        except asyncio.CancelledError:
            await process.terminate(self.grace_seconds)
            raise
        finally:
            await asyncio.shield(process.kill())

    async def close(self) -> None:
        """End the fork server and every process that it has forked."""
        if self._server is None:
            return
        self._server.cancel()  # This has an effect only while it is starting.
        await asyncio.wait([self._server])
        if not self._server.cancelled() and self._server.exception() is None:
            await self._server.result().close()
        self._server = None

    async def _running_server(self) -> ForkServer:
        """Return the fork server, starting one if there is none or the last one was lost.

        A caller that stops waiting does not keep the server from starting.

        Raises:
            ChannelClosed: it could not start.
        """
        if self._server is not None and self._server.done():
            has_failed = self._server.exception() is not None
            if has_failed or self._server.result().is_closed:
                await self.close()
        if self._server is None:
            self._server = asyncio.ensure_future(ForkServer.start(self.command, self.variables))
        return await asyncio.shield(self._server)
