"""The command line of the benchmark of the search."""

import argparse

from benchmarks.search.large import measure_large
from benchmarks.search.precision import print_precision, write_judgement_sheet
from benchmarks.search.scale import measure_scale


def main() -> None:
    """Measure the search at the given sizes, write the sheet for judges, or print the precision."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks search", description=main.__doc__)
    commands = parser.add_subparsers(dest="command")
    scale = commands.add_parser("scale", help="build time, memory and query times next to other engines")
    scale.add_argument("counts", nargs="*", type=float, default=[1e5])
    large = commands.add_parser("large", help="questions to a whole catalog that a search is part of")
    large.add_argument("counts", nargs="*", type=float, default=[1e6])
    commands.add_parser("judge", help="write the first ten results of both searches, shuffled, for judges")
    commands.add_parser("precision", help="print the precision of what was judged")
    options = parser.parse_args()

    counts = [int(count) for count in getattr(options, "counts", [1e5])]
    if options.command == "judge":
        write_judgement_sheet()
    elif options.command == "precision":
        print_precision()
    elif options.command == "large":
        measure_large(counts)
    else:
        measure_scale(counts)
