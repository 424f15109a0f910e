"""The child process that profiles one data file for `profiler` and writes one JSON document to standard output."""

import math
import resource
import signal
import sys

import duckdb
import msgspec

from touchstone.datafiles.duckdb_profile import profile_descriptor
from touchstone.datafiles.file_profile import FailureReason, ProfilingError, ProfilingLimits
from touchstone.datafiles.profiler import ProfilingFailure, ProfilingRequest, ProfilingSuccess

_MAX_DETAIL_LENGTH = 500


def main() -> None:
    """Carry out the request in the first argument, and write the reply to standard output."""
    request = msgspec.json.decode(sys.argv[1], type=ProfilingRequest)
    limit_this_process(request.limits)
    reply = _carry_out(request)
    sys.stdout.buffer.write(msgspec.json.encode(reply))


def limit_this_process(limits: ProfilingLimits) -> None:
    """Limit the memory and the time of this process for good, and forbid it to write files.

    This has to be called before any byte of the data file is read, so that a hostile file cannot do much harm.
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


def _carry_out(request: ProfilingRequest) -> ProfilingSuccess | ProfilingFailure:
    """Profile the file that a request names, and return the reply for the parent: the profile, or why there is none."""
    try:
        profile = profile_descriptor(request.descriptor, request.file_type, limits=request.limits)
    except ProfilingError as error:
        return ProfilingFailure(error.reason, str(error))
    except (MemoryError, duckdb.OutOfMemoryException):
        return ProfilingFailure(FailureReason.TOO_LARGE, "out of memory")
    except duckdb.Error as error:
        return ProfilingFailure(FailureReason.MALFORMED, str(error)[:_MAX_DETAIL_LENGTH])

    return ProfilingSuccess(profile)


if __name__ == "__main__":
    main()
