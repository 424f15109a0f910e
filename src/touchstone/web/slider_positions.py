"""Slider positions in 0-100, and their conversion from and to the weights of the API in 0-1."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

SLIDER_MAX: Final = 100
_SMALLEST_READABLE: Final = 0.0001  # smaller positions look like 0
_SMALLEST_POSITION: Final = 1e-300  # positions above 0 are at least this, so that no division underflows to 0


@dataclass(frozen=True, slots=True)
class WeightProfiles:
    """The criteria that can be weighted, and the named profiles of weights.

    Attributes:
        criteria: the names of the criteria in their order.
        profiles: the slider positions (0-100) of each profile, by criterion; zeros are left out.
        default: the name of the default profile.
    """

    criteria: tuple[str, ...]
    profiles: Mapping[str, Mapping[str, float]]
    default: str

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> "WeightProfiles":
        """Create the profiles from their description by the API, which has weights in 0-1."""
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
        """Return the slider positions of a profile, or of the default profile for an unknown name."""
        positions = self.profiles.get(profile) or self.profiles[self.default]
        return dict(positions)


def _profile_positions(profile: Mapping[str, Any], criteria: Iterable[str]) -> dict[str, float]:
    """Return the slider positions of a profile in the order of the criteria, without zeros."""
    weights = {weight["criterion_name"]: weight["weight"] for weight in profile["weights"]}
    return {name: _round_position(weights[name] * SLIDER_MAX) for name in criteria if weights.get(name)}


def weights_to_positions(weights: Mapping[str, float]) -> dict[str, float]:
    """Convert the weights of a project to slider positions in 0-100.

    A project may have any non-negative weights. If none is above 1, they are multiplied by 100. If none is above 100,
    they are used as positions. If a weight is above 100, or the smallest position would look like 0, all weights are
    scaled so that the largest position is 100. Weights of zero are left out, and no other weight becomes zero.
    """
    positive_weights = {name: weight for name, weight in weights.items() if weight > 0}
    if not positive_weights:
        return {}

    largest_weight = max(positive_weights.values())
    smallest_weight = min(positive_weights.values())
    scale = SLIDER_MAX if largest_weight <= 1 else 1
    if largest_weight > SLIDER_MAX or smallest_weight * scale < _SMALLEST_READABLE:
        # Dividing before multiplying avoids an infinite factor for tiny weights.
        scaled_weights = {name: weight / largest_weight * SLIDER_MAX for name, weight in positive_weights.items()}
    else:
        scaled_weights = {name: weight * scale for name, weight in positive_weights.items()}

    return {name: _round_position(max(weight, _SMALLEST_POSITION)) for name, weight in scaled_weights.items()}


def position_to_weight(position: float) -> float:
    """Convert a slider position to a weight in 0-1."""
    # The division is decimal, so that 7 becomes 0.07 and not 0.07000000000000001.
    return float(Decimal(repr(position)) / SLIDER_MAX)


def is_position(text: str) -> bool:
    """Return whether a string is a valid slider position, which is a number in 0-100."""
    try:
        return 0 <= float(text) <= SLIDER_MAX
    except ValueError:
        return False


def parse_position(text: str) -> float:
    """Parse a slider position and clamp it to 0-100, or return 0 if it is not a number."""
    try:
        position = float(text)
    except ValueError:
        return 0.0
    if math.isnan(position):
        return 0.0

    clamped_position = min(max(position, 0.0), float(SLIDER_MAX))
    return _round_position(clamped_position)


def _round_position(position: float) -> float:
    """Round a position to six significant digits, as in addresses, but never to 0 if it is positive."""
    if position <= 0:
        return 0.0
    return max(float(f"{position:g}"), _SMALLEST_POSITION)
