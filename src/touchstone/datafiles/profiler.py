"""Profiling of data files in a child process, so that a hostile file can harm nothing else.

The parent never parses the file. It passes the opened descriptor to `profiler_child`, which limits its own memory,
processor time and file writes, and replies with one JSON document. Whatever happens there, the parent gets a
`FileProfile` or a `ProfilingError` with a stable reason.
"""

import asyncio
import os
import signal
import sys
from typing import BinaryIO, Final

import msgspec

from touchstone.datafiles.file_profile import (
    FILE_TYPES,
    FailureReason,
    FileProfile,
    ProfilingError,
    ProfilingLimits,
)

_MAX_REPLY_BYTES: Final = 32 * 2**20
_READ_BYTES: Final = 2**16
# Death by any other signal is a crash. SIGXCPU, and SIGKILL after it, come from the limit of processor time.
_REASONS_BY_SIGNAL: Final = {
    signal.SIGXCPU: FailureReason.TOO_SLOW,
    signal.SIGKILL: FailureReason.TOO_SLOW,
    signal.SIGALRM: FailureReason.TOO_SLOW,
}


class ProfilingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The task of the child: the file descriptor that it inherits, the type of the file, and its limits."""

    descriptor: int
    file_type: str
    limits: ProfilingLimits


class ProfilingSuccess(msgspec.Struct, frozen=True, tag=True):
    """The reply of a child that has profiled the file."""

    profile: FileProfile


class ProfilingFailure(msgspec.Struct, frozen=True, tag=True):
    """The reply of a child that cannot profile the file."""

    reason: FailureReason
    detail: str


async def profile_file(file: BinaryIO, file_type: str, *, limits: ProfilingLimits | None = None) -> FileProfile:
    """Profile an open data file in a child process, which is killed if it takes too long or the caller is cancelled.

    The whole file is profiled; its position is neither used nor moved.

    Raises:
        ProfilingError: the file cannot be profiled, or not within the limits.
    """
    if file_type not in FILE_TYPES:
        raise ProfilingError(FailureReason.UNSUPPORTED_TYPE, file_type)

    limits = limits or ProfilingLimits()
    request = ProfilingRequest(descriptor=file.fileno(), file_type=file_type, limits=limits)
    child = await _start_child(request)
    try:
        reply = await asyncio.wait_for(_read_reply(child), timeout=limits.wall_seconds)
    except TimeoutError:
        raise ProfilingError(FailureReason.TOO_SLOW, "out of time") from None
    finally:
        await _kill_if_running(child)

    return _decode_reply(reply, exit_status=child.returncode)


async def _start_child(request: ProfilingRequest) -> asyncio.subprocess.Process:
    """Start the child process that carries out a request.

    It inherits nothing of the service but the descriptor of the file: no environment, no working module path, and
    no other open files.
    """
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",  # isolated: neither PYTHONPATH nor the current folder can supply modules
        "-m",
        "touchstone.datafiles.profiler_child",
        msgspec.json.encode(request).decode(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC", "MALLOC_ARENA_MAX": "2"},
        pass_fds=(request.descriptor,),
    )


async def _read_reply(child: asyncio.subprocess.Process) -> bytes:
    """Return what the child writes to its standard output until it ends.

    Reading stops early after `_MAX_REPLY_BYTES`, because a child that a hostile file has taken over must not fill
    the memory of the service.
    """
    assert child.stdout is not None
    chunks: list[bytes] = []
    byte_count = 0

    while chunk := await child.stdout.read(_READ_BYTES):
        chunks.append(chunk)
        byte_count += len(chunk)
        if byte_count > _MAX_REPLY_BYTES:
            return b"".join(chunks)

    await child.wait()
    return b"".join(chunks)


async def _kill_if_running(child: asyncio.subprocess.Process) -> None:
    """Kill the child if it has not ended by itself, and wait until it is gone."""
    if child.returncode is None:
        child.kill()
        await child.wait()


def _decode_reply(reply: bytes, *, exit_status: int | None) -> FileProfile:
    """Return the profile in the reply of the child.

    Raises:
        ProfilingError: the child replied that it cannot profile the file, or it died before it could reply.
    """
    try:
        result = msgspec.json.decode(reply, type=ProfilingSuccess | ProfilingFailure)
    except msgspec.DecodeError:
        reason = _reason_for_death(exit_status)
        raise ProfilingError(reason, f"the child process ended with status {exit_status}") from None

    if isinstance(result, ProfilingFailure):
        raise ProfilingError(result.reason, result.detail)
    return result.profile


def _reason_for_death(exit_status: int | None) -> FailureReason:
    """Return why a child died without a reply; a negative exit status is the number of the signal that killed it."""
    for killing_signal, reason in _REASONS_BY_SIGNAL.items():
        if exit_status == -killing_signal:
            return reason
    return FailureReason.CRASHED
