"""Scoring: which weights a caller asks for, and the ranked answer, encoded piece by piece."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from touchstone.core.attributes import INT53_MAX
from touchstone.core.errors import ConflictingValues, FieldError, Invalid, InvalidWeights
from touchstone.http.unknown_names import unknown_name_error, unknown_value_error
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.weight_profiles import DEFAULT_PROFILE, PROFILES
from touchstone.ranking.weighted_score import active_weights
from touchstone.services.selection.filters import filters_of, joined
from touchstone.services.selection.parameters import Form, Parameter, Parameters, Values

SCORE_KEYS: Final = ("filters", "criteria", "weights", "profile")
WEIGHT_KEYS: Final = ("criterion_name", "weight")
_SKIP: Final = Parameter(
    name="skip", form=Form.INTEGER, description="How many to leave out first.", minimum=0, maximum=INT53_MAX, default=0
)
_LIMIT: Final = Parameter(
    name="limit", form=Form.INTEGER, description="How many at most; all unless given.", minimum=1, maximum=INT53_MAX
)
SCORE_PARAMETERS: Final = Parameters(
    _SKIP,
    _LIMIT,
    Parameter(name="envelope", form=Form.FLAG, description="Answer an object with counts and weights.", default=False),
    Parameter(name="explain", form=Form.FLAG, description="Add each criterion's value and points.", default=False),
)
RECOMMENDATION_PARAMETERS: Final = Parameters(
    _SKIP,
    Parameter(
        name="limit", form=Form.INTEGER, description="How many at most.", minimum=1, maximum=INT53_MAX, default=20
    ),
)


class Weight(msgspec.Struct, frozen=True):
    """How much one criterion counts."""

    criterion_name: str
    weight: float


@dataclass(frozen=True, slots=True)
class Scoring:
    """A scoring request that can be carried out."""

    filters: Values
    weights: Mapping[str, float]
    profile: str | None

    def effective_weights(self) -> list[Weight]:
        """The weights as shares that add up to 1, in the order of the criteria."""
        kept, total = active_weights(self.weights)
        return [Weight(name, weight / total) for name, weight in kept]


def scoring_of(body: object) -> Scoring:
    """What a scoring request (interface, section 2.5) asks for.

    Raises:
        Invalid and its kinds: what of it does not fit.
    """
    if not isinstance(body, dict):
        raise Invalid(FieldError(("body",), "dict_type"))
    for key in body:
        if key not in SCORE_KEYS:
            raise unknown_name_error(key, SCORE_KEYS, "body", key[:80])
    one, other = (filters_of(body.get(name, {}), at=("body", name)) for name in ("filters", "criteria"))
    weights, profile = _weighting(body)
    return Scoring(joined(one, other, names=("filters", "criteria")), weights, profile)


def _weighting(body: Mapping[str, Any]) -> tuple[Mapping[str, float], str | None]:
    """The weights, and the name of the profile that they come from."""
    name, weights = body.get("profile"), weights_of(body.get("weights"))
    if name is None and weights:
        return weights, None
    name = DEFAULT_PROFILE if name is None else name
    if not isinstance(name, str) or name not in PROFILES:
        raise unknown_value_error(str(name), PROFILES, "body", "profile")
    profile = PROFILES[name].weights
    if weights and dict(weights) != dict(profile):
        raise ConflictingValues(at=("body", "weights"), other="profile")
    return profile, name


def weights_of(given: object) -> dict[str, float]:
    """The weights in a list of Weight objects; empty for null and for an empty list.

    Raises:
        InvalidWeights, UnknownName, Invalid: one does not fit, or all are zero.
    """
    if given is None:
        return {}
    if not isinstance(given, list):
        raise Invalid(FieldError(("body", "weights"), "list_type"))
    found: dict[str, float] = {}
    for index, one in enumerate(given):
        name, weight = _weight(one, index)
        if name in found:
            raise _refused("criterion_repeated", name, index)
        found[name] = weight
    if found and not any(found.values()):
        raise _refused("weights_all_zero", ", ".join(found), 0)
    return found


def _weight(given: object, index: int) -> tuple[str, float]:
    if not isinstance(given, dict) or not {"criterion_name", "weight"} <= set(given):
        raise Invalid(FieldError(("body", "weights", index), "weight_expected"))
    for key in given:
        if key not in WEIGHT_KEYS:
            raise unknown_name_error(key, WEIGHT_KEYS, "body", "weights", index, key[:80])
    name = given["criterion_name"]
    if not isinstance(name, str) or name not in CRITERION_NAMES:
        raise unknown_value_error(str(name), CRITERION_NAMES, "body", "weights", index, "criterion_name")
    return name, _finite(given["weight"], name, index)


def _finite(given: object, name: str, index: int) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise _refused("weight_not_a_number", name, index)
    try:
        weight = float(given)
    except OverflowError:
        weight = math.inf
    if not math.isfinite(weight):
        raise _refused("weight_not_finite", name, index)
    if weight < 0:
        raise _refused("weight_negative", name, index)
    return weight


def _refused(reason: str, name: str, index: int) -> InvalidWeights:
    return InvalidWeights(at=("body", "weights", index), reason=reason, name=name)
