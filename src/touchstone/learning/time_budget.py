"""The time that a training may take."""

import time
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The seconds that a training may take in all, from the moment at which this object is created."""

    seconds: float
    started: float = field(default_factory=time.monotonic)

    @property
    def remaining_seconds(self) -> float:
        """The time that is left; it becomes negative."""
        return self.started + self.seconds - time.monotonic()

    def deadline_for(self, share: float) -> float:
        """Return the moment of `time.monotonic` at which a share of the time that is left now will have passed."""
        return time.monotonic() + share * max(0.0, self.remaining_seconds)
