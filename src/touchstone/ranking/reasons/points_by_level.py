"""How well a score is supported: which part of it comes from attributes at each level of evidence.

A score is a sum of points, and each point comes from an attribute of the record. The attribute is supported by claims
with evidence, the best of which has a level; without evidence it is declared.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import ETHICAL
from touchstone.core.evidence import CLAIMED_ATTRIBUTES, EvidenceLevel
from touchstone.ranking import criterion_formulas as formulas
from touchstone.ranking.array_types import Facts, Floats, Ints
from touchstone.ranking.columns.evidence_columns import unpack_levels
from touchstone.ranking.criteria import CRITERION_NAMES, FACTS_BY_CRITERION
from touchstone.ranking.reasons.points import add_rounding_error
from touchstone.ranking.weighted_mean import active_weights, score_matrix

_ROWS: Final = {name: row for row, name in enumerate(CLAIMED_ATTRIBUTES)}
_LEVEL_NAMES: Final = [level.value for level in EvidenceLevel]
_STRENGTHS: Final = [level.strength for level in EvidenceLevel]


class _Contribution(NamedTuple):
    """What one attribute adds to a criterion, as one value for each record."""

    attribute: str
    values: Floats


class SupportedFacts(NamedTuple):
    """The facts of some records with the levels of evidence that support them.

    Attributes:
        facts: The facts, as `View.facts` returns them.
        strengths: The strength of the level that supports each attribute (row) of each record (column).
    """

    facts: Facts
    strengths: Ints

    @classmethod
    def of_packed(cls, facts: Facts, packed_levels: NDArray[np.uint64]) -> "SupportedFacts":
        """Return facts with their levels as `View.evidence_levels` returns them."""
        return cls(facts, unpack_levels(packed_levels))

    def strengths_of(self, attribute: str) -> Ints:
        """Return for each record the strength of the level that supports an attribute."""
        return np.asarray(self.strengths[_ROWS[attribute]])


def points_by_level(
    supported: SupportedFacts, criterion_scores: Floats, weights: Mapping[str, float]
) -> list[dict[str, float]]:
    """Divide the score of each record among the levels of evidence, such as "declared", that support its attributes.

    The result has for each record its points by the name of the level; they add up to its score. `criterion_scores` has
    one row for each record, with its criteria in the order of CRITERIA.
    """
    # First divide the score of each record (column) among its attributes (rows).
    terms, total_weight = active_weights(weights)
    points_by_attribute = np.zeros(supported.strengths.shape)
    for criterion, weight in terms:
        criterion_values = criterion_scores[:, CRITERION_NAMES.index(criterion)]
        for attribute, values in _contributions(criterion, criterion_values, supported):
            points_by_attribute[_ROWS[attribute]] += values * (weight / total_weight)

    # Then add up the points of those attributes that are supported at the same level.
    points_of_levels = []
    for strength in _STRENGTHS:
        has_level = supported.strengths == strength
        points_of_levels.append((points_by_attribute * has_level).sum(axis=0))

    scores = score_matrix(criterion_scores.T, weights).tolist()
    points_of_records = np.stack(points_of_levels, axis=1).tolist()
    points_by_name = []
    for points, score in zip(points_of_records, scores, strict=True):
        exact_points = add_rounding_error(points, score)
        points_by_name.append(dict(zip(_LEVEL_NAMES, exact_points, strict=True)))
    return points_by_name


def _contributions(criterion: str, criterion_values: Floats, supported: SupportedFacts) -> list[_Contribution]:
    """Return what each attribute adds to a criterion of some records.

    Most criteria are computed from a single attribute, which adds the whole value.
    """
    split_by_attribute = _SPLITS.get(criterion)
    if split_by_attribute is not None:
        return split_by_attribute(supported)

    [attribute] = FACTS_BY_CRITERION[criterion]
    return [_Contribution(attribute, criterion_values)]


def _split_ethical_score(supported: SupportedFacts) -> list[_Contribution]:
    """Split the ethical score: each attribute that is true adds a tenth."""
    return [_Contribution(name, (supported.facts[name] == 1) / len(ETHICAL)) for name in ETHICAL]


def _split_technical_score(supported: SupportedFacts) -> list[_Contribution]:
    """Split the technical score into its parts for documentation, quality and size."""
    facts = supported.facts
    missing_percentage = facts["missing_values_percentage"]
    is_percentage_known = ~np.isnan(missing_percentage)
    is_complete_by_flag = ~is_percentage_known & (facts["has_missing_values"] == 0)

    return [
        _true_part("metadata_provided_with_dataset", formulas.DOCUMENTATION_PART, facts),
        _true_part("external_documentation_available", formulas.DOCUMENTATION_PART, facts),
        _Contribution(
            "missing_values_percentage",
            np.where(is_percentage_known, formulas.completeness_part(missing_percentage), 0.0),
        ),
        _Contribution("has_missing_values", np.where(is_complete_by_flag, formulas.QUALITY_PART, 0.0)),
        _true_part("is_split", formulas.QUALITY_PART, facts),
        _Contribution("instances_number", formulas.instances_part(facts["instances_number"])),
        _Contribution("features_number", formulas.features_part(facts["features_number"])),
    ]


def _true_part(flag: str, part: float, facts: Facts) -> _Contribution:
    """Return what a flag adds to a criterion where it is true."""
    return _Contribution(flag, np.where(facts[flag] == 1, part, 0.0))


def _split_documentation(supported: SupportedFacts) -> list[_Contribution]:
    """Split the criterion for documentation between the two flags from which it is computed.

    One true flag suffices for its full value. If both are true, the one with the stronger evidence counts.
    """
    metadata, external = FACTS_BY_CRITERION["documentation"]
    has_metadata, has_external = supported.facts[metadata] == 1, supported.facts[external] == 1
    is_metadata_better = supported.strengths_of(metadata) >= supported.strengths_of(external)

    is_metadata_decisive = has_metadata & (is_metadata_better | ~has_external)
    is_external_decisive = has_external & ~is_metadata_decisive
    return [
        _Contribution(metadata, is_metadata_decisive.astype(np.float64)),
        _Contribution(external, is_external_decisive.astype(np.float64)),
    ]


def _split_data_quality(supported: SupportedFacts) -> list[_Contribution]:
    """Split the data quality, which the percentage of missing values decides if it is known, and else the flag."""
    quality = formulas.data_quality(supported.facts)
    is_percentage_known = ~np.isnan(supported.facts["missing_values_percentage"])
    return [
        _Contribution("missing_values_percentage", np.where(is_percentage_known, quality, 0.0)),
        _Contribution("has_missing_values", np.where(is_percentage_known, 0.0, quality)),
    ]


_SPLITS: Final[Mapping[str, Callable[[SupportedFacts], list[_Contribution]]]] = {
    "ethical_score": _split_ethical_score,
    "technical_score": _split_technical_score,
    "documentation": _split_documentation,
    "data_quality": _split_data_quality,
}
"""The criteria to which several attributes contribute."""
