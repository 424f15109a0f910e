"""The filter form: groups of fields, the chosen values, and how many records each choice would find."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.attributes import ATTRIBUTES, BY_NAME, ETHICAL, Kind
from touchstone.core.text import fold
from touchstone.web.localization import Localizer
from touchstone.web.rank_filters import CHOICES, COMPOSITES, FILTERS, FilterInput
from touchstone.web.rank_state import RankState

_ALWAYS_SHOWN: Final = 8  # values of a list that are shown before the others are folded away
_MAX_FOLDED: Final = 120  # values that are folded away; the list's own page has all of them
_PAGE_SIZE: Final = 100  # values on one page of a list


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """One value of a list, the number of records that have it (None: not counted), and whether it is chosen."""

    value: str
    label: str
    count: int | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class WordsField:
    """A list of values to tick or, with the kind `choice`, to select one from."""

    name: str
    label: str
    choices: tuple[FilterChoice, ...]
    kind: str = "words"

    @property
    def first(self) -> tuple[FilterChoice, ...]:
        """Return the choices that are always shown: the chosen and the most frequent ones."""
        chosen = [choice for choice in self.choices if choice.chosen]
        others = [choice for choice in self.choices if not choice.chosen]
        return (*chosen, *others[: max(0, _ALWAYS_SHOWN - len(chosen))])

    @property
    def rest(self) -> tuple[FilterChoice, ...]:
        """Return the most frequent of the remaining choices, which are folded away."""
        first_values = {choice.value for choice in self.first}
        return tuple(choice for choice in self.choices if choice.value not in first_values)[:_MAX_FOLDED]

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
    """A flag with the numbers of records for which it is true, false and not assessed."""

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
    """A group of fields, and the number of filters that are set in it."""

    name: str
    fields: tuple[FilterField, ...]
    active: int


@dataclass(frozen=True, slots=True)
class FilterChip:
    """One filter that is set: its label and value, the address without it, and the key of its field."""

    label: str
    value: str
    remove: str
    key: str


_QUALITY_FLAGS: Final = tuple(
    attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.FLAG and not attribute.ethical
)
_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "subject": ("dataset_name", "objective", "domain", "task", "file_type", "visibility"),
    "size": ("year", "instances_number", "features_number", "citations"),
    "quality": ("technical_score", "popularity_score", "missing_values_percentage", *_QUALITY_FLAGS),
    "ethics": ("ethical_score", *ETHICAL),
}


def filter_groups(state: RankState, facets: Mapping[str, Any], localizer: Localizer) -> tuple[FilterGroup, ...]:
    """Return the whole form, with the counts and ranges of the API's facets."""
    builder = _FormBuilder(state, facets, localizer)
    return tuple(builder.group(name, fields) for name, fields in _GROUPS.items())


