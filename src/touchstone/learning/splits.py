"""Keeping rows aside: which are learned from and which are measured on, always the same for the same seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from touchstone.learning.column_types import Kind
from touchstone.learning.errors import LearningError
from touchstone.learning.requests import Split, Strategy
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Indices, Target

LEAST_LEARNED: Final = 10  # rows; a target encoding alone cuts them into five
INNER_FOLDS: Final = 3
INNER_SHARE: Final = 0.25
FEW_ROWS: Final = 2_000  # up to here one validation part is too noisy to choose by, so folds are used


@dataclass(frozen=True, slots=True)
class Part:
    """Positions into the target's values: learned from, and measured on."""

    train: Indices
    test: Indices


def outer_parts(split: Split, target: Target, times: npt.NDArray[Any] | None, seed: int) -> tuple[Part, ...]:
    """The parts on which quality is reported.

    Raises `LearningError` (time_column_not_ordered, too_many_folds) when the target's rows can't be cut like this.
    """
    if split.strategy is Strategy.TIME and times is not None:
        part = _later(np.arange(len(times)), times, split.test_size)
        if part is None:
            raise LearningError("time_column_not_ordered", field="split.time_column", name=split.time_column)
        return (part,)
    if split.strategy is Strategy.KFOLD:
        _check_folds(split.folds, target)
        return _folds(target, np.arange(len(target.values)), split.folds, seed)
    shuffle = StratifiedShuffleSplit if target.classification else ShuffleSplit
    test = max(len(target.classes), round(split.test_size * len(target.values)))
    cut = shuffle(n_splits=1, test_size=test, random_state=seed)
    return tuple(Part(np.sort(a), np.sort(b)) for a, b in cut.split(target.values[:, None], target.values))


def inner_parts(
    target: Target, train: Indices, times: npt.NDArray[Any] | None, *, seed: int, limit: int
) -> tuple[Part, ...]:
    """The parts of the training rows by which the best trial is chosen; at most `limit` rows take part.

    The latest quarter for a time split (while as many rows lie before it); else three folds for a short table, one
    quarter kept aside for a long one.
    """
    if len(train) > limit:
        train = np.sort(np.random.default_rng(seed).choice(train, limit, replace=False))
    later = _later(train, times, INNER_SHARE) if times is not None else None
    if later is not None and len(later.train) >= len(later.test):
        return (later,)
    if len(train) <= FEW_ROWS:
        return _folds(target, train, INNER_FOLDS, seed)
    return _folds(target, train, round(1 / INNER_SHARE), seed)[:1]


def read_times(table: Table, target: Target, name: str | None) -> npt.NDArray[Any] | None:
    """The moments (or numbers) by which rows are ordered; rows without one count as the oldest."""
    if name is None:
        return None
    if table.columns[name].kind not in (Kind.DATE, Kind.NUMBER, Kind.IDENTIFIER):
        raise LearningError("time_column_not_ordered", field="split.time_column", name=name)
    cells = table.frame[name].iloc[target.rows]
    if cells.dtype.kind not in "fM":
        raise LearningError("time_column_not_ordered", field="split.time_column", name=name)
    times = cells.to_numpy().astype(np.float64)
    return np.where(cells.isna().to_numpy(), -np.inf, times)


def _folds(target: Target, rows: Indices, folds: int, seed: int) -> tuple[Part, ...]:
    values = target.values[rows]
    folds = min(folds, len(rows))
    stratified = target.classification and np.bincount(values).max() >= folds
    cut: Any = (StratifiedKFold if stratified else KFold)(folds, shuffle=True, random_state=seed)
    return tuple(Part(rows[a], rows[b]) for a, b in cut.split(values[:, None], values))


def _check_folds(folds: int, target: Target) -> None:
    if target.classification and np.bincount(target.values).max() < folds:
        raise LearningError("too_many_folds", field="split.folds", folds=folds, rows=len(target.values))


def _later(rows: Indices, times: npt.NDArray[Any], share: float) -> Part | None:
    """The latest share of the rows is measured on; one moment never lies on both sides. None when there is but one.

    Where the first moment alone outweighs the rest, the second one is the border.
    """
    moments = times[rows]
    ordered = np.sort(moments)
    border = ordered[min(len(ordered) - 1, int(np.ceil((1 - share) * len(ordered))))]
    if border == ordered[0]:
        later = ordered[ordered > border]
        if not len(later):
            return None
        border = later[0]
    return Part(rows[moments < border], rows[moments >= border])


def positions(parts: Sequence[Part]) -> Indices:
    """Every measured position, in the order in which the parts measure them."""
    return np.concatenate([part.test for part in parts])
