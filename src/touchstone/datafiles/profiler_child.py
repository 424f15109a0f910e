"""The child process of `profiling`: limits itself, measures one file, answers one JSON document on standard output."""

import math
import resource
import signal
import sys

import duckdb
import msgspec

from touchstone.datafiles.duckdb_profile import measure
from touchstone.datafiles.profiler import Answer, Limits, Order, ProfilingError, Reason, Refusal


def main() -> None:
    """Measure the file named by the order in the first argument."""
    order = msgspec.json.decode(sys.argv[1], type=Order)
    confine(order.limits)
    sys.stdout.buffer.write(msgspec.json.encode(_answer(order)))


def confine(limits: Limits) -> None:
    """Bound this process for good: memory, processor time, no file written, no core dump, an alarm clock.

    The alarm ends a child whose parent is gone before it could.
    """
    for kind, bound in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.cpu_seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (bound, bound))
    signal.alarm(math.ceil(limits.wall_seconds) + 1)


def _answer(order: Order) -> Answer | Refusal:
    try:
        return Answer(measure(order.descriptor, order.file_type, limits=order.limits))
    except ProfilingError as error:
        return Refusal(error.reason, str(error))
    except (MemoryError, duckdb.OutOfMemoryException):
        return Refusal(Reason.TOO_LARGE, "out of memory")
    except duckdb.Error as error:
        return Refusal(Reason.MALFORMED, str(error)[:500])


if __name__ == "__main__":
    main()
