"""Preparing source columns for a model: one fitted transformer, fitted on training rows only.

Numbers are imputed by the median (with a flag) and standardised, categories one-hot encoded, categories of many values
encoded by the mean of the target (cross-fitted, so that a row never sees its own target), dates cut into their parts,
texts embedded by TF-IDF and SVD. Every encoded column stems from exactly one source column (`encoded_sources`): this
is what lets an explanation speak of source columns.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder
from skrub import DatetimeEncoder, StringEncoder

from touchstone.learning.column_types import MANY_VALUES, Column, Kind
from touchstone.learning.target import Indices, Target

TEXT_COMPONENTS: Final = 10
TARGET_FOLDS: Final = 5
NEVER_LEARNED: Final = {Kind.IDENTIFIER: "identifier", Kind.UNSUPPORTED: "unsupported"}


def why_left_out(column: Column, rows: int) -> str | None:
    """Why nothing can be learned from a column (`identifier`, `unsupported`, `all_missing`, `constant`), or None."""
    if column.kind in NEVER_LEARNED:
        return NEVER_LEARNED[column.kind]
    if column.missing == rows:
        return "all_missing"
    return "constant" if column.distinct <= 1 and not column.missing else None


def make_preparation(columns: Sequence[Column], target: Target, seed: int) -> ColumnTransformer:
    """An unfitted preparation of these columns for this target."""
    numbers = [column.name for column in columns if column.kind is Kind.NUMBER]
    few = [column.name for column in columns if _wordy(column) and column.distinct <= MANY_VALUES]
    many = [column.name for column in columns if _wordy(column) and column.distinct > MANY_VALUES]
    parts: list[tuple[str, Any, Any]] = [
        ("numbers", _numbers(), numbers),
        ("categories", OneHotEncoder(handle_unknown="ignore", sparse_output=False), few),
        ("many", _many(target, seed), many),
    ]
    dates = [column.name for column in columns if column.kind is Kind.DATE]
    texts = [column.name for column in columns if column.kind is Kind.TEXT]
    # numbered, since the name of a part may not hold two underscores and a column's may
    parts += [(f"date_{number}", _dates(), name) for number, name in enumerate(dates)]
    parts += [(f"text_{number}", _texts(seed), name) for number, name in enumerate(texts)]
    return ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.0)


def encoded_sources(preparation: ColumnTransformer, names: Sequence[str]) -> Indices:
    """For every encoded column the position in `names` of the source column that it stems from."""
    width = max(part.stop for part in preparation.output_indices_.values())
    sources = np.full(width, -1, dtype=np.intp)
    for key, fitted, columns in preparation.transformers_:
        if key == "remainder":
            continue
        own = [columns] if isinstance(columns, str) else list(columns)
        where = np.array([names.index(name) for name in own], dtype=np.intp)
        sources[preparation.output_indices_[key]] = where[_within_part(key, fitted, len(own))]
    return sources


def transform(preparation: ColumnTransformer, frame: pd.DataFrame) -> Any:
    """The encoded matrix of a frame, float64, one row a row."""
    return np.asarray(preparation.transform(frame), dtype=np.float64)


def _within_part(key: str, fitted: Any, width: int) -> Indices:
    if key == "numbers":
        flagged = fitted.named_steps["impute"].indicator_.features_
        return np.concatenate([np.arange(width), flagged]).astype(np.intp)
    if key == "categories":
        return np.repeat(np.arange(width), [len(values) for values in fitted.categories_])
    if key == "many":
        return np.repeat(np.arange(width), len(fitted.encodings_) // width)  # of many classes, one column a class
    return np.zeros(1, dtype=np.intp)  # a date or a text: everything in the part stems from its one column


def _wordy(column: Column) -> bool:
    return column.kind in (Kind.CATEGORY, Kind.BOOLEAN)


def _numbers() -> Pipeline:
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return Pipeline([("impute", impute), ("scale", StandardScaler())])


def _many(target: Target, seed: int) -> TargetEncoder:
    # Codes of classes tell their type themselves (a part may hold two of three); numbers may look like classes.
    kind = "auto" if target.classification else "continuous"
    return TargetEncoder(target_type=kind, cv=KFold(TARGET_FOLDS, shuffle=True, random_state=seed))


def _dates() -> Pipeline:
    parts = DatetimeEncoder(resolution="hour", add_weekday=True)
    return Pipeline([("parts", parts), *_numbers().steps])


def _texts(seed: int) -> StringEncoder:
    return StringEncoder(n_components=TEXT_COMPONENTS, random_state=seed)
