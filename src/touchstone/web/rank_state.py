"""The complete state of the rank page, and its conversion from and to the query of an address.

It consists of filters, gates, weights, the required level of evidence, the view, the page and the pinned datasets.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlencode

from touchstone.client import Project
from touchstone.core.comma_lists import split_at_commas
from touchstone.core.evidence import Assurance
from touchstone.core.text import fold
from touchstone.web.forms import is_integer
from touchstone.web.rank_filters import (
    FILTERS,
    FilterInput,
    canonical_filter_name,
    filters_from_criteria,
    is_valid_filter,
    parse_filter,
)
from touchstone.web.rank_gates import (
    GATE_PREFIX,
    GATES,
    canonical_gate_name,
    gates_from_project,
    is_valid_gate,
    parse_gate,
)
from touchstone.web.slider_positions import (
    WeightProfiles,
    is_position,
    parse_position,
    position_to_weight,
    weights_to_positions,
)

VIEWS: Final = ("heat", "bars", "table")
_DEFAULT_VIEW: Final = "heat"
# Unlike the API, the pages ignore undocumented declarations unless the reader asks for them.
DEFAULT_ASSURANCE: Final = Assurance.DOCUMENTED
PAGE_SIZE: Final = 20
MAX_PINS: Final = 5
_MAX_PAGE: Final = 50_000
WEIGHT_PREFIX: Final = "w."
TRACKING_PREFIX: Final = "utm_"  # begins the parameters that other sites add to links in order to count visits
_PREVIOUS_IDS: Final = "previous_ids"  # the parameter with the ids that the previous ranking showed
_NO_PROFILE: Final = "none"  # the profile in the address if all weights are zero

Pairs = Iterable[tuple[str, str]]  # the names and values of query parameters
Parameters = Mapping[str, list[str]]  # the values of each query parameter


@dataclass(frozen=True, slots=True, kw_only=True)
class RankState:
    """The complete state of the rank page.

    It is immutable and has exactly one canonical query, so that equal states have equal addresses.

    Attributes:
        weight_profiles: the criteria and profiles to choose from.
        filters: the entered values of each active filter, by filter name.
        gates: the entered value of each active gate, by gate name.
        passing_only: whether the ranking leaves out the datasets that do not pass every gate.
        slider_positions: the positions of the sliders in 0-100, by criterion; zeros are left out.
        assurance: the required level of evidence; values with weaker evidence count as unknown.
        view: how the ranking is shown: `heat`, `bars` or `table`.
        page: the page of the ranking, from 1.
        pins: the ids of the datasets to compare.
        with_robustness: whether the page shows how robust the first ranks are.
        previous_ids: the ids of the datasets in the previous ranking in order, to show how they have moved.
    """

    weight_profiles: WeightProfiles
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gates: Mapping[str, str] = field(default_factory=dict)
    passing_only: bool = False
    slider_positions: Mapping[str, float] = field(default_factory=dict)
    assurance: Assurance = DEFAULT_ASSURANCE
    view: str = _DEFAULT_VIEW
    page: int = 1
    pins: tuple[int, ...] = ()
    with_robustness: bool = False
    previous_ids: tuple[int, ...] = ()

    @classmethod
    def from_pairs(cls, pairs: Pairs, weight_profiles: WeightProfiles) -> "RankState":
        """Create a state from the parameters of an address or a form.

        Readers edit addresses by hand, so this never fails. Unknown parameters are ignored (`unknown_parameters` lists
        them), and invalid values are replaced by the default or the nearest valid value (`invalid_settings` lists
        them). Only filters and gates keep an invalid value, because the page says what is wrong with it. They may have
        any name that the API accepts.
        """
        parameters = _group_parameters(pairs)
        view = _first_value(parameters, "view")
        page = parse_small_integer(_first_value(parameters, "page")) or 1
        previous_ids = _first_value(parameters, _PREVIOUS_IDS).split(".")

        return cls(
            weight_profiles=weight_profiles,
            filters=_read_filters(parameters),
            gates=_read_gates(parameters),
            passing_only=_first_value(parameters, "gate") == "pass",
            slider_positions=_read_slider_positions(parameters, weight_profiles),
            assurance=_read_assurance(_first_value(parameters, "assurance")),
            view=view if view in VIEWS else _DEFAULT_VIEW,
            page=min(page, _MAX_PAGE),
            pins=_read_ids(parameters.get("pin", []), limit=MAX_PINS),
            with_robustness=_first_value(parameters, "robustness") == "yes",
            previous_ids=_read_ids(previous_ids, limit=PAGE_SIZE),
        )

    @classmethod
    def from_project(cls, project: Project, weight_profiles: WeightProfiles) -> "RankState":
        """Create the state that ranks datasets by the need of a project.

        The need consists of filters, gates, weights and a level of evidence. A project without weights uses the default
        profile. A project without a level of evidence uses `declared`, as in the API.

        Args:
            project: the project.
            weight_profiles: the criteria and the named weight profiles.
        """
        weights = {weight.criterion_name: weight.weight for weight in project.weights}
        positions = weights_to_positions(weights)
        if not positions:
            positions = weight_profiles.slider_positions(weight_profiles.default)

        return cls(
            weight_profiles=weight_profiles,
            filters=filters_from_criteria(project.criteria),
            gates=gates_from_project(project.gates),
            slider_positions=positions,
            assurance=project.assurance or Assurance.DECLARED,
        )

    @property
    def profile(self) -> str | None:
        """The name of the profile with exactly these weights, or None if there is none."""
        for name, positions in self.weight_profiles.profiles.items():
            if positions == self.slider_positions:
                return name
        return None

    @property
    def has_weights(self) -> bool:
        """Whether any criterion has a weight above zero."""
        return bool(self.slider_positions)

    @property
    def shares(self) -> dict[str, float]:
        """The share of each criterion in the score, or {} if all weights are zero.

        The shares add up to 1.
        """
        total = sum(self.slider_positions.values())
        if not total:
            return {}
        return {name: position / total for name, position in self.slider_positions.items()}

    def change(self, **changes: Any) -> "RankState":
        """Return a copy of the state with other values for the named attributes."""
        return replace(self, **changes)

    def without_filter_value(self, name: str, value: str) -> "RankState":
        """Return the state without one value of a filter, on the first page."""
        remaining_values = tuple(other_value for other_value in self.filters[name] if other_value != value)
        filters = {**self.filters, name: remaining_values}
        if not remaining_values:
            del filters[name]
        return replace(self, filters=filters, page=1, previous_ids=())

    def without_gate(self, name: str) -> "RankState":
        """Return the state without a gate, on the first page."""
        gates = {other_name: value for other_name, value in self.gates.items() if other_name != name}
        return replace(self, gates=gates, page=1, previous_ids=())

    def with_position(self, criterion: str, position: float) -> "RankState":
        """Return the state with one slider moved to another position, on the first page."""
        positions = {**self.slider_positions, criterion: position}
        # Equal states need equal positions, so they are in the order of the criteria, without zeros.
        positions = {name: positions[name] for name in self.weight_profiles.criteria if positions.get(name, 0.0) > 0}
        return replace(self, slider_positions=positions, page=1, previous_ids=())

    @property
    def joined_lists(self) -> tuple[str, ...]:
        """The names of the list filters with a single value that contains a comma.

        Such a value may consist of several values joined by commas.
        """
        return tuple(
            name
            for name, values in self.filters.items()
            if FILTERS[name] is FilterInput.WORDS and len(values) == 1 and "," in values[0]
        )

    def with_separate_words(self, known_values: Mapping[str, Iterable[str]]) -> "RankState":
        """Return the state with comma-separated list filters split into their values, as in the API.

        Args:
            known_values: the values in the catalog, by filter name. They are never split.
        """
        filters = dict(self.filters)
        for name in self.joined_lists:
            [joined_value] = filters[name]
            folded_known_values = {fold(value) for value in known_values.get(name, ())}
            words = split_at_commas(joined_value)
            if words and fold(joined_value) not in folded_known_values:
                filters[name] = tuple(dict.fromkeys(words))
        return replace(self, filters=filters)

    def with_filters_only(self, names: Iterable[str]) -> "RankState":
        """Return the state with only the named filters."""
        kept_names = frozenset(names)
        filters = {name: values for name, values in self.filters.items() if name in kept_names}
        return replace(self, filters=filters)

    def with_valid_requirements(self) -> "RankState":
        """Return the state without the filters and gates that have an invalid value."""
        invalid_filters = self.invalid_filters
        invalid_gates = self.invalid_gates
        filters = {name: values for name, values in self.filters.items() if name not in invalid_filters}
        gates = {name: value for name, value in self.gates.items() if name not in invalid_gates}
        return replace(self, filters=filters, gates=gates)

    def query(self, **changes: Any) -> str:
        """Return the canonical query of the state, which begins with `?` or is empty.

        Keyword arguments replace attributes of the state, as in `change`.
        """
        state = replace(self, **changes) if changes else self
        pairs = state.pairs
        return f"?{urlencode(pairs)}" if pairs else ""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The names and values of the query parameters that describe the state.

        They have a fixed order and defaults are left out, so that equal states have equal addresses.
        """
        pairs = self._filter_pairs() + self._gate_pairs() + self._weight_pairs()

        if self.assurance != DEFAULT_ASSURANCE:
            pairs.append(("assurance", self.assurance.value))
        if self.view != _DEFAULT_VIEW:
            pairs.append(("view", self.view))
        if self.page > 1:
            pairs.append(("page", str(self.page)))

        for dataset_id in self.pins:
            pairs.append(("pin", str(dataset_id)))

        if self.with_robustness:
            pairs.append(("robustness", "yes"))
        if self.previous_ids:
            joined_ids = ".".join(str(dataset_id) for dataset_id in self.previous_ids)
            pairs.append((_PREVIOUS_IDS, joined_ids))
        return pairs

    def _filter_pairs(self) -> list[tuple[str, str]]:
        """Return one parameter for each value of each filter, in the order of the form."""
        return [(name, value) for name in FILTERS for value in self.filters.get(name, ())]

    def _gate_pairs(self) -> list[tuple[str, str]]:
        """Return the parameters for the gates, and for showing only datasets that pass all of them."""
        pairs = [(GATE_PREFIX + name, self.gates[name]) for name in GATES if name in self.gates]
        if self.passing_only:
            pairs.append(("gate", "pass"))
        return pairs

    def _weight_pairs(self) -> list[tuple[str, str]]:
        """Return the parameters for the weights.

        If a profile has exactly these weights, its name is the only parameter. The default profile needs no parameter.
        Other weights have one parameter each.
        """
        profile = self.profile
        if profile == self.weight_profiles.default:
            return []
        if profile is not None:
            return [("profile", profile)]
        if not self.has_weights:
            return [("profile", _NO_PROFILE)]

        weighted_names = [name for name in self.weight_profiles.criteria if name in self.slider_positions]
        return [(WEIGHT_PREFIX + name, f"{self.slider_positions[name]:g}") for name in weighted_names]

    @property
    def invalid_filters(self) -> tuple[str, ...]:
        """The names of the filters with invalid values."""
        return tuple(name for name, values in self.filters.items() if not is_valid_filter(name, values))

    @property
    def invalid_gates(self) -> tuple[str, ...]:
        """The names of the gates with invalid values."""
        return tuple(name for name, value in self.gates.items() if not is_valid_gate(name, value))

    def ranking_arguments(self) -> dict[str, Any]:
        """Return the arguments of the client's methods that rank datasets as this state describes.

        Raises:
            InvalidFilterValue: a filter or a gate has an invalid value.
        """
        return {
            "filters": self.filter_body(),
            "weights": self.weight_body(),
            "gates": self.gate_body(),
            "gate": self.gate_mode,
            "assurance": self.assurance,
        }

    def filter_body(self) -> dict[str, Any]:
        """Return the filters as the API expects them.

        Raises:
            InvalidFilterValue: a filter has an invalid value.
        """
        return {name: parse_filter(name, values) for name, values in self.filters.items()}

    def gate_body(self) -> dict[str, Any]:
        """Return the gates as the API expects them.

        Raises:
            InvalidFilterValue: a gate has an invalid value.
        """
        return {name: parse_gate(name, value) for name, value in self.gates.items()}

    @property
    def gate_mode(self) -> Literal["pass", "all"]:
        """The gate mode of the API.

        `pass` ranks only the datasets that pass every gate, and `all` ranks all datasets.
        """
        return "pass" if self.passing_only else "all"

    def weight_body(self) -> dict[str, float]:
        """Return the weight of each criterion in 0-1, as the API expects them."""
        return {name: position_to_weight(position) for name, position in self.slider_positions.items()}


