"""The filters of the rank page: their names, kinds and permitted values, and how their texts are read."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, Final

from touchstone.core.attributes import ATTRIBUTES, Kind

COMPOSITES: Final = ("ethical_score", "technical_score", "popularity_score")
_LARGEST_NUMBER: Final = 10**15

FilterValue = list[str] | str | bool | int | float


class FilterInput(StrEnum):
    """How a filter is entered in the form."""

    TEXT = "text"
    WORDS = "words"
    NUMBER = "number"
    FLAG = "flag"


def _list_filters() -> dict[str, FilterInput]:
    """Return all filters of the page by the API's names, derived from the table of attributes."""
    filters: dict[str, FilterInput] = {}
    for attribute in ATTRIBUTES:
        if attribute.kind in (Kind.INTEGER, Kind.PERCENTAGE):
            filters[f"{attribute.name}_min"] = FilterInput.NUMBER
            filters[f"{attribute.name}_max"] = FilterInput.NUMBER
        else:
            filters[attribute.name] = FilterInput(attribute.kind)

    filters["file_type"] = FilterInput.WORDS
    filters["visibility"] = FilterInput.TEXT
    for composite in COMPOSITES:
        filters[f"{composite}_min"] = FilterInput.NUMBER
    return filters


FILTERS: Final[Mapping[str, FilterInput]] = _list_filters()
# Filters that accept only a few values.
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: ("true", "false") for name, kind in FILTERS.items() if kind is FilterInput.FLAG},
    "visibility": ("public", "private"),
}
# Other names under which a project may have stored a filter (interface, section 4.2).
_ALIASES: Final[Mapping[str, str]] = {
    "instances_min": "instances_number_min",
    "instances_max": "instances_number_max",
    "features_min": "features_number_min",
    "features_max": "features_number_max",
    "split": "is_split",
    "is_anonymized": "anonymization_applied",
}


class InvalidFilterValue(Exception):
    """A filter with a value that it does not accept; the argument is the filter's name."""


def parse_filter(name: str, texts: Sequence[str]) -> FilterValue:
    """Return the value of a filter as the API expects it.

    Raises:
        InvalidFilterValue: The filter does not accept the texts.
    """
    kind = FILTERS[name]
    if kind is FilterInput.WORDS:
        return list(texts)

    text = texts[0]
    if name in CHOICES and text not in CHOICES[name]:
        raise InvalidFilterValue(name)
    if kind is FilterInput.FLAG:
        return text == "true"
    if kind is FilterInput.NUMBER:
        return _parse_bound(name, text)
    return text


def is_valid_filter(name: str, texts: Sequence[str]) -> bool:
    """Return whether a filter accepts the texts."""
    try:
        parse_filter(name, texts)
    except InvalidFilterValue:
        return False
    return True


def _parse_bound(name: str, text: str) -> int | float:
    """Return a bound as a number, written with blanks between thousands or, in French, a decimal comma."""
    try:
        number = Decimal("".join(text.split()).replace(",", "."))
    except InvalidOperation:
        raise InvalidFilterValue(name) from None

    if not number.is_finite() or abs(number) > _LARGEST_NUMBER:
        raise InvalidFilterValue(name)
    return int(number) if number == number.to_integral_value() else float(number)


def filters_of_criteria(criteria: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the stored filters of a project as texts, in the order of the form."""
    texts: dict[str, tuple[str, ...]] = {}
    for stored_name, value in criteria.items():
        name = _ALIASES.get(stored_name, stored_name)
        if name in FILTERS:
            texts[name] = _filter_texts(name, value)
    return {name: texts[name] for name in FILTERS if texts.get(name)}


def _filter_texts(name: str, value: Any) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, str):
        # Only a list is split at its commas; a name or an objective may contain some.
        return tuple(value.split(",")) if FILTERS[name] is FilterInput.WORDS else (value,)
    if isinstance(value, list):
        return tuple(str(entry) for entry in value)
    return (f"{value:.15g}",)
