"""Run every benchmark in turn, or those named."""

import importlib
import sys
from typing import Final

NAMES: Final = ("serving", "long_answers", "ranking", "learning", "jobs", "beside_training", "pages")


def main() -> None:
    """`python -m benchmarks [NAME …]`."""
    for name in sys.argv[1:] or NAMES:
        if name not in NAMES:
            raise SystemExit(f"{name} is not a benchmark; known: {', '.join(NAMES)}")
        print(f"\n# {name}\n")
        sys.argv = [name]
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
