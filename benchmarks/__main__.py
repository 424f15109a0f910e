"""Run all benchmarks, the named ones, or a single one with options."""

import importlib
import sys
import traceback
from collections.abc import Mapping
from typing import Final

MODULES: Final[Mapping[str, str]] = {
    "serving": "benchmarks.serving",
    "long_answers": "benchmarks.long_answers",
    "ranking": "benchmarks.ranking.command",
    "assurance": "benchmarks.assurance",
    "reasons": "benchmarks.reasons",
    "ties": "benchmarks.ties",
    "learning": "benchmarks.learning.command",
    "predictions": "benchmarks.predictions",
    "jobs": "benchmarks.jobs",
    "beside_training": "benchmarks.beside_training",
    "pages": "benchmarks.pages",
    "overload": "benchmarks.overload",
    "side_channels": "benchmarks.side_channels",
    "slow_clients": "benchmarks.slow_clients",
    "restarts": "benchmarks.restarts",
    "evidence_extraction": "benchmarks.evidence_extraction",
    "search": "benchmarks.search.command",
    "following": "benchmarks.following",
    "scale": "benchmarks.scale.command",
}
"""The benchmarks and their modules. Each module has a function `main`, which reads options from the command line."""


def main() -> None:
    """Run `python -m benchmarks [NAME …]`, or `python -m benchmarks NAME OPTION …`.

    Raises:
        SystemExit: an argument is wrong, or a benchmark failed.
    """
    arguments = sys.argv[1:] or list(MODULES)
    if arguments[0] not in MODULES:
        raise SystemExit(f"{arguments[0]} is not a benchmark; known: {', '.join(MODULES)}")

    # If not all arguments are names, the remaining ones are options of the first benchmark.
    has_options = not set(arguments) <= set(MODULES)
    names = arguments[:1] if has_options else arguments
    options = arguments[1:] if has_options else []

    failed_names = [name for name in names if not run(name, options)]
    if failed_names:
        raise SystemExit(f"failed: {', '.join(failed_names)}")


def run(name: str, options: list[str]) -> bool:
    """Run one benchmark, print its error if it fails, and return whether it succeeded."""
    print(f"\n# {name}\n", flush=True)
    sys.argv = [name, *options]
    try:
        importlib.import_module(MODULES[name]).main()
    except SystemExit as request_to_exit:
        # Only this benchmark ends. Others may follow.
        if isinstance(request_to_exit.code, str):
            print(request_to_exit.code, file=sys.stderr)
        return not request_to_exit.code
    except Exception:  # noqa: BLE001 - the other benchmarks can still be run
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    main()
