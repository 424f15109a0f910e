"""The filter form of the rank page, with the number of records for each choice."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.attributes import ATTRIBUTES, BY_NAME, ETHICAL, Kind
from touchstone.core.text import fold
from touchstone.metadata.licences import UNKNOWN_LICENCE
from touchstone.web.localizer import Localizer
from touchstone.web.rank_filters import (
    CHOICES,
    COMPOSITES,
    FILTERS,
    METADATA_FIELDS,
    SEARCH,
    FilterInput,
    InvalidFilterValue,
    parse_bound,
)
from touchstone.web.rank_state import RankState

_MAX_VISIBLE_CHOICES: Final = 8  # values of a list that are shown without unfolding it
_MAX_FOLDED_CHOICES: Final = 120  # other values that the reader can unfold; a separate page shows all values
_PAGE_SIZE: Final = 100  # values on one page of the list of all values


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """One value of a list filter.

    Attributes:
        value: the value in the API.
        label: the value as readers see it.
        count: the number of records with this value; None if they were not counted.
        is_chosen: whether the reader has chosen the value.
    """

    value: str
    label: str
    count: int | None
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class WordsField:
    """A list of values that readers tick or, if its kind is `choice`, select one from."""

    name: str
    label: str
    choices: tuple[FilterChoice, ...]
    kind: str = "words"

    @property
    def visible_choices(self) -> tuple[FilterChoice, ...]:
        """The chosen and the most frequent values, which are shown without unfolding the list."""
        chosen = [choice for choice in self.choices if choice.is_chosen]
        others = [choice for choice in self.choices if not choice.is_chosen]
        other_count = max(0, _MAX_VISIBLE_CHOICES - len(chosen))
        return (*chosen, *others[:other_count])

    @property
    def folded_choices(self) -> tuple[FilterChoice, ...]:
        """The most frequent of the remaining choices, which the reader can unfold."""
        visible_values = {choice.value for choice in self.visible_choices}
        remaining = [choice for choice in self.choices if choice.value not in visible_values]
        return tuple(remaining[:_MAX_FOLDED_CHOICES])

    @property
    def hidden_count(self) -> int:
        """The number of choices that are not visible without unfolding the list."""
        return len(self.choices) - len(self.visible_choices)

    @property
    def may_have_more_values(self) -> bool:
        """Whether the page of all values may show more than the visible choices.

        A chosen value hides all values that never occur together with it.
        """
        return bool(self.folded_choices) or any(choice.is_chosen for choice in self.choices)


@dataclass(frozen=True, slots=True)
class ValueSearch:
    """A search among all values of a filter.

    Attributes:
        name: the name of the filter.
        text: the words that the values must contain.
        page: the page of the results, from 1.
    """

    name: str
    text: str
    page: int


@dataclass(frozen=True, slots=True)
class ValueList:
    """One page of the values of a filter that match a search.

    Attributes:
        name: the name of the filter.
        label: the label of the filter.
        search: the words that were searched for.
        chosen: the chosen values, which every page shows for every search.
        choices: the other matching values on this page.
        matching_count: the number of other matching values on all pages.
        page: the number of this page, from 1.
        page_count: the number of pages.
    """

    name: str
    label: str
    search: str
    chosen: tuple[FilterChoice, ...]
    choices: tuple[FilterChoice, ...]
    matching_count: int
    page: int
    page_count: int


@dataclass(frozen=True, slots=True)
class TextField:
    """A field for a text that the attribute must contain."""

    name: str
    label: str
    value: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class RangeField:
    """A lower and an upper bound.

    Attributes:
        name: the name of the filter without `_min` and `_max`.
        label: the label of the filter.
        minimum: the entered lower bound, or an empty string.
        maximum: the entered upper bound, or an empty string; None if only a lower bound can be set.
        low: the lowest value among the matching records; None if it is unknown.
        high: the highest value among the matching records; None if it is unknown.
        kind: always `range`.
    """

    name: str
    label: str
    minimum: str
    maximum: str | None
    low: float | None
    high: float | None
    kind: str = "range"


@dataclass(frozen=True, slots=True)
class FlagField:
    """A yes-or-no field, with the numbers of records for which the flag is true, false or unknown."""

    name: str
    label: str
    value: str
    true_count: int | None
    false_count: int | None
    unknown_count: int | None
    kind: str = "flag"


FilterField = WordsField | TextField | RangeField | FlagField


@dataclass(frozen=True, slots=True)
class FilterGroup:
    """A group of fields that the reader folds and unfolds together.

    Attributes:
        name: the name of the group; its heading has the message key `group_<name>`.
        fields: the fields in their order.
        active_count: the number of filter values that are set in the group.
    """

    name: str
    fields: tuple[FilterField, ...]
    active_count: int


@dataclass(frozen=True, slots=True)
class FilterChip:
    """An active filter value, shown above the ranking as a link that removes it.

    Attributes:
        label: the label of the filter.
        value: the value in words.
        removal_query: the query of the ranking without this value.
        key: the identifier of the form field in the script of the page.
    """

    label: str
    value: str
    removal_query: str
    key: str


_QUALITY_FLAGS: Final = tuple(
    attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.FLAG and not attribute.ethical
)
_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "subject": ("dataset_name", "objective", "domain", "task", *METADATA_FIELDS, "file_type", "visibility"),
    "size": ("year", "instances_number", "features_number", "citations"),
    "quality": ("technical_score", "popularity_score", "trainable", "missing_values_percentage", *_QUALITY_FLAGS),
    "ethics": ("ethical_score", *ETHICAL),
}


def filter_groups(state: RankState, facets: Mapping[str, Any], localizer: Localizer) -> tuple[FilterGroup, ...]:
    """Build the filter form, with the counts and ranges from the facets of the API."""
    builder = _FormBuilder(state, facets, localizer)
    return tuple(builder.build_group(name, field_names) for name, field_names in _GROUPS.items())


def list_values(search: ValueSearch, state: RankState, facets: Mapping[str, Any], localizer: Localizer) -> ValueList:
    """Return one page of the values of a filter that contain all words of a search.

    The search ignores case and accents.

    Args:
        search: the filter, the words and the page; a number beyond the last page selects the last page.
        state: the state of the rank page, with the chosen values.
        facets: the number of records for each value, counted without this filter. Records match a filter if they have
            any of the chosen values, so choosing one more value adds its records.
        localizer: the reader's language.
    """
    choices = _FormBuilder(state, facets, localizer).build_choices(search.name)
    chosen = [choice for choice in choices if choice.is_chosen]

    # Chosen values are always listed, so only the others are searched.
    others = [choice for choice in choices if not choice.is_chosen]
    folded_words = fold(search.text).split()
    matching = [choice for choice in others if _contains_all_words(choice.label, folded_words)]

    page_count = max(1, math.ceil(len(matching) / _PAGE_SIZE))
    page = min(max(1, search.page), page_count)
    page_start = (page - 1) * _PAGE_SIZE

    return ValueList(
        name=search.name,
        label=filter_label(search.name, localizer),
        search=search.text,
        chosen=tuple(chosen),
        choices=tuple(matching[page_start : page_start + _PAGE_SIZE]),
        matching_count=len(matching),
        page=page,
        page_count=page_count,
    )


def filter_chips(state: RankState, localizer: Localizer) -> tuple[FilterChip, ...]:
    """Return one chip for each active filter value.

    Chips are small links above the ranking that show a filter value and remove it.
    """
    chips = []
    for name, values in state.filters.items():
        is_list = FILTERS[name] is FilterInput.WORDS
        for value in values:
            chip = FilterChip(
                label=_chip_label(name, localizer),
                value=_format_filter_value(name, value, localizer),
                removal_query=state.without_filter_value(name, value).query(),
                key=f"{name}={value}" if is_list else name,
            )
            chips.append(chip)
    return tuple(chips)


def filter_label(name: str, localizer: Localizer) -> str:
    """Return the label of an attribute or a composite score."""
    return localizer.attribute(name) if name in BY_NAME else localizer.text(f"rank_{name}")


def invalid_filter_message(name: str, localizer: Localizer) -> str:
    """Return the message for an invalid filter value, or for a search before its index is ready."""
    if name == SEARCH:
        return localizer.text("error_slow_down")
    key = "rank_not_a_number" if FILTERS[name] is FilterInput.NUMBER else "rank_not_a_choice"
    return localizer.text(key, name=filter_label(_form_field_name(name), localizer))


class _FormBuilder:
    """Builds the fields of the filter form from the state of the rank page and the facets of the API."""

    def __init__(self, state: RankState, facets: Mapping[str, Any], localizer: Localizer) -> None:
        self._state = state
        self._facets = facets
        self._localizer = localizer

    def build_group(self, name: str, field_names: tuple[str, ...]) -> FilterGroup:
        """Build a group of fields, with the number of its active filter values."""
        fields = tuple(self._build_field(field_name) for field_name in field_names)

        active_count = sum(
            len(values)
            for filter_name, values in self._state.filters.items()
            if _form_field_name(filter_name) in field_names
        )
        return FilterGroup(name, fields, active_count)

    def build_choices(self, name: str) -> tuple[FilterChoice, ...]:
        """Return the values of a list filter, with the number of records for each value.

        Chosen values without any record come first, so that readers can untick them. Values that differ only in case or
        accents are the same for a filter, so they are compared with `fold`.
        """
        facet = self._facets["values"].get(name, ())
        counts: dict[str, int] = {str(item["value"]): item["count"] for item in facet if item["value"]}

        chosen_values = {fold(value): value for value in self._state.filters.get(name, ())}
        counted_values = {fold(value) for value in counts}

        choices = []
        for folded_value, value in chosen_values.items():
            if folded_value not in counted_values:
                choices.append(self._build_choice(name, value, count=0, is_chosen=True))

        for value, count in counts.items():
            is_chosen = fold(value) in chosen_values
            choices.append(self._build_choice(name, value, count=count, is_chosen=is_chosen))
        return tuple(choices)

    def _build_choice(self, name: str, value: str, *, count: int, is_chosen: bool) -> FilterChoice:
        """Return one value of a list filter, with its label in the reader's language."""
        label = _format_filter_value(name, value, self._localizer)
        return FilterChoice(value, label, count, is_chosen)

    def _build_field(self, name: str) -> FilterField:
        """Build the form field of a filter, or of a range with two bounds."""
        label = filter_label(name, self._localizer)
        filter_input = FILTERS.get(name)

        if name == "visibility":
            return WordsField(name, label, self.build_choices(name), kind="choice")
        if filter_input is FilterInput.WORDS:
            return WordsField(name, label, self.build_choices(name))
        if filter_input is FilterInput.TEXT:
            return TextField(name, label, self._entered_value(name))
        if filter_input is FilterInput.FLAG:
            return self._build_flag_field(name, label)
        # Each bound of a range is a filter, so `FILTERS` does not contain the name of the range.
        return self._build_range_field(name, label)

    def _build_flag_field(self, name: str, label: str) -> FlagField:
        """Build the field of a flag, with the number of records for each of its values."""
        counts = self._facets["flags"].get(name, {})
        return FlagField(
            name=name,
            label=label,
            value=self._entered_value(name),
            true_count=counts.get("true"),
            false_count=counts.get("false"),
            unknown_count=counts.get("unknown"),
        )

    def _build_range_field(self, name: str, label: str) -> RangeField:
        """Build the field of a range, with the lowest and the highest value among the matching records.

        Composite scores have no upper bound. Readers enter them in percent, but the API returns their range in 0-1.
        """
        limits = self._facets["ranges"].get(name) or {}
        lowest = limits.get("min")
        highest = limits.get("max")
        if name in COMPOSITES:
            lowest = _to_percent(lowest)
            highest = _to_percent(highest)

        has_upper_bound = f"{name}_max" in FILTERS
        return RangeField(
            name=name,
            label=label,
            minimum=self._entered_value(f"{name}_min"),
            maximum=self._entered_value(f"{name}_max") if has_upper_bound else None,
            low=lowest,
            high=highest,
        )

    def _entered_value(self, name: str) -> str:
        """Return the value of a filter with a single value, or an empty string if the filter is not set."""
        return self._state.filters.get(name, ("",))[0]


