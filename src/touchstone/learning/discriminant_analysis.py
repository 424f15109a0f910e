"""Linear discriminant analysis, a linear model for predicting classes from few rows.

It assumes that the rows of each class are normally distributed around their mean, with the same covariances in all
classes. Where this is about right, it needs fewer rows than a logistic regression (Efron 1975). The covariances are
shrunk, as they are uncertain for few rows (Ledoit and Wolf 2004).
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from touchstone.learning.column_types import ColumnKind, ColumnSchema
from touchstone.learning.target import Floats, Target, Values

MAX_ROWS: Final = 200
MAX_ENCODED_COLUMNS: Final = 500  # The duration of a fit grows with their third power.


def suits_discriminant_analysis(target: Target, columns: Sequence[ColumnSchema], *, weights_rows: bool) -> bool:
    """Return whether a discriminant analysis is worth trying, and fits within a fraction of a second.

    Args:
        target: the column to predict.
        columns: the features. A category is encoded as one column for each value, and a text as one for each word.
        weights_rows: whether rows have weights of their own, which a discriminant analysis does not accept.
    """
    has_few_rows = len(target.values) <= MAX_ROWS
    if not target.is_classification or not has_few_rows or weights_rows:
        return False
    if any(column.kind is ColumnKind.TEXT for column in columns):
        return False

    encoded_columns = sum(column.distinct if column.kind is ColumnKind.CATEGORY else 1 for column in columns)
    return encoded_columns <= MAX_ENCODED_COLUMNS


def build_discriminant_analysis() -> LinearDiscriminantAnalysis:
    """Return an unfitted model."""
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")


def fit_discriminant_analysis(
    model: LinearDiscriminantAnalysis, matrix: Floats, values: Values, *, is_balanced: bool
) -> Any:
    """Fit a model, and return it.

    It cannot weight rows. If the classes are to be balanced, they get equal prior probabilities instead.

    Args:
        model: the unfitted model.
        matrix: the encoded rows, of shape (rows, encoded columns).
        values: the class of each row.
        is_balanced: whether every class has the same total weight.
    """
    if is_balanced:
        class_count = len(np.unique(values))
        model.set_params(priors=np.full(class_count, 1 / class_count))
    return model.fit(matrix, values)
