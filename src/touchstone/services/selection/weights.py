"""Parsing of the weights of criteria in scoring requests and projects."""

import math
from typing import Final

import msgspec

from touchstone.core.errors import FieldError, Invalid, InvalidWeights
from touchstone.http.spelling_suggestions import unknown_name_error, unknown_value_error
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.services.selection.parameters import MAX_REPORTED_NAME_LENGTH

WEIGHT_KEYS: Final = ("criterion_name", "weight")


class CriterionWeight(msgspec.Struct, frozen=True):
    """The weight of one criterion."""

    criterion_name: str
    weight: float


def parse_weights(weights: object) -> dict[str, float]:
    """Parse a JSON list of weights, and return the weights by the name of the criterion.

    Each element of the list is an object with a `criterion_name` and a `weight`. None counts as an empty list.

    Raises:
        InvalidWeights: a weight is invalid, a criterion is repeated, or all weights are zero.
        UnknownName, Invalid: an element is not a weight object.
    """
    if weights is None:
        return {}
    if not isinstance(weights, list):
        raise Invalid(FieldError(("body", "weights"), "list_type"))

    weights_by_criterion: dict[str, float] = {}
    for index, element in enumerate(weights):
        criterion, weight = _parse_weight(element, index)
        if criterion in weights_by_criterion:
            raise _weight_error("criterion_repeated", criterion, index)
        weights_by_criterion[criterion] = weight

    if weights_by_criterion and not any(weights_by_criterion.values()):
        raise _weight_error("weights_all_zero", ", ".join(weights_by_criterion), index=0)
    return weights_by_criterion


def _parse_weight(element: object, index: int) -> tuple[str, float]:
    """Parse one element of the list of weights, and return the name and the weight of its criterion.

    Args:
        element: the JSON value of the element.
        index: the position of the element in the list, for error messages.

    Raises:
        Invalid, UnknownName: the element is not an object with a criterion and a weight, or the criterion is unknown.
        InvalidWeights: the weight is not a number, not finite or negative.
    """
    if not isinstance(element, dict) or not element.keys() >= set(WEIGHT_KEYS):
        raise Invalid(FieldError(("body", "weights", index), "weight_expected"))
    for key in element:
        if key not in WEIGHT_KEYS:
            raise unknown_name_error(key, WEIGHT_KEYS, "body", "weights", index, key[:MAX_REPORTED_NAME_LENGTH])

    criterion = element["criterion_name"]
    if not isinstance(criterion, str) or criterion not in CRITERION_NAMES:
        raise unknown_value_error(str(criterion), CRITERION_NAMES, "body", "weights", index, "criterion_name")

    weight = element["weight"]
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise _weight_error("weight_not_a_number", criterion, index)
    number = _to_float(weight)
    if not math.isfinite(number):
        raise _weight_error("weight_not_finite", criterion, index)
    if number < 0:
        raise _weight_error("weight_negative", criterion, index)

    return criterion, number


def _to_float(number: int | float) -> float:
    """Convert a number to a float, or to infinity if it is too large for a float."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _weight_error(reason: str, criterion: str, index: int) -> InvalidWeights:
    """Return the error for the weight at `index`, which names its criterion."""
    return InvalidWeights(at=("body", "weights", index), reason=reason, name=criterion)
