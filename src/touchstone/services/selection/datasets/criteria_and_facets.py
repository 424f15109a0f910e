"""Responses that describe choices: the facets of the current filters, and the tables of criteria and profiles."""

from typing import Any

from touchstone.core.attributes import ATTRIBUTES
from touchstone.ranking.criteria import CRITERIA
from touchstone.ranking.query.facets import Facets
from touchstone.ranking.query.sort_order import SORT_KEYS
from touchstone.ranking.weight_profiles import DEFAULT_PROFILE, PROFILES


def facets_json(facets: Facets) -> dict[str, Any]:
    """Return facets as a JSON object: values with their counts, flags, and ranges of numbers."""
    values = {
        name: [{"value": value, "count": count} for value, count in counts] for name, counts in facets.values.items()
    }
    flags = {name: counts._asdict() for name, counts in facets.flags.items()}
    ranges = {
        name: None if interval is None else {"min": interval.low, "max": interval.high}
        for name, interval in facets.ranges.items()
    }
    return {"total_count": facets.total_count, "values": values, "flags": flags, "ranges": ranges}


def criteria_json() -> dict[str, Any]:
    """Return the criteria, the named profiles, the sort keys and the attributes, with their labels."""
    criteria = [
        {
            "name": criterion.name,
            "kind": criterion.kind,
            "label": _translations(criterion.label_fr, criterion.label_en),
            "formula": _translations(criterion.formula_fr, criterion.formula_en),
        }
        for criterion in CRITERIA
    ]
    profiles = [
        {
            "name": profile.name,
            "label": _translations(profile.label_fr, profile.label_en),
            "weights": [{"criterion_name": name, "weight": weight} for name, weight in profile.weights.items()],
            "default": profile.name == DEFAULT_PROFILE,
        }
        for profile in PROFILES.values()
    ]
    attributes = [
        {
            "name": attribute.name,
            "kind": attribute.kind,
            "label": _translations(attribute.label_fr, attribute.label_en),
            "ethical": attribute.ethical,
        }
        for attribute in ATTRIBUTES
    ]
    return {
        "criteria": criteria,
        "profiles": profiles,
        "sort_keys": sorted(SORT_KEYS),
        "attributes": attributes,
    }


def _translations(french: str, english: str) -> dict[str, str]:
    return {"fr": french, "en": english}
