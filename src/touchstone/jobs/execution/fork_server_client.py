"""The parent's side of a fork server: starting it, requesting worker processes, and ending them."""

import asyncio
import contextlib
import signal
import socket
import time
from asyncio.subprocess import DEVNULL, Process
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import structlog

from touchstone.jobs.execution import message_channel
from touchstone.jobs.execution.fork_server import ChildExited, ChildForked, ForkRequest, ServerReady, SignalRequest
from touchstone.jobs.execution.message_channel import ChannelClosed
from touchstone.jobs.execution.protocol import (
    ExecutionOutcome,
    ProcessDied,
    ProgressListener,
    ProgressMessage,
    TaskFailed,
    TaskSucceeded,
    WorkItem,
)

KILLED: Final = -signal.SIGKILL  # used as the exit status if the actual status is unknown
CLOSE_TIMEOUT_SECONDS: Final = 5.0
log = structlog.get_logger("touchstone.jobs")


class ForkedProcess(NamedTuple):
    """The id of a forked process, and a future for its exit status."""

    pid: int
    exit_status: asyncio.Future[int]


class ForkServer:
    """The parent's handle of a running fork server."""

    def __init__(self, process: Process, control_socket: socket.socket) -> None:
        self._process = process
        self._control_socket = control_socket
        self._pending_forks: deque[asyncio.Future[ForkedProcess]] = deque()
        self._exit_statuses: dict[int, asyncio.Future[int]] = {}
        self._send_lock = asyncio.Lock()
        self.is_closed = False
        self._listener = asyncio.ensure_future(self._listen())

    @classmethod
    async def start(cls, command: Sequence[str], variables: Mapping[str, str]) -> "ForkServer":
        """Start a fork server and wait until it has loaded its libraries, which takes seconds.

        Args:
            command: the command that starts the fork server.
            variables: the whole environment of the fork server and of its worker processes.

        Raises:
            ChannelClosed: the fork server ended before it was ready.
        """
        control_socket, server_socket = socket.socketpair()
        control_socket.setblocking(False)

        with server_socket:
            server_descriptor = server_socket.fileno()
            process = await asyncio.create_subprocess_exec(
                *command,
                str(server_descriptor),
                stdin=DEVNULL,
                stdout=DEVNULL,
                env=dict(variables),
                pass_fds=(server_descriptor,),
                start_new_session=True,
            )

        try:
            await message_channel.receive_async(control_socket, ServerReady)
        except BaseException:  # including cancellation, because nothing else would end the process
            control_socket.close()
            with contextlib.suppress(ProcessLookupError):  # It may have ended already, which is why nothing arrived.
                process.kill()
            await process.wait()
            raise
        return cls(process, control_socket)

    async def fork(self) -> "WorkerHandle":
        """Start a worker process that waits for its work item, and return a handle to it.

        Raises:
            ChannelClosed: the fork server is gone.
        """
        channel, worker_channel = socket.socketpair()
        channel.setblocking(False)
        try:
            with worker_channel:
                forked_process = await self._request_fork(worker_channel)
        except OSError as error:
            channel.close()
            raise ChannelClosed from error
        except BaseException:
            channel.close()  # A worker without a work item ends when its socket closes.
            raise
        return WorkerHandle(self, channel, forked_process)

    async def _request_fork(self, worker_channel: socket.socket) -> ForkedProcess:
        """Request a process that listens to `worker_channel`, and wait until it is forked.

        Raises:
            ChannelClosed, OSError: the fork server is gone.
        """
        fork: asyncio.Future[ForkedProcess] = asyncio.get_running_loop().create_future()
        async with self._send_lock:
            if self.is_closed:
                raise ChannelClosed
            self._pending_forks.append(fork)
            await message_channel.send_async(self._control_socket, ForkRequest(), [worker_channel.fileno()])

        # Replies are matched to requests by their order. Without the shield, the cancellation of a caller would cancel
        # its future, which has to receive the reply to its request.
        return await asyncio.shield(fork)

    async def send_signal(self, pid: int, signal_number: int = signal.SIGKILL) -> None:
        """Signal a worker process and its process group if it is still alive."""
        with contextlib.suppress(OSError):  # If the fork server is gone, so are its children.
            async with self._send_lock:
                await message_channel.send_async(self._control_socket, SignalRequest(pid, signal_number))

    async def close(self) -> None:
        """End the fork server and its children, and wait until it has ended."""
        self._listener.cancel()
        # The event loop must stop using the socket before its file descriptor can be reused.
        await asyncio.gather(self._listener, return_exceptions=True)
        self._mark_closed()

        # The fork server ends when the other end of its control socket closes.
        self._control_socket.close()
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    async def _listen(self) -> None:
        """Receive the messages of the fork server until it ends, and resolve the futures that wait for them."""
        try:
            while True:
                message = await message_channel.receive_async(self._control_socket, ChildForked | ChildExited)
                if isinstance(message, ChildForked):
                    self._resolve_oldest_fork(message.pid)
                else:
                    self._resolve_exit_status(message.pid, message.status)
        except ChannelClosed:
            log.error("the fork server of the workers is gone; another one starts with the next task")
            self._mark_closed()

    def _resolve_oldest_fork(self, pid: int) -> None:
        """Pass a forked process to the caller that has waited longest."""
        exit_status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._exit_statuses[pid] = exit_status

        fork = self._pending_forks.popleft()
        if not fork.done():
            fork.set_result(ForkedProcess(pid, exit_status))

    def _resolve_exit_status(self, pid: int, status: int) -> None:
        """Resolve the future for the exit status of a process."""
        exit_status = self._exit_statuses.pop(pid)
        if not exit_status.done():
            exit_status.set_result(status)

    def _mark_closed(self) -> None:
        """Mark the fork server as closed, and resolve all futures that wait for a message from it.

        Its worker processes count as killed, and requests for new ones fail.
        """
        self.is_closed = True

        for exit_status in self._exit_statuses.values():
            if not exit_status.done():
                exit_status.set_result(KILLED)

        for fork in self._pending_forks:
            if not fork.done():
                fork.set_exception(ChannelClosed())
                # Retrieve the exception, because asyncio would log an error if the caller was cancelled and nobody
                # does.
                fork.exception()


