"""What a reader should know first about the result of a training: its score, and how far it can be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.result_texts import texts_at
from touchstone.learning.baseline_comparison import is_better_than_baseline, measured_estimates, point_estimate
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
    """The score of a model by the metric that selected it.

    Attributes:
        metric: The name of the metric for readers.
        meaning: What the metric measures, in one sentence.
        value: The score; None if it could not be measured.
        low: The lower end of the confidence interval.
        high: The upper end of the confidence interval.
        baseline: The score of a model that ignores every column.
        is_better: Whether the model is clearly better than the baseline; None if that is unknown.
        verdict: What `is_better` means, in words; empty if it is unknown.
    """

    metric: str
    meaning: str
    value: float | None
    low: float | None
    high: float | None
    baseline: float | None
    is_better: bool | None
    verdict: str


def headline(result: JsonObject, localizer: Localizer) -> Headline | None:
    """Return the score of a trained model by its main metric, and whether it is better than a trivial baseline.

    Returns None if the result of the training has no main metric, or one that this release does not know.
    """
    metrics = result.get("metrics") or {}
    metric_name = metrics.get("metric") or ""
    metric = METRIC_BY_NAME.get(metric_name)
    if metric is None:
        return None

    estimate = measured_estimates(metrics).get(metric.name) or {}
    baseline_estimates = metrics.get("baseline") or {}
    is_better = is_better_than_baseline(metrics)
    has_chosen_threshold = not metric.probabilistic and bool((result.get("decision") or {}).get("requested"))

    return Headline(
        metric=localizer.choose_text(metric.label),
        meaning=localizer.text(f"meaning_{metric.name}"),
        value=point_estimate(estimate),
        low=estimate.get("low"),
        high=estimate.get("high"),
        baseline=point_estimate(baseline_estimates.get(metric.name) or {}),
        is_better=is_better,
        verdict=_verdict(is_better, localizer, has_chosen_threshold=has_chosen_threshold),
    )


def _verdict(is_better: bool | None, localizer: Localizer, *, has_chosen_threshold: bool) -> str:
    """Return in words whether a model is better than the baseline, or an empty string if that is unknown.

    With a threshold that was chosen for something else, such as costs, decisions may be no better than the baseline by
    this metric although the model has learned something, so the words name the threshold.
    """
    if is_better is None:
        return ""
    if is_better:
        return localizer.text("result_better")
    return localizer.text("result_not_better_at_threshold" if has_chosen_threshold else "result_not_better")


def evaluation_notes(result: JsonObject, localizer: Localizer) -> tuple[str, ...]:
    """Return the sentences that say how the model was evaluated, and what became of the budget."""
    texts = texts_at(result, _EXPLAINED_PARTS)
    notes = [text[localizer.locale] for text in texts if localizer.locale in text]
    if result.get("stopped_by") == "time":
        notes.append(localizer.text("not_reproducible"))
    return tuple(notes)
