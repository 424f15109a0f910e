"""A fitted model whose encoded columns are grouped in blocks, one block per source column.

The preparation encodes each column separately. Replacing a source value is therefore the same as replacing its block
in the encoded matrix. Explanations replace whole blocks, so that their results refer to source columns.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.learning.artifacts.model_artifact import LoadedModel
from touchstone.learning.column_types import ColumnSchema
from touchstone.learning.explaining.used_columns import find_used_columns
from touchstone.learning.few_rows_prediction.models import FewRowsModel
from touchstone.learning.preparation import encode_frame, encoded_sources
from touchstone.learning.request_choices import Output
from touchstone.learning.request_definitions import Cell
from touchstone.learning.target import Floats, Indices
from touchstone.learning.trial_fitting import predict_matrix

MIN_PROBABILITY: Final = 1e-9  # Probabilities are clipped to this distance from 0 and 1 before computing log-odds.
BATCH_ROWS: Final = 50_000


@dataclass(frozen=True)  # without slots, because of the cached property
class ExplainedModel:
    """A model with the class and the scale on which it is explained, and the encoded background rows."""

    model: LoadedModel = field(repr=False)
    sources: Indices = field(repr=False)  # the position of the source column for each encoded column
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

    @property
    def threshold(self) -> float | None:
        """The least probability at which the positive class is predicted, or None unless there are two classes."""
        return self.model.decision_rule.threshold if len(self.model.classes) == 2 else None

    def encode(self, frame: pd.DataFrame) -> Floats:
        """Encode source rows."""
        return encode_frame(self.model.preparation, frame)

    def block(self, position: int) -> Indices:
        """Return the positions of the encoded columns that represent the source column at `position`."""
        return np.flatnonzero(self.sources == position)

    def predict(self, matrix: Floats) -> tuple[npt.NDArray[Any], Floats]:
        """Return the model's own predictions (values or class codes) and probabilities for encoded rows."""
        # Explanations call the model often, usually with few rows at a time.
        estimator = FewRowsModel(self.estimator)
        return predict_matrix(estimator, matrix, len(self.model.classes), self.model.decision_rule)

    def predict_row(self, row: Floats) -> Any:
        """Return the model's own prediction (a value or a class code) for one encoded row."""
        predictions, _probabilities = self.predict(row[None, :])
        return predictions[0]

    def value(self, matrix: Floats) -> Floats:
        """Return the explained number for each encoded row.

        This is the predicted value of a regression, or the probability or log-odds of the explained class. The rows
        are evaluated in batches to limit the memory used.
        """
        batches = [matrix[start : start + BATCH_ROWS] for start in range(0, len(matrix), BATCH_ROWS)]
        return np.concatenate([self._batch_value(batch) for batch in batches])

    def _batch_value(self, matrix: Floats) -> Floats:
        """Return the explained number for each row of a batch."""
        values, probabilities = self.predict(matrix)
        if self.class_code is None:
            return np.asarray(values, dtype=np.float64)

        class_probabilities = probabilities[:, self.class_code]
        return log_odds(class_probabilities) if self.output is Output.LOG_ODDS else class_probabilities

    @cached_property
    def used_sources(self) -> Indices:
        """The positions of the source columns on which predictions depend (see `find_used_columns`)."""
        is_used = find_used_columns(self.estimator, len(self.sources))
        return np.unique(self.sources[is_used])


def build_explained_model(
    model: LoadedModel, background: pd.DataFrame, target_class: Cell, output: Output
) -> ExplainedModel:
    """Encode the background rows of a loaded model and choose the class to explain.

    `target_class` is one of the classes of the model, or None if the request names none.
    """
    encoded_background = encode_frame(model.preparation, background)
    column_names = [column.name for column in model.columns]

    class_code = None
    if model.classes:
        class_code = _choose_class(model, encoded_background, target_class)

    return ExplainedModel(
        model=model,
        sources=encoded_sources(model.preparation, column_names),
        class_code=class_code,
        output=output,
        background=encoded_background,
    )


def _choose_class(model: LoadedModel, background: Floats, target_class: Cell) -> int:
    """Return the code of the class whose probability is explained.

    If the request does not name a class, choose the second of two classes, or the class with the highest mean
    probability over the background rows if there are more. Requested rows may lead to another choice later.
    """
    if target_class is not None:
        return model.classes.index(target_class)
    if len(model.classes) == 2:
        return 1

    _codes, probabilities = predict_matrix(model.estimator, background, len(model.classes))
    mean_probabilities = probabilities.mean(axis=0)
    return int(mean_probabilities.argmax())


def log_odds(probabilities: Floats) -> Floats:
    """Return log(p / (1 - p)) for each probability p, clipped to stay finite."""
    clipped = np.clip(probabilities, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    return np.log(clipped / (1 - clipped))
