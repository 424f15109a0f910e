"""The dataset page: declared beside measured, columns with their distributions, evidence, the parts of the score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from touchstone.client import Dataset
from touchstone.core.attributes import ETHICAL
from touchstone.messages.pages_data import DATA_PAGES

READABLE: Final = ("csv", "tsv", "parquet", "json", "jsonl")
_MEASURED: Final = (
    ("instances_number", "rows"),
    ("features_number", "columns"),
    ("missing_values_percentage", "missing_values_percentage"),
)
_NEAR: Final = 0.005  # figures this close say the same


@dataclass(frozen=True, slots=True)
class Pair:
    """One figure as it was declared and as it was measured; `differs` when both are known and not the same."""

    name: str
    declared: float | None
    measured: float | None
    differs: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a small distribution, in 0-1 of the highest; `label` is its value, for a column of few values."""

    height: float
    count: int
    label: str


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the data file."""

    name: str
    type: str
    missing: float  # share of the rows
    distinct: int
    low: float | str | None
    high: float | str | None
    mean: float | None
    bars: tuple[Bar, ...]
    numeric: bool


@dataclass(frozen=True, slots=True)
class Criterion:
    """One of the ten ethical criteria: true, false or not assessed, and the field or sentence that says so."""

    name: str
    value: bool | None
    evidence: str | None


def measured(dataset: Dataset) -> Mapping[str, Any]:
    """What was measured in the file; empty when it could not be."""
    found = (dataset.metadata or {}).get("measured")
    return found if isinstance(found, Mapping) else {}


def unmeasured(dataset: Dataset) -> str | None:
    """The key of the sentence that says why the file could not be measured, if it was tried."""
    key = f"unmeasured_{(dataset.metadata or {}).get('unmeasured')}"
    return key if key in DATA_PAGES else None


def trainable(dataset: Dataset) -> bool:
    """Whether the record has a table that has been read."""
    return bool(measured(dataset).get("column_profiles"))


def pairs(dataset: Dataset) -> tuple[Pair, ...]:
    """Declared beside measured, for what both can know."""
    found = dict(measured(dataset))
    if found.get("columns") is not None and suggested(dataset, "target") in column_names(dataset):
        # A feature is a column to learn from: the one to predict is not counted among them.
        found["columns"] -= 1
    # What the measurement has filled in was not declared by anybody.
    filled = found.get("filled") or ()
    return tuple(
        _pair(name, None if name in filled else getattr(dataset, name), found.get(source)) for name, source in _MEASURED
    )


def _pair(name: str, declared: float | None, seen: float | None) -> Pair:
    return Pair(name, declared, seen, declared is not None and seen is not None and abs(declared - seen) > _NEAR)


def ethics(dataset: Dataset) -> tuple[Criterion, ...]:
    """The ten ethical criteria with their evidence."""
    evidence = (dataset.metadata or {}).get("evidence")
    said = evidence if isinstance(evidence, Mapping) else {}
    return tuple(
        Criterion(name, getattr(dataset, name), str(said[name]) if said.get(name) else None) for name in ETHICAL
    )


def columns(dataset: Dataset) -> tuple[Column, ...]:
    """The columns of the data file, in its order."""
    found = measured(dataset)
    rows = max(1, int(found.get("rows") or 1))
    return tuple(_column(one, rows) for one in found.get("column_profiles") or ())


def column_names(dataset: Dataset) -> tuple[str, ...]:
    """The names of the columns."""
    return tuple(one["name"] for one in measured(dataset).get("column_profiles") or ())


def suggested(dataset: Dataset, key: str) -> Any:
    """What the record suggests for a training: `target`, `sensitive_columns`, `exclude_columns`."""
    return (dataset.metadata or {}).get(key)


def suggested_target(dataset: Dataset) -> str | None:
    """The column that the record names as its target, else one that is called like one, else the last."""
    names = column_names(dataset)
    named = suggested(dataset, "target")
    if named in names:
        return str(named)
    usual = ("target", "class", "label", "y", "outcome")
    return next((name for name in names if name.casefold() in usual), names[-1] if names else None)


def _column(found: Mapping[str, Any], rows: int) -> Column:
    numeric = found["type"] in ("integer", "number")
    counted = found.get("histogram") or ()
    bars = _histogram(counted, found) if numeric and counted else _top(found.get("top") or ())
    return Column(
        name=found["name"],
        type=found["type"],
        missing=found.get("missing", 0) / rows,
        distinct=found.get("distinct", 0),
        low=found.get("minimum"),
        high=found.get("maximum"),
        mean=found.get("mean"),
        bars=bars,
        numeric=numeric,
    )


def _histogram(counts: Sequence[int], found: Mapping[str, Any]) -> tuple[Bar, ...]:
    highest = max(counts) or 1
    width = (found["maximum"] - found["minimum"]) / len(counts)
    return tuple(
        Bar(count / highest, count, f"{found['minimum'] + width * place:.4g}") for place, count in enumerate(counts)
    )


def _top(top: Sequence[Sequence[Any]]) -> tuple[Bar, ...]:
    highest = max((count for _, count in top), default=0) or 1
    return tuple(Bar(count / highest, count, str(value)) for value, count in top)
