"""Limits on a worker process: its resources, its priority, and its end together with its parent."""

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
HIGHEST_OOM_SCORE: Final = "1000"
_PR_SET_PDEATHSIG: Final = 1  # from <linux/prctl.h>


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends, however that happens (Linux only, see prctl(2))."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def limit_this_process(limits: ResourceLimits) -> None:
    """Limit the resources of this process for good, and let the API go first wherever resources are short.

    The process gets less processor time than others, and the kernel kills it first when memory runs out.
    """
    limit_by_resource = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_CORE: 0,
    }
    for limited_resource, limit in limit_by_resource.items():
        # Lowering the hard limit as well keeps the process from raising the limit again.
        resource.setrlimit(limited_resource, (limit, limit))

    os.nice(NICENESS)
    with contextlib.suppress(OSError):  # Where the kernel does not permit this, the default score applies.
        Path("/proc/self/oom_score_adj").write_text(HIGHEST_OOM_SCORE)
