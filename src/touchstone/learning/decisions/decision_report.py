"""What the result of a training says about decisions: the task, the positive class, the threshold and the calibration.

Everything is said in numbers, and in sentences that pages and model cards show as they are.
"""

from typing import Final

import msgspec
import numpy as np

from touchstone.learning.decisions.threshold import Objective
from touchstone.learning.evaluation import Predictions, compute_metric, concatenate, finite_or_none
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.fairness.group_thresholds import GroupThresholds
from touchstone.learning.localized_text import LocalizedText, format_distinctly, join_texts, localize
from touchstone.learning.request_choices import METRIC_BY_NAME
from touchstone.learning.target import Target
from touchstone.learning.task_interface import Json
from touchstone.messages.decisions import CALIBRATION_SENTENCES, DECISION_SENTENCES, TASK_SENTENCES

SMALL_SHARE: Final = 0.1  # Smaller shares are stated with a decimal.
PROBABILITY_METRICS: Final = ("log_loss", "brier")


def decision_results(experiment: Experiment, search: SearchResult) -> Json:
    """Return the members of the result of a training that are about decisions.

    These are `task_choice`, and for a classification `decision` and `calibration`, which are None for a regression.
    """
    return {
        "task_choice": _task_choice(experiment),
        "decision": _decision(experiment, search) if experiment.target.is_classification else None,
        "calibration": _calibration(experiment, search) if experiment.target.is_classification else None,
    }


def _task_choice(experiment: Experiment) -> Json:
    """Return the task and why it was chosen, as `{task, reason, text}`."""
    target = experiment.target
    distinct_values = experiment.table.columns[target.name].distinct
    text = localize(TASK_SENTENCES[target.task_reason], name=target.name, count=distinct_values)
    return {"task": str(target.task), "reason": str(target.task_reason), "text": text}


def _decision(experiment: Experiment, search: SearchResult) -> Json:
    """Return how classes are predicted from probabilities, and what a requested threshold changes."""
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
    """Return the requested objective of the threshold, and its value at the chosen and at the default threshold.

    It is measured on the validation rows, on which the threshold was chosen, and on the test rows.
    """
    objective = experiment.decision_options.objective
    if objective is None:
        return {"requested": None, "validation": None, "test": None}

    decisions = search.decisions
    test_chosen = [fold.decisions.apply(fold.uncalibrated_predictions) for fold in search.folds]
    test_default = [fold.decisions.apply_default(fold.uncalibrated_predictions) for fold in search.folds]
    return {
        "requested": _requested_objective(experiment),
        "validation": _effect(
            objective,
            chosen=decisions.apply(decisions.validation),
            default=decisions.apply_default(decisions.validation),
        ),
        "test": _effect(objective, chosen=concatenate(test_chosen), default=concatenate(test_default)),
    }


def _positive_share(target: Target) -> float:
    """Return the share of the positive class among the rows that have a target."""
    return float(np.mean(target.values == target.positive_code))


def _requested_objective(experiment: Experiment) -> Json:
    """Return what the threshold was chosen by, as the request says it: `{metric}` or `{cost: {fp, fn}}`."""
    objective: Json = msgspec.to_builtins(experiment.request.threshold)
    return {name: value for name, value in objective.items() if value is not None}


def _effect(objective: Objective, *, chosen: Predictions, default: Predictions) -> Json:
    """Return the value of an objective at the chosen and at the default threshold, as `{value, at_default}`."""
    return {
        "value": finite_or_none(objective.measure(chosen)),
        "at_default": finite_or_none(objective.measure(default)),
    }


def _decision_text(decision: Json, group_thresholds: GroupThresholds | None) -> LocalizedText:
    """Return the sentences about the positive class and the threshold, which a mitigation may choose by group."""
    if decision["threshold"] is None:
        key = "most_probable_for_frequency" if decision["class_weights"] else "most_probable"
        return localize(DECISION_SENTENCES[key])

    positive_sentence = DECISION_SENTENCES[f"positive_{decision['positive_class_reason']}"]
    share = decision["positive_share"]
    percent = round(100 * share) if share >= SMALL_SHARE else round(100 * share, 1)
    threshold_sentence = localize(DECISION_SENTENCES["threshold"], threshold=decision["threshold"])
    if group_thresholds is not None:
        threshold_sentence = localize(DECISION_SENTENCES["threshold_by_group"], threshold=group_thresholds.default)
    sentences = [
        localize(positive_sentence, name=str(decision["positive_class"]), percent=percent),
        threshold_sentence,
    ]
    # The objective was measured with a common threshold, which decides for hardly any row if each group has its own.
    if decision["requested"] is not None and group_thresholds is None:
        sentences.append(_objective_sentence(decision))
    return join_texts(sentences)


def _objective_sentence(decision: Json) -> LocalizedText:
    """Return the sentence about what a chosen threshold changes on the test rows."""
    requested = decision["requested"]
    value, default = format_distinctly([decision["test"]["value"], decision["test"]["at_default"]])
    effect = {"value": value, "default": default, "default_threshold": decision["default_threshold"]}
    if "metric" in requested:
        metric_label = localize(METRIC_BY_NAME[requested["metric"]].label)
        return localize(DECISION_SENTENCES["threshold_metric"], metric=metric_label, **effect)

    # A cost of 5.0 is written as 5.
    costs = {name: int(cost) if cost.is_integer() else cost for name, cost in requested["cost"].items()}
    return localize(DECISION_SENTENCES["threshold_cost"], **costs, **effect)


def _calibration(experiment: Experiment, search: SearchResult) -> Json:
    """Report how the probabilities were corrected, and what this changed on the test rows.

    The losses before and after the correction are compared with those of the base rate, which always predicts the
    shares of the classes among the training rows.
    """
    method = str(search.decisions.calibrator.method)
    uncalibrated = [fold.uncalibrated_predictions for fold in search.folds]
    calibrated = [fold.decisions.apply(fold.uncalibrated_predictions) for fold in search.folds]
    baseline = [fold.baseline_predictions for fold in search.folds]
    losses = {
        "before": _losses(concatenate(uncalibrated)),
        "after": _losses(concatenate(calibrated)),
        "base_rate": _losses(concatenate(baseline)),
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


def _losses(predictions: Predictions) -> Json:
    """Return the log loss and the Brier score of predictions."""
    return {name: finite_or_none(compute_metric(name, predictions)) for name in PROBABILITY_METRICS}
