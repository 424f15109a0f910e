"""The twelve scoring criteria (interface, sections 2.7 and 2.8), each a function over columns with values in 0-1.

Facts are numbers in float64, NaN if not known, and flags in int8: 1, 0, or -1 if not known. What is not known counts
0. Every formula is evaluated in float64 in the order in which it is written, so that a score is the same everywhere.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import ETHICAL

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Facts: TypeAlias = Mapping[str, NDArray[Any]]

DOCUMENTATION_PART: Final = 0.15
"""What each kind of documentation adds to the technical score."""
QUALITY_PART: Final = 0.2
"""What complete values, and a split into training and test data, each add to the technical score."""
SIZE_PART: Final = 0.15
"""What the numbers of instances and of features each add to the technical score at most."""
MISSING_VALUES_QUALITY: Final = 0.5
"""The data quality of a record with missing values if their share is not known."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion: its wire name, kind (composite, binary or continuous), labels, formula for people, and function.

    `facts`: the attributes that it is computed from.
    """

    name: str
    kind: str
    label_fr: str
    label_en: str
    formula_fr: str
    formula_en: str
    facts: tuple[str, ...]
    compute: Callable[[Facts], Floats]


def _log10(values: Floats) -> Floats:
    """Return log10 of the positive values, and -inf for the others and NaN.

    `math.log10` is called once for each distinct value: NumPy's log10 may differ from the C library's in the last bit,
    depending on the width of the processor's vectors, and a score must not.
    """
    distinct, inverse = np.unique(values, return_inverse=True)
    logarithms = [math.log10(value) if value > 0 else -math.inf for value in distinct.tolist()]
    return np.array(logarithms, np.float64)[inverse]


def ethical_score(facts: Facts) -> Floats:
    """Return the share of the ten ethical attributes that are true (interface, section 2.8)."""
    true_count = np.zeros(len(facts[ETHICAL[0]]), np.int64)
    for name in ETHICAL:
        true_count += facts[name] == 1
    return true_count / 10


def technical_score(facts: Facts) -> Floats:
    """Return the sum of documentation, quality, and size and richness (interface, section 2.8)."""
    size = instances_part(facts["instances_number"]) + features_part(facts["features_number"])
    return np.minimum(1.0, _documentation_part(facts) + _quality_part(facts) + size)


def _documentation_part(facts: Facts) -> Floats:
    has_metadata = facts["metadata_provided_with_dataset"] == 1
    has_external = facts["external_documentation_available"] == 1
    return np.where(has_metadata, DOCUMENTATION_PART, 0.0) + np.where(has_external, DOCUMENTATION_PART, 0.0)


def _quality_part(facts: Facts) -> Floats:
    percentage = facts["missing_values_percentage"]
    by_flag = np.where(facts["has_missing_values"] == 0, QUALITY_PART, 0.0)
    completeness = np.where(np.isnan(percentage), by_flag, missing_part(percentage))

    return completeness + np.where(facts["is_split"] == 1, QUALITY_PART, 0.0)


def missing_part(percentage: Floats) -> Floats:
    """Return what a known percentage of missing values adds to the technical score."""
    return np.maximum(0.0, QUALITY_PART * (100 - percentage) / 100)


def instances_part(instances: Floats) -> Floats:
    """Return what the number of instances adds to the technical score."""
    return SIZE_PART * np.clip((_log10(instances) - 2) / 3, 0.0, 1.0)


def features_part(features: Floats) -> Floats:
    """Return what the number of features adds to the technical score."""
    above_100 = SIZE_PART * np.maximum(0.5, 1 - (features - 100) / 1000)
    below_10 = SIZE_PART * features / 10
    known = np.where(features > 100, above_100, np.where(features < 10, below_10, SIZE_PART))
    return np.where(np.isnan(features), 0.0, known)


def popularity_score(facts: Facts) -> Floats:
    """Return clamp(log10(citations) / 3, 0, 1) (interface, section 2.8)."""
    return np.clip(_log10(facts["citations"]) / 3, 0.0, 1.0)


def _is_true(flag: str) -> Callable[[Facts], Floats]:
    """Return the criterion that is 1 if a flag is true, else 0."""
    return lambda facts: (facts[flag] == 1).astype(np.float64)


def documentation(facts: Facts) -> Floats:
    """Return 1 if metadata or external documentation is available, else 0."""
    return (_documentation_part(facts) > 0).astype(np.float64)


def data_quality(facts: Facts) -> Floats:
    """Return (100 - p) / 100 if the percentage p of missing values is known.

    Otherwise the flag `has_missing_values` decides: 1 if it is false, 0.5 if it is true, 0 if it is not known.
    """
    percentage, flag = facts["missing_values_percentage"], facts["has_missing_values"]
    by_flag = np.where(flag == 0, 1.0, np.where(flag == 1, MISSING_VALUES_QUALITY, 0.0))
    return np.where(np.isnan(percentage), by_flag, complete_share(percentage))


def complete_share(percentage: Floats) -> Floats:
    """Return the share of values that are not missing."""
    return (100 - percentage) / 100


def instances_count(facts: Facts) -> Floats:
    """Return clamp(log10(instances) / 5, 0, 1)."""
    return np.clip(_log10(facts["instances_number"]) / 5, 0.0, 1.0)


def features_count(facts: Facts) -> Floats:
    """Return clamp(features / 100, 0, 1)."""
    return np.nan_to_num(np.clip(facts["features_number"] / 100, 0.0, 1.0), nan=0.0)


def novelty(facts: Facts) -> Floats:
    """Return clamp((year - 2000) / 24, 0, 1)."""
    return np.nan_to_num(np.clip((facts["year"] - 2000) / 24, 0.0, 1.0), nan=0.0)


_DOCUMENTATION: Final = ("metadata_provided_with_dataset", "external_documentation_available")
_COMPLETENESS: Final = ("missing_values_percentage", "has_missing_values")

CRITERIA: Final[tuple[Criterion, ...]] = (
    Criterion(
        "ethical_score",
        "composite",
        "Éthique",
        "Ethical",
        "nombre de critères éthiques remplis ÷ 10",
        "number of ethical criteria that are met ÷ 10",
        ETHICAL,
        ethical_score,
    ),
    Criterion(
        "technical_score",
        "composite",
        "Technique",
        "Technical",
        "documentation (0,30) + qualité (0,40) + taille et richesse (0,30)",
        "documentation (0.30) + quality (0.40) + size and richness (0.30)",
        (*_DOCUMENTATION, *_COMPLETENESS, "is_split", "instances_number", "features_number"),
        technical_score,
    ),
    Criterion(
        "popularity_score",
        "composite",
        "Popularité",
        "Popularity",
        "log10(citations) ÷ 3, borné à 0–1",
        "log10(citations) ÷ 3, clamped to 0–1",
        ("citations",),
        popularity_score,
    ),
    Criterion(
        "anonymization",
        "binary",
        "Anonymisation",
        "Anonymization",
        "1 si anonymisation appliquée, sinon 0",
        "1 if anonymization is applied, else 0",
        ("anonymization_applied",),
        _is_true("anonymization_applied"),
    ),
    Criterion(
        "transparency",
        "binary",
        "Transparence",
        "Transparency",
        "1 si transparence documentée, sinon 0",
        "1 if transparency is documented, else 0",
        ("transparency",),
        _is_true("transparency"),
    ),
    Criterion(
        "informed_consent",
        "binary",
        "Consentement éclairé",
        "Informed consent",
        "1 si consentement éclairé, sinon 0",
        "1 if consent was informed, else 0",
        ("informed_consent",),
        _is_true("informed_consent"),
    ),
    Criterion(
        "documentation",
        "binary",
        "Documentation",
        "Documentation",
        "1 si métadonnées fournies ou documentation externe, sinon 0",
        "1 if metadata or external documentation is there, else 0",
        _DOCUMENTATION,
        documentation,
    ),
    Criterion(
        "data_quality",
        "continuous",
        "Qualité des données",
        "Data quality",
        "(100 − % manquant) ÷ 100 ; à défaut, 1 sans valeurs manquantes, 0,5 avec, 0 si inconnu",
        "(100 − missing %) ÷ 100; otherwise 1 without missing values, 0.5 with, 0 if unknown",
        _COMPLETENESS,
        data_quality,
    ),
    Criterion(
        "instances_count",
        "continuous",
        "Nombre d’instances",
        "Number of instances",
        "log10(instances) ÷ 5, borné à 0–1",
        "log10(instances) ÷ 5, clamped to 0–1",
        ("instances_number",),
        instances_count,
    ),
    Criterion(
        "features_count",
        "continuous",
        "Nombre de variables",
        "Number of features",
        "variables ÷ 100, borné à 0–1",
        "features ÷ 100, clamped to 0–1",
        ("features_number",),
        features_count,
    ),
    Criterion(
        "citations",
        "continuous",
        "Citations",
        "Citations",
        "log10(citations) ÷ 3, borné à 0–1",
        "log10(citations) ÷ 3, clamped to 0–1",
        ("citations",),
        popularity_score,
    ),
    Criterion(
        "year",
        "continuous",
        "Nouveauté",
        "Novelty",
        "(année − 2000) ÷ 24, borné à 0–1",
        "(year − 2000) ÷ 24, clamped to 0–1",
        ("year",),
        novelty,
    ),
)
CRITERION_NAMES: Final = tuple(criterion.name for criterion in CRITERIA)
COMPOSITES: Final = tuple(criterion.name for criterion in CRITERIA if criterion.kind == "composite")
