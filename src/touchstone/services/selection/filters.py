"""The table of the catalog's filters, which query strings, scoring, projects, documentation and tests all use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from touchstone.core.attributes import ATTRIBUTES, BY_NAME, INT53_MAX, Kind
from touchstone.metadata.licences import requested_licences
from touchstone.ranking.query.predicates import AnyWord, Contains, FlagEquals, FullText, OneOf, Predicate, Range
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType


@dataclass(frozen=True, slots=True)
class CatalogFilter:
    """A filter of the catalog.

    Attributes:
        parameter: the request parameter.
        predicate: a function that converts a value of the parameter to the predicate for matching records.
    """

    parameter: Parameter
    predicate: Callable[[Any], Predicate]


def _text_filter(name: str) -> CatalogFilter:
    """Return a filter for records that contain the value in the given text attribute."""
    description = f"{BY_NAME[name].label_en}: contains this text, ignoring case and accents."
    parameter = Parameter(name=name, type=ParameterType.TEXT, description=description)
    return CatalogFilter(parameter, lambda text: Contains(name, text))


def _words_filter(name: str) -> CatalogFilter:
    """Return a filter for records that have any of the given words in an attribute."""
    description = f"{BY_NAME[name].label_en}: any of these values, ignoring case."
    parameter = Parameter(name=name, type=ParameterType.WORDS, description=description)
    return CatalogFilter(parameter, lambda words: AnyWord(name, words))


def _label_filter(name: str, description: str) -> CatalogFilter:
    """Return a filter for records that have any of the given words in a column that is not an attribute."""
    parameter = Parameter(name=name, type=ParameterType.WORDS, description=description)
    return CatalogFilter(parameter, lambda words: AnyWord(name, words))


def _licence_predicate(values: tuple[str, ...]) -> AnyWord:
    """Return the predicate for records under any of the requested licences or licence families."""
    licences_by_value = [requested_licences(value) or () for value in values]
    return AnyWord("license", tuple(chain.from_iterable(licences_by_value)))


def _flag_filter(name: str, *aliases: str) -> CatalogFilter:
    """Return a filter for records with exactly the given value of a flag."""
    description = f"{BY_NAME[name].label_en}: exactly this value."
    parameter = Parameter(name=name, type=ParameterType.FLAG, description=description, aliases=aliases)
    return CatalogFilter(parameter, lambda value: FlagEquals(name, value))


def _range_filters(name: str, column: str, *aliases: str) -> tuple[CatalogFilter, CatalogFilter]:
    """Return the filters `<name>_min` and `<name>_max` for the numbers in a column, with inclusive bounds."""
    minimum_aliases = tuple(f"{alias}_min" for alias in aliases)
    maximum_aliases = tuple(f"{alias}_max" for alias in aliases)
    minimum = _bound_parameter(f"{name}_min", column, "at least", minimum_aliases)
    maximum = _bound_parameter(f"{name}_max", column, "at most", maximum_aliases)

    return (
        CatalogFilter(minimum, lambda low: Range(column, low=low)),
        CatalogFilter(maximum, lambda high: Range(column, high=high)),
    )


def _bound_parameter(name: str, column: str, relation: str, aliases: tuple[str, ...]) -> Parameter:
    """Return the request parameter for a lower or upper bound of a numeric attribute.

    Bounds of percentages are numbers from 0 to 100, and all other bounds are integers.

    Args:
        name: the name of the parameter.
        column: the name of the attribute.
        relation: "at least" or "at most", for the description.
        aliases: alternative names of the parameter.
    """
    attribute = BY_NAME[column]
    is_percentage = attribute.kind is Kind.PERCENTAGE

    return Parameter(
        name=name,
        type=ParameterType.NUMBER if is_percentage else ParameterType.INTEGER,
        description=f"{attribute.label_en}: {relation} this; never matches unknown.",
        aliases=aliases,
        minimum=0 if is_percentage else -INT53_MAX,
        maximum=100 if is_percentage else INT53_MAX,
    )


def _score_minimum_filter(column: str) -> CatalogFilter:
    """Return the filter `<column>_min` for a composite score in 0-1, with a lower bound in percent."""
    parameter = Parameter(
        name=f"{column}_min",
        type=ParameterType.NUMBER,
        description=f"{column} of at least this many percent.",
        minimum=0,
        maximum=100,
    )
    return CatalogFilter(parameter, lambda percent: Range(column, low=percent / 100))


# The length of a search is limited because each word takes time to look up.
MAX_SEARCH_TEXT_LENGTH: Final = 200
_FILE_TYPE: Final = Parameter(
    name="file_type",
    type=ParameterType.WORDS,
    description="Type of the data file: any of these, ignoring case.",
)
_Q: Final = Parameter(
    name="q",
    type=ParameterType.TEXT,
    max_length=MAX_SEARCH_TEXT_LENGTH,
    description=(
        "Words that the name, objective, description, tags, domain or task contain, all of them and in any order; "
        "ignoring case, accents and inflection, and tolerant of one typing error in a word of five letters or more."
    ),
)
_LICENSE: Final = Parameter(
    name="license",
    type=ParameterType.WORDS,
    description="Licence: any of these SPDX expressions, families such as `CC-BY-*`, exact wordings, or `unknown`.",
    is_correct_word=lambda word: requested_licences(word) is not None,
)
_TRAINABLE: Final = Parameter(
    name="trainable",
    type=ParameterType.FLAG,
    description="Whether the record has a table that could be read, so that a model can be trained on it.",
)
_VISIBILITY: Final = Parameter(
    name="visibility",
    type=ParameterType.CHOICE,
    description="Public records, or the caller's private ones.",
    choices=("public", "private"),
)
FLAG_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "is_split": ("split",),
    "anonymization_applied": ("is_anonymized",),
}

FILTERS: Final[tuple[CatalogFilter, ...]] = (
    CatalogFilter(_Q, FullText),
    _text_filter("dataset_name"),
    _text_filter("objective"),
    _words_filter("domain"),
    _words_filter("task"),
    *_range_filters("year", "year"),
    *_range_filters("instances", "instances_number", "instances_number"),
    *_range_filters("features", "features_number", "features_number"),
    *_range_filters("citations", "citations"),
    *_range_filters("missing_values_percentage", "missing_values_percentage"),
    _score_minimum_filter("ethical_score"),
    _score_minimum_filter("technical_score"),
    _score_minimum_filter("popularity_score"),
    *(
        _flag_filter(attribute.name, *FLAG_ALIASES.get(attribute.name, ()))
        for attribute in ATTRIBUTES
        if attribute.kind is Kind.FLAG
    ),
    CatalogFilter(_LICENSE, _licence_predicate),
    _label_filter("language", "Language of the data: any of these, as codes or names in English or French."),
    _label_filter("source", "Where the record was imported from: any of these names, ignoring case."),
    CatalogFilter(_TRAINABLE, lambda value: AnyWord("trainable", (str(value).lower(),))),
    CatalogFilter(_FILE_TYPE, lambda file_types: OneOf("file_type", file_types)),
    CatalogFilter(_VISIBILITY, lambda visibility: OneOf("visibility", (visibility,))),
)
FILTER_PARAMETERS: Final = ParameterTable(*(catalog_filter.parameter for catalog_filter in FILTERS))
