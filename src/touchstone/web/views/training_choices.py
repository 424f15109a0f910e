"""What the training form offers to choose from, and with what it is filled in: as the request itself is defined."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.learning.comparison_request import DatasetOptions
from touchstone.learning.request_choices import METRICS, Calibration, Duplicates, Strategy, Task
from touchstone.learning.request_definitions import TrainingRequest


@dataclass(frozen=True, slots=True)
class TrainingChoices:
    """The values of each select field of the training form, in their order.

    Attributes:
        strategies: How rows are set aside for the evaluation.
        duplicates: What becomes of identical rows.
        calibrations: How probabilities are corrected.
        threshold_metrics: The metrics that depend on the threshold.
    """

    strategies: tuple[str, ...]
    duplicates: tuple[str, ...]
    calibrations: tuple[str, ...]
    threshold_metrics: tuple[str, ...]


CHOICES: Final = TrainingChoices(
    strategies=tuple(Strategy),
    duplicates=tuple(Duplicates),
    calibrations=tuple(Calibration),
    threshold_metrics=tuple(
        metric.name for metric in METRICS if metric.task is Task.CLASSIFICATION and not metric.probabilistic
    ),
)
DEFAULTS: Final = TrainingRequest(dataset_id=1, target="target")
DATASET_OPTIONS: Final[Mapping[str, str]] = {
    name: f"dataset_option_{name}" for name in DatasetOptions.__struct_fields__
}
"""The options of a single dataset in a comparison of models, with the keys of their labels."""
