"""The filter form: groups of fields, the chosen values, and how many records each choice would find."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.attributes import ATTRIBUTES, BY_NAME, ETHICAL, Kind
from touchstone.core.text import fold
from touchstone.web.localizer import Localizer
from touchstone.web.rank_filters import CHOICES, COMPOSITES, FILTERS, LABELS, SEARCH, FilterInput
from touchstone.web.rank_state import RankState

_ALWAYS_SHOWN: Final = 8  # values of a list that are shown before the others are folded away
_MAX_FOLDED: Final = 120  # values that are folded away; the list's own page has all of them
_PAGE_SIZE: Final = 100  # values on one page of a list


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """One value of a list.

    Attributes:
        value: The value as the API names it.
        label: The value as readers see it.
        count: The number of records that have the value; None if they were not counted.
        chosen: Whether the reader has chosen the value.
    """

    value: str
    label: str
    count: int | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class WordsField:
    """A list of values to tick or, if its kind is `choice`, to select one from."""

    name: str
    label: str
    choices: tuple[FilterChoice, ...]
    kind: str = "words"

    @property
    def first(self) -> tuple[FilterChoice, ...]:
        """Return the choices that are always shown: the chosen and the most frequent ones."""
        chosen = [choice for choice in self.choices if choice.chosen]
        others = [choice for choice in self.choices if not choice.chosen]
        free_places = max(0, _ALWAYS_SHOWN - len(chosen))
        return (*chosen, *others[:free_places])

    @property
    def rest(self) -> tuple[FilterChoice, ...]:
        """Return the most frequent of the remaining choices, which are folded away."""
        first_values = {choice.value for choice in self.first}
        remaining = [choice for choice in self.choices if choice.value not in first_values]
        return tuple(remaining[:_MAX_FOLDED])

    @property
    def more(self) -> int:
        """Return the number of choices besides those that are always shown."""
        return len(self.choices) - len(self.first)

    @property
    def searchable(self) -> bool:
        """Return whether there may be further values: a chosen value hides those that never occur together with it."""
        return bool(self.rest) or any(choice.chosen for choice in self.choices)


@dataclass(frozen=True, slots=True)
class ValueSearch:
    """A search among all values of a filter.

    Attributes:
        name: The name of the filter.
        text: Words that the values contain.
        page: The number of the page of results.
    """

    name: str
    text: str
    page: int


@dataclass(frozen=True, slots=True)
class ValueList:
    """One page of the values of a filter that match a search.

    Attributes:
        name: The name of the filter.
        label: The label of the filter.
        search: The text that was searched for.
        chosen: The chosen values, on every page and for every search.
        choices: The other matching values on this page.
        matching_count: The number of other matching values on all pages.
        page: The number of this page.
        pages: The number of pages.
    """

    name: str
    label: str
    search: str
    chosen: tuple[FilterChoice, ...]
    choices: tuple[FilterChoice, ...]
    matching_count: int
    page: int
    pages: int


@dataclass(frozen=True, slots=True)
class TextField:
    """A text that the value contains."""

    name: str
    label: str
    value: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class RangeField:
    """A lower and an upper bound.

    Attributes:
        name: The name of the filter without `_min` and `_max`.
        label: The label of the filter.
        minimum: The text of the lower bound.
        maximum: The text of the upper bound; None if only a lower bound can be set.
        low: The lowest value among the matching records.
        high: The highest value among the matching records.
        kind: Always `range`.
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
    """A flag with its facets: the numbers of records that have it, do not have it, and are not assessed."""

    name: str
    label: str
    value: str
    true: int | None
    false: int | None
    unknown: int | None
    kind: str = "flag"


FilterField = WordsField | TextField | RangeField | FlagField


