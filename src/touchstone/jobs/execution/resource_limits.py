"""Limits on a worker process: rlimits, priority, and its end together with its parent."""

import contextlib
import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Final

from touchstone.jobs.execution.protocol import ResourceLimits

NICENESS: Final = 10
_PR_SET_PDEATHSIG: Final = 1


def die_with_parent() -> None:
    """Have the kernel end this process when its parent ends, however that happens (Linux, prctl(2))."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def apply_limits(limits: ResourceLimits) -> None:
    """Limit this process for good, and let the API go first where processor time or memory is short."""
    rlimits = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_CORE: 0,
    }
    for kind, limit in rlimits.items():
        resource.setrlimit(kind, (limit, limit))

    os.nice(NICENESS)
    with contextlib.suppress(OSError):  # The kernel may not let us; then the default score applies.
        Path("/proc/self/oom_score_adj").write_text("1000")
