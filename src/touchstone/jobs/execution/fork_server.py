"""The nursery: a process that has loaded the libraries once, and forks a fresh child for every piece of work.

Loading them takes seconds; a fork takes milliseconds and shares their memory. The nursery itself runs no work and
starts no thread. It reaps its children, so their numbers cannot be given to others before it has ended them.
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
from touchstone.jobs.execution.child import work_once
from touchstone.jobs.execution.protocol import TaskSet


class Fork(Struct, frozen=True, tag="fork"):
    """Ask for a child that listens on the socket sent along."""


class End(Struct, frozen=True, tag="end"):
    """Ask for the end of a child and of whatever it started; `signal` is sent to its whole group."""

    pid: int
    signal: int = signal.SIGKILL


class Ready(Struct, frozen=True, tag="ready"):
    """The libraries are loaded."""


class Born(Struct, frozen=True, tag="born"):
    """The child that was asked for first among those not born yet."""

    pid: int


class Gone(Struct, frozen=True, tag="gone"):
    """A child has ended, with this status or by this signal (negative)."""

    pid: int
    status: int


def main(tasks: TaskSet) -> None:
    """Serve the socket whose descriptor is the first argument until it closes; then end every child."""
    control = socket.socket(fileno=int(sys.argv[1]))
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the dispatcher to answer
    children: set[int] = set()
    # What is loaded stays for good: a collector that walks over it would copy every shared page into each child.
    gc.freeze()
    try:
        message_channel.send(control, Ready())
        while True:
            ready, _, _ = select([control.fileno(), woken], [], [])
            if woken in ready:
                os.read(woken, 1024)
                _reap(control, children)
            if control.fileno() in ready:
                _answer(control, children, tasks)
    except (message_channel.ChannelClosed, OSError):
        pass
    for pid in children:
        _signal(pid, signal.SIGKILL)


def _answer(control: socket.socket, children: set[int], tasks: TaskSet) -> None:
    message, files = message_channel.receive(control, Fork | End)
    if isinstance(message, End):
        if message.pid in children:
            _signal(message.pid, message.signal)
        return
    pid = os.fork()
    if pid == 0:
        _be_child(control, files[0], tasks)
    os.close(files[0])
    children.add(pid)
    message_channel.send(control, Born(pid))


def _be_child(control: socket.socket, descriptor: int, tasks: TaskSet) -> None:
    status = 1
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        control.close()
        silence = os.open(os.devnull, os.O_RDWR)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        work_once(socket.socket(fileno=descriptor), tasks)
        status = 0
    finally:
        # Never back into the nursery's own loop, and none of its exit hooks.
        os._exit(status)


def _reap(control: socket.socket, children: set[int]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        if pid in children:
            children.discard(pid)
            message_channel.send(control, Gone(pid, os.waitstatus_to_exitcode(status)))


def _signal(pid: int, number: int) -> None:
    # The group may not exist yet: the child makes it right after its birth.
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
