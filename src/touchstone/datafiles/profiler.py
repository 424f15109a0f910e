"""Profiling of data files in a child process, which protects the service from hostile files.

The parent never parses the file. It passes the open descriptor to `profiler_child`, which limits its own memory,
processor time and file writes, and replies with a JSON document. If the child fails in any way, the parent raises a
`ProfilingError` with a stable reason.
"""

import asyncio
from typing import BinaryIO, Final

import msgspec

from touchstone.core.confined_process import exceeded_time_limit, kill_if_running, start_confined_module
from touchstone.datafiles.file_profile import (
    FILE_TYPES,
    FailureReason,
    FileProfile,
    ProfilingError,
    ProfilingLimits,
)

_MAX_REPLY_BYTES: Final = 32 * 2**20
_READ_BYTES: Final = 2**16


class ProfilingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The task of the child: the inherited file descriptor, the type of the file, and the limits."""

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
    """Profile an open data file in a child process, so that a hostile file cannot harm the service.

    The child is killed if it takes too long or if the caller is cancelled. The position in the file does not change.

    Raises:
        ProfilingError: the file cannot be profiled within the limits.
    """
    if file_type not in FILE_TYPES:
        raise ProfilingError(FailureReason.UNSUPPORTED_TYPE, file_type)

    limits = limits or ProfilingLimits()
    request = ProfilingRequest(descriptor=file.fileno(), file_type=file_type, limits=limits)
    child = await start_confined_module(
        "touchstone.datafiles.profiler_child",
        msgspec.json.encode(request).decode(),
        descriptors=[request.descriptor],
    )
    try:
        async with asyncio.timeout(limits.wall_seconds):
            reply = await _read_reply(child)
    except TimeoutError:
        raise ProfilingError(FailureReason.TOO_SLOW, "out of time") from None
    finally:
        await kill_if_running(child)

    return _decode_reply(reply, exit_status=child.returncode)


async def _read_reply(child: asyncio.subprocess.Process) -> bytes:
    """Wait until the child ends, and return its standard output.

    Reading stops early if the reply is too long, because a hostile file may have compromised the child, which must not
    fill the memory of the service. The caller then kills the child.
    """
    assert child.stdout is not None
    reply = bytearray()

    while chunk := await child.stdout.read(_READ_BYTES):
        reply += chunk
        if len(reply) > _MAX_REPLY_BYTES:
            return bytes(reply)

    await child.wait()
    return bytes(reply)


def _decode_reply(reply: bytes, *, exit_status: int | None) -> FileProfile:
    """Return the profile in the reply of the child.

    Raises:
        ProfilingError: the child could not profile the file, or died without a complete reply.
    """
    try:
        result = msgspec.json.decode(reply, type=ProfilingSuccess | ProfilingFailure)
    except msgspec.DecodeError:
        reason = FailureReason.TOO_SLOW if exceeded_time_limit(exit_status) else FailureReason.CRASHED
        raise ProfilingError(reason, f"the child process ended with status {exit_status}") from None

    if isinstance(result, ProfilingFailure):
        raise ProfilingError(result.reason, result.detail)
    return result.profile
