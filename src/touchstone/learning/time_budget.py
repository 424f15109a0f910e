"""The time that a training may take."""

import time
from dataclasses import dataclass, field
from typing import Final

# How long it takes on an idle core to measure, describe and write a model.
FINISHING_SECONDS: Final = 0.5  # Any model takes at least this long.
SECONDS_PER_COLUMN: Final = 0.007  # Each column that is learned from adds this.
SECONDS_PER_PREDICTION: Final = 1e-5  # Each number or probability that is predicted for test rows adds this.
MAX_PREDICTIONS: Final = 200_000  # Further predictions add nothing, since no more are resampled.

MIN_PROCESSOR_SECONDS: Final = 0.1  # Less work does not show how slow the machine is.


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The seconds that a training may take in all, from the moment at which this object is created.

    Some of them are kept for what follows the search. `finishing_seconds` is how long that takes on an idle core.
    """

    seconds: float
    started: float = field(default_factory=time.monotonic)
    processor_seconds_before: float = field(default_factory=time.process_time)
    finishing_seconds: float = FINISHING_SECONDS

    @property
    def remaining_seconds(self) -> float:
        """The time that is left; it becomes negative."""
        return self.started + self.seconds - time.monotonic()

    @property
    def slowdown(self) -> float:
        """How many times as long as on an idle core the work has taken so far, because of other programs; at least 1.

        This is too low while several threads work, but one thread does most of the reading and examining of a table.
        """
        processor_seconds = time.process_time() - self.processor_seconds_before
        if processor_seconds < MIN_PROCESSOR_SECONDS:
            return 1.0
        return max(1.0, (time.monotonic() - self.started) / processor_seconds)

    def seconds_before_finishing(self, slowdown: float = 1.0) -> float:
        """Return the time that is left until the model has to be described and written, but at least 0.

        `slowdown` is how many times as long as on an idle core the fits took, if there were any. The work so far may
        have been slower still.
        """
        return max(0.0, self.remaining_seconds - self.finishing_seconds * max(slowdown, self.slowdown))

    def deadline_for(self, share: float) -> float:
        """Return the moment of `time.monotonic` until which something may take a share of the time that is left now.

        The time for describing and writing the model is not shared out.
        """
        return time.monotonic() + share * self.seconds_before_finishing()


def expected_finishing_seconds(*, columns: int, test_rows: int, classes: int) -> float:
    """Return how long measuring, describing and writing a model takes on an idle core; `classes` is 0 for numbers."""
    predictions = min(test_rows * max(1, classes), MAX_PREDICTIONS)
    return FINISHING_SECONDS + SECONDS_PER_COLUMN * columns + SECONDS_PER_PREDICTION * predictions