@dataclass(frozen=True, slots=True)
class FilterGroup:
    """A group of fields that is folded and unfolded together.

    Attributes:
        name: The name of the group, from which the key of its heading is made.
        fields: The fields in their order.
        active: The number of filter values that are set in the group.
    """

    name: str
    fields: tuple[FilterField, ...]
    active: int


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A filter value that is set, shown above the ranking as a link that removes it.

    Attributes:
        label: The label of the filter.
        value: The value in words.
        remove: The query of the ranking without the value.
        key: The key under which the page's script knows the field.
    """

    label: str
    value: str
    remove: str
    key: str


_QUALITY_FLAGS: Final = tuple(
    attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.FLAG and not attribute.ethical
)
_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "subject": ("dataset_name", "objective", "domain", "task", *LABELS, "file_type", "visibility"),
    "size": ("year", "instances_number", "features_number", "citations"),
    "quality": ("technical_score", "popularity_score", "trainable", "missing_values_percentage", *_QUALITY_FLAGS),
    "ethics": ("ethical_score", *ETHICAL),
}


def filter_groups(state: RankState, facets: Mapping[str, Any], localizer: Localizer) -> tuple[FilterGroup, ...]:
    """Return the whole filter form, with the counts and ranges of the API's facets."""
    builder = _FormBuilder(state, facets, localizer)
    return tuple(builder.group(name, field_names) for name, field_names in _GROUPS.items())


def list_values(search: ValueSearch, state: RankState, facets: Mapping[str, Any], localizer: Localizer) -> ValueList:
    """Return one page of the values of a filter that contain each word of a search, ignoring case and accents.

    Args:
        search: The filter, the words and the number of the page; a number beyond the last page means the last page.
        state: The state of the rank page, which holds the chosen values.
        facets: The number of records for each value. They must be counted without this filter, because ticking one
            more value adds its records to those of the values that are ticked already.
        localizer: The reader's language.
    """
    choices = _FormBuilder(state, facets, localizer).choices(search.name)
    chosen = [choice for choice in choices if choice.chosen]

    # Chosen values are always listed, so only the others are searched.
    others = [choice for choice in choices if not choice.chosen]
    folded_words = fold(search.text).split()
    matching = [choice for choice in others if _contains_all(choice.label, folded_words)]

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
        pages=page_count,
    )


def filter_chips(state: RankState, localizer: Localizer) -> tuple[FilterChip, ...]:
    """Return the chips above the ranking: small links that each show an active filter value and remove it.

    A list filter has one chip for each of its values.
    """
    chips = []
    for name, values in state.filters.items():
        is_list = FILTERS[name] is FilterInput.WORDS
        for value in values:
            chip = FilterChip(
                label=_chip_label(name, localizer),
                value=_value_text(name, value, localizer),
                remove=state.without_filter_value(name, value).query(),
                key=f"{name}={value}" if is_list else name,
            )
            chips.append(chip)
    return tuple(chips)


def filter_label(name: str, localizer: Localizer) -> str:
    """Return the label of an attribute or a composite score."""
    return localizer.attribute(name) if name in BY_NAME else localizer.text(f"rank_{name}")


def invalid_filter_message(name: str, localizer: Localizer) -> str:
    """Return advice on the valid values of a filter, or to wait until the search is ready."""
    if name == SEARCH:
        return localizer.text("error_slow_down")
    key = "rank_not_a_number" if FILTERS[name] is FilterInput.NUMBER else "rank_not_a_choice"
    return localizer.text(key, name=filter_label(_without_bound(name), localizer))


