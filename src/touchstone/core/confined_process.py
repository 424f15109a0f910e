"""Child processes for untrusted input, with limits on memory and time and without secrets.

The parent starts a module with `start_confined_module`, and the module calls `limit_this_process` before it reads any
input.
"""

import asyncio
import math
import os
import resource
import signal
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import msgspec

# The child inherits no other variables, because they may contain keys and passwords.
CHILD_ENVIRONMENT: Final = {
    "PATH": os.defpath,
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "MALLOC_ARENA_MAX": "2",  # more arenas of the C library would use up the limit on address space
}
# The limit on processor time sends SIGXCPU and then SIGKILL, and the child's own timer sends SIGALRM.
_TIMEOUT_SIGNALS: Final = (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)


class ProcessLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a confined process.

    The memory limit applies to the address space, including libraries.
    """

    memory_bytes: int = 3 * 2**30
    cpu_seconds: int = 60
    wall_seconds: float = 60.0


async def start_confined_module(
    module: str, argument: str, *, descriptors: Sequence[int] = (), has_input: bool = False
) -> asyncio.subprocess.Process:
    """Start a Python process that runs a module and writes a reply to its standard output.

    Args:
        module: the name of the module.
        argument: the only argument on its command line.
        descriptors: the file descriptors that it inherits. All others are closed.
        has_input: whether its standard input is a pipe. Otherwise, it is empty.
    """
    # In isolated mode (-I), modules are imported neither from PYTHONPATH nor from the current folder.
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-m",
        module,
        argument,
        stdin=asyncio.subprocess.PIPE if has_input else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=CHILD_ENVIRONMENT,
        pass_fds=tuple(descriptors),
    )


async def kill_if_running(child: asyncio.subprocess.Process) -> None:
    """Kill a child that is still running, and wait until it has ended."""
    if child.returncode is None:
        child.kill()
        await child.wait()


def exceeded_time_limit(exit_status: int | None) -> bool:
    """Return whether a child with this exit status was killed by a time limit."""
    # The exit status of a process killed by a signal is the negative number of the signal.
    return any(exit_status == -killing_signal for killing_signal in _TIMEOUT_SIGNALS)


def limit_this_process(limits: ProcessLimits) -> None:
    """Permanently limit the memory and the time of this process, and forbid it to write files.

    This must be called before any untrusted input is read.
    """
    resource_limits = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for resource_kind, maximum in resource_limits.items():
        # The hard limit is set as well, so that the process cannot raise its limits again.
        soft_limit = hard_limit = maximum
        resource.setrlimit(resource_kind, (soft_limit, hard_limit))

    # The parent normally kills a child that takes too long. The alarm is for children whose parent has died.
    signal.alarm(math.ceil(limits.wall_seconds) + 1)


def end_successfully() -> NoReturn:
    """End this process with status 0, without running exit handlers.

    The parent treats any other status as a failure, and a library that crashes in an exit handler must not invalidate a
    complete reply.
    """
    sys.stdout.buffer.flush()
    os._exit(0)
