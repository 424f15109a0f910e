"""The fork server: a process that loads the libraries once and forks the worker processes.

Loading the libraries takes seconds, whereas a fork takes milliseconds and shares their memory. The fork server runs no
tasks and starts no threads. Only the fork server reaps its children, so the process id of a child that it may still
signal is never reused.
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
from touchstone.jobs.execution.message_channel import ChannelClosed
from touchstone.jobs.execution.protocol import TaskSet
from touchstone.jobs.execution.worker_process import run_worker


class ForkRequest(Struct, frozen=True, tag="fork"):
    """A request for a worker process that listens to the socket sent along with the request."""


class SignalRequest(Struct, frozen=True, tag="signal"):
    """A request to signal a worker process and all processes that it has started."""

    pid: int
    signal: int = signal.SIGKILL


class ServerReady(Struct, frozen=True, tag="ready"):
    """A message that is sent once the libraries are loaded."""


class ChildForked(Struct, frozen=True, tag="forked"):
    """The reply to the oldest unanswered fork request."""

    pid: int


class ChildExited(Struct, frozen=True, tag="exited"):
    """A report that a worker process has ended. `status` is its exit status or a negative signal number."""

    pid: int
    status: int


def run_fork_server(tasks: TaskSet) -> None:
    """Fork worker processes on request until the parent closes the control socket.

    The remaining worker processes are killed at the end. The parent passes the file descriptor of the control socket as
    the first command-line argument.
    """
    control_descriptor = int(sys.argv[1])
    control_socket = socket.socket(fileno=control_descriptor)
    child_ended_pipe = _open_child_ended_pipe()
    child_pids: set[int] = set()

    # Exclude the loaded libraries from garbage collection, which would write to their memory pages. Every child would
    # then get copies of pages that it now shares.
    gc.freeze()

    try:
        message_channel.send(control_socket, ServerReady())
        while True:
            readable, _, _ = select([control_descriptor, child_ended_pipe], [], [])
            if child_ended_pipe in readable:
                os.read(child_ended_pipe, 1024)  # Empty the pipe. Its content, a byte per signal, does not matter.
                _report_ended_children(control_socket, child_pids)
            if control_descriptor in readable:
                _handle_request(control_socket, child_pids, tasks)
    except (ChannelClosed, OSError):
        pass  # The parent has closed the socket or is gone.

    for pid in child_pids:
        _signal_child(pid, signal.SIGKILL)


def _open_child_ended_pipe() -> int:
    """Return a file descriptor that becomes readable when a child ends.

    This also makes the process ignore Ctrl-C in a terminal, because the parent receives and handles it as well.
    """
    reading_end, writing_end = os.pipe()
    os.set_blocking(writing_end, False)
    signal.set_wakeup_fd(writing_end)

    # Python writes to the pipe only for signals that have a handler.
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return reading_end


def _handle_request(control_socket: socket.socket, child_pids: set[int], tasks: TaskSet) -> None:
    """Receive one request from the parent, and either fork a worker process or signal one."""
    request, descriptors = message_channel.receive(control_socket, ForkRequest | SignalRequest)

    if isinstance(request, SignalRequest):
        # A child that has ended is no longer in the set, because its id may already belong to another process.
        if request.pid in child_pids:
            _signal_child(request.pid, request.signal)
        return

    worker_descriptor = descriptors[0]
    pid = _fork_worker(control_socket, worker_descriptor, tasks)
    child_pids.add(pid)
    message_channel.send(control_socket, ChildForked(pid))


def _fork_worker(control_socket: socket.socket, worker_descriptor: int, tasks: TaskSet) -> int:
    """Fork a worker process, and return its id.

    The call only returns in the fork server. The worker process receives its tasks from the socket `worker_descriptor`,
    and exits after the last one.
    """
    pid = os.fork()
    if pid == 0:
        _become_worker(control_socket, worker_descriptor, tasks)

    os.close(worker_descriptor)
    return pid


def _become_worker(control_socket: socket.socket, worker_descriptor: int, tasks: TaskSet) -> None:
    """Run tasks in the process that was just forked, and exit. This call never returns.

    The worker leads its own session and process group, so that all processes it starts can be ended with it.
    """
    exit_status = 1
    try:
        os.setsid()
        _restore_signal_handling()
        control_socket.close()
        _discard_standard_output()

        run_worker(socket.socket(fileno=worker_descriptor), tasks)
        exit_status = 0
    finally:
        # The worker must neither return to the loop of the fork server nor run its exit handlers.
        os._exit(exit_status)


def _restore_signal_handling() -> None:
    """Undo the signal handling of `_open_child_ended_pipe` in a worker process."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _discard_standard_output() -> None:
    """Discard everything that the libraries write to standard output and standard error."""
    null_device = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_device, 1)
    os.dup2(null_device, 2)


def _report_ended_children(control_socket: socket.socket, child_pids: set[int]) -> None:
    """Collect the exit statuses of all children that have ended, and report them to the parent."""
    while child_pids:
        pid, wait_status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return  # The other children are still running.

        if pid in child_pids:
            child_pids.discard(pid)
            exit_status = os.waitstatus_to_exitcode(wait_status)
            message_channel.send(control_socket, ChildExited(pid, exit_status))


def _signal_child(pid: int, signal_number: int) -> None:
    """Send a signal to a child and to its process group.

    The child itself is signalled first, because it may not have created its process group yet.
    """
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal_number)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal_number)
