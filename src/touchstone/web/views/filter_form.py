"""The filter form: its groups, what is chosen, and how many records each choice would find."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.attributes import ATTRIBUTES, BY_NAME, ETHICAL, Kind
from touchstone.core.text import fold
from touchstone.web.rank_state import CHOICES, COMPOSITES, FILTERS, FilterKind, RankState
from touchstone.web.rendering import Speech

MANY: Final = 8  # values of one list shown before the rest is folded away
MOST: Final = 120  # values folded away; the page of the list has all of them
PAGE_OF_VALUES: Final = 100  # values on one page of the list


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a list in words, how many records have it (None: not counted), and whether it is chosen."""

    value: str
    label: str
    count: int | None
    chosen: bool


@dataclass(frozen=True, slots=True)
class WordsField:
    """A list of values to tick."""

    name: str
    label: str
    choices: tuple[Choice, ...]
    kind: str = "words"

    @property
    def first(self) -> tuple[Choice, ...]:
        """Those always shown: the chosen ones and the most frequent."""
        chosen = [choice for choice in self.choices if choice.chosen]
        return tuple(chosen + [choice for choice in self.choices if not choice.chosen][: max(0, MANY - len(chosen))])

    @property
    def rest(self) -> tuple[Choice, ...]:
        """Those folded away, the most frequent of them."""
        shown = {choice.value for choice in self.first}
        return tuple(choice for choice in self.choices if choice.value not in shown)[:MOST]

    @property
    def more(self) -> int:
        """How many values there are besides those always shown."""
        return len(self.choices) - len(self.first)

    @property
    def searchable(self) -> bool:
        """Whether there may be values that are not shown: a chosen value hides those that never occur beside it."""
        return bool(self.rest) or any(choice.chosen for choice in self.choices)


@dataclass(frozen=True, slots=True)
class ValueSearch:
    """What a reader asks of the values of a filter: those that contain a text, and which page of them."""

    name: str
    text: str
    number: int


@dataclass(frozen=True, slots=True)
class ValueList:
    """One page of all the values of a list, those that match a search.

    Attributes:
        chosen: the chosen values, on every page and whatever is searched for.
        choices: the other values that match, on this page.
        matching_count: the number of other values that match, on all pages.
        total_count: the number of values, chosen or not.
        number: the number of this page.
        last: the number of the last page.
    """

    name: str
    label: str
    search: str
    chosen: tuple[Choice, ...]
    choices: tuple[Choice, ...]
    matching_count: int
    total_count: int
    number: int
    last: int


@dataclass(frozen=True, slots=True)
class TextField:
    """A text that the value contains."""

    name: str
    label: str
    value: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class RangeField:
    """A smallest and a largest number; `low` and `high` are those found among the matching records."""

    name: str
    label: str
    minimum: str
    maximum: str | None  # None: only a floor can be given
    low: float | None
    high: float | None
    kind: str = "range"


@dataclass(frozen=True, slots=True)
class FlagField:
    """Assessed and true, assessed and false, or not assessed: three states, kept apart."""

    name: str
    label: str
    value: str
    true: int | None
    false: int | None
    unknown: int | None
    kind: str = "flag"


Field = WordsField | TextField | RangeField | FlagField


