"""Run every benchmark in turn, those that are named, or one of them with options of its own."""

import importlib
import sys
from typing import Final

NAMES: Final = (
    "serving",
    "long_answers",
    "ranking",
    "learning",
    "jobs",
    "beside_training",
    "pages",
    "overload",
    "side_channels",
    "slow_clients",
    "restarts",
)


def main() -> None:
    """`python -m benchmarks [NAME …]`, or `python -m benchmarks NAME OPTION …`."""
    named = sys.argv[1:] or list(NAMES)
    if named[0] not in NAMES:
        raise SystemExit(f"{named[0]} is not a benchmark; known: {', '.join(NAMES)}")
    # What is not a name is meant for the benchmark before it.
    options = [] if set(named) <= set(NAMES) else named[1:]
    for name in named[:1] if options else named:
        print(f"\n# {name}\n")
        sys.argv = [name, *options]
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
