"""The time budget of a training."""

import time
from dataclasses import dataclass, field
from typing import Final

# The time for measuring, describing and writing a model on an idle core.
FINISHING_SECONDS: Final = 0.5  # the minimum for any model
SECONDS_PER_COLUMN: Final = 0.007  # the additional time per feature
SECONDS_PER_PREDICTION: Final = 1e-5  # the additional time per number or probability predicted for test rows
MAX_PREDICTIONS: Final = 200_000  # Further predictions need no additional time, because only a sample is resampled.

MIN_PROCESSOR_SECONDS: Final = 0.1  # With less work, the slowdown cannot be measured.


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The total time that a training may take.

    Part of the time is reserved for finishing: measuring, describing and writing the model after the search.

    Attributes:
        seconds: the total time.
        started: the time on the clock of `time.monotonic` when the budget was created.
        processor_seconds_before: the processor time of this process when the budget was created.
        finishing_seconds: the time for finishing on an idle core.
    """

    seconds: float
    started: float = field(default_factory=time.monotonic)
    processor_seconds_before: float = field(default_factory=time.process_time)
    finishing_seconds: float = FINISHING_SECONDS

    @property
    def remaining_seconds(self) -> float:
        """The remaining time, which may be negative."""
        return self.started + self.seconds - time.monotonic()

    @property
    def slowdown(self) -> float:
        """The ratio of elapsed to processor time so far, but at least 1.

        It exceeds 1 if other programs use the cores. It is too low if several threads work in parallel, but mostly a
        single thread reads and examines the table.
        """
        processor_seconds = time.process_time() - self.processor_seconds_before
        if processor_seconds < MIN_PROCESSOR_SECONDS:
            return 1.0
        return max(1.0, (time.monotonic() - self.started) / processor_seconds)

    def seconds_before_finishing(self, slowdown: float = 1.0) -> float:
        """Return the remaining time before finishing has to start, but at least 0.

        Args:
            slowdown: the ratio of elapsed to processor time of the fits. The larger of this ratio and the slowdown of
                all work so far is used.
        """
        return max(0.0, self.remaining_seconds - self.finishing_seconds * max(slowdown, self.slowdown))

    def deadline_for(self, share: float) -> float:
        """Return the deadline for using a share of the time before finishing, as a `time.monotonic` timestamp."""
        return time.monotonic() + share * self.seconds_before_finishing()


def expected_finishing_seconds(*, columns: int, test_rows: int, classes: int) -> float:
    """Estimate the time for measuring, describing and writing a model on an idle core.

    Args:
        columns: the number of features.
        test_rows: the number of test rows of all folds.
        classes: the number of classes, or 0 for a regression.
    """
    predictions = min(test_rows * max(1, classes), MAX_PREDICTIONS)
    return FINISHING_SECONDS + SECONDS_PER_COLUMN * columns + SECONDS_PER_PREDICTION * predictions
