"""The choices and the defaults of the training form, taken from the definition of the request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.learning.comparison_request import DatasetOptions
from touchstone.learning.request_choices import METRICS, Calibration, Duplicates, Strategy, Task
from touchstone.learning.request_definitions import TrainingRequest


@dataclass(frozen=True, slots=True)
class TrainingChoices:
    """The values of the select fields in the training form, in their order.

    Attributes:
        strategies: the strategies for splitting the rows into training rows and test rows.
        duplicates: the treatments of identical rows.
        calibrations: the methods that correct predicted probabilities.
        threshold_metrics: the metrics that depend on the decision threshold.
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
# The dataset and the target are required, so they have arbitrary values here.
DEFAULTS: Final = TrainingRequest(dataset_id=1, target="target")
DATASET_OPTIONS: Final[Mapping[str, str]] = {
    name: f"dataset_option_{name}" for name in DatasetOptions.__struct_fields__
}
"""The message keys of the labels of options for single datasets in a model comparison, by option name."""