def known_parameters(weight_profiles: WeightProfiles) -> tuple[str, ...]:
    """Return the names of all parameters of a state."""
    gate_names = (GATE_PREFIX + name for name in GATES)
    weight_names = (WEIGHT_PREFIX + name for name in weight_profiles.criteria)
    settings = ("profile", "assurance", "view", "page", "pin", "gate", "robustness", _PREVIOUS_IDS)
    return (*FILTERS, *gate_names, *weight_names, *settings)


def unknown_parameters(pairs: Pairs, weight_profiles: WeightProfiles) -> tuple[str, ...]:
    """Return the names of parameters that a state does not have, such as misspelt filters.

    Tracking parameters are left out, because other sites add them to links.
    """
    known_names = frozenset(known_parameters(weight_profiles))
    unknown_names = (name for name in _group_parameters(pairs) if name not in known_names)
    return tuple(name for name in unknown_names if not name.startswith(TRACKING_PREFIX))


class InvalidSetting(NamedTuple):
    """A parameter of an address with an invalid value, which the state replaces by another value.

    Attributes:
        name, value: the parameter, and its value in the address.
        accepted: the values that it accepts; empty for a number.
    """

    name: str
    value: str
    accepted: tuple[str, ...] = ()


def invalid_settings(pairs: Pairs, weight_profiles: WeightProfiles) -> tuple[InvalidSetting, ...]:
    """Return the parameters with values that a state replaces because they are invalid.

    Filters and gates are not among them, because the state keeps their invalid values.
    """
    choices = {
        "profile": (*weight_profiles.profiles, _NO_PROFILE),
        "assurance": tuple(level.value for level in Assurance),
        "view": VIEWS,
        "gate": ("pass", "all"),
        "robustness": ("yes", "no"),
    }
    slider_parameters = frozenset(WEIGHT_PREFIX + name for name in weight_profiles.criteria)

    def is_valid(name: str, value: str) -> bool:
        if name in choices:
            return value in choices[name]
        if name in slider_parameters:
            return is_position(value)
        if name in ("page", "pin"):
            return bool(parse_small_integer(value))
        return True

    settings = []
    for name, values in _group_parameters(pairs).items():
        accepted = choices.get(name, ())
        settings += [InvalidSetting(name, value, accepted) for value in values if not is_valid(name, value)]
    return tuple(settings)


