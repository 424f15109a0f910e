"""Explaining a trained model: as a whole, and row by row.

Rows are kept aside exactly as in the training, so importance is measured on rows that the model has not seen, except
after folds, where the kept model has seen all of them (which the limits then say).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from msgspec import UNSET
from scipy.stats import spearmanr

from touchstone.learning.column_types import MISSING, Kind
from touchstone.learning.errors import LearningError, Phase
from touchstone.learning.explaining.counterfactuals import counterfactual
from touchstone.learning.explaining.explained_model import Subject, make_subject
from touchstone.learning.explaining.partial_dependence import Dependence, partial_dependence
from touchstone.learning.explaining.permutation_importance import ROWS as IMPORTANCE_ROWS
from touchstone.learning.explaining.permutation_importance import Importance, permutation_importance
from touchstone.learning.explaining.shapley_values import EVALUATIONS, Attribution, attribute
from touchstone.learning.interfaces import Json, Report
from touchstone.learning.model_artifact import Kept
from touchstone.learning.model_search import predict, rows_of
from touchstone.learning.requests import ExplanationRequest, Scope, Strategy, check_explanation_request
from touchstone.learning.row_values import frame_of
from touchstone.learning.splits import outer_parts, read_times
from touchstone.learning.table_reader import Table
from touchstone.learning.target import Floats, Indices, read_target

DEFAULT_ROWS: Final = 3  # rows explained when none is named
SAMPLE_ROWS: Final = 60  # rows over which contributions are averaged
SAMPLE_BACKGROUND: Final = 50
SAMPLE_EVALUATIONS: Final = 6_000
ALL_EVALUATIONS: Final = 6_000_000  # rows evaluated for all explained rows together
DEPENDENCE_COLUMNS: Final = 6
CLEAR_DIRECTION: Final = 0.6  # rank correlation from which a column is said to push one way


@dataclass(frozen=True, slots=True)
class Case:
    """A model with the rows that it is explained by: reference rows, and rows to measure on."""

    order: ExplanationRequest
    table: Table = field(repr=False)
    subject: Subject = field(repr=False)
    background: pd.DataFrame = field(repr=False)
    measured: pd.DataFrame = field(repr=False)
    truth: npt.NDArray[Any] = field(repr=False)
    positions: Indices = field(repr=False)  # of the measured rows in the file

    @property
    def kept(self) -> Kept:
        """The model and its record."""
        return self.subject.kept

    @property
    def seen(self) -> bool:
        """Whether the measured rows were learned from."""
        return self.kept.split.strategy is Strategy.KFOLD

    @property
    def names(self) -> list[str]:
        """The names of the source columns."""
        return [column.name for column in self.subject.columns]


@dataclass(frozen=True, slots=True)
class Sample:
    """Contributions over a sample of rows, shape (rows, columns), with the source rows beside."""

    contributions: Floats
    frame: pd.DataFrame


@dataclass(frozen=True, slots=True)
class Local:
    """The explained rows: the answer's entries, and the values of each as text."""

    entries: list[Json]
    cells: list[dict[str, str]]
    attributions: list[Attribution]


def make_case(order: ExplanationRequest, table: Table, kept: Kept) -> Case:
    """Lay out the rows as the training did. Raises `data_changed` when the file is no longer the one learned from."""
    if table.sha256 != kept.record["sha256"]:
        raise LearningError("data_changed", field="job_id")
    check_explanation_request(order, list(table.columns), rows=len(table.frame), classes=kept.classes)
    target = read_target(table, kept.record["target"], kept.task, kept.record["metric"])
    frame = rows_of(table.frame, target, [column.name for column in kept.columns])
    times = read_times(table, target, kept.split.time_column)
    part = outer_parts(kept.split, target, times, kept.record["seed"])[0]
    everyone = np.arange(len(frame))
    train, test = (everyone, everyone) if kept.split.strategy is Strategy.KFOLD else (part.train, part.test)
    rng = np.random.default_rng(order.seed)
    reference = frame.iloc[_some(train, order.background.size, rng)].reset_index(drop=True)
    rows = _some(test, IMPORTANCE_ROWS, rng)
    wanted = None if order.target_class is UNSET else order.target_class
    subject = make_subject(kept, reference, wanted, order.output)
    measured = frame.iloc[rows].reset_index(drop=True)
    return Case(order, table, subject, reference, measured, target.values[rows], target.rows[rows])


def _some(rows: Indices, count: int, rng: np.random.Generator) -> Indices:
    """A random part in random order, so that a part of the part is as fair: files are often sorted by class."""
    return rng.permutation(rows)[:count]


def importances(case: Case, report: Report) -> dict[str, Importance]:
    """The permutation importance of every column."""

    def told(step: int, total: int) -> None:
        report(10 + 40 * step / total, Phase.EXPLAINING, step=step, total_steps=total, message="explaining_globally")

    matrix = case.subject.encode(case.measured)
    found = permutation_importance(case.subject, matrix, case.truth, seed=case.order.seed, told=told)
    return {one.column: one for one in found}


def sample(case: Case, report: Report) -> Sample:
    """Contributions over some of the measured rows, against a smaller reference."""
    rng = np.random.default_rng(case.order.seed)
    rows = _some(np.arange(len(case.measured)), SAMPLE_ROWS, rng)
    frame = case.measured.iloc[rows].reset_index(drop=True)
    small = case.subject.background[:SAMPLE_BACKGROUND]
    subject = Subject(case.kept, case.subject.sources, case.subject.code, case.subject.output, small)
    found = []
    for step, row in enumerate(subject.encode(frame), start=1):
        found.append(attribute(subject, row, rng, SAMPLE_EVALUATIONS).contributions)
        report(
            50 + 20 * step / len(frame),
            Phase.EXPLAINING,
            step=step,
            total_steps=len(frame),
            message="explaining_globally",
        )
    return Sample(np.array(found), frame)


