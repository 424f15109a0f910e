"""What a person may choose from: the values under the current filters, and the tables of criteria and keys."""

from collections.abc import Mapping
from typing import Any

from touchstone.core.attributes import ATTRIBUTES
from touchstone.ranking.criteria import CRITERIA
from touchstone.ranking.query.facets import Facets
from touchstone.ranking.query.sort_order import SORT_KEYS
from touchstone.ranking.weight_profiles import DEFAULT_PROFILE, PROFILES


def facets_shown(facets: Facets) -> dict[str, Any]:
    """Facets as callers see them."""
    return {
        "total_count": facets.total_count,
        "values": {
            name: [{"value": value, "count": count} for value, count in counted]
            for name, counted in facets.values.items()
        },
        "flags": {name: three._asdict() for name, three in facets.flags.items()},
        "ranges": {
            name: None if interval is None else {"min": interval.low, "max": interval.high}
            for name, interval in facets.ranges.items()
        },
    }


def criteria_shown() -> dict[str, Any]:
    """The criteria, the named profiles, the sort keys and the attributes, each in its order, with labels."""
    return {
        "criteria": [
            {
                "name": one.name,
                "kind": one.kind,
                "label": _both(one.label_fr, one.label_en),
                "formula": _both(one.formula_fr, one.formula_en),
            }
            for one in CRITERIA
        ],
        "profiles": [
            {
                "name": one.name,
                "label": _both(one.label_fr, one.label_en),
                "weights": [{"criterion_name": name, "weight": weight} for name, weight in one.weights.items()],
                "default": one.name == DEFAULT_PROFILE,
            }
            for one in PROFILES.values()
        ],
        "sort_keys": sorted(SORT_KEYS),
        "attributes": [
            {"name": a.name, "kind": a.kind, "label": _both(a.label_fr, a.label_en), "ethical": a.ethical}
            for a in ATTRIBUTES
        ],
    }


def _both(french: str, english: str) -> Mapping[str, str]:
    return {"fr": french, "en": english}
