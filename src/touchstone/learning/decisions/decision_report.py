"""The part of a training result about decisions: the task, the positive class, the threshold and the calibration.

It consists of numbers, and of sentences that web pages and model cards display unchanged.
"""

from typing import Final

import msgspec
import numpy as np

from touchstone.learning.decisions.threshold import Objective
from touchstone.learning.evaluation import Predictions, compute_metric, concatenate, finite_or_none
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.fairness.group_thresholds import GroupThresholds
from touchstone.learning.localized_text import (
    LocalizedText,
    format_distinctly,
    format_tenths,
    join_texts,
    localize,
)
from touchstone.learning.request_choices import METRIC_BY_NAME
from touchstone.learning.target import Target
from touchstone.learning.task_interface import Json
from touchstone.messages.decisions import CALIBRATION_SENTENCES, DECISION_SENTENCES, TASK_SENTENCES

SMALL_SHARE: Final = 0.1  # Percentages of smaller shares are displayed with a decimal.
PROBABILITY_METRICS: Final = ("log_loss", "brier")


def decision_results(experiment: Experiment, search: SearchResult) -> Json:
    """Return the members of a training result about decisions.

    These are `task_choice`, `decision` and `calibration`. The last two are None for a regression.
    """
    return {
        "task_choice": _report_task_choice(experiment),
        "decision": _report_decision(experiment, search) if experiment.target.is_classification else None,
        "calibration": _report_calibration(experiment, search) if experiment.target.is_classification else None,
    }


def _report_task_choice(experiment: Experiment) -> Json:
    """Return the task and the reason for it, as `{task, reason, text}`."""
    target = experiment.target
    distinct_values = experiment.table.columns[target.name].distinct
    text = localize(TASK_SENTENCES[target.task_reason], name=target.name, count=distinct_values)
    return {"task": str(target.task), "reason": str(target.task_reason), "text": text}


def _report_decision(experiment: Experiment, search: SearchResult) -> Json:
    """Return the decision rule, and the effect of a requested threshold."""
    target = experiment.target
    decisions = search.decisions
    has_two_classes = target.positive_code is not None
    decision: Json = {
        "positive_class": target.positive_class,
        "positive_class_reason": str(target.positive_class_reason) if has_two_classes else None,
        "positive_share": _positive_share(target) if has_two_classes else None,
        "threshold": decisions.rule.threshold if has_two_classes else None,
        "default_threshold": decisions.default_rule.threshold if has_two_classes else None,
        "class_weights": list(decisions.rule.class_weights) or None,
        **_threshold_effects(experiment, search),
    }
    return decision | {"text": _decision_text(decision, search.group_thresholds)}


def _threshold_effects(experiment: Experiment, search: SearchResult) -> Json:
    """Return the requested objective of the threshold, and its values with and without it.

    The objective is measured on the validation rows, where the threshold was chosen, and on the test rows.
    """
    objective = experiment.decision_options.objective
    if objective is None:
        return {"requested": None, "validation": None, "test": None}

    decisions = search.decisions
    test_chosen = [fold.decisions.apply(fold.uncalibrated_predictions) for fold in search.folds]
    test_default = [fold.decisions.apply_default(fold.uncalibrated_predictions) for fold in search.folds]
    return {
        "requested": requested_objective(experiment),
        "validation": _compare_thresholds(
            objective,
            chosen=decisions.apply(decisions.validation),
            default=decisions.apply_default(decisions.validation),
        ),
        "test": _compare_thresholds(objective, chosen=concatenate(test_chosen), default=concatenate(test_default)),
    }


def _positive_share(target: Target) -> float:
    """Return the share of the positive class among the rows that have a target."""
    return float(np.mean(target.values == target.positive_code))


def requested_objective(experiment: Experiment) -> Json:
    """Return the objective of the threshold as in the request: `{metric}` or `{cost: {fp, fn}}`."""
    objective: Json = msgspec.to_builtins(experiment.request.threshold)
    return {name: value for name, value in objective.items() if value is not None}


