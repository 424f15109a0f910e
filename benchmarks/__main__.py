"""Run all benchmarks, the named ones, or a single one with options."""

import importlib
import sys
from typing import Final

NAMES: Final = (
    "serving",
    "long_answers",
    "ranking",
    "assurance",
    "reasons",
    "ties",
    "learning",
    "predictions",
    "jobs",
    "beside_training",
    "pages",
    "overload",
    "side_channels",
    "slow_clients",
    "restarts",
    "evidence_extraction",
    "search",
    "following",
    "scale",
)


def main() -> None:
    """Run `python -m benchmarks [NAME …]`, or `python -m benchmarks NAME OPTION …`.

    Each benchmark is a module with a `main` function, which reads its options from the command line.
    """
    arguments = sys.argv[1:] or list(NAMES)
    if arguments[0] not in NAMES:
        raise SystemExit(f"{arguments[0]} is not a benchmark; known: {', '.join(NAMES)}")

    # If not all arguments are names, the remaining ones are options of the first benchmark.
    has_options = not set(arguments) <= set(NAMES)
    names = arguments[:1] if has_options else arguments
    options = arguments[1:] if has_options else []

    for name in names:
        print(f"\n# {name}\n")
        sys.argv = [name, *options]
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
