"""The scores of trained models, which a ranking shows beside the datasets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from touchstone.client import TrainingComparison
from touchstone.messages.labels import METRIC_LABELS
from touchstone.messages.numbers import format_decimal
from touchstone.web.localizer import Localizer


@dataclass(frozen=True, slots=True)
class ModelScore:
    """The score of a model that was trained on a dataset, formatted for display.

    Attributes:
        place: The place of the score in the comparison, with an equals sign if others share it.
        metric: The name of the metric for readers.
        value: The score.
    """

    place: str
    metric: str
    value: str


def model_scores(comparisons: Iterable[TrainingComparison], localizer: Localizer) -> Mapping[int, ModelScore]:
    """Return the scores of the latest comparison with scores, by dataset id.

    Args:
        comparisons: The comparisons, newest first.
        localizer: The reader's language.
    """
    for comparison in comparisons:
        scores = _collect_scores(comparison, localizer)
        if scores:
            return scores
    return {}


def _collect_scores(comparison: TrainingComparison, localizer: Localizer) -> dict[int, ModelScore]:
    """Return the scores of a comparison by dataset id, without datasets that have no place yet."""
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
