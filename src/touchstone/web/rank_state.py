"""The complete state of the rank page as the query of an address, and back: filters, weights, view, page, pins."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final
from urllib.parse import urlencode

from touchstone.web.forms import is_integer
from touchstone.web.rank_filters import FILTERS, filters_of_criteria, is_valid_filter, parse_filter

VIEWS: Final = ("heat", "bars", "table")
PAGE_SIZE: Final = 20
MAX_PINS: Final = 5
_MAX_PAGE: Final = 50_000
_MAX_VALUE_LENGTH: Final = 200
_SLIDER_MAX: Final = 100
_WEIGHT_PREFIX: Final = "w."
_NO_PROFILE: Final = "none"

Pairs = Iterable[tuple[str, str]]
Parameters = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class WeightProfiles:
    """The criteria that can be weighted, and the named profiles of weights.

    Attributes:
        criteria: The names of the criteria in their order.
        profiles: The slider positions (0-100) of each profile, by criterion; zeros are left out.
        default: The name of the default profile.
    """

    criteria: tuple[str, ...]
    profiles: Mapping[str, Mapping[str, float]]
    default: str

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> "WeightProfiles":
        """Return the criteria and profiles that the API describes."""
        criteria = tuple(criterion["name"] for criterion in description["criteria"])
        profiles = {}
        default = ""
        for profile in description["profiles"]:
            weights = {weight["criterion_name"]: weight["weight"] for weight in profile["weights"]}
            profiles[profile["name"]] = {
                name: _round_position(weights[name] * _SLIDER_MAX) for name in criteria if weights.get(name)
            }
            if profile["default"]:
                default = profile["name"]
        return cls(criteria, profiles, default)

    def positions(self, profile: str) -> dict[str, float]:
        """Return the slider positions of a profile; those of the default profile if there is none of that name."""
        return dict(self.profiles.get(profile) or self.profiles[self.default])


@dataclass(frozen=True, slots=True, kw_only=True)
class RankState:
    """What the rank page shows.

    Attributes:
        weight_profiles: The criteria and profiles to choose from.
        filters: The texts of the filters that are set, by name.
        weights: The slider positions in 0-100, by criterion; zeros are left out.
        view: The way in which the ranking is shown.
        page: The page of the ranking, from 1.
        pins: The ids of the datasets to compare.
        previous_ids: The ids that the previous ranking showed, in order, to compare the ranks with.
    """

    weight_profiles: WeightProfiles
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    view: str = VIEWS[0]
    page: int = 1
    pins: tuple[int, ...] = ()
    previous_ids: tuple[int, ...] = ()

    @classmethod
    def from_pairs(cls, pairs: Pairs, weight_profiles: WeightProfiles) -> "RankState":
        """Return the state that the parameters of an address or a form describe; unknown ones are ignored."""
        parameters: dict[str, list[str]] = {}
        for name, value in pairs:
            trimmed = value.strip()[:_MAX_VALUE_LENGTH]
            if trimmed:
                parameters.setdefault(name, []).append(trimmed)

        view = _first_value(parameters, "view")
        page = parse_small_integer(_first_value(parameters, "page")) or 1
        return cls(
            weight_profiles=weight_profiles,
            filters={name: tuple(dict.fromkeys(parameters[name])) for name in FILTERS if name in parameters},
            weights=_read_weights(parameters, weight_profiles),
            view=view if view in VIEWS else VIEWS[0],
            page=min(page, _MAX_PAGE),
            pins=_read_ids(parameters.get("pin", []), MAX_PINS),
            previous_ids=_read_ids(_first_value(parameters, "was").split("."), PAGE_SIZE),
        )

    @classmethod
    def of_project(
        cls, criteria: Mapping[str, Any], weights: Mapping[str, float], weight_profiles: WeightProfiles
    ) -> "RankState":
        """Return the state that shows a project's filters and weights; without weights, the default profile's."""
        return cls(
            weight_profiles=weight_profiles,
            filters=filters_of_criteria(criteria),
            weights=slider_positions(weights) or weight_profiles.positions(weight_profiles.default),
        )

    @property
    def profile(self) -> str | None:
        """Return the name of the profile with exactly these weights, if there is one."""
        for name, positions in self.weight_profiles.profiles.items():
            if positions == self.weights:
                return name
        return None

    @property
    def shares(self) -> dict[str, float]:
        """Return each criterion's share of the score; the shares add up to 1. Empty if all weights are zero."""
        total = sum(self.weights.values())
        return {name: weight / total for name, weight in self.weights.items()} if total else {}

    def change(self, **changes: Any) -> "RankState":
        """Return the state with other values."""
        return replace(self, **changes)

    def without_filter_value(self, name: str, value: str) -> "RankState":
        """Return the state without one value of a filter, on the first page."""
        filters = {}
        for filter_name, texts in self.filters.items():
            remaining = tuple(text for text in texts if (filter_name, text) != (name, value))
            if remaining:
                filters[filter_name] = remaining
        return replace(self, filters=filters, page=1, previous_ids=())

    def with_filters_only(self, names: Iterable[str]) -> "RankState":
        """Return the state without any other filters than the named ones."""
        selected = frozenset(names)
        return replace(self, filters={name: texts for name, texts in self.filters.items() if name in selected})

    def query(self, **changes: Any) -> str:
        """Return the query of the state (`?...` or empty), after changes; equal states have equal queries."""
        pairs = (replace(self, **changes) if changes else self).pairs
        return f"?{urlencode(pairs)}" if pairs else ""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return the state as parameters in a fixed order, without those that have their default value."""
        pairs = [(name, text) for name in FILTERS for text in self.filters.get(name, ())]
        pairs += self._weight_pairs()
        if self.view != VIEWS[0]:
            pairs.append(("view", self.view))
        if self.page > 1:
            pairs.append(("page", str(self.page)))
        pairs += [("pin", str(pin)) for pin in self.pins]
        if self.previous_ids:
            pairs.append(("was", ".".join(map(str, self.previous_ids))))
        return pairs

    def _weight_pairs(self) -> list[tuple[str, str]]:
        profile = self.profile
        if profile is not None:
            return [] if profile == self.weight_profiles.default else [("profile", profile)]
        if not self.weights:
            return [("profile", _NO_PROFILE)]
        return [
            (_WEIGHT_PREFIX + name, f"{self.weights[name]:g}")
            for name in self.weight_profiles.criteria
            if name in self.weights
        ]

    @property
    def invalid_filters(self) -> tuple[str, ...]:
        """Return the names of the filters that do not accept their value."""
        return tuple(name for name, texts in self.filters.items() if not is_valid_filter(name, texts))

    def filter_body(self) -> dict[str, Any]:
        """Return the filters as the API expects them.

        Raises:
            InvalidFilterValue: A filter does not accept its value.
        """
        return {name: parse_filter(name, texts) for name, texts in self.filters.items()}

    def weight_body(self) -> dict[str, float]:
        """Return the weights as the API expects them: in 0-1, by criterion."""
        # The division is decimal, so that 7 becomes 0.07 and not 0.07000000000000001.
        return {name: float(Decimal(repr(weight)) / _SLIDER_MAX) for name, weight in self.weights.items()}


def slider_positions(weights: Mapping[str, float]) -> dict[str, float]:
    """Return slider positions for positive weights: percentages if all are at most 1, else at most 100."""
    positive = {name: weight for name, weight in weights.items() if weight > 0}
    largest = max(positive.values(), default=0.0)

    if largest <= 1:
        factor = float(_SLIDER_MAX)
    elif largest <= _SLIDER_MAX:
        factor = 1.0
    else:
        factor = _SLIDER_MAX / largest
    return {name: _round_position(weight * factor) for name, weight in positive.items()}


def parse_small_integer(text: str) -> int | None:
    """Return a text of at most nine digits as a number; None for any other text."""
    return int(text) if is_integer(text) else None


def _read_weights(parameters: Parameters, weight_profiles: WeightProfiles) -> dict[str, float]:
    """Return the weights of the profile that the parameters name, else those of the sliders."""
    profile = _first_value(parameters, "profile")
    if profile == _NO_PROFILE:
        return {}

    positions = {
        name: _read_position(_first_value(parameters, _WEIGHT_PREFIX + name))
        for name in weight_profiles.criteria
        if _WEIGHT_PREFIX + name in parameters
    }
    if profile or not positions:
        return weight_profiles.positions(profile)
    return {name: position for name, position in positions.items() if position > 0}


def _read_position(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    if math.isnan(number):
        return 0.0
    return _round_position(min(max(number, 0.0), float(_SLIDER_MAX)))


def _round_position(number: float) -> float:
    return float(round(number, 4))


def _first_value(parameters: Parameters, name: str) -> str:
    return parameters.get(name, [""])[0]


def _read_ids(texts: Iterable[str], limit: int) -> tuple[int, ...]:
    """Return the first `limit` distinct positive ids among the texts."""
    numbers = (parse_small_integer(text) for text in texts)
    return tuple(dict.fromkeys(number for number in numbers if number))[:limit]
