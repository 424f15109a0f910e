"""The complete state of the rank page as the query of an address, and back.

It consists of filters, gates, weights, the level of evidence that is required, the view, the page and the pins.
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
    filter_name,
    filters_of_criteria,
    is_valid_filter,
    parse_filter,
)
from touchstone.web.rank_gates import (
    GATE_PREFIX,
    GATES,
    gate_name,
    gates_of_project,
    is_valid_gate,
    parse_gate,
)
from touchstone.web.slider_positions import WeightProfiles, is_position, read_position, slider_positions, weight_of

VIEWS: Final = ("heat", "bars", "table")
_DEFAULT_VIEW: Final = "heat"
# Unlike the API, the pages count only what is documented unless the reader asks for less.
DEFAULT_ASSURANCE: Final = Assurance.DOCUMENTED
PAGE_SIZE: Final = 20
MAX_PINS: Final = 5
_MAX_PAGE: Final = 50_000
WEIGHT_PREFIX: Final = "w."
TRACKING_PREFIX: Final = "utm_"
_PREVIOUS_IDS: Final = "previous_ids"  # the parameter with the ids that the previous ranking showed
_NO_PROFILE: Final = "none"
_ONLY_PASSING: Final = ("gate", "pass")
_ROBUSTNESS: Final = ("robustness", "yes")

Pairs = Iterable[tuple[str, str]]
Parameters = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankState:
    """The complete state of the rank page.

    It is immutable, and has exactly one canonical query, so that equal states have equal addresses.

    Attributes:
        weight_profiles: The criteria and profiles to choose from.
        filters: The texts of the filters that are set, by name.
        gates: The text of each gate that is set, by name.
        passing_only: Whether the ranking leaves out the datasets that do not pass every gate.
        weights: The slider positions in 0-100, by criterion; zeros are left out.
        assurance: The level of evidence that is required; values below it count as unknown.
        view: The way in which the ranking is shown.
        page: The page of the ranking, from 1.
        pins: The ids of the datasets to compare.
        with_robustness: Whether the page shows how robust the first ranks are.
        previous_ids: The ids that the previous ranking showed, in order, to compare the ranks with.
    """

    weight_profiles: WeightProfiles
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gates: Mapping[str, str] = field(default_factory=dict)
    passing_only: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)
    assurance: Assurance = DEFAULT_ASSURANCE
    view: str = _DEFAULT_VIEW
    page: int = 1
    pins: tuple[int, ...] = ()
    with_robustness: bool = False
    previous_ids: tuple[int, ...] = ()

    @classmethod
    def from_pairs(cls, pairs: Pairs, weight_profiles: WeightProfiles) -> "RankState":
        """Return the state that the parameters of an address or a form describe.

        Readers edit addresses by hand, so this never fails. Unknown parameters are ignored (`unknown_parameters` lists
        them), and invalid values are replaced by the default or the nearest one (`invalid_settings` lists them). Only
        filters and gates keep an invalid value, so that the page can say what is wrong with it, and they may have any
        name that the API accepts.
        """
        parameters = _group_parameters(pairs)
        view = _first_value(parameters, "view")
        page = parse_small_integer(_first_value(parameters, "page")) or 1
        previous_ids = _first_value(parameters, _PREVIOUS_IDS).split(".")

        return cls(
            weight_profiles=weight_profiles,
            filters=_read_filters(parameters),
            gates=_read_gates(parameters),
            passing_only=_has_flag(parameters, _ONLY_PASSING),
            weights=_read_weights(parameters, weight_profiles),
            assurance=_read_assurance(_first_value(parameters, "assurance")),
            view=view if view in VIEWS else _DEFAULT_VIEW,
            page=min(page, _MAX_PAGE),
            pins=_read_ids(parameters.get("pin", []), limit=MAX_PINS),
            with_robustness=_has_flag(parameters, _ROBUSTNESS),
            previous_ids=_read_ids(previous_ids, limit=PAGE_SIZE),
        )

    @classmethod
    def of_project(cls, project: Project, weight_profiles: WeightProfiles) -> "RankState":
        """Return the state that ranks datasets by the filters, gates, weights and level of evidence of a project.

        If the project has no weights, those of the default profile apply. The API ranks for a project without a level
        of evidence at `declared`.

        Args:
            project: The project.
            weight_profiles: The named profiles of weights.
        """
        weights = {weight.criterion_name: weight.weight for weight in project.weights}
        positions = slider_positions(weights)
        if not positions:
            positions = weight_profiles.slider_positions(weight_profiles.default)

        return cls(
            weight_profiles=weight_profiles,
            filters=filters_of_criteria(project.criteria),
            gates=gates_of_project(project.gates),
            weights=positions,
            assurance=project.assurance or Assurance.DECLARED,
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
        total_weight = sum(self.weights.values())
        if not total_weight:
            return {}
        return {name: weight / total_weight for name, weight in self.weights.items()}

    def change(self, **changes: Any) -> "RankState":
        """Return a copy of the state with other values for the named attributes."""
        return replace(self, **changes)

    def without_filter_value(self, name: str, value: str) -> "RankState":
        """Return the state without one value of a filter, on the first page."""
        remaining_texts = tuple(text for text in self.filters[name] if text != value)
        filters = {**self.filters, name: remaining_texts}
        if not remaining_texts:
            del filters[name]
        return replace(self, filters=filters, page=1, previous_ids=())

    def without_gate(self, name: str) -> "RankState":
        """Return the state without a gate, on the first page."""
        gates = {other_name: text for other_name, text in self.gates.items() if other_name != name}
        return replace(self, gates=gates, page=1, previous_ids=())

    def with_position(self, criterion: str, position: float) -> "RankState":
        """Return the state with one slider moved to another position, on the first page."""
        positions = {**self.weights, criterion: position}
        # Equal states have equal weights: in the order of the criteria, and without zeros.
        weights = {name: positions[name] for name in self.weight_profiles.criteria if positions.get(name, 0.0) > 0}
        return replace(self, weights=weights, page=1, previous_ids=())

    @property
    def joined_lists(self) -> tuple[str, ...]:
        """Return the names of the lists with a single string that contains a comma, and so may hold several values."""
        return tuple(
            name
            for name, texts in self.filters.items()
            if FILTERS[name] is FilterInput.WORDS and len(texts) == 1 and "," in texts[0]
        )

    def with_separate_words(self, known_values: Mapping[str, Iterable[str]]) -> "RankState":
        """Return the state with comma-separated lists split into their values, as in the API.

        Args:
            known_values: The values of each list in the catalog. They are never split.
        """
        filters = dict(self.filters)
        for name in self.joined_lists:
            [text] = filters[name]
            folded_values = {fold(value) for value in known_values.get(name, ())}
            words = split_at_commas(text)
            if fold(text) not in folded_values and words:
                filters[name] = tuple(dict.fromkeys(words))
        return replace(self, filters=filters)

    def with_filters_only(self, names: Iterable[str]) -> "RankState":
        """Return the state with no other filters than the named ones."""
        kept_names = frozenset(names)
        filters = {name: texts for name, texts in self.filters.items() if name in kept_names}
        return replace(self, filters=filters)

    def with_valid_requirements(self) -> "RankState":
        """Return the state without the filters and gates that do not accept their value."""
        invalid_filters, invalid_gates = self.invalid_filters, self.invalid_gates
        filters = {name: texts for name, texts in self.filters.items() if name not in invalid_filters}
        gates = {name: text for name, text in self.gates.items() if name not in invalid_gates}
        return replace(self, filters=filters, gates=gates)

    def query(self, **changes: Any) -> str:
        """Return the canonical query of the state (`?...` or empty).

        With keyword arguments, it is the query of the state in which the named attributes have other values.
        """
        state = replace(self, **changes) if changes else self
        pairs = state.pairs
        return f"?{urlencode(pairs)}" if pairs else ""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return the state as the names and values of query parameters.

        Their order is fixed and defaults are left out, so that equal states have equal addresses.
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
            pairs.append(_ROBUSTNESS)
        if self.previous_ids:
            joined_ids = ".".join(str(dataset_id) for dataset_id in self.previous_ids)
            pairs.append((_PREVIOUS_IDS, joined_ids))
        return pairs

    def _filter_pairs(self) -> list[tuple[str, str]]:
        """Return one parameter for each text of each filter, in the order of the form."""
        pairs: list[tuple[str, str]] = []
        for name in FILTERS:
            texts = self.filters.get(name, ())
            pairs.extend((name, text) for text in texts)
        return pairs

    def _gate_pairs(self) -> list[tuple[str, str]]:
        """Return one parameter for each gate, and one more if only datasets that pass all of them are shown."""
        pairs = [(GATE_PREFIX + name, self.gates[name]) for name in GATES if name in self.gates]
        if self.passing_only:
            pairs.append(_ONLY_PASSING)
        return pairs

    def _weight_pairs(self) -> list[tuple[str, str]]:
        """Return the parameters for the weights.

        If a profile has exactly these weights, its name is enough, and the default profile needs no parameter at all.
        Otherwise there is one parameter for each weight.
        """
        profile = self.profile
        if profile == self.weight_profiles.default:
            return []
        if profile is not None:
            return [("profile", profile)]
        if not self.weights:
            return [("profile", _NO_PROFILE)]

        weighted_names = [name for name in self.weight_profiles.criteria if name in self.weights]
        return [(WEIGHT_PREFIX + name, f"{self.weights[name]:g}") for name in weighted_names]

    @property
    def invalid_filters(self) -> tuple[str, ...]:
        """Return the names of the filters that do not accept their value."""
        return tuple(name for name, texts in self.filters.items() if not is_valid_filter(name, texts))

    @property
    def invalid_gates(self) -> tuple[str, ...]:
        """Return the names of the gates that do not accept their value."""
        return tuple(name for name, text in self.gates.items() if not is_valid_gate(name, text))

    def filter_body(self) -> dict[str, Any]:
        """Return the filters as the API expects them.

        Raises:
            InvalidFilterValue: A filter does not accept its value.
        """
        return {name: parse_filter(name, texts) for name, texts in self.filters.items()}

    def gate_body(self) -> dict[str, Any]:
        """Return the gates as the API expects them.

        Raises:
            InvalidFilterValue: A gate does not accept its value.
        """
        return {name: parse_gate(name, text) for name, text in self.gates.items()}

    @property
    def gate_mode(self) -> Literal["pass", "all"]:
        """Return the gate mode for the API, which ranks either all datasets or only those that pass all gates."""
        return "pass" if self.passing_only else "all"

    def weight_body(self) -> dict[str, float]:
        """Return the weights as the API expects them: in 0-1, by criterion."""
        return {name: weight_of(position) for name, position in self.weights.items()}


def known_parameters(weight_profiles: WeightProfiles) -> tuple[str, ...]:
    """Return the names of all parameters of a state."""
    gate_names = (GATE_PREFIX + name for name in GATES)
    weight_names = (WEIGHT_PREFIX + name for name in weight_profiles.criteria)
    settings = ("profile", "assurance", "view", "page", "pin", _ONLY_PASSING[0], _ROBUSTNESS[0], _PREVIOUS_IDS)
    return (*FILTERS, *gate_names, *weight_names, *settings)


def unknown_parameters(pairs: Pairs, weight_profiles: WeightProfiles) -> tuple[str, ...]:
    """Return the names of the parameters that have a value but no meaning for a state, such as misspelt filters.

    Those that other sites add to links in order to count visits are left out, because no reader has written them.
    """
    known_names = frozenset(known_parameters(weight_profiles))
    names = (name for name in _group_parameters(pairs) if not name.startswith(TRACKING_PREFIX))
    return tuple(name for name in names if name not in known_names)


class InvalidSetting(NamedTuple):
    """A parameter of an address with a value that it cannot have, so that the state has another one.

    Attributes:
        name, value: The parameter, and the value in the address.
        accepted: The values that it can have; empty for a number.
    """

    name: str
    value: str
    accepted: tuple[str, ...] = ()


def invalid_settings(pairs: Pairs, weight_profiles: WeightProfiles) -> tuple[InvalidSetting, ...]:
    """Return the parameters with a value that a state replaces; filters and gates keep even an invalid value."""
    choices = {
        "profile": (*weight_profiles.profiles, _NO_PROFILE),
        "assurance": tuple(level.value for level in Assurance),
        "view": VIEWS,
        _ONLY_PASSING[0]: (_ONLY_PASSING[1], "all"),
        _ROBUSTNESS[0]: (_ROBUSTNESS[1], "no"),
    }
    positions = frozenset(WEIGHT_PREFIX + name for name in weight_profiles.criteria)

    settings = []
    for name, texts in _group_parameters(pairs).items():
        for text in texts:
            is_number_valid = (name not in positions or is_position(text)) and (
                name not in ("page", "pin") or bool(parse_small_integer(text))
            )
            accepted = choices.get(name, ())
            if not is_number_valid or (accepted and text not in accepted):
                settings.append(InvalidSetting(name, text, accepted))
    return tuple(settings)


def parse_small_integer(text: str) -> int | None:
    """Convert a string of at most nine digits to a number, or return None for any other string."""
    return int(text) if is_integer(text) else None


def _group_parameters(pairs: Pairs) -> dict[str, list[str]]:
    """Return the non-empty values of each parameter, without surrounding blanks.

    Filters and gates have the names that the form uses, whichever of their names they were given by.
    """
    parameters: dict[str, list[str]] = {}
    for name, value in pairs:
        text = value.strip()
        if text:
            parameters.setdefault(_form_name(name), []).append(text)
    return parameters


def _form_name(name: str) -> str:
    """Return the name that the form uses for a parameter, which may have another name in the API."""
    if name.startswith(GATE_PREFIX):
        return GATE_PREFIX + gate_name(name.removeprefix(GATE_PREFIX))
    return filter_name(name)


def _read_filters(parameters: Parameters) -> dict[str, tuple[str, ...]]:
    """Return the values of the filters that are set, without repetitions, in the order of the form."""
    filters = {}
    for name in FILTERS:
        if name in parameters:
            filters[name] = tuple(dict.fromkeys(parameters[name]))
    return filters


def _read_gates(parameters: Parameters) -> dict[str, str]:
    """Return the values of the gates that are set, in the order of the form."""
    return {name: parameters[GATE_PREFIX + name][0] for name in GATES if GATE_PREFIX + name in parameters}


def _has_flag(parameters: Parameters, flag: tuple[str, str]) -> bool:
    """Return whether a flag, given as a parameter and the value that sets it, is set."""
    name, value = flag
    return _first_value(parameters, name) == value


def _read_weights(parameters: Parameters, weight_profiles: WeightProfiles) -> dict[str, float]:
    """Return the slider positions in the parameters, without zeros.

    A named profile takes precedence over the sliders, because the button of a profile submits all sliders too. If there
    is neither a profile nor a slider among the parameters, the default profile applies.
    """
    profile = _first_value(parameters, "profile")
    if profile == _NO_PROFILE:
        return {}

    slider_names = [name for name in weight_profiles.criteria if WEIGHT_PREFIX + name in parameters]
    if profile or not slider_names:
        return weight_profiles.slider_positions(profile)

    positions = {}
    for name in slider_names:
        position = read_position(_first_value(parameters, WEIGHT_PREFIX + name))
        if position > 0:
            positions[name] = position
    return positions


def _read_assurance(text: str) -> Assurance:
    """Return the level of evidence with this name, or the default if there is none."""
    try:
        return Assurance(text)
    except ValueError:
        return DEFAULT_ASSURANCE


def _first_value(parameters: Parameters, name: str) -> str:
    """Return the first value of a parameter, or an empty string if there is none."""
    return parameters.get(name, [""])[0]


def _read_ids(texts: Iterable[str], *, limit: int) -> tuple[int, ...]:
    """Return the first `limit` distinct positive ids among the strings, in their order."""
    ids = []
    for text in texts:
        dataset_id = parse_small_integer(text)
        if dataset_id:
            ids.append(dataset_id)
    return tuple(dict.fromkeys(ids))[:limit]
