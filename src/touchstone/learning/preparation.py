"""The preparation of source columns for a model, which is fitted on training rows only.

- Missing numbers are replaced by the median and flagged, and all numbers are standardized.
- Categories of low cardinality are one-hot encoded.
- Categories of high cardinality are encoded by the mean of the target, with cross-fitting so that the encoding of a row
  does not depend on its own target.
- Dates are split into their components.
- Texts become weights of their words.

Every encoded column is derived from exactly one source column, so explanations can refer to source columns.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder
from skrub import DatetimeEncoder

from touchstone.core.prefetch import map_ahead
from touchstone.learning.column_types import CARDINALITY_THRESHOLD, ColumnKind, ColumnSchema
from touchstone.learning.fitting_pool import usable_core_count
from touchstone.learning.target import Floats, Indices, Target, Values
from touchstone.learning.text_words import text_encoder

MAX_FITTED_ROWS: Final = 100_000  # Medians, means and categories of more rows are determined from a sample.
BLOCK_ROWS: Final = 50_000  # Long tables are encoded in blocks of this many rows, side by side.
TARGET_ENCODING_FOLDS: Final = 5
IMPUTE: Final = "impute"  # the name of the pipeline step that replaces missing numbers
UNSUPPORTED_REASON: Final = "unsupported"
UNLEARNABLE_KINDS: Final = {ColumnKind.IDENTIFIER: "identifier", ColumnKind.UNSUPPORTED: UNSUPPORTED_REASON}


def exclusion_reason(column: ColumnSchema, rows: int) -> str | None:
    """Return the reason why nothing can be learned from a column, or None if something can.

    Args:
        column: the schema of the column.
        rows: the number of rows of the table.

    Returns:
        `identifier`, `unsupported`, `all_missing`, `constant` or None. The result of the training contains the reason.
    """
    if column.missing == rows:
        return "all_missing"
    if column.kind in UNLEARNABLE_KINDS:
        return UNLEARNABLE_KINDS[column.kind]

    # A column with a single value and some missing cells is informative, because of the missing cells.
    if column.distinct <= 1 and column.missing == 0:
        return "constant"
    return None


def build_preparation(columns: Sequence[ColumnSchema], target: Target, seed: int) -> ColumnTransformer:
    """Build an unfitted transformer that encodes a frame of source columns as a dense matrix.

    Args:
        columns: the source columns.
        target: the column to predict, which determines the encoding of texts and of high-cardinality categories.
        seed: the seed of the cross-fitting.
    """
    numbers = _names_of_kind(columns, ColumnKind.NUMBER)
    low_cardinality, high_cardinality = _divide_categories(columns)
    dates = _names_of_kind(columns, ColumnKind.DATE)
    texts = _names_of_kind(columns, ColumnKind.TEXT)

    # A step consists of a name, an encoder, and the names of the columns that it encodes.
    steps: list[tuple[str, Any, Any]] = []
    if numbers:
        steps.append(("numbers", _number_encoder(), numbers))
    if low_cardinality:
        steps.append(("categories", _one_hot_encoder(), low_cardinality))
    if high_cardinality:
        steps.append(("many", _target_encoder(target, seed), high_cardinality))

    # Dates and texts have one step per column. The steps are numbered, because column names may contain double
    # underscores, which scikit-learn forbids in the name of a step.
    for index, name in enumerate(dates):
        steps.append((f"date_{index}", _date_encoder(), name))
    for index, name in enumerate(texts):
        steps.append((f"text_{index}", text_encoder(target), name))

    return ColumnTransformer(steps, sparse_threshold=0.0)


def fit_preparation(
    preparation: ColumnTransformer, frame: pd.DataFrame, rows: Indices, values: Values, seed: int
) -> Floats:
    """Fit a preparation on training rows, and return the encoded rows of shape (rows, encoded columns).

    Training rows have to be encoded while the preparation is fitted, because only then does the target encoder use
    cross-fitting. Unless an encoder learns from the target, a sample of many rows is enough for the fit.

    Args:
        preparation: the unfitted preparation.
        frame: the source columns.
        rows: the positions of the training rows.
        values: the target values of the training rows.
        seed: the seed of the sample.
    """
    # The imputer's built-in median sorts masked arrays, which is very slow for a million rows.
    _set_imputation_strategy(_median, preparation.transformers)
    if len(rows) <= MAX_FITTED_ROWS or _learns_from_target(preparation):
        matrix = np.asarray(preparation.fit_transform(frame.iloc[rows], values), dtype=np.float64)
    else:
        preparation.fit(frame.iloc[_sample_with_every_category(preparation, frame, rows, seed)])
        matrix = encode_rows(preparation, frame, rows)

    # A function cannot be stored with the model, and after the fit it is no longer needed.
    _set_imputation_strategy("median", [*preparation.transformers, *preparation.transformers_])
    return matrix


def _learns_from_target(preparation: ColumnTransformer) -> bool:
    """Return whether the target influences how columns are encoded, as it does for texts and many categories."""
    return any(step == "many" or step.startswith("text_") for step, _encoder, _names in preparation.transformers)


def _sample_with_every_category(
    preparation: ColumnTransformer, frame: pd.DataFrame, rows: Indices, seed: int
) -> Indices:
    """Return the positions of a random sample of the rows, and of the first row of each category."""
    sample = np.random.default_rng(seed).choice(rows, MAX_FITTED_ROWS, replace=False)
    categories = [name for step, _encoder, names in preparation.transformers if step == "categories" for name in names]
    first_rows = [rows[~frame[name].iloc[rows].duplicated()] for name in categories]
    return np.unique(np.concatenate([sample, *first_rows]))


def _set_imputation_strategy(strategy: str | Callable[[Floats], float], steps: Sequence[tuple[str, Any, Any]]) -> None:
    """Set the strategy for replacing missing numbers in all encoders that impute."""
    for _name, encoder, _columns in steps:
        if isinstance(encoder, Pipeline) and IMPUTE in encoder.named_steps:
            encoder.named_steps[IMPUTE].set_params(strategy=strategy)


def _names_of_kind(columns: Sequence[ColumnSchema], kind: ColumnKind) -> list[str]:
    """Return the names of the columns of one kind."""
    return [column.name for column in columns if column.kind is kind]


def _divide_categories(columns: Sequence[ColumnSchema]) -> tuple[list[str], list[str]]:
    """Return the names of the categorical columns of low and of high cardinality, including booleans."""
    low_cardinality: list[str] = []
    high_cardinality: list[str] = []
    for column in columns:
        if column.kind not in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN):
            continue
        if column.distinct <= CARDINALITY_THRESHOLD:
            low_cardinality.append(column.name)
        else:
            high_cardinality.append(column.name)
    return low_cardinality, high_cardinality


def encoded_sources(preparation: ColumnTransformer, names: Sequence[str]) -> Indices:
    """Return the position of the source column in `names` for each encoded column of a fitted preparation.

    A source column may be encoded as several columns, for example one per category. Explanations add their
    contributions up to explain source columns.
    """
    sources = np.full(_encoded_column_count(preparation), -1, dtype=np.intp)

    for step, encoder, step_columns in preparation.transformers_:
        if step == "remainder":
            continue
        step_names = [step_columns] if isinstance(step_columns, str) else list(step_columns)
        position_of_step_column = np.array([names.index(name) for name in step_names], dtype=np.intp)

        sources_within_step = _sources_within_step(step, encoder, len(step_names))
        encoded_columns = preparation.output_indices_[step]
        sources[encoded_columns] = position_of_step_column[sources_within_step]
    return sources


def encode_frame(preparation: ColumnTransformer, frame: pd.DataFrame) -> Floats:
    """Encode a frame with a fitted preparation as a matrix of shape (rows, encoded columns)."""
    return np.asarray(preparation.transform(frame), dtype=np.float64)


def encode_rows(preparation: ColumnTransformer, frame: pd.DataFrame, rows: Indices) -> Floats:
    """Encode the rows of a frame at the given positions like `encode_frame`, many of them on all cores."""
    if len(rows) <= BLOCK_ROWS:
        return encode_frame(preparation, frame.iloc[rows])

    blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, len(rows), BLOCK_ROWS)]
    encoded_blocks = map_ahead(
        lambda block: preparation.transform(frame.iloc[rows[block]]), blocks, thread_count=usable_core_count()
    )

    matrix = np.empty((len(rows), _encoded_column_count(preparation)))
    for block, encoded_block in zip(blocks, encoded_blocks, strict=True):
        matrix[block] = encoded_block
    return matrix


def _encoded_column_count(preparation: ColumnTransformer) -> int:
    """Return the number of columns that a fitted preparation encodes."""
    return max(int(encoded_columns.stop) for encoded_columns in preparation.output_indices_.values())


def _sources_within_step(step: str, encoder: Any, column_count: int) -> Indices:
    """Return the position of the source column within its step for each encoded column of the step.

    For example, the result is [0, 0, 1, 1, 1] for a step that encodes a column of two categories and one of three.
    """
    source_positions = np.arange(column_count)
    if step == "numbers":
        # The numbers come first, followed by a flag for each column with missing values.
        flagged_positions = encoder.named_steps[IMPUTE].indicator_.features_
        return np.concatenate([source_positions, flagged_positions]).astype(np.intp)
    if step == "categories":
        categories_per_column = [len(categories) for categories in encoder.categories_]
        return np.repeat(source_positions, categories_per_column)
    if step == "many":
        # With more than two classes, the target encoder creates one column per class.
        encoded_per_column = len(encoder.encodings_) // column_count
        return np.repeat(source_positions, encoded_per_column)

    # A date or text step has a single source column.
    return np.zeros(1, dtype=np.intp)


def _number_encoder() -> Pipeline:
    """Return an encoder that imputes missing numbers, flags them, and standardizes all numbers."""
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return Pipeline([(IMPUTE, impute), ("scale", StandardScaler())])


def _median(numbers: Floats) -> float:
    """Return the median of the numbers of a column, or 0 if there are none."""
    return float(np.median(numbers)) if len(numbers) else 0.0


def _one_hot_encoder() -> OneHotEncoder:
    """Return an encoder that creates one column per training category and ignores other categories."""
    return OneHotEncoder(handle_unknown="ignore", sparse_output=False)


def _target_encoder(target: Target, seed: int) -> TargetEncoder:
    """Return an encoder that replaces each category by the mean target of its rows.

    Training rows are encoded with cross-fitting, so that no row contributes to its own encoding.
    """
    # Declare numbers as continuous, because whole numbers would be mistaken for classes. Let scikit-learn detect the
    # type of classes, because a fold may contain only two of three classes, which need the binary encoding.
    target_type = "auto" if target.is_classification else "continuous"
    folds = KFold(TARGET_ENCODING_FOLDS, shuffle=True, random_state=seed)
    return TargetEncoder(target_type=target_type, cv=folds)


def _date_encoder() -> Pipeline:
    """Return an encoder that splits dates into components from the year to the hour, and adds the weekday."""
    components = DatetimeEncoder(resolution="hour", add_weekday=True)
    return Pipeline([("parts", components), *_number_encoder().steps])