def list_values(search: ValueSearch, state: RankState, facets: Mapping[str, Any], localizer: Localizer) -> ValueList:
    """Return a page of the values that contain each word of a search, ignoring case and accents.

    The facets must be counted without this filter, because ticking a value adds its records to those of the others.
    """
    choices = _FormBuilder(state, facets, localizer).choices(search.name)
    words = fold(search.text).split()
    matching = [choice for choice in choices if not choice.chosen and _contains_all(choice.label, words)]

    pages = max(1, -(-len(matching) // _PAGE_SIZE))
    page = min(max(1, search.page), pages)
    start = (page - 1) * _PAGE_SIZE
    return ValueList(
        name=search.name,
        label=filter_label(search.name, localizer),
        search=search.text,
        chosen=tuple(choice for choice in choices if choice.chosen),
        choices=tuple(matching[start : start + _PAGE_SIZE]),
        matching_count=len(matching),
        page=page,
        pages=pages,
    )


def filter_chips(state: RankState, localizer: Localizer) -> tuple[FilterChip, ...]:
    """Return every filter that is set, one chip for each value."""
    chips = []
    for name, values in state.filters.items():
        for value in values:
            chip = FilterChip(
                label=_chip_label(name, localizer),
                value=_value_text(name, value, localizer),
                remove=state.without_filter_value(name, value).query(),
                key=f"{name}={value}" if FILTERS[name] is FilterInput.WORDS else name,
            )
            chips.append(chip)
    return tuple(chips)


def filter_label(name: str, localizer: Localizer) -> str:
    """Return the label of an attribute or a composite score."""
    return localizer.attribute(name) if name in BY_NAME else localizer.text(f"rank_{name}")


def invalid_filter_message(name: str, localizer: Localizer) -> str:
    """Return what to enter into a filter that does not accept its value."""
    key = "rank_not_a_number" if FILTERS[name] is FilterInput.NUMBER else "rank_not_a_choice"
    return localizer.text(key, name=filter_label(_without_bound(name), localizer))


class _FormBuilder:
    """Builds the fields of the form from the state and the facets."""

    def __init__(self, state: RankState, facets: Mapping[str, Any], localizer: Localizer) -> None:
        self._state = state
        self._facets = facets
        self._localizer = localizer

    def group(self, name: str, field_names: tuple[str, ...]) -> FilterGroup:
        """Return a group of fields."""
        fields = tuple(self._field(field_name) for field_name in field_names)
        active = 0
        for filter_name, values in self._state.filters.items():
            if filter_name in field_names or _without_bound(filter_name) in field_names:
                active += len(values)
        return FilterGroup(name, fields, active)

    def choices(self, name: str) -> tuple[FilterChoice, ...]:
        """Return the values of a list; chosen ones that no record has come first."""
        chosen = {fold(value): value for value in self._state.filters.get(name, ())}
        facet = self._facets["values"].get(name, ())
        counts = {str(entry["value"]): entry["count"] for entry in facet if entry["value"]}

        counted = {fold(value) for value in counts}
        without_records = {value: 0 for key, value in chosen.items() if key not in counted}
        return tuple(
            FilterChoice(value, _value_text(name, value, self._localizer), count, fold(value) in chosen)
            for value, count in (without_records | counts).items()
        )

    def _field(self, name: str) -> FilterField:
        label = filter_label(name, self._localizer)
        kind = FILTERS.get(name)  # a range has no filter of its own name

        if kind is FilterInput.WORDS:
            return WordsField(name, label, self.choices(name))
        if name == "visibility":
            return WordsField(name, label, self.choices(name), kind="choice")
        if kind is FilterInput.TEXT:
            return TextField(name, label, self._text(name))
        if kind is FilterInput.FLAG:
            counts = self._facets["flags"].get(name, {})
            return FlagField(
                name, label, self._text(name), counts.get("true"), counts.get("false"), counts.get("unknown")
            )
        return self._range(name, label)

    def _range(self, name: str, label: str) -> RangeField:
        facet = self._facets["ranges"].get(name) or {}
        scale = 100 if name in COMPOSITES else 1  # composite scores are entered in percent
        low, high = facet.get("min"), facet.get("max")
        return RangeField(
            name=name,
            label=label,
            minimum=self._text(f"{name}_min"),
            maximum=self._text(f"{name}_max") if f"{name}_max" in FILTERS else None,
            low=None if low is None else low * scale,
            high=None if high is None else high * scale,
        )

    def _text(self, name: str) -> str:
        return self._state.filters.get(name, ("",))[0]


def _contains_all(text: str, folded_words: list[str]) -> bool:
    folded = fold(text)
    return all(word in folded for word in folded_words)


def _without_bound(name: str) -> str:
    return name.removesuffix("_min").removesuffix("_max")


def _chip_label(name: str, localizer: Localizer) -> str:
    label = filter_label(_without_bound(name), localizer)
    if name.endswith("_min"):
        return f"{label} ≥"
    if name.endswith("_max"):
        return f"{label} ≤"
    return label


def _value_text(name: str, value: str, localizer: Localizer) -> str:
    """Return the value of a filter in words."""
    if name.removesuffix("_min") in COMPOSITES:
        return f"{value} %"
    if value not in CHOICES.get(name, ()):
        return value  # a free text, or an invalid choice in the address
    if FILTERS[name] is FilterInput.FLAG:
        return localizer.text("yes" if value == "true" else "no")
    return localizer.text(f"{name}_{value}")