class WorkerHandle:
    """The parent's handle of a worker process. `busy_seconds` is the total duration of its tasks so far."""

    def __init__(self, server: ForkServer, channel: socket.socket, forked_process: ForkedProcess) -> None:
        self._server = server
        self._channel = channel
        self._exit_status = forked_process.exit_status
        self.pid = forked_process.pid
        self.busy_seconds = 0.0

    async def run(
        self, work_item: WorkItem, descriptors: Sequence[int], on_progress: ProgressListener
    ) -> ExecutionOutcome:
        """Send the work item with its open files, and return the outcome of the task.

        Args:
            work_item: the task to run.
            descriptors: the file descriptors of the open files.
            on_progress: a function that is called whenever the task reports progress.
        """
        started_at = time.monotonic()
        try:
            await message_channel.send_async(self._channel, work_item, descriptors)
            while True:
                message: ProgressMessage | TaskSucceeded | TaskFailed = await message_channel.receive_async(
                    self._channel, ProgressMessage | TaskSucceeded | TaskFailed
                )
                if not isinstance(message, ProgressMessage):
                    return message
                on_progress(message.progress)
        except (ChannelClosed, OSError):
            # If this call is cancelled, `kill` still has to wait for the same future.
            exit_status = await asyncio.shield(self._exit_status)
            return ProcessDied(status=exit_status, is_server_lost=self._server.is_closed)
        finally:
            self.busy_seconds += time.monotonic() - started_at

    async def terminate(self, grace_seconds: float) -> None:
        """Ask the process to end, and wait up to `grace_seconds` while it cleans up on other machines."""
        if grace_seconds > 0:
            await self._server.send_signal(self.pid, signal.SIGTERM)
            await asyncio.wait([self._exit_status], timeout=grace_seconds)

    async def kill(self) -> None:
        """Kill the process and its process group, and wait until the process has ended."""
        await self._server.send_signal(self.pid, signal.SIGKILL)
        await asyncio.wait([self._exit_status])
        self._channel.close()
