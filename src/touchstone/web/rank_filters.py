"""The filters of the rank page: their names, kinds and permitted values, and how the entered strings are parsed."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, Final

from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.core.comma_lists import split_at_commas

SEARCH: Final = "q"
"""The filter by words in any order, which has a field of its own above the ranking."""
LABELS: Final = ("language", "license", "source")
"""The filters on the language, licence and source in the metadata of a record."""
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
    """Return all filters of the API, in the order of the form, each with its kind of input.

    Most filters belong to an attribute of the datasets. A numeric attribute has two, for its lower and its upper bound;
    any other attribute has one, which is named like it. A composite score only has a lower bound.
    """
    filters: dict[str, FilterInput] = {SEARCH: FilterInput.TEXT}

    for attribute in ATTRIBUTES:
        if attribute.kind in (Kind.INTEGER, Kind.PERCENTAGE):
            filters[f"{attribute.name}_min"] = FilterInput.NUMBER
            filters[f"{attribute.name}_max"] = FilterInput.NUMBER
        else:
            # The kinds of the other attributes have the same names as the ways to enter them.
            filters[attribute.name] = FilterInput(attribute.kind)

    for label in LABELS:
        filters[label] = FilterInput.WORDS
    filters["trainable"] = FilterInput.FLAG
    filters["file_type"] = FilterInput.WORDS
    filters["visibility"] = FilterInput.TEXT
    for composite in COMPOSITES:
        filters[f"{composite}_min"] = FilterInput.NUMBER
    return filters


FILTERS: Final[Mapping[str, FilterInput]] = _list_filters()
# Filters that accept only a few values.
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: ("true", "false") for name, filter_input in FILTERS.items() if filter_input is FilterInput.FLAG},
    "visibility": ("public", "private"),
}
# Alternative names of filters in the API, which stored projects may contain (interface, section 4.2).
_ALIASES: Final[Mapping[str, str]] = {
    "instances_min": "instances_number_min",
    "instances_max": "instances_number_max",
    "features_min": "features_number_min",
    "features_max": "features_number_max",
    "split": "is_split",
    "is_anonymized": "anonymization_applied",
}


def filter_name(name: str) -> str:
    """Return the form's name for a filter, resolving the alternative names that the API accepts."""
    return _ALIASES.get(name, name)


class InvalidFilterValue(Exception):
    """A filter has a value that it does not accept. The argument is the name of the filter."""


def parse_filter(name: str, texts: Sequence[str]) -> FilterValue:
    """Return the value of a filter as the API expects it.

    Args:
        name: The name of the filter.
        texts: The strings that the reader has entered; only a list of words may have more than one.

    Raises:
        InvalidFilterValue: The filter does not accept the strings.
    """
    filter_input = FILTERS[name]
    if filter_input is FilterInput.WORDS:
        return list(texts)

    text = texts[0]
    choices = CHOICES.get(name)
    if choices is not None and text not in choices:
        raise InvalidFilterValue(name)

    if filter_input is FilterInput.FLAG:
        return text == "true"
    if filter_input is FilterInput.NUMBER:
        return parse_bound(name, text)
    return text


def is_valid_filter(name: str, texts: Sequence[str]) -> bool:
    """Return whether a filter accepts the entered strings."""
    try:
        parse_filter(name, texts)
    except InvalidFilterValue:
        return False
    return True


def parse_bound(name: str, text: str) -> int | float:
    """Return a lower or upper bound as a number.

    Readers may write blanks between thousands and, as in French, a decimal comma.

    Raises:
        InvalidFilterValue: The text is not a number, or is too large.
    """
    without_blanks = "".join(text.split())
    try:
        number = Decimal(without_blanks.replace(",", "."))
    except InvalidOperation:
        raise InvalidFilterValue(name) from None

    if not number.is_finite() or abs(number) > _LARGEST_NUMBER:
        raise InvalidFilterValue(name)

    is_whole = number == number.to_integral_value()
    return int(number) if is_whole else float(number)


def filters_of_criteria(criteria: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the stored filters of a project as strings in the order of the form, without unknown filters."""
    texts_by_name: dict[str, tuple[str, ...]] = {}
    for stored_name, value in criteria.items():
        name = filter_name(stored_name)
        if name in FILTERS:
            texts_by_name[name] = _filter_texts(name, value)

    return {name: texts_by_name[name] for name in FILTERS if texts_by_name.get(name)}


def _filter_texts(name: str, value: Any) -> tuple[str, ...]:
    """Return the stored value of a filter as a reader would enter it, or an empty tuple if there is none."""
    if value is None or value == "":
        return ()
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, str):
        # Only a list of words is split at its commas; a name or an objective may contain some.
        is_list = FILTERS[name] is FilterInput.WORDS
        return tuple(split_at_commas(value)) if is_list else (value,)
    if isinstance(value, list):
        return tuple(str(entry) for entry in value)
    # Fifteen digits are as many as a float holds exactly; integers get no decimal point.
    return (f"{value:.15g}",)
