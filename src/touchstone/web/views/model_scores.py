"""The scores of trained models beside the datasets of a ranking."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from touchstone.client import TrainingComparison
from touchstone.messages.labels import METRIC_LABELS
from touchstone.messages.numbers import format_decimal
from touchstone.web.localizer import Localizer


@dataclass(frozen=True, slots=True)
class ModelScore:
    """How well a model does that was trained on a dataset.

    Attributes:
        place: 1 plus the number of better scores in the comparison, with an equals sign if others share the place.
        metric: The name of the metric for readers.
        value: The score as text.
    """

    place: str
    metric: str
    value: str


def model_scores(comparisons: Iterable[TrainingComparison], localizer: Localizer) -> Mapping[int, ModelScore]:
    """Return the scores of the latest comparison that has any, by the id of the dataset.

    The comparisons are in the order in which the service lists them, newest first.
    """
    for comparison in comparisons:
        scores = _scores_of(comparison, localizer)
        if scores:
            return scores
    return {}


def _scores_of(comparison: TrainingComparison, localizer: Localizer) -> dict[int, ModelScore]:
    """Return the scores of a comparison by the id of the dataset; none as long as they have no places."""
    scores = {}
    for item in comparison.datasets:
        if item.score is None or item.place is None:
            continue
        scores[item.dataset_id] = ModelScore(
            place=localizer.place(item.place, item.tied_with),
            metric=localizer.choose_text(METRIC_LABELS[item.score.metric]),
            value=format_decimal(item.score.value, localizer.locale),
        )
    return scores
