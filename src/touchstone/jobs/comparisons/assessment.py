"""Which datasets of a comparison train best, and whether the difference from the others can be chance."""

from collections.abc import Sequence

from msgspec import Struct

from touchstone.jobs.comparisons.comparison_records import ComparedDatasetRecord, Comparison
from touchstone.learning.baseline_comparison import is_better_than_baseline, measured_estimates, point_estimate
from touchstone.learning.request_choices import METRIC_BY_NAME


class Score(Struct, frozen=True, kw_only=True):
    """The quality of a trained model, by the metric for which it was chosen.

    Attributes:
        metric: the name of the metric.
        value: the estimate, measured on rows that took no part in the training.
        low, high: the ends of its 95 % confidence interval; None if there is none.
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
    """A dataset with its score, and with its place among the scores.

    `place` is 1 plus the number of better scores; it is None if the scores cannot be compared. `tied_with` is how many
    other datasets have exactly this score. `overlaps_best` says that the confidence interval of the score overlaps with
    that of the best one, so that the order may be chance.
    """

    dataset: ComparedDatasetRecord
    score: Score | None
    place: int | None = None
    tied_with: int = 0
    overlaps_best: bool = False


class Assessment(Struct, frozen=True, kw_only=True):
    """The datasets of a comparison with their scores, and those with the best score.

    `metrics` are the metrics by which they were measured; with more than one, the scores cannot be compared and there
    is no best one. `best` has several datasets if they share the best score.
    """

    metrics: Sequence[str]
    datasets: Sequence[AssessedDataset]
    best: Sequence[AssessedDataset]

    @property
    def best_dataset_id(self) -> int | None:
        """The id of the dataset with the best score, or None if there is none, or if several share it."""
        return self.best[0].dataset.dataset_id if len(self.best) == 1 else None


def assess(comparison: Comparison) -> Assessment:
    """Compare the scores that the trainings of a comparison have reached so far, and find the best ones.

    There is no best dataset if no training has a score yet, or if the scores have different metrics.
    """
    datasets = [AssessedDataset(dataset=dataset, score=_score_of(dataset)) for dataset in comparison.trained]
    scores = [dataset.score for dataset in datasets if dataset.score is not None]
    metrics = sorted({score.metric for score in scores})

    are_comparable = len(metrics) == 1
    if not are_comparable:
        return Assessment(metrics=metrics, datasets=datasets, best=[])

    best_score = min(scores, key=_sort_key)
    placed_datasets = [_place(dataset, scores, best_score) for dataset in datasets]
    best_datasets = [dataset for dataset in placed_datasets if dataset.place == 1]
    return Assessment(metrics=metrics, datasets=placed_datasets, best=best_datasets)


def _score_of(dataset: ComparedDatasetRecord) -> Score | None:
    """Return the score of the model that was trained on a dataset, or None if there is none, or not yet."""
    metrics = dataset.metrics
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
    """Return a number that is smaller for better scores of the same metric."""
    return -score.value if METRIC_BY_NAME[score.metric].greater_is_better else score.value


def _place(item: AssessedDataset, scores: Sequence[Score], best_score: Score) -> AssessedDataset:
    """Return a dataset with its place among the scores; a dataset without a score is returned unchanged."""
    score = item.score
    if score is None:
        return item

    better_count = sum(1 for other in scores if _sort_key(other) < _sort_key(score))
    equal_count = sum(1 for other in scores if other.value == score.value)
    return AssessedDataset(
        dataset=item.dataset,
        score=score,
        place=1 + better_count,
        tied_with=equal_count - 1,
        overlaps_best=better_count > 0 and _overlap(score, best_score),
    )


def _overlap(score: Score, other: Score) -> bool:
    """Return whether two confidence intervals overlap; an unknown interval overlaps with every other one."""
    if score.low is None or score.high is None or other.low is None or other.high is None:
        return True
    return score.low <= other.high and other.low <= score.high
