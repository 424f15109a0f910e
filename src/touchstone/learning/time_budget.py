"""The time that a training may take."""

import time
from dataclasses import dataclass, field
from typing import Final

FINISHING_SECONDS: Final = 0.8  # How long describing and writing a model takes on an idle core,
FINISHING_SECONDS_PER_COLUMN: Final = 0.004  # besides what each of its columns takes.


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The seconds that a training may take in all, from the moment at which this object is created."""

    seconds: float
    started: float = field(default_factory=time.monotonic)
    columns: int = 0  # From how many columns the training learns, which take time to describe.

    @property
    def remaining_seconds(self) -> float:
        """The time that is left; it becomes negative."""
        return self.started + self.seconds - time.monotonic()

    def seconds_before_finishing(self, slowdown: float) -> float:
        """Return the time that is left until the training has to be described and written, but at least 0.

        `slowdown` is how many times as long as on an idle core that takes.
        """
        finishing_seconds = FINISHING_SECONDS + FINISHING_SECONDS_PER_COLUMN * self.columns
        return max(0.0, self.remaining_seconds - finishing_seconds * slowdown)

    def deadline_for(self, share: float) -> float:
        """Return the moment of `time.monotonic` until which something may take a share of the time that is left now.

        The time for describing and writing the model is not shared out.
        """
        return time.monotonic() + share * self.seconds_before_finishing(slowdown=1.0)
