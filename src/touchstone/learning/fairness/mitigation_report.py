"""What the result of a training says about groups: their metrics, and the effect of a mitigation."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from touchstone.learning.evaluation import Predictions, concatenate
from touchstone.learning.experiment import Experiment, SearchResult
from touchstone.learning.fairness.group_metrics import GroupMeasurer
from touchstone.learning.fairness.group_thresholds import GroupThresholds
from touchstone.learning.fairness.sensitive_columns import sensitive_columns, sensitive_frame
from touchstone.learning.localized_text import localize
from touchstone.learning.request_choices import Mitigation
from touchstone.learning.splits.folds import held_out_positions
from touchstone.learning.task_interface import Json
from touchstone.messages.fairness import FAIRNESS

MetricsOf = Callable[[SearchResult], Json]


def measure_groups(experiment: Experiment, search: SearchResult) -> list[Json]:
    """Return the metrics of every group of the sensitive columns, measured on the test rows of all folds."""
    predictions: Sequence[Predictions] = [fold.predictions for fold in search.folds]
    frame = sensitive_frame(experiment, held_out_positions(experiment.folds))
    measurer = GroupMeasurer(concatenate(predictions), experiment.target.classes)
    return measurer.measure(frame, sensitive_columns(experiment))


def report_mitigation(
    experiment: Experiment, search: SearchResult, after: Json, measure_quality: MetricsOf
) -> Json | None:
    """Return what was done against unequal treatment, with its effect; None if the request asks for nothing.

    `after` holds the `metrics` and the `group_metrics` of the result. `measure_quality` returns the metrics of a
    search, to say what they were before.
    """
    method = experiment.request.mitigation
    if method is Mitigation.NONE:
        return None

    unmitigated_search = _without_mitigation(search)
    return {
        "method": str(method),
        "columns": list(experiment.request.sensitive_features),
        "text": localize(FAIRNESS[f"mitigation_{method}"]),
        "thresholds": _thresholds(search.group_thresholds),
        "before": {
            "metrics": measure_quality(unmitigated_search),
            "group_metrics": measure_groups(experiment, unmitigated_search),
        },
        "after": after,
    }


def _without_mitigation(search: SearchResult) -> SearchResult:
    """Return the search with the predictions before the mitigation."""
    folds = [replace(fold, predictions=fold.unmitigated_predictions or fold.predictions) for fold in search.folds]
    return replace(search, folds=tuple(folds))


def _thresholds(thresholds: GroupThresholds | None) -> list[Json] | None:
    """Return the threshold of each group; that of the group None applies to all others."""
    if thresholds is None:
        return None

    by_group = [{"group": group, "threshold": threshold} for group, threshold in thresholds.by_group.items()]
    return [*by_group, {"group": None, "threshold": thresholds.default}]
