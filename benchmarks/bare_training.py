"""The training function alone, timed: `python -m benchmarks.bare_training TABLE.csv` prints its seconds."""

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from touchstone.learning.request_definitions import TrainingRequest
from touchstone.learning.task_interface import DataFile
from touchstone.learning.training import run_training

JOB_NICENESS: Final = 10  # the scheduling priority at which jobs run


def main() -> None:
    """Train a model for the column `y` with default settings and the priority of a job, and print the duration."""
    os.nice(JOB_NICENESS)
    request = TrainingRequest(dataset_id=1, target="y")

    with Path(sys.argv[1]).open("rb") as stream, tempfile.TemporaryDirectory() as scratch:
        started_at = time.perf_counter()
        run_training(request, DataFile(stream, "csv"), scratch=Path(scratch), report=ignore_progress)
        print(time.perf_counter() - started_at)


def ignore_progress(percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
    """Ignore a progress report of the training."""


if __name__ == "__main__":
    main()
