"""The parent's side of a fork server: starting one, having it fork worker processes, and ending them."""

import asyncio
import contextlib
import signal
import socket
from asyncio.subprocess import DEVNULL, Process
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import structlog

from touchstone.jobs.execution import message_channel
from touchstone.jobs.execution.fork_server import ChildExited, ChildForked, ForkRequest, ServerReady, SignalRequest
from touchstone.jobs.execution.message_channel import ChannelClosed
from touchstone.jobs.execution.protocol import (
    ProcessDied,
    ProgressListener,
    ProgressMessage,
    TaskFailed,
    TaskOutcome,
    TaskSucceeded,
    WorkItem,
)

KILLED: Final = -signal.SIGKILL  # the exit status of a process whose end nobody has seen
CLOSE_SECONDS: Final = 5.0
log = structlog.get_logger("touchstone.jobs")


class ForkedProcess(NamedTuple):
    """The id of a forked process, and the future of its exit status."""

    pid: int
    exit_status: asyncio.Future[int]


class ForkServer:
    """A running fork server."""

    def __init__(self, process: Process, control: socket.socket) -> None:
        self._process = process
        self._control = control
        self._pending_forks: deque[asyncio.Future[ForkedProcess]] = deque()
        self._exit_statuses: dict[int, asyncio.Future[int]] = {}
        self._send_lock = asyncio.Lock()
        self.is_closed = False
        self._listener = asyncio.ensure_future(self._listen())

    @classmethod
    async def start(cls, command: Sequence[str], variables: Mapping[str, str]) -> "ForkServer":
        """Start a fork server and wait until it has loaded its libraries.

        Raises:
            ChannelClosed: it could not start.
        """
        control, remote_control = socket.socketpair()
        control.setblocking(False)
        with remote_control:
            descriptor = remote_control.fileno()
            process = await asyncio.create_subprocess_exec(
                *command,
                str(descriptor),
                stdin=DEVNULL,
                stdout=DEVNULL,
                env=dict(variables),
                pass_fds=(descriptor,),
                start_new_session=True,
            )

        try:
            await message_channel.receive_async(control, ServerReady)
        except BaseException:
            control.close()
            process.kill()  # It has no children yet.
            await process.wait()
            raise
        return cls(process, control)

    async def fork(self) -> "WorkerProcess":
        """Return a fresh worker process that waits for its work item.

        Raises:
            ChannelClosed: the fork server is gone.
        """
        channel, remote_channel = socket.socketpair()
        channel.setblocking(False)
        fork: asyncio.Future[ForkedProcess] = asyncio.get_running_loop().create_future()

        try:
            with remote_channel:
                async with self._send_lock:
                    if self.is_closed:
                        raise ChannelClosed
                    self._pending_forks.append(fork)
                    await message_channel.send_async(self._control, ForkRequest(), [remote_channel.fileno()])
                # Shielded: the answer must be taken even if nobody waits for it any more, so that answers stay in step.
                forked = await asyncio.shield(fork)
        except OSError as error:
            channel.close()
            raise ChannelClosed from error
        except BaseException:
            channel.close()  # A child without a work item ends by itself when its socket closes.
            raise
        return WorkerProcess(self, channel, forked)

    async def send_signal(self, pid: int, number: int = signal.SIGKILL) -> None:
        """Signal a child and its process group, if it is still alive."""
        with contextlib.suppress(OSError):
            async with self._send_lock:
                await message_channel.send_async(self._control, SignalRequest(pid, number))

    async def close(self) -> None:
        """End the fork server, which ends its children."""
        self._listener.cancel()
        # The event loop must have let go of the socket before its descriptor can be reused.
        await asyncio.gather(self._listener, return_exceptions=True)
        self._mark_closed()
        self._control.close()

        try:
            await asyncio.wait_for(self._process.wait(), CLOSE_SECONDS)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    async def _listen(self) -> None:
        try:
            while True:
                message = await message_channel.receive_async(self._control, ChildForked | ChildExited)
                self._handle(message)
        except ChannelClosed:
            log.error("the fork server of the workers is gone; another one starts with the next task")
            self._mark_closed()

    def _handle(self, message: ChildForked | ChildExited) -> None:
        if isinstance(message, ChildExited):
            exit_status = self._exit_statuses.pop(message.pid)
            if not exit_status.done():
                exit_status.set_result(message.status)
            return

        forked = ForkedProcess(message.pid, asyncio.get_running_loop().create_future())
        self._exit_statuses[forked.pid] = forked.exit_status
        fork = self._pending_forks.popleft()
        if not fork.done():
            fork.set_result(forked)

    def _mark_closed(self) -> None:
        """Resolve everything that still waits for the fork server."""
        self.is_closed = True
        for exit_status in self._exit_statuses.values():
            if not exit_status.done():
                exit_status.set_result(KILLED)
        for fork in self._pending_forks:
            if not fork.done():
                fork.set_exception(ChannelClosed())
                fork.exception()  # Marks it as retrieved: whoever waited for it may have been cancelled.


class WorkerProcess:
    """The parent's side of one worker process."""

    def __init__(self, server: ForkServer, channel: socket.socket, forked: ForkedProcess) -> None:
        self._server = server
        self._channel = channel
        self._exit_status = forked.exit_status
        self.pid = forked.pid

    async def run(self, item: WorkItem, files: Sequence[int], listener: ProgressListener) -> TaskOutcome:
        """Send the work item, pass progress on to the listener, and return the outcome."""
        try:
            await message_channel.send_async(self._channel, item, files)
            while True:
                message: ProgressMessage | TaskSucceeded | TaskFailed
                message = await message_channel.receive_async(
                    self._channel, ProgressMessage | TaskSucceeded | TaskFailed
                )
                if not isinstance(message, ProgressMessage):
                    return message
                listener(message.progress)
        except (ChannelClosed, OSError):
            return ProcessDied(status=await asyncio.shield(self._exit_status))

    async def terminate(self, grace_seconds: float) -> None:
        """Ask the process to end, and give it time to clean up elsewhere."""
        if grace_seconds:
            await self._server.send_signal(self.pid, signal.SIGTERM)
            await asyncio.wait([self._exit_status], timeout=grace_seconds)

    async def kill(self) -> None:
        """End the process and its group, and return when it is gone."""
        await self._server.send_signal(self.pid)
        await asyncio.wait([self._exit_status])
        self._channel.close()
