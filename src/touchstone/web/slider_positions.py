"""The positions of the sliders, from 0 to 100, and the weights from 0 to 1 that the API has instead."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

SLIDER_MAX: Final = 100
_SMALLEST_READABLE: Final = 0.0001  # smaller positions cannot be told from 0
_SMALLEST_POSITION: Final = 1e-300  # no position above 0 is smaller, because dividing it would give 0


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
        """Return the slider positions of a profile, or of the default profile if there is none of that name."""
        positions = self.profiles.get(profile) or self.profiles[self.default]
        return dict(positions)


def _profile_positions(profile: Mapping[str, Any], criteria: Iterable[str]) -> dict[str, float]:
    """Return the slider positions of a profile that the API describes, in the order of the criteria."""
    weights = {entry["criterion_name"]: entry["weight"] for entry in profile["weights"]}
    return {name: _round_position(weights[name] * SLIDER_MAX) for name in criteria if weights.get(name)}


def slider_positions(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the slider positions (0-100) that represent the weights of a project.

    A project may have any weights that are not negative. Weights up to 1 are taken for shares, weights up to 100 for
    positions. They are scaled so that the largest is 100 if it is larger, or if the smallest would be too near to 0.
    Weights of zero are left out, and no other weight becomes zero.
    """
    positive_weights = {name: weight for name, weight in weights.items() if weight > 0}
    if not positive_weights:
        return {}

    largest_weight, smallest_weight = max(positive_weights.values()), min(positive_weights.values())
    scale = SLIDER_MAX if largest_weight <= 1 else 1
    if largest_weight > SLIDER_MAX or smallest_weight * scale < _SMALLEST_READABLE:
        # Dividing first keeps tiny weights from an infinite scale.
        scaled_weights = {name: weight / largest_weight * SLIDER_MAX for name, weight in positive_weights.items()}
    else:
        scaled_weights = {name: weight * scale for name, weight in positive_weights.items()}

    return {name: _round_position(max(weight, _SMALLEST_POSITION)) for name, weight in scaled_weights.items()}


def weight_of(position: float) -> float:
    """Convert a slider position to a weight in 0-1."""
    # The division is decimal, so that 7 becomes 0.07 and not 0.07000000000000001.
    return float(Decimal(repr(position)) / SLIDER_MAX)


def is_position(text: str) -> bool:
    """Return whether a string is a slider position, a number in 0-100."""
    try:
        return 0 <= float(text) <= SLIDER_MAX
    except ValueError:
        return False


def read_position(text: str) -> float:
    """Parse a slider position and clamp it to 0-100, or return 0 if it is not a number."""
    try:
        position = float(text)
    except ValueError:
        return 0.0
    if math.isnan(position):
        return 0.0

    limited_position = min(max(position, 0.0), float(SLIDER_MAX))
    return _round_position(limited_position)


def _round_position(position: float) -> float:
    """Return a position with the six significant digits that addresses have; a position above 0 stays above 0."""
    if position <= 0:
        return 0.0
    return max(float(f"{position:g}"), _SMALLEST_POSITION)
