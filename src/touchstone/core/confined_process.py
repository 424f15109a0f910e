"""Child processes that read hostile input, with limits on memory and time, and without the secrets of the service.

The parent starts a module with `start_confined_module`; the module calls `limit_this_process` before it reads
anything. Whatever the input does there, nothing else is harmed.
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

# The child inherits no other variable, because those of the service may contain keys and passwords.
CHILD_ENVIRONMENT: Final = {
    "PATH": os.defpath,
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "MALLOC_ARENA_MAX": "2",  # more arenas of the C library would use up the limit on address space
}
# SIGXCPU, and SIGKILL after it, come from the limit on processor time. SIGALRM comes from the child's own timer.
_SIGNALS_FOR_TOO_SLOW: Final = (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM)


class ProcessLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a confined process. Memory is address space, including that of libraries."""

    memory_bytes: int = 3 * 2**30
    cpu_seconds: int = 60
    wall_seconds: float = 60.0


async def start_confined_module(
    module: str, argument: str, *, descriptors: Sequence[int] = (), has_input: bool = False
) -> asyncio.subprocess.Process:
    """Start a Python process that runs a module with one argument and writes its reply to its standard output.

    Args:
        module: the name of the module.
        argument: the only argument on its command line.
        descriptors: the open files of this process that the new one inherits; it inherits no others.
        has_input: whether it reads its standard input from a pipe; otherwise its input is empty.
    """
    # In isolated mode (-I), neither PYTHONPATH nor the current folder can supply modules.
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
    """Kill a child if it has not ended by itself, and wait until it is gone."""
    if child.returncode is None:
        child.kill()
        await child.wait()


def died_of_time(exit_status: int | None) -> bool:
    """Return whether a child with this exit status was ended by a limit on its time."""
    # `subprocess` reports a process that was killed by a signal with the negative number of the signal.
    return any(exit_status == -killing_signal for killing_signal in _SIGNALS_FOR_TOO_SLOW)


def limit_this_process(limits: ProcessLimits) -> None:
    """Limit the memory and the time of this process for good, and forbid it to write files.

    This has to be called before any byte of the input is read, so that a hostile input cannot do much harm.
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

    # The parent normally ends a child that takes too long; the alarm ends one whose parent has died.
    signal.alarm(math.ceil(limits.wall_seconds) + 1)


def end_successfully() -> NoReturn:
    """End this process with status 0, without calling what libraries have registered for its end.

    A parent takes any other status for a failure, so a library that crashes at exit must not turn a complete reply into
    one.
    """
    sys.stdout.buffer.flush()
    os._exit(0)
