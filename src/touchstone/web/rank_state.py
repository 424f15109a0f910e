"""The whole state of the rank page as an address, and back: filters, weights, view, page, pins."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlencode

from touchstone.core.attributes import ATTRIBUTES, Kind

VIEWS: Final = ("heat", "bars", "table")
SHOWN: Final = 20  # datasets in one picture
MAX_PINS: Final = 5
MAX_PAGE: Final = 50_000
FULL: Final = 100  # the right end of a slider
WEIGHT: Final = "w."
NO_PROFILE: Final = "none"
COMPOSITES: Final = ("ethical_score", "technical_score", "popularity_score")
_LONGEST: Final = 200

Pairs = Iterable[tuple[str, str]]


class FilterKind(StrEnum):
    """How a filter is written in a form."""

    TEXT = "text"
    WORDS = "words"
    NUMBER = "number"
    FLAG = "flag"


def _filters() -> Mapping[str, FilterKind]:
    """Every filter of the page by the API's name, from the table of attributes."""
    found: dict[str, FilterKind] = {}
    for one in ATTRIBUTES:
        if one.kind in (Kind.INTEGER, Kind.PERCENTAGE):
            found |= {f"{one.name}_min": FilterKind.NUMBER, f"{one.name}_max": FilterKind.NUMBER}
        else:
            found[one.name] = FilterKind(one.kind)
    found["file_type"] = FilterKind.WORDS
    found["visibility"] = FilterKind.TEXT
    return found | {f"{name}_min": FilterKind.NUMBER for name in COMPOSITES}


FILTERS: Final = _filters()
# The filters that take one of a few values.
CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: ("true", "false") for name, kind in FILTERS.items() if kind is FilterKind.FLAG},
    "visibility": ("public", "private"),
}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What weights may be given to: the criteria in their order, and the slider positions of the named profiles."""

    criteria: tuple[str, ...]
    profiles: Mapping[str, Mapping[str, float]]
    default: str

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> "Vocabulary":
        """The vocabulary that the API describes."""
        criteria = tuple(one["name"] for one in described["criteria"])
        given = {
            one["name"]: {weight["criterion_name"]: weight["weight"] for weight in one["weights"]}
            for one in described["profiles"]
        }
        profiles = {
            profile: {name: _tidy(weights[name] * FULL) for name in criteria if weights.get(name)}
            for profile, weights in given.items()
        }
        return cls(criteria, profiles, next(one["name"] for one in described["profiles"] if one["default"]))

    def sliders(self, profile: str) -> dict[str, float]:
        """The slider positions of a profile; the default one's for a name that does not exist."""
        return dict(self.profiles.get(profile) or self.profiles[self.default])


