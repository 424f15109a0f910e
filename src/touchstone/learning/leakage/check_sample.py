"""The sample of rows used to check columns for leakage, with a training half and a test half."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import sparray
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
MAX_TEXT_COLUMNS: Final = 10  # Further text columns are not checked.
TREES: Final = 50
MAX_DEPTH: Final = 8
MAX_LEAVES: Final = 32


@dataclass(frozen=True, slots=True)
class CheckSample:
    """A sample of rows as plain numbers, divided into a training half and a test half.

    Attributes:
        target: the target.
        columns: the columns to check.
        matrix: the values of these columns as numbers, of shape (rows, columns).
        truth: the target values of the rows.
        halves: the two halves, as positions into the sample.
        texts: the strings of the first text columns, by name. Trees cannot split on them directly.
    """

    target: Target
    columns: tuple[ColumnSchema, ...]
    matrix: Floats = field(repr=False)
    truth: npt.NDArray[Any] = field(repr=False)
    halves: Fold = field(repr=False)
    texts: "Mapping[str, pd.Series[Any]]" = field(repr=False)

    def subsample(self, rows: int) -> "CheckSample":
        """Return a smaller sample with about the given number of evenly spaced rows in each half."""
        train, test = self.halves.train, self.halves.test
        halves = Fold(train[:: max(1, len(train) // rows)], test[:: max(1, len(test) // rows)])
        return replace(self, halves=halves)

    @property
    def test_rows(self) -> int:
        """The number of rows in the test half."""
        return len(self.halves.test)

    def score_tree(self, features: Floats | sparray) -> float:
        """Return the score of a shallow tree that predicts the target from the given features."""
        tree_class = DecisionTreeClassifier if self.target.is_classification else DecisionTreeRegressor
        tree = tree_class(max_depth=MAX_DEPTH, max_leaf_nodes=MAX_LEAVES, random_state=0)
        return self._score(tree, features)

    def score_without(self, names: Sequence[str]) -> float:
        """Return the score of a forest that uses all columns except the named ones, or 0 if none remain."""
        other_positions = [position for position, column in enumerate(self.columns) if column.name not in names]
        if not other_positions:
            return 0.0
        forest_class = RandomForestClassifier if self.target.is_classification else RandomForestRegressor
        return self._score(forest_class(TREES, random_state=0), self.matrix[:, other_positions])

    def _score(self, model: Any, features: Floats | sparray) -> float:
        """Fit a model on the training half, and return its score on the test half by the default metric."""
        train, test = self.halves.train, self.halves.test
        model.fit(features[train], self.truth[train])
        predictions = Predictions(self.truth[test], model.predict(features[test]), len(self.target.classes))
        return compute_metric(DEFAULT_METRIC[self.target.task], predictions)


def draw_check_sample(data: TrainingData, rule: SplitRule) -> CheckSample:
    """Draw the sample used to check the features. The halves respect the split rule of the training."""
    target = data.target
    columns = tuple(column for column in data.columns if _can_be_checked(column))[:MAX_COLUMNS]
    shuffled_positions = np.random.default_rng(0).permutation(len(target.values))
    sample = np.sort(shuffled_positions[:MAX_ROWS])

    # Convert positions into the target's values to positions into the sample.
    halves = divide_into_folds(rule, sample, 2)[0]
    halves_of_sample = Fold(np.searchsorted(sample, halves.train), np.searchsorted(sample, halves.test))

    text_columns = [column for column in data.columns if column.kind is ColumnKind.TEXT][:MAX_TEXT_COLUMNS]
    frame = data.frame.iloc[sample]
    return CheckSample(
        target=target,
        columns=columns,
        matrix=_as_matrix(columns, frame),
        truth=target.values[sample],
        halves=halves_of_sample,
        texts={column.name: frame[column.name] for column in text_columns},
    )


def _can_be_checked(column: ColumnSchema) -> bool:
    """Return whether a tree can split on a column."""
    return column.kind is not ColumnKind.TEXT and column.distinct > 1


def _as_matrix(columns: Sequence[ColumnSchema], frame: pd.DataFrame) -> Floats:
    """Return the columns as a matrix of numbers, of shape (rows, columns)."""
    matrix = np.empty((len(frame), len(columns)))
    for position, column in enumerate(columns):
        matrix[:, position] = column_as_numbers(column, frame[column.name])
    return matrix