def dependences(case: Case, order: Iterable[str]) -> dict[str, Dependence]:
    """The partial dependence on the first columns of this order that have one."""
    found: dict[str, Dependence] = {}
    for name in list(order)[: 2 * DEPENDENCE_COLUMNS]:
        one = partial_dependence(case.subject, case.background, case.names.index(name))
        if one is not None and len(found) < DEPENDENCE_COLUMNS:
            found[name] = one
    return found


def shap_summary(case: Case, found: Sample) -> dict[str, Json]:
    """Per column the mean absolute and the mean contribution, and the direction in which high values push."""
    return {
        name: {
            "mean_absolute": float(np.abs(found.contributions[:, place]).mean()),
            "mean": float(found.contributions[:, place].mean()),
            "direction": _direction(found, place, name, case.subject.columns[place].kind),
        }
        for place, name in enumerate(case.names)
    }


def _direction(found: Sample, place: int, name: str, kind: Kind) -> str:
    points = found.contributions[:, place]
    cells = found.frame[name]
    known = ~cells.isna().to_numpy()
    if kind not in (Kind.NUMBER, Kind.DATE) or cells.nunique() < 2 or not points[known].any():
        return "unclear"
    strength = float(spearmanr(cells.to_numpy().astype(np.float64)[known], points[known]).statistic)
    if np.isnan(strength) or abs(strength) < CLEAR_DIRECTION:
        return "unclear"
    return "up" if strength > 0 else "down"


def value_ranks(case: Case, found: Sample) -> Floats:
    """For every sampled cell the rank of its value from 0 to 1 among its column; NaN where values have no order."""
    ranks = np.full(found.contributions.shape, np.nan)
    for place, column in enumerate(case.subject.columns):
        if column.kind in (Kind.NUMBER, Kind.DATE):
            ranks[:, place] = found.frame[column.name].rank(pct=True).to_numpy(dtype=np.float64)
    return ranks


def local(case: Case, report: Report) -> Local:
    """Explain the rows asked for, or else the first measured ones."""
    frame, labels = instances(case)
    matrix = case.subject.encode(frame)
    codes, _shares = predict(case.subject.model, matrix, len(case.kept.classes))
    rng = np.random.default_rng(case.order.seed)
    evaluations = max(2_000, min(EVALUATIONS, ALL_EVALUATIONS // max(1, len(frame))))
    made = Local([], [], [])
    for step, row in enumerate(matrix):
        found = attribute(case.subject, row, rng, evaluations)
        cells = _texts(case, frame.iloc[step])
        entry = _entry(case, labels[step], found, codes[step]) | {"values": cells}
        if case.order.method == "counterfactual":
            entry["counterfactuals"] = _counterfactuals(case, row, cells)
        made.entries.append(entry)
        made.cells.append(cells)
        made.attributions.append(found)
        report(
            70 + 25 * (step + 1) / len(frame),
            Phase.EXPLAINING,
            step=step + 1,
            total_steps=len(frame),
            message="explaining_rows",
        )
    return made


def instances(case: Case) -> tuple[pd.DataFrame, list[int]]:
    """The rows to explain and their labels. Raises `LearningError` when a value given can't be read."""
    wanted = case.order.instances
    if wanted.values:
        others = case.kept.record["other_columns"]
        return frame_of(case.subject.columns, wanted.values, others, place="instances.values"), list(
            range(len(wanted.values))
        )
    rows = list(wanted.rows) or case.positions[:DEFAULT_ROWS].tolist()
    return case.table.frame[case.names].iloc[rows].reset_index(drop=True), rows


def _entry(case: Case, label: int, found: Attribution, predicted: Any) -> Json:
    """One explained row in the words of the contract; `predicted` is the model's own answer for it."""
    classes = case.kept.classes
    entry: Json = {
        "row": label,
        "base_value": found.base,
        "prediction": found.prediction,
        "predicted": classes[int(predicted)] if classes else float(predicted),
        "attributions": dict(zip(case.names, found.contributions.tolist(), strict=True)),
        "additivity_error": found.additivity_error,
        "method": found.method,
    }
    if found.errors is not None:
        entry["standard_errors"] = dict(zip(case.names, found.errors.tolist(), strict=True))
        entry["permutations"] = found.permutations
    return entry


def _counterfactuals(case: Case, row: Floats, cells: dict[str, str]) -> list[Json]:
    found = counterfactual(case.subject, row)
    if found is None:
        return []
    lender = _texts(case, case.background.iloc[found.neighbour])
    names = [case.names[place] for place in found.changed]
    changes = [{"column": name, "from": cells[name], "to": lender[name]} for name in names]
    return [{"prediction": case.kept.classes[found.code], "changes": changes}]


def _texts(case: Case, row: "pd.Series[Any]") -> dict[str, str]:
    return {name: text_of(row[name]) for name in case.names}


def text_of(cell: Any) -> str:
    """A cell as people write it; a missing one is empty."""
    if isinstance(cell, pd.Timestamp):
        return cell.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(cell, float):
        return MISSING if np.isnan(cell) else f"{cell:.10g}"
    return MISSING if cell is pd.NaT else str(cell)


def wants(order: ExplanationRequest, methods: Sequence[str]) -> bool:
    """Whether the global answer is to hold what one of these methods finds."""
    return order.asks_for(Scope.GLOBAL, *methods)
