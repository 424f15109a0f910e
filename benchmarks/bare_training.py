"""The training function alone, timed: `python -m benchmarks.bare_training TABLE.csv` prints its seconds."""

import os
import sys
import tempfile
import time
from pathlib import Path

from touchstone.learning.interfaces import DataFile
from touchstone.learning.requests import TrainingRequest
from touchstone.learning.training import run_training


def main() -> None:
    """Train with the defaults on the column `y`, as politely as a job does."""
    os.nice(10)
    with Path(sys.argv[1]).open("rb") as stream, tempfile.TemporaryDirectory() as folder:
        order = TrainingRequest(dataset_id=1, target="y")
        begun = time.perf_counter()
        run_training(order, DataFile(stream, "csv"), scratch=Path(folder), report=_silent)
        print(time.perf_counter() - begun)


def _silent(percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
    return None


if __name__ == "__main__":
    main()
