"""The local executor: every piece of work in a fresh process, forked by a nursery that this process starts."""

import asyncio
import contextlib
import os
import resource
import signal
import socket
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from typing import BinaryIO, Final

import structlog
from msgspec.structs import replace

from touchstone.jobs.execution import message_channel
from touchstone.jobs.execution.fork_server import Born, End, Fork, Gone, Ready
from touchstone.jobs.execution.message_channel import ChannelClosed
from touchstone.jobs.execution.protocol import Died, Done, Ending, Listener, Progress, Refused, Work

WORKER: Final = (sys.executable, "-I", "-m", "touchstone.jobs.execution.worker_main")
RAY_WORKER: Final = (sys.executable, "-I", "-m", "touchstone.jobs.execution.ray_worker_main")
_LOST: Final = -signal.SIGKILL
log = structlog.get_logger("touchstone.jobs")


def environment(threads: int) -> dict[str, str]:
    """The environment of the processes that work: no setting and no secret of ours, threads bounded, hashes fixed."""
    bound = str(threads)
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    fixed = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONHASHSEED": "0", "OMP_WAIT_POLICY": "passive"}
    # An operator may pin the linear algebra's kernels: machines that differ then still make the same bytes.
    pinned = {name: os.environ[name] for name in ("OPENBLAS_CORETYPE",) if name in os.environ}
    return fixed | pinned | dict.fromkeys(names, bound)


def spare_cores() -> int:
    """The cores that work may use: all but one, which is left to the API."""
    return max(1, (os.cpu_count() or 2) - 1)


