"""The metrics by group and the effect of a mitigation, as reported in the result of a training."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from touchstone.learning.decisions.decision_report import displayed_costs, requested_objective
from touchstone.learning.evaluation import Predictions, concatenate, finite_or_none
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.fairness.group_metrics import GroupMeasurer
from touchstone.learning.fairness.group_thresholds import GroupThresholds
from touchstone.learning.fairness.sensitive_columns import sensitive_columns, sensitive_frame
from touchstone.learning.localized_text import LocalizedText, format_distinctly, join_texts, localize
from touchstone.learning.request_choices import METRIC_BY_NAME, Mitigation
from touchstone.learning.splits.folds import held_out_positions
from touchstone.learning.task_interface import Json
from touchstone.messages.fairness import FAIRNESS

MetricsFunction = Callable[[SearchResult], Json]


def measure_groups(experiment: Experiment, search: SearchResult) -> list[Json]:
    """Return the metrics by group for the sensitive columns, measured on the test rows of all folds."""
    predictions: Sequence[Predictions] = [fold.predictions for fold in search.folds]
    frame = sensitive_frame(experiment, held_out_positions(experiment.folds))
    measurer = GroupMeasurer(concatenate(predictions), experiment.target.classes)
    return measurer.measure(frame, sensitive_columns(experiment))


def report_mitigation(
    experiment: Experiment, search: SearchResult, mitigated_metrics: Json, compute_metrics: MetricsFunction
) -> Json | None:
    """Return the mitigation applied and its effect, or None if none was requested.

    Args:
        experiment: the training.
        search: the result of the search after the mitigation.
        mitigated_metrics: the `metrics` and `group_metrics` after the mitigation.
        compute_metrics: the function used to compute the metrics before the mitigation.
    """
    method = experiment.request.mitigation
    if method is Mitigation.NONE:
        return None

    unmitigated_search = _without_mitigation(search)
    sentences = [localize(FAIRNESS[f"mitigation_{method}"])]
    objective = _measure_objective(experiment, before=unmitigated_search, after=search)
    if objective is not None:
        sentences.append(_objective_sentence(objective))
    return {
        "method": str(method),
        "columns": list(experiment.request.sensitive_features),
        "text": join_texts(sentences),
        "objective": objective,
        "thresholds": _list_thresholds(search.group_thresholds),
        "before": {
            "metrics": compute_metrics(unmitigated_search),
            "group_metrics": measure_groups(experiment, unmitigated_search),
        },
        "after": mitigated_metrics,
    }


def _without_mitigation(search: SearchResult) -> SearchResult:
    """Return the search result with the predictions before the mitigation."""
    folds = [replace(fold, predictions=fold.unmitigated_predictions or fold.predictions) for fold in search.folds]
    return replace(search, folds=tuple(folds))


def _measure_objective(experiment: Experiment, *, before: SearchResult, after: SearchResult) -> Json | None:
    """Return the value of a requested threshold objective on the test rows, before and after the mitigation.

    The result is None if the request has no such objective.
    """
    objective = experiment.decision_options.objective
    if objective is None:
        return None

    return {
        "requested": requested_objective(experiment),
        "before": finite_or_none(objective.measure(concatenate([fold.predictions for fold in before.folds]))),
        "after": finite_or_none(objective.measure(concatenate([fold.predictions for fold in after.folds]))),
    }


def _objective_sentence(objective: Json) -> LocalizedText:
    """Return the sentence about the effect of the mitigation on the objective of the threshold."""
    before, after = format_distinctly([objective["before"], objective["after"]])
    requested = objective["requested"]
    if "metric" in requested:
        label = localize(METRIC_BY_NAME[requested["metric"]].label)
        return localize(FAIRNESS["mitigated_metric"], metric=label, before=before, after=after)
    costs = displayed_costs(requested["cost"])
    return localize(FAIRNESS["mitigated_cost"], **costs, before=before, after=after)


def _list_thresholds(thresholds: GroupThresholds | None) -> list[Json] | None:
    """Return the threshold of each group. The group None contains all other groups."""
    if thresholds is None:
        return None

    by_group = [{"group": group, "threshold": threshold} for group, threshold in thresholds.by_group.items()]
    return [*by_group, {"group": None, "threshold": thresholds.default}]
