"""Responses that clients need to build forms, such as facets, criteria and weight profiles."""

from typing import Any, Final

from touchstone.core.attributes import ATTRIBUTES, Attribute, Kind
from touchstone.ranking.criteria import CRITERIA, Criterion
from touchstone.ranking.query.facets import Facets, ValueCounts, ValueRange
from touchstone.ranking.query.sort_order import RELEVANCE, SORT_KEYS
from touchstone.ranking.weight_profiles import DEFAULT_PROFILE, PROFILES, WeightProfile
from touchstone.services.selection.gates import GATES
from touchstone.services.selection.parameters import Parameter

_INTEGERS: Final = frozenset(attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.INTEGER)


def facets_json(facets: Facets) -> dict[str, Any]:
    """Convert facets to JSON, so that a client can offer the values of the matching records as filters.

    The result contains the values of text and word attributes with their counts, the counts of flags, and the ranges of
    numbers. A range is null if no matching record has the number.
    """
    return {
        "total_count": facets.total_count,
        "values": {name: _value_counts_json(counts) for name, counts in facets.values.items()},
        "flags": {name: counts._asdict() for name, counts in facets.flags.items()},
        "ranges": {name: _range_json(name, value_range) for name, value_range in facets.ranges.items()},
    }


def _value_counts_json(counts: ValueCounts) -> list[dict[str, Any]]:
    """Convert the values of an attribute and their counts to JSON."""
    return [{"value": value, "count": count} for value, count in counts]


def _range_json(name: str, value_range: ValueRange | None) -> dict[str, Any] | None:
    """Convert the range of a numeric attribute or score to JSON, or return None if no record has a value."""
    if value_range is None:
        return None

    # The catalog holds all numbers as floats, but records show years and counts as whole numbers.
    number_type = int if name in _INTEGERS else float
    return {"min": number_type(value_range.low), "max": number_type(value_range.high)}


def criteria_json() -> dict[str, Any]:
    """Return everything that a client needs to build its forms, as a JSON object.

    The object contains the scoring criteria, the weight profiles, the sort keys, the attributes of a record and the
    gates. Labels and formulas are in French and English.
    """
    return {
        "criteria": [_criterion_json(criterion) for criterion in CRITERIA],
        "profiles": [_profile_json(profile) for profile in PROFILES.values()],
        "sort_keys": sorted((*SORT_KEYS, RELEVANCE)),
        "attributes": [_attribute_json(attribute) for attribute in ATTRIBUTES],
        "gates": [_gate_json(gate.parameter) for gate in GATES],
    }


def _criterion_json(criterion: Criterion) -> dict[str, Any]:
    """Convert a scoring criterion to JSON."""
    return {
        "name": criterion.name,
        "kind": criterion.kind,
        "label": _translations(criterion.label_fr, criterion.label_en),
        "formula": _translations(criterion.formula_fr, criterion.formula_en),
    }


def _profile_json(profile: WeightProfile) -> dict[str, Any]:
    """Convert a weight profile to JSON. The default profile applies if a request contains no weights."""
    weights = [{"criterion_name": name, "weight": weight} for name, weight in profile.weights.items()]
    return {
        "name": profile.name,
        "label": _translations(profile.label_fr, profile.label_en),
        "weights": weights,
        "default": profile.name == DEFAULT_PROFILE,
    }


def _attribute_json(attribute: Attribute) -> dict[str, Any]:
    """Convert an attribute of a dataset record to JSON."""
    return {
        "name": attribute.name,
        "kind": attribute.kind,
        "label": _translations(attribute.label_fr, attribute.label_en),
        "ethical": attribute.ethical,
    }


def _gate_json(parameter: Parameter) -> dict[str, Any]:
    """Convert a gate to JSON. The gates for attributes have levels of evidence to choose from."""
    return {"name": parameter.name, "type": parameter.type, "choices": parameter.choices or None}


def _translations(french: str, english: str) -> dict[str, str]:
    """Return both translations of a label or formula by language code."""
    return {"fr": french, "en": english}
