"""The positions of the sliders, from 0 to 100, and the weights from 0 to 1 that the API has instead."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

SLIDER_MAX: Final = 100
_POSITION_DECIMALS: Final = 4


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
        """Return the criteria and profiles that the API describes.

        The API gives the weights of a profile in 0-1. They are converted into positions of the sliders, in 0-100.
        """
        criteria = tuple(criterion["name"] for criterion in description["criteria"])
        profiles: dict[str, dict[str, float]] = {}
        default_profile = ""

        for profile in description["profiles"]:
            name = profile["name"]
            profiles[name] = _profile_positions(profile, criteria)
            if profile["default"]:
                default_profile = name

        return cls(criteria=criteria, profiles=profiles, default=default_profile)

    def slider_positions(self, profile: str) -> dict[str, float]:
        """Return the slider positions of a profile; those of the default profile if there is none of that name."""
        positions = self.profiles.get(profile) or self.profiles[self.default]
        return dict(positions)


def _profile_positions(profile: Mapping[str, Any], criteria: Iterable[str]) -> dict[str, float]:
    """Return the slider positions of a profile that the API describes, in the order of the criteria."""
    weights = {entry["criterion_name"]: entry["weight"] for entry in profile["weights"]}
    return {name: _round_position(weights[name] * SLIDER_MAX) for name in criteria if weights.get(name)}


def slider_positions(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the slider positions (0-100) that stand for the weights of a project.

    A project may have any weights that are not negative. Weights up to 1 are taken for shares, weights up to 100 for
    positions, and larger ones are scaled down so that the largest is 100. Weights of zero are left out.
    """
    positive_weights = {name: weight for name, weight in weights.items() if weight > 0}
    largest_weight = max(positive_weights.values(), default=0.0)

    if largest_weight <= 1:
        scale = float(SLIDER_MAX)
    elif largest_weight <= SLIDER_MAX:
        scale = 1.0
    else:
        scale = SLIDER_MAX / largest_weight

    return {name: _round_position(weight * scale) for name, weight in positive_weights.items()}


def weight_of(position: float) -> float:
    """Return the weight, in 0-1, that a slider position stands for."""
    # The division is decimal, so that 7 becomes 0.07 and not 0.07000000000000001.
    return float(Decimal(repr(position)) / SLIDER_MAX)


def read_position(text: str) -> float:
    """Return a slider position, moved into 0-100; 0 for a text that is not a number."""
    try:
        position = float(text)
    except ValueError:
        return 0.0
    if math.isnan(position):
        return 0.0

    limited_position = min(max(position, 0.0), float(SLIDER_MAX))
    return _round_position(limited_position)


def _round_position(position: float) -> float:
    return float(round(position, _POSITION_DECIMALS))
