"""The child process of `svg_converter`, which converts one picture."""

import os
import resource
import signal
import sys
from typing import Final

import vl_convert

CPU_SECONDS: Final = 20
WALL_SECONDS: Final = 30
NICENESS: Final = 10
SCALE: Final = 2.0


def main() -> None:
    """Read SVG from standard input, and write it to standard output as PNG."""
    limit_this_process()

    svg = sys.stdin.buffer.read().decode()
    png = vl_convert.svg_to_png(svg, scale=SCALE)
    sys.stdout.buffer.write(png)


def limit_this_process() -> None:
    """Limit the time of this process for good, forbid it to write files, and let the service go first.

    The address space is not limited, because the renderer reserves far more of it than it uses.
    """
    limit_by_resource = {resource.RLIMIT_CPU: CPU_SECONDS, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0}
    for limited_resource, limit in limit_by_resource.items():
        # Lowering the hard limit as well keeps the process from raising the limit again.
        resource.setrlimit(limited_resource, (limit, limit))

    os.nice(NICENESS)

    # The parent normally ends a child that takes too long; the alarm ends one whose parent has died.
    signal.alarm(WALL_SECONDS)


if __name__ == "__main__":
    main()
