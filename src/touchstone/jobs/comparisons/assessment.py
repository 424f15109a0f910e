"""The assessment of a comparison: its best datasets, and whether the differences may be due to chance."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from touchstone.jobs.comparisons.comparison_records import ComparedDatasetRecord, Comparison
from touchstone.learning.baseline_comparison import is_better_than_baseline, measured_estimates, point_estimate
from touchstone.learning.request_choices import METRIC_BY_NAME


class Score(Struct, frozen=True, kw_only=True):
    """The quality of a trained model, measured by the metric of its training.

    Attributes:
        metric: the name of the metric.
        value: the estimate on rows that were not used for training.
        low: the lower end of the 95 % confidence interval, or None if it is unknown.
        high: the upper end of the 95 % confidence interval, or None if it is unknown.
        baseline: the estimate for a model that ignores every column.
        beats_baseline: whether the model is clearly better than the baseline.
    """

    metric: str
    value: float
    low: float | None
    high: float | None
    baseline: float | None
    beats_baseline: bool


class AssessedDataset(Struct, frozen=True, kw_only=True):
    """A dataset with its score and its place.

    Attributes:
        record: the dataset with its training.
        score: the score, or None if the training has none (yet).
        place: 1 plus the number of better scores, or None if the scores cannot be compared.
        tied_with: the number of other datasets with exactly the same score.
        overlaps_best: whether the score is worse than the best score but their confidence intervals overlap, so that
            the order may be due to chance.
    """

    record: ComparedDatasetRecord
    score: Score | None
    place: int | None = None
    tied_with: int = 0
    overlaps_best: bool = False


class Assessment(Struct, frozen=True, kw_only=True):
    """The scores of a comparison.

    Attributes:
        metrics: the metrics of the trainings. The scores cannot be compared if there are several metrics, or if the
            only one has the unit of the target.
        datasets: the datasets with their scores.
        best: the datasets with the best score, or an empty list if the scores cannot be compared.
    """

    metrics: Sequence[str]
    datasets: Sequence[AssessedDataset]
    best: Sequence[AssessedDataset]

    @property
    def best_dataset_id(self) -> int | None:
        """The id of the dataset with the best score, or None if no dataset or several datasets have it."""
        return self.best[0].record.dataset_id if len(self.best) == 1 else None


def assess(comparison: Comparison) -> Assessment:
    """Compare the scores of the trainings that have ended so far."""
    datasets = [AssessedDataset(record=record, score=_extract_score(record)) for record in comparison.trained]
    scores = [dataset.score for dataset in datasets if dataset.score is not None]
    metrics = sorted({score.metric for score in scores})

    are_comparable = len(metrics) == 1 and not METRIC_BY_NAME[metrics[0]].has_target_unit
    if not are_comparable:
        return Assessment(metrics=metrics, datasets=datasets, best=[])

    best_score = min(scores, key=_sort_key)
    placed_datasets = [_assign_place(dataset, scores, best_score) for dataset in datasets]
    best_datasets = [dataset for dataset in placed_datasets if dataset.place == 1]
    return Assessment(metrics=metrics, datasets=placed_datasets, best=best_datasets)


def _extract_score(record: ComparedDatasetRecord) -> Score | None:
    """Return the score from the metrics of a training, or None if it has none (yet)."""
    metrics = record.metrics
    if metrics is None or metrics.get("metric") not in METRIC_BY_NAME:
        return None

    metric = METRIC_BY_NAME[metrics["metric"]]
    estimate = measured_estimates(metrics).get(metric.name) or {}
    value = point_estimate(estimate)
    if value is None:
        return None

    baseline_estimates = metrics.get("baseline") or {}
    baseline_estimate = baseline_estimates.get(metric.name) or {}

    return Score(
        metric=metric.name,
        value=value,
        low=estimate.get("low"),
        high=estimate.get("high"),
        baseline=point_estimate(baseline_estimate),
        beats_baseline=is_better_than_baseline(metrics) is True,
    )


def _sort_key(score: Score) -> float:
    """Return the ascending sort key of a score, with better scores first."""
    return -score.value if METRIC_BY_NAME[score.metric].greater_is_better else score.value


def _assign_place(dataset: AssessedDataset, scores: Sequence[Score], best_score: Score) -> AssessedDataset:
    """Return a dataset with its place among the scores, or unchanged if it has no score."""
    score = dataset.score
    if score is None:
        return dataset

    # Better scores have smaller sort keys, whether a metric counts up or down.
    better_count = sum(1 for other in scores if _sort_key(other) < _sort_key(score))
    equal_count = sum(1 for other in scores if other.value == score.value)
    return replace(
        dataset,
        place=1 + better_count,
        tied_with=equal_count - 1,
        overlaps_best=better_count > 0 and _overlap(score, best_score),
    )


def _overlap(score: Score, other: Score) -> bool:
    """Return whether two confidence intervals overlap, which is assumed if one of them is unknown."""
    if score.low is None or score.high is None or other.low is None or other.high is None:
        return True
    return score.low <= other.high and other.low <= score.high
