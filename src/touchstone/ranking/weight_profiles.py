"""The named sets of weights for rankings (interface, section 2.8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class WeightProfile:
    """A named set of weights by criterion, with French and English labels."""

    name: str
    label_fr: str
    label_en: str
    weights: Mapping[str, float]


_PROFILES: Final = (
    WeightProfile(
        name="ethical",
        label_fr="Éthique d’abord",
        label_en="Ethics first",
        weights=MappingProxyType({"ethical_score": 0.7, "anonymization": 0.2, "informed_consent": 0.1}),
    ),
    WeightProfile(
        name="technical",
        label_fr="Technique d’abord",
        label_en="Technical first",
        weights=MappingProxyType({"technical_score": 0.6, "data_quality": 0.3, "documentation": 0.1}),
    ),
    WeightProfile(
        name="popularity",
        label_fr="Popularité d’abord",
        label_en="Popularity first",
        weights=MappingProxyType({"popularity_score": 0.8, "citations": 0.2}),
    ),
    WeightProfile(
        name="balanced",
        label_fr="Équilibré",
        label_en="Balanced",
        weights=MappingProxyType({"ethical_score": 0.4, "technical_score": 0.4, "popularity_score": 0.2}),
    ),
)
PROFILES: Final[Mapping[str, WeightProfile]] = MappingProxyType({profile.name: profile for profile in _PROFILES})
DEFAULT_PROFILE: Final = "balanced"
