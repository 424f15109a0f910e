"""Quick scores of a small forest, with random rows and with whole groups held out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import GroupKFold, KFold

from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.plain_numbers import columns_as_numbers
from touchstone.learning.request_choices import DEFAULT_METRIC
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Indices, Target

FOLDS: Final = 3
TREES: Final = 30


@dataclass(frozen=True, slots=True)
class QuickScores:
    """Scores for the same task, by its default metric.

    Attributes:
        baseline: the score that is possible without learning.
        shuffled: the score of a forest if random rows are held out.
        by_group: the score of a forest if whole groups are held out.
    """

    baseline: float
    shuffled: float
    by_group: float


def compare_quick_scores(
    table: Table, target: Target, feature_names: Sequence[str], sample: Indices, groups: Indices
) -> QuickScores:
    """Score a small forest on a sample of the rows, given as positions into the target's values."""
    columns = [table.columns[name] for name in feature_names]
    matrix = columns_as_numbers(columns, table.frame.iloc[target.rows[sample]])
    truth = target.values[sample]

    shuffled_folds = KFold(FOLDS, shuffle=True, random_state=0).split(matrix)
    group_folds = GroupKFold(FOLDS).split(matrix, groups=groups)
    return QuickScores(
        baseline=1 / len(np.unique(truth)) if target.is_classification else 0.0,
        shuffled=_score_forest(target, matrix, truth, shuffled_folds),
        by_group=_score_forest(target, matrix, truth, group_folds),
    )


def _score_forest(target: Target, matrix: Floats, truth: Any, folds: Any) -> float:
    """Return the cross-validated score of a small forest."""
    predicted = np.empty_like(truth)
    forest_class = RandomForestClassifier if target.is_classification else RandomForestRegressor
    for train, test in folds:
        forest = forest_class(TREES, max_features="sqrt", random_state=0)
        predicted[test] = forest.fit(matrix[train], truth[train]).predict(matrix[test])
    return compute_metric(DEFAULT_METRIC[target.task], Predictions(truth, predicted, len(target.classes)))
