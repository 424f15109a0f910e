"""Checks of the requested decision options against the target."""

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_choices import Mitigation
from touchstone.learning.request_definitions import DECISION_OPTIONS, TrainingOptions, reject_options_without_effect
from touchstone.learning.target import Target


def check_decision_options(options: TrainingOptions, target: Target) -> None:
    """Check that the options about decisions are meaningful for the target.

    A regression makes no decisions, and a threshold can only separate two classes.

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
    """Return the error for an option that requires exactly two classes."""
    return LearningError(
        "two_classes_needed", field=option, option=option, name=target.name, classes=len(target.classes)
    )