def _compare_thresholds(objective: Objective, *, chosen: Predictions, default: Predictions) -> Json:
    """Return the objective at the chosen and at the default threshold, as `{value, at_default}`."""
    return {
        "value": finite_or_none(objective.measure(chosen)),
        "at_default": finite_or_none(objective.measure(default)),
    }


def _decision_text(decision: Json, group_thresholds: GroupThresholds | None) -> LocalizedText:
    """Return the sentences about the positive class and the threshold or the thresholds by group."""
    if decision["threshold"] is None:
        key = "most_probable_for_frequency" if decision["class_weights"] else "most_probable"
        return localize(DECISION_SENTENCES[key])

    positive_sentence = DECISION_SENTENCES[f"positive_{decision['positive_class_reason']}"]
    share = decision["positive_share"]
    percent = round(100 * share) if share >= SMALL_SHARE else format_tenths(100 * share)
    sentences = [localize(positive_sentence, name=str(decision["positive_class"]), percent=percent)]
    if group_thresholds is None:
        sentences.append(localize(DECISION_SENTENCES["threshold"], threshold=decision["threshold"]))
    else:
        sentences.append(localize(DECISION_SENTENCES["threshold_by_group"], threshold=group_thresholds.default))

    # The objective was measured with a common threshold, which is hardly used if there are group thresholds.
    if decision["requested"] is not None and group_thresholds is None:
        sentences.append(_objective_sentence(decision))
    return join_texts(sentences)


def _objective_sentence(decision: Json) -> LocalizedText:
    """Return the sentence about the effect of the chosen threshold on the test rows."""
    requested = decision["requested"]
    value, default = format_distinctly([decision["test"]["value"], decision["test"]["at_default"]])
    effect = {"value": value, "default": default, "default_threshold": decision["default_threshold"]}
    if "metric" in requested:
        metric_label = localize(METRIC_BY_NAME[requested["metric"]].label)
        return localize(DECISION_SENTENCES["threshold_metric"], metric=metric_label, **effect)

    return localize(DECISION_SENTENCES["threshold_cost"], **displayed_costs(requested["cost"]), **effect)


def displayed_costs(costs: Json) -> Json:
    """Return costs as they are displayed, with 5.0 as 5."""
    return {name: int(cost) if cost.is_integer() else cost for name, cost in costs.items()}


def _report_calibration(experiment: Experiment, search: SearchResult) -> Json:
    """Return the calibration method and its effect on the test rows.

    The losses before and after calibration are compared with the losses of the base rate, which always predicts the
    class shares of the training rows.
    """
    method = str(search.decisions.calibrator.method)
    uncalibrated = [fold.uncalibrated_predictions for fold in search.folds]
    calibrated = [fold.decisions.apply(fold.uncalibrated_predictions) for fold in search.folds]
    baseline = [fold.baseline_predictions for fold in search.folds]
    losses = {
        "before": _compute_losses(concatenate(uncalibrated)),
        "after": _compute_losses(concatenate(calibrated)),
        "base_rate": _compute_losses(concatenate(baseline)),
    }

    log_losses = dict(zip(losses, format_distinctly([values["log_loss"] for values in losses.values()]), strict=True))
    key = "losses_unchanged" if method == "none" else "losses"
    method_sentence = localize(CALIBRATION_SENTENCES[method])
    loss_sentence = localize(CALIBRATION_SENTENCES[key], **log_losses)
    return {
        "requested": str(experiment.request.calibration),
        "method": method,
        "rows": len(search.decisions.validation.truth),
        **losses,
        "text": join_texts([method_sentence, loss_sentence]),
    }


def _compute_losses(predictions: Predictions) -> Json:
    """Return the log loss and the Brier score of predictions."""
    return {name: finite_or_none(compute_metric(name, predictions)) for name in PROBABILITY_METRICS}
