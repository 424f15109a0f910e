"""Weights of criteria, as scoring requests and projects give them."""

import math
from typing import Final

import msgspec

from touchstone.core.errors import FieldError, Invalid, InvalidWeights
from touchstone.http.spelling_suggestions import unknown_name_error, unknown_value_error
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.services.selection.parameters import MAX_REPORTED_NAME

WEIGHT_KEYS: Final = ("criterion_name", "weight")


class CriterionWeight(msgspec.Struct, frozen=True):
    """The weight of one criterion."""

    criterion_name: str
    weight: float


def parse_weights(weights: object) -> dict[str, float]:
    """Return the weights in a JSON list of weight objects, by criterion; null and an empty list give no weights.

    Raises:
        InvalidWeights: a weight is not usable, a criterion is repeated, or all weights are zero.
        UnknownName, Invalid: an element is not a weight object.
    """
    if weights is None:
        return {}
    if not isinstance(weights, list):
        raise Invalid(FieldError(("body", "weights"), "list_type"))

    by_criterion: dict[str, float] = {}
    for index, element in enumerate(weights):
        criterion, weight = _parse_weight(element, index)
        if criterion in by_criterion:
            raise _weight_error("criterion_repeated", criterion, index)
        by_criterion[criterion] = weight

    if by_criterion and not any(by_criterion.values()):
        raise _weight_error("weights_all_zero", ", ".join(by_criterion), index=0)
    return by_criterion


def _parse_weight(element: object, index: int) -> tuple[str, float]:
    """Return the criterion and the weight in one weight object."""
    if not isinstance(element, dict) or not element.keys() >= set(WEIGHT_KEYS):
        raise Invalid(FieldError(("body", "weights", index), "weight_expected"))
    for key in element:
        if key not in WEIGHT_KEYS:
            raise unknown_name_error(key, WEIGHT_KEYS, "body", "weights", index, key[:MAX_REPORTED_NAME])

    criterion = element["criterion_name"]
    if not isinstance(criterion, str) or criterion not in CRITERION_NAMES:
        raise unknown_value_error(str(criterion), CRITERION_NAMES, "body", "weights", index, "criterion_name")

    weight = element["weight"]
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise _weight_error("weight_not_a_number", criterion, index)
    try:
        number = float(weight)
    except OverflowError:
        number = math.inf

    if not math.isfinite(number):
        raise _weight_error("weight_not_finite", criterion, index)
    if number < 0:
        raise _weight_error("weight_negative", criterion, index)
    return criterion, number


def _weight_error(reason: str, criterion: str, index: int) -> InvalidWeights:
    return InvalidWeights(at=("body", "weights", index), reason=reason, name=criterion)
