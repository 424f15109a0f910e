"""A fitted model as a function of blocks of encoded columns, one block per source column.

The preparation works column by column, so replacing a source value is the same as replacing its block in the encoded
matrix. Explanations therefore exchange whole blocks, and their figures belong to source columns from the start.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.learning.choices import Output
from touchstone.learning.column_types import ColumnSchema
from touchstone.learning.model_artifact import LoadedModel
from touchstone.learning.model_search import predict_matrix
from touchstone.learning.preparation import encode_frame, encoded_sources
from touchstone.learning.requests import Cell
from touchstone.learning.target import Floats, Indices

MIN_DISTANCE: Final = 1e-9  # Probabilities are kept this far from 0 and 1 before log-odds are taken.
BATCH: Final = 50_000

ProgressCallback = Callable[[int, int], None]  # Called with the step and the number of steps.


@dataclass(frozen=True, slots=True)
class ExplainedModel:
    """A model with the class and the scale on which it is explained, and the encoded background rows."""

    model: LoadedModel = field(repr=False)
    sources: Indices = field(repr=False)  # For every encoded column the position of its source column.
    class_code: int | None
    output: Output
    background: Floats = field(repr=False)

    @property
    def columns(self) -> tuple[ColumnSchema, ...]:
        """The source columns."""
        return self.model.columns

    @property
    def estimator(self) -> Any:
        """The fitted estimator behind the preparation."""
        return self.model.estimator

    def encode(self, frame: pd.DataFrame) -> Floats:
        """Return source rows as encoded rows."""
        return encode_frame(self.model.preparation, frame)

    def block(self, position: int) -> Indices:
        """Return the positions of the encoded columns of a source column."""
        return np.flatnonzero(self.sources == position)

    def predict(self, matrix: Floats) -> tuple[npt.NDArray[Any], Floats]:
        """Return the model's own predictions (values or class codes) and probabilities for encoded rows."""
        return predict_matrix(self.estimator, matrix, len(self.model.classes))

    def value(self, matrix: Floats) -> Floats:
        """Return the explained number for encoded rows.

        It is the predicted value of a regression, or the probability or log-odds of the explained class.
        """
        batches = [matrix[start : start + BATCH] for start in range(0, len(matrix), BATCH)]
        return np.concatenate([self._batch_value(batch) for batch in batches])

    def _batch_value(self, matrix: Floats) -> Floats:
        values, probabilities = self.predict(matrix)
        if self.class_code is None:
            return np.asarray(values, dtype=np.float64)
        probability = probabilities[:, self.class_code]
        return log_odds(probability) if self.output is Output.LOG_ODDS else probability

    def used_sources(self) -> Indices:
        """Return the source columns that a single tree splits by; all columns for any other model."""
        tree = getattr(self.estimator, "tree_", None)
        if tree is None:
            return np.arange(len(self.columns))
        return np.unique(self.sources[tree.feature[tree.feature >= 0]])


def build_explained_model(
    model: LoadedModel, background: pd.DataFrame, target_class: Cell, output: Output
) -> ExplainedModel:
    """Encode the background rows and choose the class to explain."""
    encoded = encode_frame(model.preparation, background)
    sources = encoded_sources(model.preparation, [column.name for column in model.columns])
    class_code = _choose_class(model, encoded, target_class) if model.classes else None
    return ExplainedModel(model, sources, class_code, output, encoded)


def _choose_class(model: LoadedModel, background: Floats, target_class: Cell) -> int:
    """Return the code of the requested class, else of the second of two, else of the most probable one."""
    names = [str(name) for name in model.classes]
    if target_class is not None:
        return names.index(str(target_class))
    if len(names) == 2:
        return 1
    _codes, probabilities = predict_matrix(model.estimator, background, len(names))
    return int(probabilities.mean(axis=0).argmax())


def log_odds(probability: Floats) -> Floats:
    """Return the logarithm of p / (1 - p), kept finite at both ends."""
    clipped = np.clip(probability, MIN_DISTANCE, 1 - MIN_DISTANCE)
    return np.log(clipped / (1 - clipped))
