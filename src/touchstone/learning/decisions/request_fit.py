"""Checks of what a request says about decisions against the target that it is about."""

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_choices import Mitigation
from touchstone.learning.request_definitions import DECISION_OPTIONS, TrainingOptions, reject_options_without_effect
from touchstone.learning.target import Target


def check_decision_options(options: TrainingOptions, target: Target) -> None:
    """Check that the options about decisions make sense for the target.

    Numbers need no decision, and a threshold can only tell two classes apart.

    Raises:
        LearningError: an option has no meaning for this target.
    """
    if not target.is_classification:
        reject_options_without_effect(options, DECISION_OPTIONS, subject="task=regression")
        return

    has_two_classes = target.positive_code is not None
    if has_two_classes:
        return
    if options.threshold is not None:
        raise _two_classes_needed("threshold", target)
    if options.mitigation is Mitigation.THRESHOLDS:
        raise _two_classes_needed("mitigation", target)


def _two_classes_needed(option: str, target: Target) -> LearningError:
    """Return the error for an option that needs two classes, for a target that has more."""
    return LearningError(
        "two_classes_needed", field=option, option=option, name=target.name, classes=len(target.classes)
    )
