"""The dataset page: declared and measured figures, columns with their distributions, and ethical evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from touchstone.client import Dataset
from touchstone.core.attributes import ETHICAL
from touchstone.messages.pages_data import DATA_PAGES

TABLE_FILE_TYPES: Final = ("csv", "tsv", "parquet", "json", "jsonl")
# The attributes that can be measured, with their names in the measurement.
_MEASURED_ATTRIBUTES: Final[Mapping[str, str]] = {
    "instances_number": "rows",
    "features_number": "columns",
    "missing_values_percentage": "missing_values_percentage",
}
_TOLERANCE: Final = 0.005  # figures that are closer than this count as equal
_USUAL_TARGET_NAMES: Final = frozenset({"target", "class", "label", "y", "outcome"})


@dataclass(frozen=True, slots=True)
class MeasuredFigure:
    """A figure as it was declared and as it was measured; `differs` if both are known and not equal."""

    name: str
    declared: float | None
    measured: float | None
    differs: bool


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """One bar of a small histogram: its height in 0-1 of the highest, its count, and the value that it stands for."""

    height: float
    count: int
    label: str


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """A column of the data file; `missing` is a share of the rows."""

    name: str
    type: str
    missing: float
    distinct: int
    low: float | str | None
    high: float | str | None
    mean: float | None
    bars: tuple[HistogramBar, ...]
    numeric: bool


@dataclass(frozen=True, slots=True)
class EthicalAssessment:
    """An ethical criterion: whether it is fulfilled (None: not assessed), and the sentence or field that shows it."""

    name: str
    value: bool | None
    evidence: str | None


def measurement(dataset: Dataset) -> Mapping[str, Any]:
    """Return what was measured in the data file; empty if it could not be measured."""
    measured = (dataset.metadata or {}).get("measured")
    return measured if isinstance(measured, Mapping) else {}


def measurement_failure(dataset: Dataset) -> str | None:
    """Return the key of the text that says why the data file could not be measured; None if it did not fail."""
    key = f"unmeasured_{(dataset.metadata or {}).get('unmeasured')}"
    return key if key in DATA_PAGES else None


def is_trainable(dataset: Dataset) -> bool:
    """Return whether the dataset has a table that could be read."""
    return bool(measurement(dataset).get("column_profiles"))


def measured_figures(dataset: Dataset) -> tuple[MeasuredFigure, ...]:
    """Return the figures that can be both declared and measured."""
    measured = measurement(dataset)
    filled = measured.get("filled") or ()  # attributes that the measurement itself has filled in

    figures = []
    for name, measured_name in _MEASURED_ATTRIBUTES.items():
        declared = None if name in filled else getattr(dataset, name)
        value = measured.get(measured_name)
        if name == "features_number" and value is not None and _has_suggested_target(dataset):
            value -= 1  # the target is a column, but not a feature
        differs = declared is not None and value is not None and abs(declared - value) > _TOLERANCE
        figures.append(MeasuredFigure(name, declared, value, differs))
    return tuple(figures)


def _has_suggested_target(dataset: Dataset) -> bool:
    return suggestion(dataset, "target") in column_names(dataset)


def ethical_assessments(dataset: Dataset) -> tuple[EthicalAssessment, ...]:
    """Return the ethical criteria with their evidence."""
    evidence = (dataset.metadata or {}).get("evidence")
    if not isinstance(evidence, Mapping):
        evidence = {}
    return tuple(
        EthicalAssessment(name, getattr(dataset, name), str(evidence[name]) if evidence.get(name) else None)
        for name in ETHICAL
    )


def column_summaries(dataset: Dataset) -> tuple[ColumnSummary, ...]:
    """Return the columns of the data file in their order."""
    measured = measurement(dataset)
    rows = max(1, int(measured.get("rows") or 1))
    return tuple(_column_summary(profile, rows) for profile in measured.get("column_profiles") or ())


def column_names(dataset: Dataset) -> tuple[str, ...]:
    """Return the names of the columns in their order."""
    return tuple(profile["name"] for profile in measurement(dataset).get("column_profiles") or ())


def suggestion(dataset: Dataset, key: str) -> Any:
    """Return what the record suggests for a training: `target`, `sensitive_columns` or `exclude_columns`."""
    return (dataset.metadata or {}).get(key)


def suggested_target(dataset: Dataset) -> str | None:
    """Return the column that the record names as its target, else one with a usual name, else the last one."""
    names = column_names(dataset)
    if not names:
        return None

    target = suggestion(dataset, "target")
    if target in names:
        return str(target)
    for name in names:
        if name.casefold() in _USUAL_TARGET_NAMES:
            return name
    return names[-1]


def _column_summary(profile: Mapping[str, Any], rows: int) -> ColumnSummary:
    numeric = profile["type"] in ("integer", "number")
    if numeric and profile.get("histogram"):
        bars = _histogram_bars(profile["histogram"], profile["minimum"], profile["maximum"])
    else:
        bars = _frequency_bars(profile.get("top") or ())

    return ColumnSummary(
        name=profile["name"],
        type=profile["type"],
        missing=profile.get("missing", 0) / rows,
        distinct=profile.get("distinct", 0),
        low=profile.get("minimum"),
        high=profile.get("maximum"),
        mean=profile.get("mean"),
        bars=bars,
        numeric=numeric,
    )


def _histogram_bars(counts: Sequence[int], minimum: float, maximum: float) -> tuple[HistogramBar, ...]:
    """Return the bars of a numeric column, each labelled with the lower end of its bin."""
    highest = max(counts) or 1
    width = (maximum - minimum) / len(counts)
    return tuple(
        HistogramBar(count / highest, count, f"{minimum + width * index:.4g}") for index, count in enumerate(counts)
    )


def _frequency_bars(top_values: Sequence[Sequence[Any]]) -> tuple[HistogramBar, ...]:
    """Return the bars of the most frequent values of a column."""
    highest = max((count for _, count in top_values), default=0) or 1
    return tuple(HistogramBar(count / highest, count, str(value)) for value, count in top_values)
