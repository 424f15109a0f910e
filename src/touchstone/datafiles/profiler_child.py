"""The child process of `profiler`, which profiles a data file and writes a JSON document to standard output."""

import sys

import duckdb
import msgspec

from touchstone.core.confined_process import end_successfully, limit_this_process
from touchstone.datafiles.duckdb_profile import profile_descriptor
from touchstone.datafiles.file_profile import FailureReason, ProfilingError
from touchstone.datafiles.profiler import ProfilingFailure, ProfilingRequest, ProfilingSuccess

_MAX_DETAIL_LENGTH = 500


def main() -> None:
    """Carry out the request in the first argument, and write the reply to standard output."""
    request = msgspec.json.decode(sys.argv[1], type=ProfilingRequest)
    limit_this_process(request.limits)
    reply = _profile_file(request)
    sys.stdout.buffer.write(msgspec.json.encode(reply))
    end_successfully()


def _profile_file(request: ProfilingRequest) -> ProfilingSuccess | ProfilingFailure:
    """Profile the file of a request, and return the profile or the reason for a failure."""
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
