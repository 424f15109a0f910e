"""The preparation of source columns for a model: one transformer, fitted on training rows only.

Numbers are imputed by the median (with a flag) and standardised, categories are one-hot encoded, categories of many
values are encoded by the mean of the target (cross-fitted, so that a row never sees its own target), dates are cut
into their components, and texts are embedded by TF-IDF and SVD. Every encoded column stems from exactly one source
column, which is what allows explanations to speak of source columns.
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

from touchstone.learning.column_types import MANY_VALUES, ColumnKind, ColumnSchema
from touchstone.learning.target import Floats, Indices, Target

TEXT_COMPONENTS: Final = 10
TARGET_ENCODING_FOLDS: Final = 5
UNLEARNABLE_KINDS: Final = {ColumnKind.IDENTIFIER: "identifier", ColumnKind.UNSUPPORTED: "unsupported"}


def exclusion_reason(column: ColumnSchema, rows: int) -> str | None:
    """Return why nothing can be learned from a column, or None.

    The reasons are `identifier`, `unsupported`, `all_missing` and `constant`.
    """
    if column.kind in UNLEARNABLE_KINDS:
        return UNLEARNABLE_KINDS[column.kind]
    if column.missing == rows:
        return "all_missing"
    if column.distinct <= 1 and not column.missing:
        return "constant"
    return None


def build_preparation(columns: Sequence[ColumnSchema], target: Target, seed: int) -> ColumnTransformer:
    """Return an unfitted preparation of these columns for this target."""
    numbers = [column.name for column in columns if column.kind is ColumnKind.NUMBER]
    categories = [column for column in columns if column.kind in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN)]
    few_values = [column.name for column in categories if column.distinct <= MANY_VALUES]
    many_values = [column.name for column in categories if column.distinct > MANY_VALUES]
    dates = [column.name for column in columns if column.kind is ColumnKind.DATE]
    texts = [column.name for column in columns if column.kind is ColumnKind.TEXT]

    # The steps of dates and texts are numbered, since a step's name may not contain a double underscore and a column's
    # name may.
    steps: list[tuple[str, Any, Any]] = [
        ("numbers", _number_encoder(), numbers),
        ("categories", OneHotEncoder(handle_unknown="ignore", sparse_output=False), few_values),
        ("many", _target_encoder(target, seed), many_values),
        *((f"date_{number}", _date_encoder(), name) for number, name in enumerate(dates)),
        *((f"text_{number}", _text_encoder(seed), name) for number, name in enumerate(texts)),
    ]
    steps_with_columns = [step for step in steps if step[2]]
    return ColumnTransformer(steps_with_columns, sparse_threshold=0.0)


def encoded_sources(preparation: ColumnTransformer, names: Sequence[str]) -> Indices:
    """Return for every encoded column the position in `names` of the source column that it stems from."""
    width = max(columns.stop for columns in preparation.output_indices_.values())
    sources = np.full(width, -1, dtype=np.intp)
    for step, encoder, columns in preparation.transformers_:
        if step == "remainder":
            continue
        step_columns = [columns] if isinstance(columns, str) else list(columns)
        positions = np.array([names.index(name) for name in step_columns], dtype=np.intp)
        sources[preparation.output_indices_[step]] = positions[_sources_within_step(step, encoder, len(step_columns))]
    return sources


def encode_frame(preparation: ColumnTransformer, frame: pd.DataFrame) -> Floats:
    """Return the encoded matrix of a frame, one matrix row per frame row."""
    return np.asarray(preparation.transform(frame), dtype=np.float64)


def _sources_within_step(step: str, encoder: Any, width: int) -> Indices:
    """Return for every encoded column of a step the position of its source column among the step's columns."""
    if step == "numbers":
        flagged = encoder.named_steps["impute"].indicator_.features_
        return np.concatenate([np.arange(width), flagged]).astype(np.intp)
    if step == "categories":
        return np.repeat(np.arange(width), [len(values) for values in encoder.categories_])
    if step == "many":
        # With more than two classes the target encoder makes one column per class.
        return np.repeat(np.arange(width), len(encoder.encodings_) // width)
    return np.zeros(1, dtype=np.intp)  # Everything that a date or text step makes stems from its only column.


def _number_encoder() -> Pipeline:
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return Pipeline([("impute", impute), ("scale", StandardScaler())])


def _target_encoder(target: Target, seed: int) -> TargetEncoder:
    # For classes the encoder detects from the codes whether they are binary, since a fold may hold two classes of
    # three; numbers must be declared continuous, since whole numbers would be taken for classes.
    target_type = "auto" if target.is_classification else "continuous"
    folds = KFold(TARGET_ENCODING_FOLDS, shuffle=True, random_state=seed)
    return TargetEncoder(target_type=target_type, cv=folds)


def _date_encoder() -> Pipeline:
    components = DatetimeEncoder(resolution="hour", add_weekday=True)
    return Pipeline([("parts", components), *_number_encoder().steps])


def _text_encoder(seed: int) -> StringEncoder:
    return StringEncoder(n_components=TEXT_COMPONENTS, random_state=seed)
