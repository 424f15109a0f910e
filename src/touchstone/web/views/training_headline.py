"""The score of a training, its comparison with a baseline, and notes about the evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from touchstone.core.result_texts import EVALUATION_TEXT_PATHS, texts_at
from touchstone.learning.baseline_comparison import is_better_than_baseline, measured_estimates, point_estimate
from touchstone.learning.request_choices import METRIC_BY_NAME
from touchstone.web.localizer import Localizer

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Headline:
    """The score of a model for the metric that was used to select it.

    Attributes:
        metric: the name of the metric for readers.
        meaning: a sentence about what the metric measures.
        value: the score; None if it could not be measured.
        low: the lower end of the confidence interval.
        high: the upper end of the confidence interval.
        baseline: the score of a trivial model that ignores every column.
        is_better: whether the model is clearly better than the baseline; None if unknown.
        verdict: the comparison with the baseline in words; empty if unknown.
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
    """Return the score of a trained model for its main metric, compared with a trivial baseline.

    Return None if the result has no main metric, or one that this release does not know.
    """
    metrics = result.get("metrics") or {}
    metric_name = metrics.get("metric") or ""
    metric = METRIC_BY_NAME.get(metric_name)
    if metric is None:
        return None

    estimate = measured_estimates(metrics).get(metric.name) or {}
    baseline_estimates = metrics.get("baseline") or {}
    is_better = is_better_than_baseline(metrics)
    decision = result.get("decision") or {}
    has_chosen_threshold = not metric.probabilistic and bool(decision.get("requested"))

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
    """Describe whether a model is better than the baseline, or return "" if that is unknown.

    If the decision threshold was chosen for another goal, such as low costs, a useful model may be no better than the
    baseline for this metric. The description then mentions the threshold.
    """
    if is_better is None:
        return ""
    if is_better:
        return localizer.text("result_better")
    return localizer.text("result_not_better_at_threshold" if has_chosen_threshold else "result_not_better")


def evaluation_notes(result: JsonObject, localizer: Localizer) -> tuple[str, ...]:
    """Return the notes about the evaluation of the model, and about a time limit that was reached."""
    texts = texts_at(result, EVALUATION_TEXT_PATHS)
    notes = [text[localizer.locale] for text in texts if localizer.locale in text]
    if result.get("stopped_by") == "time":
        notes.append(localizer.text("not_reproducible"))
    return tuple(notes)
