"""Fast encoders for a few rows, built from a fitted preparation.

For a few rows, the input checks of scikit-learn take longer than the encoding. The fitted parameters of its encoders
are therefore copied into encoders without checks, which return exactly the same numbers. Encoders of any other kind are
used unchanged.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder
from skrub import DatetimeEncoder

from touchstone.learning.row_values import Cells
from touchstone.learning.target import Floats

ColumnArray = npt.NDArray[Any]

_EPOCH: Final = np.datetime64("1970-01-01", "us")
_ONE_SECOND: Final = np.timedelta64(1, "s")

# The components of dates, by their names in skrub.
_DATE_COMPONENTS: Final[Mapping[str, Callable[[pd.DatetimeIndex], Any]]] = {
    "year": lambda dates: dates.year,
    "month": lambda dates: dates.month,
    "day": lambda dates: dates.day,
    "hour": lambda dates: dates.hour,
    "total_seconds": lambda dates: (dates.to_numpy() - _EPOCH) / _ONE_SECOND,
    "weekday": lambda dates: dates.day_of_week + 1,
}


class StepEncoder(Protocol):
    """An encoder for the columns of one step of a preparation."""

    def encode(self, cells: Cells) -> ColumnArray:
        """Return the encoded columns of the step, of shape (rows, encoded columns)."""


@dataclass(frozen=True, slots=True)
class EncodedStep:
    """A step of a preparation, and the range of its encoded columns in the matrix."""

    encoder: StepEncoder
    encoded_columns: slice


@dataclass(frozen=True, slots=True)
class FewRowsEncoder:
    """The steps of a preparation, which together encode all columns."""

    steps: tuple[EncodedStep, ...] = field(repr=False)
    encoded_column_count: int

    @classmethod
    def from_preparation(cls, preparation: ColumnTransformer) -> "FewRowsEncoder":
        """Build an encoder with the fitted parameters of a preparation."""
        steps = []
        for step, fitted_encoder, step_columns in preparation.transformers_:
            if step == "remainder":
                continue
            encoder = _build_step_encoder(fitted_encoder, step_columns)
            steps.append(EncodedStep(encoder, preparation.output_indices_[step]))

        encoded_column_count = max(step.encoded_columns.stop for step in steps)
        return cls(tuple(steps), encoded_column_count)

    def encode(self, cells: Cells, *, row_count: int) -> Floats:
        """Return the encoded rows, of shape (rows, encoded columns).

        The caller must suppress warnings, because scikit-learn encoders warn about arrays without column names.
        """
        matrix = np.empty((row_count, self.encoded_column_count))
        for step in self.steps:
            matrix[:, step.encoded_columns] = step.encoder.encode(cells)
        return matrix


@dataclass(frozen=True, slots=True)
class FittedEncoder:
    """An original encoder without a faster form. `columns` is a single name if it encodes a single column."""

    encoder: Any
    columns: str | Sequence[str]

    def encode(self, cells: Cells) -> ColumnArray:
        """Return the encoded columns."""
        # An encoder of a single column requires a series.
        if isinstance(self.columns, str):
            encoded = self.encoder.transform(pd.Series(cells[self.columns], name=self.columns))
        else:
            encoded = self.encoder.transform(_stack_columns(cells, self.columns))
        return encoded.toarray() if issparse(encoded) else np.asarray(encoded)


@dataclass(frozen=True, slots=True)
class NumberScaling:
    """The imputation of missing numbers by medians, with flags, followed by standardization.

    Attributes:
        medians: the replacement for missing values in each column.
        flagged: the positions of the columns with a flag for missing values. The flags follow the numbers.
        means: the mean of each number and flag.
        scales: the standard deviation of each number and flag.
    """

    medians: Floats
    flagged: npt.NDArray[np.intp]
    means: Floats
    scales: Floats

    def scale(self, numbers: ColumnArray) -> ColumnArray:
        """Return the standardized numbers and flags, computed in the precision of the numbers."""
        precision = numbers.dtype
        is_missing = np.isnan(numbers)
        present_numbers = np.where(is_missing, self.medians.astype(precision), numbers)

        unscaled = np.hstack((present_numbers, is_missing[:, self.flagged]))
        scaled: ColumnArray = (unscaled - self.means.astype(precision)) / self.scales.astype(precision)
        return scaled


@dataclass(frozen=True, slots=True)
class NumberEncoder:
    """An encoder for columns of numbers, which are standardized."""

    columns: Sequence[str]
    scaling: NumberScaling

    def encode(self, cells: Cells) -> ColumnArray:
        """Return the encoded columns."""
        return self.scaling.scale(_stack_columns(cells, self.columns))


@dataclass(frozen=True, slots=True)
class DateEncoder:
    """An encoder for a column of dates, which are split into standardized components."""

    column: str
    parts: Sequence[str]
    scaling: NumberScaling

    def encode(self, cells: Cells) -> ColumnArray:
        """Return the encoded columns."""
        dates = pd.DatetimeIndex(cells[self.column])
        parts = np.empty((len(dates), len(self.parts)), dtype=np.float32)
        for position, part in enumerate(self.parts):
            parts[:, position] = _DATE_COMPONENTS[part](dates)

        parts[dates.isna()] = np.nan
        return self.scaling.scale(parts)


@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """A column of categories, with the number of each known category."""

    name: str
    numbers: Mapping[Any, int] = field(repr=False)

    @classmethod
    def from_categories(cls, name: str, categories: ColumnArray) -> "CategoryColumn":
        """Number the categories of a column in the given order."""
        return cls(name, {category: number for number, category in enumerate(categories.tolist())})

    def find_numbers(self, cells: Cells, *, unknown: int) -> npt.NDArray[np.intp]:
        """Return the category number of each row, or `unknown` for unknown categories."""
        return np.array([self.numbers.get(cell, unknown) for cell in cells[self.name].tolist()], dtype=np.intp)


@dataclass(frozen=True, slots=True)
class OneHotEncoding:
    """An encoder with an indicator column for each category. All are 0 for an unknown category."""

    columns: Sequence[CategoryColumn]

    def encode(self, cells: Cells) -> ColumnArray:
        """Return the encoded columns."""
        return np.hstack([self._encode_column(column, cells) for column in self.columns])

    def _encode_column(self, column: CategoryColumn, cells: Cells) -> Floats:
        """Return the indicator columns for one column, of shape (rows, categories)."""
        category_count = len(column.numbers)
        # The last row is for unknown categories.
        category_rows = np.vstack((np.eye(category_count), np.zeros(category_count)))
        return category_rows[column.find_numbers(cells, unknown=category_count)]


@dataclass(frozen=True, slots=True)
class MeanEncodedColumn:
    """A column of categories, with the mean of the target for each category.

    `means` has a row for each category, and a last row for unknown categories. With more than two classes, it has a
    column with the share of each class.
    """

    column: CategoryColumn
    means: Floats = field(repr=False)


@dataclass(frozen=True, slots=True)
class MeanEncoding:
    """An encoder that replaces categories by means of the target, for columns of many categories."""

    columns: Sequence[MeanEncodedColumn]

    def encode(self, cells: Cells) -> ColumnArray:
        """Return the encoded columns."""
        encoded_columns = []
        for mean_encoded in self.columns:
            category_count = len(mean_encoded.column.numbers)
            numbers = mean_encoded.column.find_numbers(cells, unknown=category_count)
            encoded_columns.append(mean_encoded.means[numbers])
        return np.hstack(encoded_columns)


def _build_step_encoder(encoder: Any, step_columns: str | Sequence[str]) -> StepEncoder:
    """Return a faster encoder for a step, or the original encoder if its type is not supported."""
    if isinstance(step_columns, str):
        if _is_pipeline_of(encoder, DatetimeEncoder, SimpleImputer, StandardScaler):
            return _build_date_encoder(encoder, step_columns)
        return FittedEncoder(encoder, step_columns)

    names = list(step_columns)
    if _is_pipeline_of(encoder, SimpleImputer, StandardScaler):
        imputer, scaler = (step for _name, step in encoder.steps)
        return NumberEncoder(names, _number_scaling(imputer, scaler))
    if isinstance(encoder, OneHotEncoder) and _encodes_each_category(encoder):
        columns = map(CategoryColumn.from_categories, names, encoder.categories_)
        return OneHotEncoding(tuple(columns))
    if isinstance(encoder, TargetEncoder):
        return _build_mean_encoder(encoder, names)
    return FittedEncoder(encoder, names)


def _is_pipeline_of(encoder: Any, *step_types: type) -> bool:
    """Return whether an encoder is a pipeline with steps of exactly the given types."""
    return isinstance(encoder, Pipeline) and tuple(type(step) for _name, step in encoder.steps) == step_types


def _build_date_encoder(pipeline: Pipeline, column: str) -> StepEncoder:
    """Return a faster encoder for dates, or the pipeline itself if it has unknown date components."""
    parts, imputer, scaler = (step for _name, step in pipeline.steps)
    if not set(parts.all_outputs_).issubset({f"{column}_{part}" for part in _DATE_COMPONENTS}):
        return FittedEncoder(pipeline, column)
    return DateEncoder(column, tuple(parts.extracted_features_), _number_scaling(imputer, scaler))


def _number_scaling(imputer: SimpleImputer, scaler: StandardScaler) -> NumberScaling:
    """Return the fitted parameters of an imputer and the subsequent scaler."""
    return NumberScaling(
        medians=imputer.statistics_, flagged=imputer.indicator_.features_, means=scaler.mean_, scales=scaler.scale_
    )


def _encodes_each_category(encoder: OneHotEncoder) -> bool:
    """Return whether an encoder has exactly one column for each category."""
    return encoder.drop is None and encoder.min_frequency is None and encoder.max_categories is None


def _build_mean_encoder(encoder: TargetEncoder, names: Sequence[str]) -> StepEncoder:
    """Return a faster encoder for columns of many categories."""
    # The encodings are ordered by column and, if there are more than two classes, by class within a column.
    encodings_per_column = len(encoder.encodings_) // len(names)
    unknown_means = np.atleast_1d(encoder.target_mean_)

    columns = []
    for position, name in enumerate(names):
        first = position * encodings_per_column
        known_means = np.column_stack(encoder.encodings_[first : first + encodings_per_column])
        column = CategoryColumn.from_categories(name, encoder.categories_[position])
        columns.append(MeanEncodedColumn(column, np.vstack((known_means, unknown_means))))
    return MeanEncoding(tuple(columns))


def _stack_columns(cells: Cells, names: Sequence[str]) -> ColumnArray:
    """Return the named columns as a matrix."""
    return np.column_stack([cells[name] for name in names])
