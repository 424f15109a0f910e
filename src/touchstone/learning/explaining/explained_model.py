"""What is explained: a fitted model as a function of blocks of encoded columns, one block a source column.

The preparation works column by column, so replacing a source value equals replacing its block in the encoded matrix.
Explanations therefore exchange blocks, and speak of source columns without ever adding parts up afterwards.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from touchstone.learning.column_types import Column
from touchstone.learning.model_artifact import Kept
from touchstone.learning.model_search import predict
from touchstone.learning.preparation import encoded_sources, transform
from touchstone.learning.requests import Cell, Output
from touchstone.learning.target import Floats, Indices

SMALLEST: Final = 1e-9  # probabilities are kept this far from 0 and 1 before log-odds are taken
BATCH: Final = 50_000


@dataclass(frozen=True, slots=True)
class Subject:
    """A model, the class (code) and scale it is explained on, and the reference rows, encoded."""

    kept: Kept = field(repr=False)
    sources: Indices = field(repr=False)  # encoded column -> position of its source column
    code: int | None
    output: Output
    background: Floats = field(repr=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The source columns."""
        return self.kept.columns

    @property
    def model(self) -> Any:
        """The fitted estimator behind the preparation."""
        return self.kept.pipeline.named_steps["model"]

    def encode(self, frame: pd.DataFrame) -> Floats:
        """Source rows as encoded rows."""
        matrix: Floats = transform(self.kept.pipeline.named_steps["prepare"], frame)
        return matrix

    def block(self, position: int) -> Indices:
        """The encoded columns of a source column."""
        return np.flatnonzero(self.sources == position)

    def value(self, matrix: Floats) -> Floats:
        """The explained number for encoded rows: the predicted value, or the probability or log-odds of the class."""
        parts = [matrix[start : start + BATCH] for start in range(0, len(matrix), BATCH)]
        return np.concatenate([self._value(part) for part in parts])

    def _value(self, matrix: Floats) -> Floats:
        values, probabilities = predict(self.model, matrix, len(self.kept.classes))
        if self.code is None:
            return np.asarray(values, dtype=np.float64)
        share = probabilities[:, self.code]
        return log_odds(share) if self.output is Output.LOG_ODDS else share


def make_subject(kept: Kept, background: pd.DataFrame, target_class: Cell, output: Output) -> Subject:
    """Choose the explained class (the named one, else the second of two, else the most probable) and encode rows."""
    prepare = kept.pipeline.named_steps["prepare"]
    encoded: Floats = transform(prepare, background)
    sources = encoded_sources(prepare, [column.name for column in kept.columns])
    code = _code(kept, encoded, target_class) if kept.classes else None
    return Subject(kept, sources, code, output, encoded)


def _code(kept: Kept, encoded: Floats, target_class: Cell) -> int:
    names = [str(name) for name in kept.classes]
    if target_class is not None:
        return names.index(str(target_class))
    if len(names) == 2:
        return 1
    _values, probabilities = predict(kept.pipeline.named_steps["model"], encoded, len(names))
    return int(probabilities.mean(axis=0).argmax())


def log_odds(share: Floats) -> Floats:
    """The logarithm of p / (1 - p), finite at both ends."""
    safe = np.clip(share, SMALLEST, 1 - SMALLEST)
    return np.log(safe / (1 - safe))


def used_sources(subject: Subject) -> Indices:
    """The source columns that the model looks at, where a model says so; else all of them."""
    tree = getattr(subject.model, "tree_", None)
    if tree is not None:
        return np.unique(subject.sources[tree.feature[tree.feature >= 0]])
    return np.arange(len(subject.columns))


Told = Callable[[int, int], None]
