"""The filters of the catalog: one table that query strings, JSON objects, projects, documents and tests all read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from touchstone.core.attributes import ATTRIBUTES, BY_NAME, INT53_MAX, Kind
from touchstone.core.errors import FieldError, Invalid, Location
from touchstone.ranking.query.predicates import AnyWord, Contains, FlagEquals, OneOf, Predicate, Query, Range, Visible
from touchstone.services.selection.parameters import Form, Parameter, Parameters, Value, Values, merge


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter: the parameter that a caller gives, and what it asks of a record."""

    parameter: Parameter
    predicate: Callable[[Any], Predicate]


def _text(name: str) -> Filter:
    label = BY_NAME[name].label_en
    row = Parameter(name=name, form=Form.TEXT, description=f"{label}: contains this text, ignoring case and accents.")
    return Filter(row, lambda value: Contains(name, value))


def _words(name: str) -> Filter:
    label = BY_NAME[name].label_en
    row = Parameter(name=name, form=Form.WORDS, description=f"{label}: any of these values, ignoring case.")
    return Filter(row, lambda value: AnyWord(name, value))


def _flag(name: str, *aliases: str) -> Filter:
    label = BY_NAME[name].label_en
    row = Parameter(name=name, form=Form.FLAG, description=f"{label}: exactly this value.", aliases=aliases)
    return Filter(row, lambda value: FlagEquals(name, value))


def _bounds(name: str, column: str, *aliases: str) -> tuple[Filter, Filter]:
    """The filters `<name>_min` and `<name>_max`."""
    return _bound(name, column, "min", aliases), _bound(name, column, "max", aliases)


def _bound(name: str, column: str, end: str, aliases: tuple[str, ...]) -> Filter:
    attribute = BY_NAME[column]
    percentage = attribute.kind is Kind.PERCENTAGE
    row = Parameter(
        name=f"{name}_{end}",
        form=Form.NUMBER if percentage else Form.INTEGER,
        description=f"{attribute.label_en}: {'at least' if end == 'min' else 'at most'} this; never matches unknown.",
        aliases=tuple(f"{alias}_{end}" for alias in aliases),
        minimum=0 if percentage else -INT53_MAX,
        maximum=100 if percentage else INT53_MAX,
    )
    return Filter(
        row, (lambda low: Range(column, low, None)) if end == "min" else lambda high: Range(column, None, high)
    )


def _percent_floor(column: str) -> Filter:
    row = Parameter(
        name=f"{column}_min",
        form=Form.NUMBER,
        description=f"{column} of at least this many percent.",
        minimum=0,
        maximum=100,
    )
    return Filter(row, lambda percent: Range(column, percent / 100, None))


_FILE_TYPE: Final = Parameter(
    name="file_type", form=Form.WORDS, description="Type of the data file: any of these, ignoring case."
)
_VISIBILITY: Final = Parameter(
    name="visibility",
    form=Form.CHOICE,
    description="Public records, or one's own private ones.",
    choices=("public", "private"),
)
_FLAG_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "is_split": ("split",),
    "anonymization_applied": ("is_anonymized",),
}

FILTERS: Final[tuple[Filter, ...]] = (
    _text("dataset_name"),
    _text("objective"),
    _words("domain"),
    _words("task"),
    *_bounds("year", "year"),
    *_bounds("instances", "instances_number", "instances_number"),
    *_bounds("features", "features_number", "features_number"),
    *_bounds("citations", "citations"),
    *_bounds("missing_values_percentage", "missing_values_percentage"),
    _percent_floor("ethical_score"),
    _percent_floor("technical_score"),
    _percent_floor("popularity_score"),
    *(_flag(a.name, *_FLAG_ALIASES.get(a.name, ())) for a in ATTRIBUTES if a.kind is Kind.FLAG),
    Filter(_FILE_TYPE, lambda values: OneOf("file_type", values)),
    Filter(_VISIBILITY, lambda value: OneOf("visibility", (value,))),
)
FILTER_PARAMETERS: Final = Parameters(*(one.parameter for one in FILTERS))
_PREDICATES: Final = {one.parameter.name: one.predicate for one in FILTERS}


def query_of(values: Mapping[str, Value], viewer: UUID | None) -> Query:
    """What the evaluator is asked: the records that `viewer` may see and that satisfy every filter among `values`."""
    return Visible(viewer), *(_PREDICATES[name](value) for name, value in values.items() if name in _PREDICATES)


def filters_of(given: object, *, at: Location) -> Values:
    """The filters in the JSON object that a request has at this location.

    Raises:
        Invalid: it is not an object, or something in it is not a filter.
    """
    if not isinstance(given, dict):
        raise Invalid(FieldError(at, "dict_type"))
    return FILTER_PARAMETERS.from_json(given, at=at)


def joined(one: Values, other: Values, *, names: tuple[str, str]) -> Values:
    """Two filter objects as one.

    Raises:
        ConflictingValues: a filter is in both with different values.
    """
    found = dict(one)
    for name, value in other.items():
        merge(found, name, value, at=("body", names[1], name), names=(f"{names[1]}.{name}", f"{names[0]}.{name}"))
    return found
