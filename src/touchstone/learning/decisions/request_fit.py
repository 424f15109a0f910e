"""Checks of what a request says about decisions against the target that it is about."""

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.requests import DECISION_OPTIONS, TrainingOptions, reject_options_without_effect
from touchstone.learning.target import Target


def check_decision_options(options: TrainingOptions, target: Target) -> None:
    """Raise `LearningError` for options about decisions that have no meaning for the target.

    A regression decides nothing, and a threshold divides two classes only.
    """
    if not target.is_classification:
        reject_options_without_effect(options, DECISION_OPTIONS, subject="task=regression")
        return

    if options.threshold is not None and target.positive_code is None:
        raise LearningError(
            "two_classes_needed", field="threshold", option="threshold", name=target.name, classes=len(target.classes)
        )