@dataclass(frozen=True, slots=True, kw_only=True)
class RankState:
    """What the rank page shows. `weights` are slider positions in 0-100; `was` are the ids shown before, in order."""

    vocabulary: Vocabulary
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    view: str = VIEWS[0]
    page: int = 1
    pins: tuple[int, ...] = ()
    was: tuple[int, ...] = ()

    @classmethod
    def read(cls, pairs: Pairs, vocabulary: Vocabulary) -> "RankState":
        """The state that an address or a form describes; what nobody knows is left out."""
        given: dict[str, list[str]] = {}
        for name, value in pairs:
            if trimmed := value.strip()[:_LONGEST]:
                given.setdefault(name, []).append(trimmed)
        view = _first(given, "view")
        return cls(
            vocabulary=vocabulary,
            filters={name: tuple(dict.fromkeys(given[name])) for name in FILTERS if name in given},
            weights=_weights(given, vocabulary),
            view=view if view in VIEWS else VIEWS[0],
            page=min(max(1, integer(_first(given, "page")) or 1), MAX_PAGE),
            pins=_ids(given.get("pin", []), MAX_PINS),
            was=_ids(_first(given, "was").split("."), SHOWN),
        )

    @property
    def profile(self) -> str | None:
        """The name of the profile whose weights these are, if there is one."""
        return next((name for name, sliders in self.vocabulary.profiles.items() if sliders == self.weights), None)

    @property
    def shares(self) -> dict[str, float]:
        """Each criterion's effective share of the score, adding up to 1; nothing when all weigh nothing."""
        total = sum(self.weights.values())
        return {name: weight / total for name, weight in self.weights.items()} if total else {}

    def change(self, **changes: Any) -> "RankState":
        """The state with other values."""
        return replace(self, **changes)

    def without(self, name: str, value: str) -> "RankState":
        """The state without one value of one filter."""
        left = {n: tuple(v for v in values if (n, v) != (name, value)) for n, values in self.filters.items()}
        return replace(self, filters={n: values for n, values in left.items() if values}, page=1, was=())

    def query(self, **changes: Any) -> str:
        """The state as an address's query, `?…` or empty: the same state always gives the same text."""
        pairs = replace(self, **changes).pairs if changes else self.pairs
        return f"?{urlencode(pairs)}" if pairs else ""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The state as the fields of a form, in a fixed order."""
        pairs = [(name, value) for name in FILTERS for value in self.filters.get(name, ())]
        pairs += self._weight_pairs()
        pairs += [("view", self.view)] if self.view != VIEWS[0] else []
        pairs += [("page", str(self.page))] if self.page > 1 else []
        pairs += [("pin", str(pin)) for pin in self.pins]
        return pairs + ([("was", ".".join(map(str, self.was)))] if self.was else [])

    def _weight_pairs(self) -> list[tuple[str, str]]:
        profile = self.profile
        if profile is not None:
            return [] if profile == self.vocabulary.default else [("profile", profile)]
        if not self.weights:
            return [("profile", NO_PROFILE)]
        return [(WEIGHT + name, f"{self.weights[name]:g}") for name in self.vocabulary.criteria if name in self.weights]

    def filter_body(self) -> dict[str, Any]:
        """The filters as the API takes them.

        Raises:
            Misfit: the value of one cannot be read.
        """
        return {name: _typed(name, values) for name, values in self.filters.items()}

    @property
    def misfits(self) -> tuple[str, ...]:
        """The names of the filters whose value cannot be read."""
        return tuple(name for name, values in self.filters.items() if not _fits(name, values))

    def keeping(self, names: Iterable[str]) -> "RankState":
        """The state with these filters alone."""
        kept = frozenset(names)
        return replace(self, filters={name: values for name, values in self.filters.items() if name in kept})

    def weight_body(self) -> dict[str, float]:
        """The weights as the API takes them, by criterion, in 0-1."""
        return {name: float(Decimal(repr(weight)) / FULL) for name, weight in self.weights.items()}


# Other names by which a stored filter may be called (interface, section 4.2).
_ALIASES: Final[Mapping[str, str]] = {
    "instances_min": "instances_number_min",
    "instances_max": "instances_number_max",
    "features_min": "features_number_min",
    "features_max": "features_number_max",
    "split": "is_split",
    "is_anonymized": "anonymization_applied",
}


def stored(criteria: Mapping[str, Any], weights: Mapping[str, float], vocabulary: Vocabulary) -> RankState:
    """The state that shows stored filters and weights; without weights, the default profile's."""
    named = {_ALIASES.get(name, name): value for name, value in criteria.items()}
    filters = {name: _texts(name, value) for name, value in named.items() if name in FILTERS}
    return RankState(
        vocabulary=vocabulary,
        filters={name: filters[name] for name in FILTERS if filters.get(name)},
        weights=sliders_of(weights) or vocabulary.sliders(vocabulary.default),
    )


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, str):
        # Only a list is parted by its commas; a name or an objective may hold some.
        return tuple(value.split(",")) if FILTERS[name] is FilterKind.WORDS else (value,)
    values = value if isinstance(value, list) else (f"{value:.15g}",)
    return tuple(str(one) for one in values)


class Misfit(Exception):
    """A field of the form holds something that it cannot take; the argument is its name."""


def sliders_of(weights: Mapping[str, float]) -> dict[str, float]:
    """Slider positions for weights of any size: those that add up to about 1 as hundredths, larger ones scaled."""
    used = {name: weight for name, weight in weights.items() if weight > 0}
    largest = max(used.values(), default=0.0)
    factor = FULL if largest <= 1 else 1.0 if largest <= FULL else FULL / largest
    return {name: _tidy(weight * factor) for name, weight in used.items()}


def _weights(given: Mapping[str, list[str]], vocabulary: Vocabulary) -> dict[str, float]:
    profile = _first(given, "profile")
    moved = {name: _position(_first(given, WEIGHT + name)) for name in vocabulary.criteria if WEIGHT + name in given}
    if profile == NO_PROFILE:
        return {}
    if profile or not moved:
        return vocabulary.sliders(profile)
    return {name: weight for name, weight in moved.items() if weight > 0}


def _position(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        return 0.0
    return _tidy(min(max(number, 0.0), FULL)) if number == number else 0.0  # NaN differs from itself


def _tidy(number: float) -> float:
    return float(round(number, 4))


def _first(given: Mapping[str, list[str]], name: str) -> str:
    return given.get(name, [""])[0]


def integer(value: str) -> int | None:
    """Return the whole number that an address holds; None when it is not one."""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None


def _ids(values: Iterable[str], most: int) -> tuple[int, ...]:
    numbers = (integer(value) for value in values)
    return tuple(dict.fromkeys(number for number in numbers if number))[:most]


def _typed(name: str, values: tuple[str, ...]) -> Any:
    kind = FILTERS[name]
    if kind is FilterKind.WORDS:
        return list(values)
    if name in CHOICES and values[0] not in CHOICES[name]:
        raise Misfit(name)
    if kind is FilterKind.FLAG:
        return values[0] == "true"
    return _number(name, values[0]) if kind is FilterKind.NUMBER else values[0]


def _fits(name: str, values: tuple[str, ...]) -> bool:
    try:
        _typed(name, values)
    except Misfit:
        return False
    return True


def _number(name: str, value: str) -> int | float:
    try:
        # People write blanks between thousands and, in French, a decimal comma.
        number = Decimal("".join(value.split()).replace(",", "."))
    except InvalidOperation:
        raise Misfit(name) from None
    if not number.is_finite() or abs(number) > 10**15:
        raise Misfit(name)
    return int(number) if number == number.to_integral_value() else float(number)
