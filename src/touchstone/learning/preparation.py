"""The preparation of source columns for a model: one transformer, fitted on training rows only.

Numbers are imputed by the median (with a flag) and standardised, categories are one-hot encoded, categories of many
values are encoded by the mean of the target (cross-fitted, so that a row never sees its own target), dates are cut
into their components, and texts become weights of their words. Every encoded column stems from exactly one source
column, which is what allows explanations to speak of source columns.
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

from touchstone.learning.column_types import MANY_VALUES, ColumnKind, ColumnSchema
from touchstone.learning.target import Floats, Indices, Target, Values
from touchstone.learning.text_words import text_encoder

TARGET_ENCODING_FOLDS: Final = 5
IMPUTE: Final = "impute"  # The step of an encoder that replaces missing numbers.
UNLEARNABLE_KINDS: Final = {ColumnKind.IDENTIFIER: "identifier", ColumnKind.UNSUPPORTED: "unsupported"}


def exclusion_reason(column: ColumnSchema, rows: int) -> str | None:
    """Return why nothing can be learned from a column of a table with this many rows, or None if something can.

    The reasons are `identifier`, `unsupported`, `all_missing` and `constant`; users see them beside the column.
    """
    if column.kind in UNLEARNABLE_KINDS:
        return UNLEARNABLE_KINDS[column.kind]
    if column.missing == rows:
        return "all_missing"

    # In a column with a single value, some of whose cells are missing, the missing cells are information too.
    if column.distinct <= 1 and column.missing == 0:
        return "constant"
    return None


def build_preparation(columns: Sequence[ColumnSchema], target: Target, seed: int) -> ColumnTransformer:
    """Return a transformer, not fitted yet, that encodes each source column as numbers according to its kind.

    It turns a frame of the source columns into a dense matrix. The target is needed for categorical columns with many
    distinct values: each of these values is replaced by the mean of the target.
    """
    numbers = _names_of_kind(columns, ColumnKind.NUMBER)
    few_valued_categories, many_valued_categories = _divide_categories(columns)
    dates = _names_of_kind(columns, ColumnKind.DATE)
    texts = _names_of_kind(columns, ColumnKind.TEXT)

    # A step has a name, an encoder, and the names of the columns that it encodes.
    steps: list[tuple[str, Any, Any]] = []
    if numbers:
        steps.append(("numbers", _number_encoder(), numbers))
    if few_valued_categories:
        steps.append(("categories", _one_hot_encoder(), few_valued_categories))
    if many_valued_categories:
        steps.append(("many", _target_encoder(target, seed), many_valued_categories))

    # Dates and texts have a step for each column. The steps are numbered instead of named after their columns, since
    # scikit-learn forbids double underscores in the name of a step.
    for index, name in enumerate(dates):
        steps.append((f"date_{index}", _date_encoder(), name))
    for index, name in enumerate(texts):
        steps.append((f"text_{index}", text_encoder(target), name))

    return ColumnTransformer(steps, sparse_threshold=0.0)


def fit_preparation(preparation: ColumnTransformer, frame: pd.DataFrame, values: Values) -> Floats:
    """Fit a preparation on training rows and their target values, and return the encoded rows.

    The preparation must encode training rows while it is fitted, or the target encoder would leak their targets.
    """
    # The imputers' own median sorts masked arrays, which takes longer for a million rows than fitting many a model.
    _impute_by(_median, preparation.transformers)
    matrix = preparation.fit_transform(frame, values)

    # A function cannot be stored with the model, and nothing is left for it to do.
    _impute_by("median", [*preparation.transformers, *preparation.transformers_])
    return np.asarray(matrix, dtype=np.float64)


def _impute_by(strategy: str | Callable[[Floats], float], steps: Sequence[tuple[str, Any, Any]]) -> None:
    """Let the encoders of numbers and dates replace missing numbers by what a strategy makes of the known ones."""
    for _name, encoder, _columns in steps:
        if isinstance(encoder, Pipeline) and IMPUTE in encoder.named_steps:
            encoder.named_steps[IMPUTE].set_params(strategy=strategy)


def _names_of_kind(columns: Sequence[ColumnSchema], kind: ColumnKind) -> list[str]:
    """Return the names of the columns of one kind."""
    return [column.name for column in columns if column.kind is kind]


def _divide_categories(columns: Sequence[ColumnSchema]) -> tuple[list[str], list[str]]:
    """Return the names of the categorical columns with at most `MANY_VALUES` distinct values, and of those with more.

    Booleans are categories, too.
    """
    few_valued: list[str] = []
    many_valued: list[str] = []
    for column in columns:
        if column.kind not in (ColumnKind.CATEGORY, ColumnKind.BOOLEAN):
            continue
        if column.distinct <= MANY_VALUES:
            few_valued.append(column.name)
        else:
            many_valued.append(column.name)
    return few_valued, many_valued


def encoded_sources(preparation: ColumnTransformer, names: Sequence[str]) -> Indices:
    """Return, for each encoded column of a fitted preparation, the position in `names` of its source column.

    A source column may be encoded as several columns of numbers, for example one per category. Explanations add them
    up again, in order to speak of source columns.
    """
    encoded_count = max(encoded_columns.stop for encoded_columns in preparation.output_indices_.values())
    sources = np.full(encoded_count, -1, dtype=np.intp)

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
    """Return the encoded matrix of a frame, one matrix row per frame row."""
    return np.asarray(preparation.transform(frame), dtype=np.float64)


def _sources_within_step(step: str, encoder: Any, column_count: int) -> Indices:
    """Return, for each encoded column of a step, which of the step's source columns it stems from.

    The source columns are numbered from 0. A step that encodes two columns, of two and of three categories, returns
    [0, 0, 1, 1, 1].
    """
    source_positions = np.arange(column_count)
    if step == "numbers":
        # The numbers come first, then a flag for each column in which values are missing.
        flagged_positions = encoder.named_steps[IMPUTE].indicator_.features_
        return np.concatenate([source_positions, flagged_positions]).astype(np.intp)
    if step == "categories":
        categories_per_column = [len(categories) for categories in encoder.categories_]
        return np.repeat(source_positions, categories_per_column)
    if step == "many":
        # If there are more than two classes, the target encoder makes one column per class.
        encoded_per_column = len(encoder.encodings_) // column_count
        return np.repeat(source_positions, encoded_per_column)

    # Everything that a date or text step makes stems from its only column.
    return np.zeros(1, dtype=np.intp)


def _number_encoder() -> Pipeline:
    """Return an encoder that replaces missing numbers by the median, flags them, and standardises all numbers."""
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return Pipeline([(IMPUTE, impute), ("scale", StandardScaler())])


def _median(numbers: Floats) -> float:
    """Return the median of the known numbers of a column; 0 if there are none."""
    return float(np.median(numbers)) if len(numbers) else 0.0


def _one_hot_encoder() -> OneHotEncoder:
    """Return an encoder that makes one column per category; a category that was not in training has none."""
    return OneHotEncoder(handle_unknown="ignore", sparse_output=False)


def _target_encoder(target: Target, seed: int) -> TargetEncoder:
    """Return an encoder that replaces each category by the mean of the target among its rows.

    Training rows are encoded by cross-fitting, so that no row contributes to its own encoding.
    """
    # The type of numbers must be declared, since whole numbers would be taken for classes. That of classes is detected
    # from their codes, since a fold may contain only two classes of three, which are encoded in another way.
    target_type = "auto" if target.is_classification else "continuous"
    folds = KFold(TARGET_ENCODING_FOLDS, shuffle=True, random_state=seed)
    return TargetEncoder(target_type=target_type, cv=folds)


def _date_encoder() -> Pipeline:
    """Return an encoder that divides dates into their components, from the year to the hour, and the weekday."""
    components = DatetimeEncoder(resolution="hour", add_weekday=True)
    return Pipeline([("parts", components), *_number_encoder().steps])
