"""The fork server: a process that loads the libraries once, and forks a fresh worker process for every task.

Loading the libraries takes seconds; a fork takes milliseconds and shares their memory. The fork server itself runs no
task and starts no thread. It alone reaps its children, so the id of one that it still has to signal is never reused.
"""

import contextlib
import gc
import os
import signal
import socket
import sys
from select import select

from msgspec import Struct

from touchstone.jobs.execution import message_channel
from touchstone.jobs.execution.child import run_one_task
from touchstone.jobs.execution.protocol import TaskSet


class ForkRequest(Struct, frozen=True, tag="fork"):
    """A request for a child that works for the socket sent along."""


class SignalRequest(Struct, frozen=True, tag="signal"):
    """A request to signal a child and everything that it has started."""

    pid: int
    signal: int = signal.SIGKILL


class ServerReady(Struct, frozen=True, tag="ready"):
    """The libraries are loaded."""


class ChildForked(Struct, frozen=True, tag="forked"):
    """The answer to the oldest fork request that has none yet."""

    pid: int


class ChildExited(Struct, frozen=True, tag="exited"):
    """A child has ended: with this exit status, or by this signal if negative."""

    pid: int
    status: int


def main(tasks: TaskSet) -> None:
    """Serve the socket whose descriptor is the first argument until it closes, then end every child."""
    control = socket.socket(fileno=int(sys.argv[1]))
    wakeup = _wake_on_signals()
    children: set[int] = set()
    # The loaded libraries stay for good. A collector that walked over them would copy every shared page to each child.
    gc.freeze()

    try:
        message_channel.send(control, ServerReady())
        while True:
            readable, _, _ = select([control.fileno(), wakeup], [], [])
            if wakeup in readable:
                os.read(wakeup, 1024)
                _reap_children(control, children)
            if control.fileno() in readable:
                _handle_request(control, children, tasks)
    except (message_channel.ChannelClosed, OSError):
        pass  # The parent has closed the socket or is gone.

    for pid in children:
        _signal_group(pid, signal.SIGKILL)


def _wake_on_signals() -> int:
    """Return a descriptor that becomes readable when a child ends, and leave Ctrl-C in a terminal to the parent."""
    reading_end, writing_end = os.pipe()
    os.set_blocking(writing_end, False)
    signal.set_wakeup_fd(writing_end)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return reading_end


def _handle_request(control: socket.socket, children: set[int], tasks: TaskSet) -> None:
    request, descriptors = message_channel.receive(control, ForkRequest | SignalRequest)
    if isinstance(request, SignalRequest):
        if request.pid in children:
            _signal_group(request.pid, request.signal)
        return

    pid = os.fork()
    if pid == 0:
        _run_child(control, descriptors[0], tasks)
    os.close(descriptors[0])
    children.add(pid)
    message_channel.send(control, ChildForked(pid))


def _run_child(control: socket.socket, descriptor: int, tasks: TaskSet) -> None:
    """Turn the forked process into a worker in a session of its own; this never returns."""
    exit_status = 1
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)

        control.close()
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)

        run_one_task(socket.socket(fileno=descriptor), tasks)
        exit_status = 0
    finally:
        # The child must not return into the fork server's loop, nor run its exit hooks.
        os._exit(exit_status)


def _reap_children(control: socket.socket, children: set[int]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        if pid in children:
            children.discard(pid)
            message_channel.send(control, ChildExited(pid, os.waitstatus_to_exitcode(status)))


def _signal_group(pid: int, number: int) -> None:
    """Signal a child and its process group, which the child creates only after the fork."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
