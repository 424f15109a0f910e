"""The models that the product is compared with, as a practitioner would set them up with a few lines of code.

All of them give each class the same total weight, because they are compared by balanced accuracy.
"""

import logging
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

Values = NDArray[Any]
FitAndPredict = Callable[[pd.DataFrame, Values, pd.DataFrame, bool, float], Values]
"""Fits a model and returns its predictions.

The arguments are the training table, the values of its target, the test table, whether the values are classes, and the
number of seconds that a search for models may take.
"""


def categorical_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns that hold no numbers."""
    return [str(name) for name in table if is_bool_dtype(table[name]) or not is_numeric_dtype(table[name])]


def fit_lightgbm(
    train: pd.DataFrame, values: Values, test: pd.DataFrame, classification: bool, _seconds: float
) -> Values:
    """Use LightGBM with its own treatment of categories and missing values."""
    names = categorical_columns(train)
    categories = {name: pd.CategoricalDtype(list(train[name].dropna().unique())) for name in names}
    model = LGBMClassifier(class_weight="balanced", verbose=-1) if classification else LGBMRegressor(verbose=-1)
    model.fit(train.astype(categories), values)
    return np.asarray(model.predict(test.astype(categories)))


def fit_histogram_boosting(
    train: pd.DataFrame, values: Values, test: pd.DataFrame, classification: bool, _seconds: float
) -> Values:
    """Use the histogram gradient boosting of scikit-learn with ordinal codes of the categories."""
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    preparation = make_column_transformer((encoder, categorical_columns(train)), remainder="passthrough")
    if classification:
        model = HistGradientBoostingClassifier(class_weight="balanced", random_state=0)
    else:
        model = HistGradientBoostingRegressor(random_state=0)
    return np.asarray(make_pipeline(preparation, model).fit(train, values).predict(test))


def fit_forest(
    train: pd.DataFrame, values: Values, test: pd.DataFrame, classification: bool, _seconds: float
) -> Values:
    """Use a random forest with one column per category."""
    if classification:
        model = RandomForestClassifier(class_weight="balanced", n_jobs=-1, random_state=0)
    else:
        model = RandomForestRegressor(n_jobs=-1, random_state=0)
    return np.asarray(make_pipeline(_dense_preparation(train), model).fit(train, values).predict(test))


def fit_linear(
    train: pd.DataFrame, values: Values, test: pd.DataFrame, classification: bool, _seconds: float
) -> Values:
    """Use a logistic regression, or a ridge regression, of standardised numbers and one column per category."""
    model = LogisticRegression(class_weight="balanced", max_iter=1_000) if classification else Ridge()
    return np.asarray(make_pipeline(_dense_preparation(train), model).fit(train, values).predict(test))


def fit_flaml(train: pd.DataFrame, values: Values, test: pd.DataFrame, classification: bool, seconds: float) -> Values:
    """Use FLAML for the given number of seconds, with the metric of the comparison."""
    from flaml import AutoML  # noqa: PLC0415 - only installed for benchmarks

    logging.getLogger("flaml").setLevel(logging.ERROR)
    weights = {"sample_weight": compute_sample_weight("balanced", values)} if classification else {}
    automl = AutoML()
    automl.fit(
        train,
        values,
        task="classification" if classification else "regression",
        metric=_lost_balanced_accuracy if classification else "r2",
        time_budget=max(1.0, seconds),
        estimator_list=["lgbm", "rf", "extra_tree", "lrl1"] if classification else ["lgbm", "rf", "extra_tree"],
        seed=0,
        verbose=0,
        **weights,
    )
    return np.asarray(automl.predict(test))


def _lost_balanced_accuracy(
    validation: Any, truth: Any, estimator: Any, _labels: Any, _train: Any, _train_truth: Any, *_rest: Any, **_more: Any
) -> tuple[float, dict[str, float]]:
    """Return 1 minus the balanced accuracy, which FLAML minimizes."""
    loss = 1 - balanced_accuracy_score(truth, estimator.predict(validation))
    return loss, {"loss": loss}


def _dense_preparation(train: pd.DataFrame) -> Any:
    """Return a preparation with medians for missing numbers and one column per category."""
    names = categorical_columns(train)
    numbers = [name for name in train if name not in names]
    return make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), names),
    )


def score(truth: Values, predictions: Values, *, classification: bool) -> float:
    """Return the balanced accuracy of classes, or R² of numbers.

    Spaces around a class are ignored, because the product drops them.
    """
    if classification:
        return float(balanced_accuracy_score(_class_names(truth), _class_names(predictions)))
    return float(r2_score(truth, predictions))


def _class_names(values: Values) -> list[str]:
    """Return classes as strings without spaces around them."""
    return [str(value).strip() for value in values]


ALTERNATIVES: Final[dict[str, FitAndPredict]] = {
    "LightGBM": fit_lightgbm,
    "HistGradientBoosting": fit_histogram_boosting,
    "random forest": fit_forest,
    "linear": fit_linear,
    "FLAML": fit_flaml,
}