def _to_percent(share: float | None) -> float | None:
    """Convert a share in 0-1 to a percentage, or return None if it is unknown."""
    return None if share is None else 100 * share


def _contains_all_words(text: str, folded_words: list[str]) -> bool:
    """Return whether a string contains all the folded words, ignoring case and accents."""
    folded_text = fold(text)
    return all(word in folded_text for word in folded_words)


def _form_field_name(name: str) -> str:
    """Return the name of the form field of a filter, which is `year` for both bounds `year_min` and `year_max`."""
    return name.removesuffix("_min").removesuffix("_max")


def _chip_label(name: str, localizer: Localizer) -> str:
    """Return the label of a filter. Bounds have a sign, as in "Year ≥"."""
    label = filter_label(_form_field_name(name), localizer)
    if name.endswith("_min"):
        return f"{label} ≥"
    if name.endswith("_max"):
        return f"{label} ≤"
    return label


def _format_bound(name: str, value: str, localizer: Localizer) -> str:
    """Format a lower or upper bound for readers, so that they see how it was understood.

    An invalid bound is returned unchanged. A year has no separator between thousands. A composite score is shown in
    percent, as readers enter it.
    """
    try:
        bound = parse_bound(name, value)
    except InvalidFilterValue:
        return value

    field_name = _form_field_name(name)
    if field_name == "year":
        return str(bound)
    if field_name in COMPOSITES:
        return localizer.percent(bound / 100, _count_decimals(bound))
    return localizer.number(bound)


def _count_decimals(number: float) -> int:
    """Return the number of decimals with which Python writes a number, such as 1 for 62.5."""
    _whole_part, _point, decimals = str(number).partition(".")
    return len(decimals)


def _format_filter_value(name: str, value: str, localizer: Localizer) -> str:
    """Format the value of a filter for readers, such as "yes" for the flag value `true`.

    Free text is returned unchanged, and so is an invalid value from the address.
    """
    if FILTERS[name] is FilterInput.NUMBER:
        return _format_bound(name, value, localizer)
    if name == "license" and fold(value) == UNKNOWN_LICENCE:
        return localizer.text("license_unknown")
    if value not in CHOICES.get(name, ()):
        return value

    if FILTERS[name] is FilterInput.FLAG:
        return localizer.text("yes" if value == "true" else "no")
    return localizer.text(f"{name}_{value}")
