"""Limits on the resources and the priority of a worker process."""

import contextlib
import os
import resource
from pathlib import Path
from typing import Final

from touchstone.jobs.execution.protocol import ResourceLimits

NICENESS: Final = 10
HIGHEST_OOM_SCORE: Final = "1000"


def limit_this_process(limits: ResourceLimits) -> None:
    """Limit the memory, file sizes and processor time of this process permanently, and lower its priority.

    The API takes precedence over the process, and the kernel kills the process first when memory runs out.
    """
    limit_by_resource = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_CORE: 0,
    }
    for limited_resource, limit in limit_by_resource.items():
        # Also lower the hard limit, so that the process cannot raise the limit again.
        resource.setrlimit(limited_resource, (limit, limit))

    os.nice(NICENESS)
    with contextlib.suppress(OSError):  # If the kernel does not permit this, the default score applies.
        Path("/proc/self/oom_score_adj").write_text(HIGHEST_OOM_SCORE)
