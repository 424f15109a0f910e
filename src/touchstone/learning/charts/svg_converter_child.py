"""The confined process of `svg_converter`, which converts one image."""

import sys
from typing import Final

import msgspec
import vl_convert

from touchstone.core.confined_process import ProcessLimits, end_successfully, limit_this_process

SCALE: Final = 2.0


def main() -> None:
    """Limit this process, read SVG from standard input, and write PNG to standard output."""
    limit_this_process(msgspec.json.decode(sys.argv[1], type=ProcessLimits))

    svg = sys.stdin.buffer.read().decode()
    png = vl_convert.svg_to_png(svg, scale=SCALE)
    sys.stdout.buffer.write(png)
    end_successfully()


if __name__ == "__main__":
    main()
