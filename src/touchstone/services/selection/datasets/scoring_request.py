"""Parsing of scoring requests, which contain filters, weights or a profile, and a window.

The body is not parsed with pydantic, because validation would take longer than the ranking itself, and because an error
in a weight must contain both its location and the name of the criterion.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from touchstone.core.attributes import INT53_MAX
from touchstone.core.errors import ConflictingValues, FieldError, Invalid
from touchstone.core.evidence import Assurance
from touchstone.http.spelling_suggestions import unknown_name_error, unknown_value_error
from touchstone.ranking.weight_profiles import DEFAULT_PROFILE, PROFILES
from touchstone.ranking.weighted_mean import active_weights
from touchstone.services.selection.assurance import ASSURANCE, parse_assurance, parse_json_assurance
from touchstone.services.selection.filters import FILTER_PARAMETERS
from touchstone.services.selection.gates import parse_gates
from touchstone.services.selection.paging import SKIP
from touchstone.services.selection.parameters import (
    MAX_REPORTED_NAME_LENGTH,
    Parameter,
    ParameterTable,
    ParameterType,
    ParameterValues,
    is_same_value,
)
from touchstone.services.selection.weights import CriterionWeight, parse_weights

SCORE_KEYS: Final = ("filters", "criteria", "weights", "profile", "assurance", "gates")

_LIMIT: Final = Parameter(
    name="limit",
    type=ParameterType.INTEGER,
    description="The maximum number of records, all by default.",
    minimum=1,
    maximum=INT53_MAX,
)
_ENVELOPE: Final = Parameter(
    name="envelope",
    type=ParameterType.FLAG,
    description="Return an object with counts and weights instead of an array.",
    default=False,
)
_EXPLAIN: Final = Parameter(
    name="explain",
    type=ParameterType.FLAG,
    description="Add the value and the points of each criterion.",
    default=False,
)
_RECOMMENDATION_LIMIT: Final = Parameter(
    name="limit",
    type=ParameterType.INTEGER,
    description="The maximum number of records.",
    minimum=1,
    maximum=INT53_MAX,
    default=20,
)
_ONLY_PASSING: Final = "pass"
_GATE: Final = Parameter(
    name="gate",
    type=ParameterType.CHOICE,
    description="`pass` leaves out the datasets that do not pass every gate; otherwise gates are only reported.",
    choices=("all", _ONLY_PASSING),
    default="all",
)
SCORE_PARAMETERS: Final = ParameterTable(SKIP, _LIMIT, _ENVELOPE, _EXPLAIN, ASSURANCE, _GATE)
RECOMMENDATION_PARAMETERS: Final = ParameterTable(SKIP, _RECOMMENDATION_LIMIT, ASSURANCE, _GATE)
QUESTION_PARAMETERS: Final = ParameterTable(ASSURANCE, _GATE)
"""The query parameters of requests that analyse a whole ranking, such as its stability."""


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """The options in the query string of a request for a ranking.

    Attributes:
        skip: the number of records to skip.
        limit: the maximum number of records to return, or None for all.
        explain: whether the items explain how their scores are composed.
        is_enveloped: whether the items are part of an object with counts and weights.
        assurance: the minimum level of evidence, or None if it is not given.
        only_passing: whether records that do not pass every gate are left out.
    """

    skip: int
    limit: int | None
    explain: bool
    is_enveloped: bool = False
    assurance: Assurance | None = None
    only_passing: bool = False


@dataclass(frozen=True, slots=True)
class ScoringRequest:
    """The records to rank and the weights of the criteria.

    Attributes:
        filters: the filters that the records must satisfy.
        weights: the weight of each criterion.
        profile: the name of the weight profile, or None if the request contains other weights.
        assurance: the minimum level of evidence, or None if it is not given.
        gates: the requirements that are reported for each record, in addition to the filters.
    """

    filters: ParameterValues
    weights: Mapping[str, float]
    profile: str | None
    assurance: Assurance | None
    gates: ParameterValues = field(default_factory=dict)

    def effective_weights(self) -> list[CriterionWeight]:
        """Return the weights as shares that add up to 1, in the order of the criteria."""
        weighted_criteria, total = active_weights(self.weights)
        return [CriterionWeight(name, weight / total) for name, weight in weighted_criteria]


def parse_score_options(query_string: bytes) -> RankingOptions:
    """Return the options in the query string of a scoring request, which has no limit by default.

    Raises:
        UnknownName, InvalidValue, ConflictingValues: a parameter is not valid.
    """
    values = SCORE_PARAMETERS.parse_query(query_string)
    limit = _LIMIT.integer_in(values) if _LIMIT.name in values else None

    return RankingOptions(
        skip=SKIP.integer_in(values),
        limit=limit,
        explain=_EXPLAIN.flag_in(values),
        is_enveloped=_ENVELOPE.flag_in(values),
        assurance=parse_assurance(values),
        only_passing=_GATE.text_in(values) == _ONLY_PASSING,
    )


def parse_recommendation_options(query_string: bytes) -> RankingOptions:
    """Return the options in the query string of a request for recommendations, which are always explained.

    Raises:
        UnknownName, InvalidValue, ConflictingValues: a parameter is not valid.
    """
    values = RECOMMENDATION_PARAMETERS.parse_query(query_string)
    return RankingOptions(
        skip=SKIP.integer_in(values),
        limit=_RECOMMENDATION_LIMIT.integer_in(values),
        explain=True,
        assurance=parse_assurance(values),
        only_passing=_GATE.text_in(values) == _ONLY_PASSING,
    )


def parse_question_options(query_string: bytes) -> RankingOptions:
    """Return the options in the query string of a request that analyses a whole ranking.

    Raises:
        UnknownName, InvalidValue, ConflictingValues: a parameter is not valid.
    """
    values = QUESTION_PARAMETERS.parse_query(query_string)
    return RankingOptions(
        skip=0,
        limit=None,
        explain=False,
        assurance=parse_assurance(values),
        only_passing=_GATE.text_in(values) == _ONLY_PASSING,
    )


def parse_scoring_request(body: object) -> ScoringRequest:
    """Parse the JSON body of a scoring request.

    The weights come from `weights`, from the profile in `profile`, or from the default profile.

    Raises:
        Invalid: the body is not valid. Subclasses describe the reason.
    """
    if not isinstance(body, dict):
        raise Invalid(FieldError(("body",), "dict_type"))
    for key in body:
        if key not in SCORE_KEYS:
            raise unknown_name_error(key, SCORE_KEYS, "body", key[:MAX_REPORTED_NAME_LENGTH])

    filters = _parse_filters(body)
    assurance = parse_json_assurance(body.get("assurance"), "body", "assurance")
    gates = parse_gates(body.get("gates"), "body", "gates")
    weights = parse_weights(body.get("weights"))
    profile = body.get("profile")
    if weights and profile is None:
        return ScoringRequest(filters, weights, None, assurance, gates)

    if profile is None:
        profile = DEFAULT_PROFILE
    if not isinstance(profile, str) or profile not in PROFILES:
        raise unknown_value_error(str(profile), PROFILES, "body", "profile")

    # A request may only contain both a profile and weights if the weights are equal.
    profile_weights = PROFILES[profile].weights
    if weights and weights != dict(profile_weights):
        raise ConflictingValues(at=("body", "weights"), other="profile")
    return ScoringRequest(filters, profile_weights, profile, assurance, gates)


def _parse_filters(body: Mapping[str, Any]) -> ParameterValues:
    """Return the filters in the body of a scoring request, from the keys `filters` and `criteria`.

    Raises:
        Invalid: one of the two is not a valid filter object. Subclasses describe the reason.
        ConflictingValues: a filter has different values under the two keys.
    """
    filters = FILTER_PARAMETERS.parse_json(body.get("filters", {}), "body", "filters")
    criteria = FILTER_PARAMETERS.parse_json(body.get("criteria", {}), "body", "criteria")

    for name, value in criteria.items():
        if name in filters and not is_same_value(filters[name], value):
            raise ConflictingValues(at=("body", "criteria", name), name=f"criteria.{name}", other=f"filters.{name}")

    return {**filters, **criteria}
