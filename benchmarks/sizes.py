"""The sizes of catalogs, which several benchmarks take from the command line."""

import argparse
from collections.abc import Sequence


def read_sizes(description: str | None, default_sizes: Sequence[int]) -> list[int]:
    """Return the numbers of records that are given on the command line, or the default ones."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", metavar="SIZE", nargs="*", type=parse_count, help="a number of records, such as 1e6")
    return parser.parse_args().sizes or list(default_sizes)


def parse_count(text: str) -> int:
    """Return a whole number, which may be written as `1e6`."""
    return int(float(text))
