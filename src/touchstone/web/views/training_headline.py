"""What a reader should know first about the result of a training: its score, and how far it can be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.result_texts import texts_at
from touchstone.learning.request_choices import METRIC_BY_NAME
from touchstone.web.localizer import Localizer

JsonObject = Mapping[str, Any]

# The parts of a result that explain how the model was evaluated, each with a text in both languages.
_EXPLAINED_PARTS: Final = (
    ("task_choice",),
    ("split", "reason"),
    ("split", "effect"),
    ("weighting",),
    ("decision",),
    ("calibration",),
)


@dataclass(frozen=True, slots=True)
class Headline:
    """The score of a model by the metric for which it was chosen.

    Attributes:
        metric: The name of the metric for readers.
        meaning: What the metric measures, in one sentence.
        value: The score; None if it could not be measured.
        low: The lower end of the confidence interval.
        high: The upper end of the confidence interval.
        baseline: The score of a model that ignores every column.
        is_better: Whether the whole interval is better than the baseline; None if that is unknown.
    """

    metric: str
    meaning: str
    value: float | None
    low: float | None
    high: float | None
    baseline: float | None
    is_better: bool | None


def headline(result: JsonObject, localizer: Localizer) -> Headline | None:
    """Return the score of a trained model by its main metric, and whether it is better than a trivial baseline.

    Returns None if the result of the training has no main metric, or one that this release does not know.
    """
    metrics = result.get("metrics") or {}
    metric_name = metrics.get("metric") or ""
    metric = METRIC_BY_NAME.get(metric_name)
    if metric is None:
        return None

    # A cross-validated model has estimates in `folds`, any other model in `holdout`.
    estimates = metrics.get("folds") or metrics.get("holdout") or {}
    estimate = estimates.get(metric.name) or {}
    low = estimate.get("low")
    high = estimate.get("high")

    baseline_estimates = metrics.get("baseline") or {}
    baseline = _point_estimate(baseline_estimates.get(metric.name) or {})

    # The model is better only if its whole confidence interval is on the better side of the baseline.
    is_better = None
    if low is not None and high is not None and baseline is not None:
        is_better = low > baseline if metric.greater_is_better else high < baseline

    return Headline(
        metric=localizer.choose_text(metric.label),
        meaning=localizer.text(f"meaning_{metric.name}"),
        value=_point_estimate(estimate),
        low=low,
        high=high,
        baseline=baseline,
        is_better=is_better,
    )


def _point_estimate(estimate: JsonObject) -> float | None:
    """Return the value of a metric: its mean over the folds, or its value on the test rows."""
    value: float | None = estimate.get("mean", estimate.get("value"))
    return value


def evaluation_notes(result: JsonObject, localizer: Localizer) -> tuple[str, ...]:
    """Return the sentences that say how the model was evaluated, and what became of the budget."""
    texts = texts_at(result, _EXPLAINED_PARTS)
    notes = [text[localizer.locale] for text in texts if localizer.locale in text]
    if result.get("stopped_by") == "time":
        notes.append(localizer.text("not_reproducible"))
    return tuple(notes)
