"""The filters of the rank page, and the parsing of their entered values."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, Final

from touchstone.core.attributes import ATTRIBUTES, Kind
from touchstone.core.comma_lists import split_at_commas
from touchstone.web.forms import remove_thousands_commas

SEARCH: Final = "q"
"""The filter for a search by words, which has a separate field above the ranking."""
METADATA_FIELDS: Final = ("language", "license", "source")
"""The fields in the metadata of a record that have a filter and a gate."""
COMPOSITES: Final = ("ethical_score", "technical_score", "popularity_score")
"""The composite scores in 0-1, each of which summarizes several attributes."""
_LARGEST_NUMBER: Final = 10**15  # floats represent all integers up to this one exactly

FilterValue = list[str] | str | bool | int | float


class FilterInput(StrEnum):
    """How a filter is entered in the form."""

    TEXT = "text"
    WORDS = "words"
    NUMBER = "number"
    FLAG = "flag"


def _list_filters() -> dict[str, FilterInput]:
    """Return all filters of the API with their inputs, in the order of the form.

    Most filters belong to a dataset attribute. A numeric attribute has two filters, for a lower and an upper bound. Any
    other attribute has one filter with the same name. A composite score has only a lower bound.
    """
    filters: dict[str, FilterInput] = {SEARCH: FilterInput.TEXT}

    for attribute in ATTRIBUTES:
        if attribute.kind in (Kind.INTEGER, Kind.PERCENTAGE):
            filters[f"{attribute.name}_min"] = FilterInput.NUMBER
            filters[f"{attribute.name}_max"] = FilterInput.NUMBER
        else:
            # The kinds of the other attributes have the same names as their inputs.
            filters[attribute.name] = FilterInput(attribute.kind)

    for name in METADATA_FIELDS:
        filters[name] = FilterInput.WORDS
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
# Alternative names of filters that the API accepts (interface, section 4.2), and that stored projects may contain.
_ALIASES: Final[Mapping[str, str]] = {
    "instances_min": "instances_number_min",
    "instances_max": "instances_number_max",
    "features_min": "features_number_min",
    "features_max": "features_number_max",
    "split": "is_split",
    "is_anonymized": "anonymization_applied",
}
# The bounds of attributes that are whole numbers, where a comma before three digits cannot be a decimal comma.
_WHOLE_NUMBER_BOUNDS: Final = frozenset(
    f"{attribute.name}_{end}" for attribute in ATTRIBUTES if attribute.kind is Kind.INTEGER for end in ("min", "max")
)


def canonical_filter_name(name: str) -> str:
    """Replace an alternative name of a filter by the name that the form uses."""
    return _ALIASES.get(name, name)


class InvalidFilterValue(Exception):
    """A filter or a gate has an invalid value; the argument is its name."""


def parse_filter(name: str, entered_values: Sequence[str]) -> FilterValue:
    """Convert the entered values of a filter to the value that the API expects.

    Args:
        name: the name of the filter.
        entered_values: the strings that the reader has entered; only a list filter may have more than one.

    Raises:
        InvalidFilterValue: the filter does not accept the entered values.
    """
    filter_input = FILTERS[name]
    if filter_input is FilterInput.WORDS:
        return list(entered_values)

    value = entered_values[0]
    choices = CHOICES.get(name)
    if choices is not None and value not in choices:
        raise InvalidFilterValue(name)

    if filter_input is FilterInput.FLAG:
        return value == "true"
    if filter_input is FilterInput.NUMBER:
        return parse_bound(name, value)
    return value


def is_valid_filter(name: str, entered_values: Sequence[str]) -> bool:
    """Return whether a filter accepts the entered values."""
    try:
        parse_filter(name, entered_values)
    except InvalidFilterValue:
        return False
    return True


def parse_bound(name: str, text: str) -> int | float:
    """Convert an entered lower or upper bound to a number.

    It may have blanks between thousands and, as in French, a decimal comma. Whole numbers may also have commas between
    thousands, as pages in English show them. The language of the page makes no difference, because an address has the
    same meaning for every reader.

    Args:
        name: the name of the filter or the gate, for the exception.
        text: the bound that the reader has entered.

    Raises:
        InvalidFilterValue: the string is not a number, or the number is too large.
    """
    without_blanks = "".join(text.split())
    if canonical_filter_name(name) in _WHOLE_NUMBER_BOUNDS:
        without_blanks = remove_thousands_commas(without_blanks)
    try:
        number = Decimal(without_blanks.replace(",", "."))
    except InvalidOperation:
        raise InvalidFilterValue(name) from None

    if not number.is_finite() or abs(number) > _LARGEST_NUMBER:
        raise InvalidFilterValue(name)

    is_whole = number == number.to_integral_value()
    return int(number) if is_whole else float(number)


def filters_from_criteria(criteria: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Convert the stored filters of a project to entered values by name, in the order of the form.

    Unknown filters and filters without a value are left out.
    """
    entered_values_by_name: dict[str, tuple[str, ...]] = {}
    for stored_name, value in criteria.items():
        name = canonical_filter_name(stored_name)
        if name in FILTERS:
            entered_values_by_name[name] = _to_entered_values(name, value)

    return {name: entered_values_by_name[name] for name in FILTERS if entered_values_by_name.get(name)}


def _to_entered_values(name: str, value: Any) -> tuple[str, ...]:
    """Convert the stored value of a filter to the strings that a reader would enter."""
    if value is None or value == "":
        return ()
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, str):
        # Only a list is split at its commas, because a name or an objective may contain commas.
        is_list = FILTERS[name] is FilterInput.WORDS
        return tuple(split_at_commas(value)) if is_list else (value,)
    if isinstance(value, list):
        return tuple(str(element) for element in value)
    # Fifteen significant digits survive in every float, and integers have no decimal point in this format.
    return (f"{value:.15g}",)