def parse_small_integer(text: str) -> int | None:
    """Convert a string of at most nine digits to an integer, or return None for any other string."""
    return int(text) if is_integer(text) else None


def _group_parameters(pairs: Pairs) -> dict[str, list[str]]:
    """Return the non-empty values of each parameter by name, without surrounding blanks.

    Alternative names of filters and gates are replaced by the names that the form uses.
    """
    parameters: dict[str, list[str]] = {}
    for name, value in pairs:
        stripped_value = value.strip()
        if stripped_value:
            parameters.setdefault(_canonical_parameter_name(name), []).append(stripped_value)
    return parameters


def _canonical_parameter_name(name: str) -> str:
    """Replace an alternative name of a filter or a gate by the name that the form uses."""
    if name.startswith(GATE_PREFIX):
        gate_name = name.removeprefix(GATE_PREFIX)
        return GATE_PREFIX + canonical_gate_name(gate_name)
    return canonical_filter_name(name)


def _read_filters(parameters: Parameters) -> dict[str, tuple[str, ...]]:
    """Return the distinct values of each active filter, in the order of the form."""
    return {name: tuple(dict.fromkeys(parameters[name])) for name in FILTERS if name in parameters}


def _read_gates(parameters: Parameters) -> dict[str, str]:
    """Return the value of each active gate, in the order of the form."""
    return {name: parameters[GATE_PREFIX + name][0] for name in GATES if GATE_PREFIX + name in parameters}


