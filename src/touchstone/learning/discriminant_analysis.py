"""Linear discriminant analysis, a linear model for predicting classes from few rows.

It assumes that the rows of each class are normally distributed around their mean, with the same covariances in all
classes. Where this is about right, it needs fewer rows than a logistic regression (Efron 1975). The covariances are
shrunk, as they are uncertain for few rows (Ledoit and Wolf 2004).
"""

from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from touchstone.learning.target import Floats, Values


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
