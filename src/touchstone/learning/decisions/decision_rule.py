"""The rule for choosing a class, given the probabilities of all classes."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.learning.target import Floats, Indices
from touchstone.learning.task_interface import Json

EVEN_THRESHOLD: Final = 0.5


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """The rule for choosing a class, given the probabilities of all classes.

    Attributes:
        threshold: for two classes, the least probability at which the second (positive) class is predicted.
        class_weights: for more classes, the factors applied to their probabilities before choosing the largest one, or
            empty to choose the most probable class.
    """

    threshold: float = EVEN_THRESHOLD
    class_weights: tuple[float, ...] = ()

    def decide(self, probabilities: Floats) -> Indices:
        """Return the codes of the predicted classes for probabilities of shape (rows, classes)."""
        class_count = probabilities.shape[1]
        if class_count == 2:
            is_positive = probabilities[:, 1] >= self.threshold
            return np.where(is_positive, 1, 0)

        weights = np.array(self.class_weights or (1.0,) * class_count)
        codes: Indices = (probabilities * weights).argmax(axis=1)
        return codes

    def to_record(self) -> Json:
        """Return the rule as JSON, for the record of a model."""
        return {"threshold": self.threshold, "class_weights": list(self.class_weights)}

    @classmethod
    def from_record(cls, record: Json) -> "DecisionRule":
        """Return the rule stored by `to_record`."""
        return cls(threshold=float(record["threshold"]), class_weights=tuple(record["class_weights"]))


DEFAULT_RULE: Final = DecisionRule()  # chooses the most probable class