def _read_slider_positions(parameters: Parameters, weight_profiles: WeightProfiles) -> dict[str, float]:
    """Return the slider positions in the parameters, without zeros.

    A named profile takes precedence over sliders, because the button that selects a profile submits all sliders as
    well. Without a profile and sliders, the default profile applies.
    """
    profile = _first_value(parameters, "profile")
    if profile == _NO_PROFILE:
        return {}

    slider_names = [name for name in weight_profiles.criteria if WEIGHT_PREFIX + name in parameters]
    if profile or not slider_names:
        return weight_profiles.slider_positions(profile)

    positions = {}
    for name in slider_names:
        position = parse_position(_first_value(parameters, WEIGHT_PREFIX + name))
        if position > 0:
            positions[name] = position
    return positions


def _read_assurance(text: str) -> Assurance:
    """Return the level of evidence with this name, or the default for an unknown name."""
    try:
        return Assurance(text)
    except ValueError:
        return DEFAULT_ASSURANCE


def _first_value(parameters: Parameters, name: str) -> str:
    """Return the first value of a parameter, or an empty string if there is none."""
    return parameters.get(name, [""])[0]


def _read_ids(values: Iterable[str], *, limit: int) -> tuple[int, ...]:
    """Return the first `limit` distinct positive ids among the strings, in their order."""
    dataset_ids = (parse_small_integer(value) for value in values)
    distinct_ids = dict.fromkeys(dataset_id for dataset_id in dataset_ids if dataset_id)
    return tuple(distinct_ids)[:limit]
