"""The division of a score among the levels of evidence that support it.

A score is the sum of the points of all attributes of a record. The level of an attribute is the level of the best
evidence for it, or "declared" if there is none.
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

_ROW_BY_ATTRIBUTE: Final = {name: row for row, name in enumerate(CLAIMED_ATTRIBUTES)}
_LEVEL_NAMES: Final = [level.value for level in EvidenceLevel]
_STRENGTHS: Final = [level.strength for level in EvidenceLevel]


class _Contribution(NamedTuple):
    """The contribution of one attribute to a criterion, with one value for each record."""

    attribute: str
    values: Floats


class SupportedFacts(NamedTuple):
    """The facts of records with the levels of evidence that support them.

    Attributes:
        facts: the facts, as returned by `View.facts`.
        strengths: the strength of the evidence level of each attribute (row) of each record (column).
    """

    facts: Facts
    strengths: Ints

    @classmethod
    def from_packed_levels(cls, facts: Facts, packed_levels: NDArray[np.uint64]) -> "SupportedFacts":
        """Combine facts with the packed levels returned by `View.evidence_levels`."""
        return cls(facts, unpack_levels(packed_levels))

    def attribute_strengths(self, attribute: str) -> Ints:
        """Return the strength of the evidence level of an attribute for each record."""
        return np.asarray(self.strengths[_ROW_BY_ATTRIBUTE[attribute]])


def points_by_level(
    supported: SupportedFacts, criterion_scores: Floats, weights: Mapping[str, float]
) -> list[dict[str, float]]:
    """Divide the score of each record among the levels of evidence that support its attributes.

    Args:
        supported: the facts of the records with their evidence levels.
        criterion_scores: a matrix with one row for each record and one column for each of CRITERIA.
        weights: the weights by criterion.

    Returns:
        for each record, the points by the name of the level, which add up to its score.
    """
    # Divide the score of each record (column) among its attributes (rows).
    terms, total_weight = active_weights(weights)
    points_by_attribute = np.zeros(supported.strengths.shape)
    for criterion, weight in terms:
        criterion_values = criterion_scores[:, CRITERION_NAMES.index(criterion)]
        for attribute, values in _contributions(criterion, criterion_values, supported):
            points_by_attribute[_ROW_BY_ATTRIBUTE[attribute]] += values * (weight / total_weight)

    # Add up the points of the attributes with the same level.
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
    """Return the contribution of each attribute to a criterion.

    Most criteria are computed from a single attribute, which contributes the whole value.
    """
    compute_contributions = _CONTRIBUTION_FUNCTIONS.get(criterion)
    if compute_contributions is not None:
        return compute_contributions(supported)

    [attribute] = FACTS_BY_CRITERION[criterion]
    return [_Contribution(attribute, criterion_values)]


def _ethical_score_contributions(supported: SupportedFacts) -> list[_Contribution]:
    """Return the contributions to the ethical score: one tenth for each attribute that is true."""
    return [_Contribution(name, (supported.facts[name] == 1) / len(ETHICAL)) for name in ETHICAL]


def _technical_score_contributions(supported: SupportedFacts) -> list[_Contribution]:
    """Return the contributions to the technical score, as in `criterion_formulas.technical_score`."""
    facts = supported.facts
    missing_percentage = facts["missing_values_percentage"]
    is_percentage_known = ~np.isnan(missing_percentage)
    is_complete_by_flag = ~is_percentage_known & (facts["has_missing_values"] == 0)

    return [
        _contribution_if_true("metadata_provided_with_dataset", formulas.DOCUMENTATION_PART, facts),
        _contribution_if_true("external_documentation_available", formulas.DOCUMENTATION_PART, facts),
        _Contribution(
            "missing_values_percentage",
            np.where(is_percentage_known, formulas.completeness_part(missing_percentage), 0.0),
        ),
        _Contribution("has_missing_values", np.where(is_complete_by_flag, formulas.QUALITY_PART, 0.0)),
        _contribution_if_true("is_split", formulas.QUALITY_PART, facts),
        _Contribution("instances_number", formulas.instances_part(facts["instances_number"])),
        _Contribution("features_number", formulas.features_part(facts["features_number"])),
    ]


def _contribution_if_true(flag: str, part: float, facts: Facts) -> _Contribution:
    """Return the contribution of a flag that adds `part` to a criterion if it is true."""
    return _Contribution(flag, np.where(facts[flag] == 1, part, 0.0))


def _documentation_contributions(supported: SupportedFacts) -> list[_Contribution]:
    """Return the contributions of the two flags to the documentation criterion.

    One true flag is sufficient for the full value. If both are true, the one with the stronger evidence counts.
    """
    metadata, external = FACTS_BY_CRITERION["documentation"]
    has_metadata = supported.facts[metadata] == 1
    has_external = supported.facts[external] == 1
    is_metadata_better = supported.attribute_strengths(metadata) >= supported.attribute_strengths(external)

    is_metadata_decisive = has_metadata & (is_metadata_better | ~has_external)
    is_external_decisive = has_external & ~is_metadata_decisive
    return [
        _Contribution(metadata, is_metadata_decisive.astype(np.float64)),
        _Contribution(external, is_external_decisive.astype(np.float64)),
    ]


def _data_quality_contributions(supported: SupportedFacts) -> list[_Contribution]:
    """Return the contributions to the data quality.

    The percentage of missing values contributes the whole value if it is known, and otherwise the flag does.
    """
    quality = formulas.data_quality(supported.facts)
    is_percentage_known = ~np.isnan(supported.facts["missing_values_percentage"])
    return [
        _Contribution("missing_values_percentage", np.where(is_percentage_known, quality, 0.0)),
        _Contribution("has_missing_values", np.where(is_percentage_known, 0.0, quality)),
    ]


_CONTRIBUTION_FUNCTIONS: Final[Mapping[str, Callable[[SupportedFacts], list[_Contribution]]]] = {
    "ethical_score": _ethical_score_contributions,
    "technical_score": _technical_score_contributions,
    "documentation": _documentation_contributions,
    "data_quality": _data_quality_contributions,
}
"""The functions for criteria that are computed from several attributes."""
