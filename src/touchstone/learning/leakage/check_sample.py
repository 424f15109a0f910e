"""The rows on which columns are checked for leakage: one half to learn from, the other to measure on."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.evaluation import Predictions, compute_metric
from touchstone.learning.plain_numbers import column_as_numbers
from touchstone.learning.request_choices import DEFAULT_METRIC
from touchstone.learning.splits.folds import Fold, divide_into_folds
from touchstone.learning.splits.split_rule import SplitRule
from touchstone.learning.target import Floats, Target
from touchstone.learning.trial_fitting import TrainingData

MAX_ROWS: Final = 2_000
MAX_COLUMNS: Final = 500
TREES: Final = 50
MAX_DEPTH: Final = 8
MAX_LEAVES: Final = 32


@dataclass(frozen=True, slots=True)
class CheckSample:
    """A sample of the rows as plain numbers, divided into a half to learn from and a half to measure on.

    Attributes:
        target: the column to predict.
        columns: the columns that are checked.
        matrix: the cells of these columns, one column of numbers for each.
        truth: the target's values of the sampled rows.
        halves: the two halves, as positions into the sample.
    """

    target: Target
    columns: tuple[ColumnSchema, ...]
    matrix: Floats = field(repr=False)
    truth: npt.NDArray[Any] = field(repr=False)
    halves: Fold = field(repr=False)

    def thinned(self, rows: int) -> "CheckSample":
        """Return a smaller sample: at most about this many rows of each half, from all over the table."""
        learned, measured = self.halves.train, self.halves.test
        halves = Fold(learned[:: max(1, len(learned) // rows)], measured[:: max(1, len(measured) // rows)])
        return replace(self, halves=halves)

    @property
    def measured_rows(self) -> int:
        """On how many rows scores are measured."""
        return len(self.halves.test)

    def score_tree(self, features: Floats) -> float:
        """Return how well a shallow tree predicts the target from some features, by the default metric of the task."""
        tree_class = DecisionTreeClassifier if self.target.is_classification else DecisionTreeRegressor
        tree = tree_class(max_depth=MAX_DEPTH, max_leaf_nodes=MAX_LEAVES, random_state=0)
        return self._score(tree, features)

    def score_without(self, names: Sequence[str]) -> float:
        """Return how well a forest predicts the target from all columns but the named ones; 0 if there are none."""
        kept = [position for position, column in enumerate(self.columns) if column.name not in names]
        if not kept:
            return 0.0
        forest_class = RandomForestClassifier if self.target.is_classification else RandomForestRegressor
        return self._score(forest_class(TREES, random_state=0), self.matrix[:, kept])

    def _score(self, model: Any, features: Floats) -> float:
        """Fit a model on one half, and return its score on the other."""
        learned, measured = self.halves.train, self.halves.test
        model.fit(features[learned], self.truth[learned])
        predictions = Predictions(self.truth[measured], model.predict(features[measured]), len(self.target.classes))
        return compute_metric(DEFAULT_METRIC[self.target.task], predictions)


def draw_check_sample(data: TrainingData, rule: SplitRule) -> CheckSample:
    """Draw the rows on which the features of a training are checked; the halves share no group and no equal rows."""
    target = data.target
    columns = tuple(column for column in data.columns if _can_be_checked(column))[:MAX_COLUMNS]
    shuffled_positions = np.random.default_rng(0).permutation(len(target.values))
    sample = np.sort(shuffled_positions[:MAX_ROWS])

    # The halves are positions into the target's values, and are turned into positions into the sample.
    halves = divide_into_folds(rule, sample, 2)[0]
    halves_of_sample = Fold(np.searchsorted(sample, halves.train), np.searchsorted(sample, halves.test))
    return CheckSample(
        target=target,
        columns=columns,
        matrix=_as_matrix(columns, data.frame.iloc[sample]),
        truth=target.values[sample],
        halves=halves_of_sample,
    )


def _can_be_checked(column: ColumnSchema) -> bool:
    """Return whether a column has several values that a tree can divide into two parts."""
    return column.kind is not ColumnKind.TEXT and column.distinct > 1


def _as_matrix(columns: Sequence[ColumnSchema], frame: pd.DataFrame) -> Floats:
    """Return the columns as plain numbers, one column of the matrix for each."""
    matrix = np.empty((len(frame), len(columns)))
    for position, column in enumerate(columns):
        matrix[:, position] = column_as_numbers(column, frame[column.name])
    return matrix