@dataclass(frozen=True, slots=True)
class Group:
    """A part of the form; `active` counts the filters set in it."""

    name: str
    fields: tuple[Field, ...]
    active: int


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter that is set, in words, the address without it, and the key of its field."""

    label: str
    value: str
    remove: str
    key: str


_SUBJECT: Final = ("dataset_name", "objective", "domain", "task", "file_type", "visibility")
_SIZE: Final = ("year", "instances_number", "features_number", "citations")
_QUALITY: Final = ("technical_score", "popularity_score", "missing_values_percentage")
_QUALITY_FLAGS: Final = tuple(a.name for a in ATTRIBUTES if a.kind is Kind.FLAG and not a.ethical)
_GROUPS: Final = (
    ("subject", _SUBJECT),
    ("size", _SIZE),
    ("quality", (*_QUALITY, *_QUALITY_FLAGS)),
    ("ethics", ("ethical_score", *ETHICAL)),
)


@dataclass(frozen=True, slots=True)
class _Filling:
    """What the form is filled with."""

    state: RankState
    facets: Mapping[str, Any]
    speech: Speech


def groups(state: RankState, facets: Mapping[str, Any], speech: Speech) -> tuple[Group, ...]:
    """The whole form."""
    filling = _Filling(state, facets, speech)
    return tuple(_group(name, names, filling) for name, names in _GROUPS)


def value_list(search: ValueSearch, state: RankState, facets: Mapping[str, Any], speech: Speech) -> ValueList:
    """Return a page of the values of a list, of which each word of the search is a part, ignoring case and accents.

    The facets are to be counted without the filter of this list: a choice adds its records to those of the others.
    """
    choices = _choices(search.name, _Filling(state, facets, speech))
    words = fold(search.text).split()
    matching = [choice for choice in choices if not choice.chosen and all(word in fold(choice.label) for word in words)]

    last = max(1, -(-len(matching) // PAGE_OF_VALUES))
    number = min(max(1, search.number), last)
    return ValueList(
        name=search.name,
        label=label_of(search.name, speech),
        search=search.text,
        chosen=tuple(choice for choice in choices if choice.chosen),
        choices=tuple(matching[(number - 1) * PAGE_OF_VALUES : number * PAGE_OF_VALUES]),
        matching_count=len(matching),
        total_count=len(choices),
        number=number,
        last=last,
    )


def label_of(name: str, speech: Speech) -> str:
    """The label of an attribute, or of a composite score, for people."""
    return speech.attribute(name) if name in BY_NAME else speech.text(f"rank_{name}")


def chips(state: RankState, speech: Speech) -> tuple[Chip, ...]:
    """Every filter that is set."""
    return tuple(
        Chip(
            label=_chip_label(name, speech),
            value=_said(name, value, speech),
            remove=state.without(name, value).query(),
            key=f"{name}={value}" if FILTERS[name] is FilterKind.WORDS else name,
        )
        for name, values in state.filters.items()
        for value in values
    )


def misfit_said(name: str, speech: Speech) -> str:
    """What to write into a filter that holds something that it cannot take."""
    key = "rank_not_a_number" if FILTERS[name] is FilterKind.NUMBER else "rank_not_a_choice"
    return speech.text(key, name=label_of(_base(name), speech))


def _base(name: str) -> str:
    return name.removesuffix("_min").removesuffix("_max")


def _chip_label(name: str, speech: Speech) -> str:
    sign = " ≥" if name.endswith("_min") else " ≤" if name.endswith("_max") else ""
    return label_of(_base(name), speech) + sign


def _said(name: str, value: str, speech: Speech) -> str:
    if name in CHOICES:
        return _choice_said(name, value, speech)
    return f"{value} %" if name.removesuffix("_min") in COMPOSITES else value


def _choice_said(name: str, value: str, speech: Speech) -> str:
    """A value of a few in words; one that a stranger's link holds as it is."""
    if value not in CHOICES[name]:
        return value
    if FILTERS[name] is FilterKind.FLAG:
        return speech.text("yes" if value == "true" else "no")
    return speech.text(f"{name}_{value}")


def _group(name: str, names: tuple[str, ...], filling: _Filling) -> Group:
    fields = tuple(_field(one, filling) for one in names)
    keys = {key for one in names for key in (one, f"{one}_min", f"{one}_max")}
    return Group(name, fields, sum(len(values) for key, values in filling.state.filters.items() if key in keys))


def _field(name: str, filling: _Filling) -> Field:
    state, facets = filling.state, filling.facets
    label, kind = label_of(name, filling.speech), FILTERS.get(name)
    if kind is FilterKind.WORDS or name == "visibility":
        choices = _choices(name, filling)
        return WordsField(name, label, choices, "words" if kind is FilterKind.WORDS else "choice")
    if kind is FilterKind.TEXT:
        return TextField(name, label, _given(state, name))
    if kind is FilterKind.FLAG:
        counts = facets["flags"].get(name, {})
        true, false, unknown = (counts.get(key) for key in ("true", "false", "unknown"))
        return FlagField(name, label, _given(state, name), true, false, unknown)
    return _range(name, label, filling)


def _range(name: str, label: str, filling: _Filling) -> RangeField:
    state, ends = filling.state, filling.facets["ranges"].get(name) or {}
    scale = 100 if name in COMPOSITES else 1
    low, high = (None if ends.get(end) is None else ends[end] * scale for end in ("min", "max"))
    maximum = _given(state, f"{name}_max") if f"{name}_max" in FILTERS else None
    return RangeField(name, label, _given(state, f"{name}_min"), maximum, low, high)


def _given(state: RankState, name: str) -> str:
    return state.filters.get(name, ("",))[0]


def _choices(name: str, filling: _Filling) -> tuple[Choice, ...]:
    wanted = {fold(value): value for value in filling.state.filters.get(name, ())}
    counts = {str(row["value"]): row["count"] for row in filling.facets["values"].get(name, ()) if row["value"]}
    known = {fold(value) for value in counts}
    lost = {value: 0 for key, value in wanted.items() if key not in known}
    return tuple(
        Choice(value, _said(name, value, filling.speech), count, fold(value) in wanted)
        for value, count in (lost | counts).items()
    )
