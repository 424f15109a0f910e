"""The declared and measured attributes and the columns of a dataset, for the dataset page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from touchstone.client import Dataset, Evidence
from touchstone.messages.pages_datasets import DATASET_PAGES

TABLE_FILE_TYPES: Final = ("csv", "tsv", "parquet", "json", "jsonl")
# The names of measured attributes in the metadata of the measurement.
_MEASURED_ATTRIBUTES: Final[Mapping[str, str]] = {
    "instances_number": "rows",
    "features_number": "columns",
    "missing_values_percentage": "missing_values_percentage",
}
_TOLERANCE: Final = 0.005  # numbers with a smaller difference count as equal
_COMMON_TARGET_NAMES: Final = frozenset({"target", "class", "label", "y", "outcome"})


@dataclass(frozen=True, slots=True)
class MeasuredAttribute:
    """An attribute with its declared value and its measured value in the data file.

    Attributes:
        name: the name of the attribute.
        declared: the declared number; None if there is none.
        measured: the measured number; None if there is none.
        differs: whether both numbers are known and not equal.
    """

    name: str
    declared: float | None
    measured: float | None
    differs: bool


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """One bar of a small histogram.

    Attributes:
        height: the height as a share of the highest bar.
        count: the number of rows.
        label: the value, or the lower end of the bin.
    """

    height: float
    count: int
    label: str


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """A column of the data file with its measured properties.

    Attributes:
        name: the name of the column.
        type: the measured type of the column.
        missing_share: the share of rows without a value.
        unreadable_count: the number of values that do not fit the type, and therefore count as missing.
        distinct_count: the number of distinct values.
        low: the lowest value; None if there is none.
        high: the highest value; None if there is none.
        mean: the mean of a numeric column; None for other columns.
        bars: the distribution of the values.
        is_numeric: whether the column holds numbers.
    """

    name: str
    type: str
    missing_share: float
    unreadable_count: int
    distinct_count: int
    low: float | str | None
    high: float | str | None
    mean: float | None
    bars: tuple[HistogramBar, ...]
    is_numeric: bool


def measurement(dataset: Dataset) -> Mapping[str, Any]:
    """Return the measurements of the data file, or an empty mapping if it could not be measured."""
    measured = (dataset.metadata or {}).get("measured")
    return measured if isinstance(measured, Mapping) else {}


def measurement_failure(dataset: Dataset) -> str | None:
    """Return the message key for the reason why the data file is not measured, or None if there is no known reason."""
    reason = (dataset.metadata or {}).get("unmeasured")
    key = f"unmeasured_{reason}"
    return key if key in DATASET_PAGES else None


def is_trainable(dataset: Dataset) -> bool:
    """Return whether the dataset has a table with rows that the service could read."""
    has_columns = bool(measurement(dataset).get("column_profiles"))
    return has_columns and not is_empty_table(dataset)


def is_empty_table(dataset: Dataset) -> bool:
    """Return whether the data file could be read, but contains only the names of its columns."""
    return measurement(dataset).get("rows") == 0


def measured_attributes(dataset: Dataset, evidence: Evidence) -> tuple[MeasuredAttribute, ...]:
    """Return the attributes that the service can measure, such as the number of rows.

    Readers see where the declared and the measured value differ. Only claims of the creator count as declared, and not
    values that the service has filled in.
    """
    attributes = []
    for name, measured_name in _MEASURED_ATTRIBUTES.items():
        state = evidence.attributes.get(name)
        declared = state.declared if state else None
        measured = _measured_number(dataset, name, measured_name)

        differs = False
        if declared is not None and measured is not None:
            differs = abs(declared - measured) > _TOLERANCE
        attributes.append(MeasuredAttribute(name, declared, measured, differs))

    return tuple(attributes)


def _measured_number(dataset: Dataset, name: str, measured_name: str) -> float | None:
    """Return the measured number for an attribute, or None if there is none.

    The number of features is the number of columns without the target, if the record names one.
    """
    number: float | None = measurement(dataset).get(measured_name)
    if number is not None and name == "features_number" and _has_suggested_target(dataset):
        return number - 1
    return number


def _has_suggested_target(dataset: Dataset) -> bool:
    """Return whether the record suggests one of the columns as the target of a training."""
    return suggestion(dataset, "target") in column_names(dataset)


def stated_evidence(dataset: Dataset) -> Mapping[str, str]:
    """Return the evidence stated in the metadata of a record, by attribute name."""
    evidence_by_name = (dataset.metadata or {}).get("evidence")
    if not isinstance(evidence_by_name, Mapping):
        return {}
    return {name: str(evidence) for name, evidence in evidence_by_name.items() if evidence}


def column_summaries(dataset: Dataset) -> tuple[ColumnSummary, ...]:
    """Return the summaries of the columns in the order of the data file."""
    measured = measurement(dataset)
    row_count = int(measured.get("rows") or 1)  # avoids a division by zero for an empty table
    profiles = measured.get("column_profiles") or ()
    return tuple(_column_summary(profile, row_count) for profile in profiles)


def column_names(dataset: Dataset) -> tuple[str, ...]:
    """Return the names of the columns in the order of the data file."""
    return tuple(profile["name"] for profile in measurement(dataset).get("column_profiles") or ())


def suggestion(dataset: Dataset, key: str) -> Any:
    """Return a suggestion for trainings in the metadata of a record, or None if it has none.

    Args:
        dataset: the record.
        key: the kind of suggestion: `target`, `sensitive_columns` or `exclude_columns`.
    """
    return (dataset.metadata or {}).get(key)


def suggested_target(dataset: Dataset) -> str | None:
    """Return the column that the training form preselects as the target, or None without columns.

    The target is the column that a model predicts. The first rule that applies decides:

    1. the column that the record suggests;
    2. the first column with a common name for targets, such as `class`;
    3. the last column, which is the target in most tables.
    """
    names = column_names(dataset)
    if not names:
        return None

    suggestion_in_record = suggestion(dataset, "target")
    if suggestion_in_record in names:
        return str(suggestion_in_record)

    for name in names:
        if name.casefold() in _COMMON_TARGET_NAMES:
            return name
    return names[-1]


def _column_summary(profile: Mapping[str, Any], row_count: int) -> ColumnSummary:
    """Return the summary of a column from its measured profile.

    The bars show the histogram of a numeric column, or else the most frequent values.
    """
    is_numeric = profile["type"] in ("integer", "number")
    if is_numeric and profile.get("histogram"):
        bars = _histogram_bars(profile["histogram"], profile["minimum"], profile["maximum"])
    else:
        bars = _frequency_bars(profile.get("top") or ())

    return ColumnSummary(
        name=profile["name"],
        type=profile["type"],
        missing_share=profile.get("missing", 0) / row_count,
        unreadable_count=profile.get("unreadable", 0),
        distinct_count=profile.get("distinct", 0),
        low=profile.get("minimum"),
        high=profile.get("maximum"),
        mean=profile.get("mean"),
        bars=bars,
        is_numeric=is_numeric,
    )


def _histogram_bars(counts: Sequence[int], minimum: float, maximum: float) -> tuple[HistogramBar, ...]:
    """Return the bars of a numeric column, each labelled with the lower end of its bin."""
    highest_count = max(counts) or 1
    bin_width = (maximum - minimum) / len(counts)

    bars = []
    for index, count in enumerate(counts):
        lower_end = minimum + bin_width * index
        bars.append(HistogramBar(count / highest_count, count, f"{lower_end:.4g}"))
    return tuple(bars)


def _frequency_bars(top_values: Sequence[Sequence[Any]]) -> tuple[HistogramBar, ...]:
    """Return the bars of the most frequent values of a column, given as pairs of value and count."""
    highest_count = max((count for _, count in top_values), default=0) or 1
    return tuple(HistogramBar(count / highest_count, count, str(value)) for value, count in top_values)
