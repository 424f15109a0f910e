"""The rule by which a class is chosen from the probabilities of the classes."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.learning.target import Floats, Indices
from touchstone.learning.task_interface import Json

EVEN_THRESHOLD: Final = 0.5


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """How a class is chosen from the probabilities of the classes.

    Attributes:
        threshold: of two classes, the probability from which the second one, which is positive, is predicted.
        class_weights: of more classes, the factors by which their probabilities are multiplied; the class with the
            greatest product is predicted. Without factors it is the most probable class.
    """

    threshold: float = EVEN_THRESHOLD
    class_weights: tuple[float, ...] = ()

    def decide(self, probabilities: Floats) -> Indices:
        """Return the code of the predicted class for each row of probabilities, which has a column per class."""
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
        """Return the rule that `to_record` has written."""
        return cls(threshold=float(record["threshold"]), class_weights=tuple(record["class_weights"]))


DEFAULT_RULE: Final = DecisionRule()  # The most probable class.