class _FormBuilder:
    """Builds the fields of the filter form from the state of the page and the facets of the API."""

    def __init__(self, state: RankState, facets: Mapping[str, Any], localizer: Localizer) -> None:
        self._state = state
        self._facets = facets
        self._localizer = localizer

    def group(self, name: str, field_names: tuple[str, ...]) -> FilterGroup:
        """Return a group of fields, with the number of filter values that are set in it."""
        fields = tuple(self._build_field(field_name) for field_name in field_names)

        active_count = 0
        for filter_name, values in self._state.filters.items():
            if filter_name in field_names or _without_bound(filter_name) in field_names:
                active_count += len(values)
        return FilterGroup(name, fields, active_count)

    def choices(self, name: str) -> tuple[FilterChoice, ...]:
        """Return the values that a list filter offers, with the number of records for each of them.

        A chosen value that no record has is offered too, as the first one, so that readers can untick it. `fold` makes
        values equal that differ only in case or accents.
        """
        counts: dict[str, int] = {}
        for entry in self._facets["values"].get(name, ()):
            if entry["value"]:
                counts[str(entry["value"])] = entry["count"]

        chosen_values = {fold(value): value for value in self._state.filters.get(name, ())}
        counted_values = {fold(value) for value in counts}

        choices = []
        for folded_value, value in chosen_values.items():
            if folded_value not in counted_values:
                choices.append(self._choice(name, value, count=0, chosen=True))

        for value, count in counts.items():
            is_chosen = fold(value) in chosen_values
            choices.append(self._choice(name, value, count=count, chosen=is_chosen))
        return tuple(choices)

    def _choice(self, name: str, value: str, *, count: int, chosen: bool) -> FilterChoice:
        """Return one value of a list filter, with its label in the reader's language."""
        label = _value_text(name, value, self._localizer)
        return FilterChoice(value, label, count, chosen)

    def _build_field(self, name: str) -> FilterField:
        """Return the form field of a filter or of the two bounds of a range."""
        label = filter_label(name, self._localizer)
        filter_input = FILTERS.get(name)

        if name == "visibility":
            return WordsField(name, label, self.choices(name), kind="choice")
        if filter_input is FilterInput.WORDS:
            return WordsField(name, label, self.choices(name))
        if filter_input is FilterInput.TEXT:
            return TextField(name, label, self._entered_text(name))
        if filter_input is FilterInput.FLAG:
            return self._build_flag(name, label)
        # Only the two bounds of a range are filters, so the range itself is not among the filters.
        return self._build_range(name, label)

    def _build_flag(self, name: str, label: str) -> FlagField:
        """Return a flag with the number of records for each of its values."""
        counts = self._facets["flags"].get(name, {})
        return FlagField(
            name=name,
            label=label,
            value=self._entered_text(name),
            true=counts.get("true"),
            false=counts.get("false"),
            unknown=counts.get("unknown"),
        )

    def _build_range(self, name: str, label: str) -> RangeField:
        """Return a range with the lowest and the highest value among the matching records.

        Composite scores have no upper bound. Readers enter them in percent, but the API counts them in 0-1.
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
            minimum=self._entered_text(f"{name}_min"),
            maximum=self._entered_text(f"{name}_max") if has_upper_bound else None,
            low=lowest,
            high=highest,
        )

    def _entered_text(self, name: str) -> str:
        """Return the text of a filter that has only one, or an empty string if the filter is not set."""
        return self._state.filters.get(name, ("",))[0]


def _to_percent(share: float | None) -> float | None:
    """Return a share in 0-1 in percent, or None if it is unknown."""
    return None if share is None else 100 * share


def _contains_all(text: str, folded_words: list[str]) -> bool:
    """Return whether a string contains each of the words, which have been folded already."""
    folded_text = fold(text)
    return all(word in folded_text for word in folded_words)


def _without_bound(name: str) -> str:
    """Return the name of the range that a bound belongs to, or any other name unchanged."""
    return name.removesuffix("_min").removesuffix("_max")


def _chip_label(name: str, localizer: Localizer) -> str:
    """Return the label of a filter, with a sign after it if the filter is the bound of a range."""
    label = filter_label(_without_bound(name), localizer)
    if name.endswith("_min"):
        return f"{label} ≥"
    if name.endswith("_max"):
        return f"{label} ≤"
    return label


def _value_text(name: str, value: str, localizer: Localizer) -> str:
    """Return the value of a filter as readers see it, such as "yes" for the flag value `true`.

    Free texts stay as they are, and so does a value in the address that the filter does not accept.
    """
    if name.removesuffix("_min") in COMPOSITES:
        return f"{value} %"

    is_choice = value in CHOICES.get(name, ())
    if not is_choice:
        return value

    if FILTERS[name] is FilterInput.FLAG:
        return localizer.text("yes" if value == "true" else "no")
    return localizer.text(f"{name}_{value}")