class ProcessExecutor:
    """Runs each piece of work in a process of its own.

    `command` starts a nursery; `grace` is how many seconds a process gets between SIGTERM and SIGKILL when its work
    is cancelled (none unless it has something elsewhere to clean up). Processes that do not work themselves, but
    drive an engine which maps much memory, are not `bounded` in it.
    """

    def __init__(
        self,
        command: Sequence[str] = WORKER,
        *,
        grace: float = 0.0,
        bounded: bool = True,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._command = tuple(command)
        self._bounded = bounded
        self._grace = grace
        self._variables = dict(environment(spare_cores()) if variables is None else variables)
        self._nursery: asyncio.Future[Nursery] | None = None

    async def warm(self) -> None:
        """Start the nursery, and return when it has loaded its libraries."""
        await self._ready()

    async def run(self, work: Work, files: Sequence[BinaryIO], *, listen: Listener, seconds: float) -> Ending:
        """Do one piece of work; when this is cancelled or out of time the process is gone before it returns."""
        if not self._bounded:
            work = replace(work, limits=replace(work.limits, memory_bytes=resource.RLIM_INFINITY))
        try:
            child = await (await self._ready()).child()
        except ChannelClosed:
            return Died(status=_LOST)
        try:
            async with asyncio.timeout(seconds):
                return await child.work(work, [file.fileno() for file in files], listen)
        except TimeoutError:
            return Refused(code="out_of_time", phase="working", facts={"seconds": int(seconds)})
        except asyncio.CancelledError:
            await child.ask_to_end(self._grace)
            raise
        finally:
            await asyncio.shield(child.end())

    async def close(self) -> None:
        """End the nursery and every process it has made."""
        if self._nursery is not None:
            self._nursery.cancel()  # of use only while it is opening
            await asyncio.wait([self._nursery])
            if not self._nursery.cancelled() and self._nursery.exception() is None:
                await self._nursery.result().close()
            self._nursery = None

    async def _ready(self) -> "Nursery":
        """The nursery; who gives up waiting for it does not keep it from opening."""
        if self._nursery is not None and self._nursery.done():
            lost = self._nursery.exception() is not None
            if lost or self._nursery.result().closed:
                await self.close()
        if self._nursery is None:
            self._nursery = asyncio.ensure_future(Nursery.open(self._command, self._variables))
        return await asyncio.shield(self._nursery)


class Nursery:
    """The parent's end of a nursery."""

    def __init__(self, process: asyncio.subprocess.Process, control: socket.socket) -> None:
        self._process = process
        self._control = control
        self._unborn: deque[asyncio.Future[tuple[int, asyncio.Future[int]]]] = deque()
        self._living: dict[int, asyncio.Future[int]] = {}
        self._sending = asyncio.Lock()
        self.closed = False
        self._listening = asyncio.ensure_future(self._listen())

    @classmethod
    async def open(cls, command: Sequence[str], variables: Mapping[str, str]) -> "Nursery":
        """Start one and wait until it is ready.

        Raises:
            ChannelClosed: it could not start.
        """
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *command,
                str(theirs.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                env=dict(variables),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        try:
            await message_channel.receive_async(ours, Ready)
        except BaseException:
            ours.close()
            process.kill()  # it has no children yet
            await process.wait()
            raise
        return cls(process, ours)

    async def child(self) -> "Child":
        """A fresh process, waiting for its work.

        Raises:
            ChannelClosed: the nursery is gone.
        """
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        born: asyncio.Future[tuple[int, asyncio.Future[int]]] = asyncio.get_running_loop().create_future()
        try:
            with theirs:
                async with self._sending:
                    if self.closed:
                        raise ChannelClosed
                    self._unborn.append(born)
                    await message_channel.send_async(self._control, Fork(), [theirs.fileno()])
                # Not to be cut short: a child whose number nobody knows could not be ended.
                pid, ended = await asyncio.shield(born)
        except OSError as problem:
            ours.close()
            raise ChannelClosed from problem
        except BaseException:
            ours.close()  # a child without work ends by itself when its socket closes
            raise
        return Child(self, ours, pid, ended)

    async def end(self, pid: int, number: int = signal.SIGKILL) -> None:
        """Send a signal to a child and its group, if it still lives."""
        with contextlib.suppress(OSError):
            async with self._sending:
                await message_channel.send_async(self._control, End(pid, number))

    async def close(self) -> None:
        """End the nursery; it ends its children."""
        self._listening.cancel()
        # The loop must have let go of the socket before its number can be given to another.
        await asyncio.gather(self._listening, return_exceptions=True)
        self._lose()
        self._control.close()
        try:
            await asyncio.wait_for(self._process.wait(), 5)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    async def _listen(self) -> None:
        try:
            while True:
                message = await message_channel.receive_async(self._control, Born | Gone)
                self._take(message)
        except ChannelClosed:
            log.error("the nursery of the workers is gone; another one starts with the next work")
            self._lose()

    def _take(self, message: Born | Gone) -> None:
        if isinstance(message, Born):
            ended = self._living[message.pid] = asyncio.get_running_loop().create_future()
            born = self._unborn.popleft()
            if not born.done():
                born.set_result((message.pid, ended))
        elif not (ended := self._living.pop(message.pid)).done():
            ended.set_result(message.status)

    def _lose(self) -> None:
        self.closed = True
        for ended in self._living.values():
            if not ended.done():
                ended.set_result(_LOST)
        for born in self._unborn:
            if not born.done():
                born.set_exception(ChannelClosed())
                born.exception()  # looked at: whoever waits for it may have been cancelled


class Child:
    """The parent's end of one working process."""

    def __init__(self, nursery: Nursery, sock: socket.socket, pid: int, ended: asyncio.Future[int]) -> None:
        self._nursery = nursery
        self._socket = sock
        self.pid = pid
        self._ended = ended

    async def work(self, work: Work, files: Sequence[int], listen: Listener) -> Ending:
        """Hand over the work and wait for its end."""
        try:
            await message_channel.send_async(self._socket, work, files)
            while True:
                message: Progress | Done | Refused
                message = await message_channel.receive_async(self._socket, Progress | Done | Refused)
                if not isinstance(message, Progress):
                    return message
                listen(message)
        except (ChannelClosed, OSError):
            return Died(status=await asyncio.shield(self._ended))

    async def ask_to_end(self, grace: float) -> None:
        """Let the process clean up elsewhere for `grace` seconds."""
        if grace:
            await self._nursery.end(self.pid, signal.SIGTERM)
            await asyncio.wait([self._ended], timeout=grace)

    async def end(self) -> None:
        """End the process and its group; returns when it is gone."""
        await self._nursery.end(self.pid)
        await asyncio.wait([self._ended])
        self._socket.close()
