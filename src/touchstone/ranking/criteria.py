"""The twelve scoring criteria (interface, sections 2.7 and 2.8), each a function over columns with values in 0-1.

Facts come as numbers in float64 (NaN: not known) and flags in int8 (1, 0, -1: not known). What is not known counts 0.
Every formula is evaluated in float64 in the order in which it is written, so that a score is the same everywhere.
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


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion: its wire name, kind (composite, binary or continuous), labels and formula for people."""

    name: str
    kind: str
    label_fr: str
    label_en: str
    formula_fr: str
    formula_en: str
    of: Callable[[Facts], Floats]


def _log10_of_positive(values: Floats) -> Floats:
    """log10 by `math.log10` for each distinct value, -inf where there is none.

    NumPy's own may differ from the C library's in the last bit, and between its vector widths; a score must not.
    """
    distinct, inverse = np.unique(values, return_inverse=True)
    table = [math.log10(value) if value > 0 else -math.inf for value in distinct.tolist()]
    return np.array(table, np.float64)[inverse]


def ethical_score(facts: Facts) -> Floats:
    """The share of the ten ethical attributes that are true (interface 2.8)."""
    true = np.zeros(len(facts[ETHICAL[0]]), np.int64)
    for name in ETHICAL:
        true += facts[name] == 1
    return true / 10


def _documentation_part(facts: Facts) -> Floats:
    provided, external = facts["metadata_provided_with_dataset"] == 1, facts["external_documentation_available"] == 1
    return np.where(provided, 0.15, 0.0) + np.where(external, 0.15, 0.0)


def missing_part(percentage: Floats) -> Floats:
    """What a known missing share brings to the technical score."""
    return np.maximum(0.0, 0.2 * (100 - percentage) / 100)


def _quality_part(facts: Facts) -> Floats:
    percentage = facts["missing_values_percentage"]
    by_flag = np.where(facts["has_missing_values"] == 0, 0.2, 0.0)
    missing = np.where(np.isnan(percentage), by_flag, missing_part(percentage))
    return missing + np.where(facts["is_split"] == 1, 0.2, 0.0)


def instances_part(instances: Floats) -> Floats:
    """What the number of instances brings to the technical score."""
    return 0.15 * np.clip((_log10_of_positive(instances) - 2) / 3, 0.0, 1.0)


def features_part(features: Floats) -> Floats:
    """What the number of features brings to the technical score."""
    many = 0.15 * np.maximum(0.5, 1 - (features - 100) / 1000)
    few = 0.15 * features / 10
    part = np.where(features > 100, many, np.where(features < 10, few, 0.15))
    return np.where(np.isnan(features), 0.0, part)


def _size_part(facts: Facts) -> Floats:
    return instances_part(facts["instances_number"]) + features_part(facts["features_number"])


def technical_score(facts: Facts) -> Floats:
    """Documentation, quality, and size and richness added up (interface 2.8)."""
    return np.minimum(1.0, _documentation_part(facts) + _quality_part(facts) + _size_part(facts))


def popularity_score(facts: Facts) -> Floats:
    """clamp(log10(citations) / 3, 0, 1) (interface 2.8)."""
    return np.clip(_log10_of_positive(facts["citations"]) / 3, 0.0, 1.0)


def _flag(name: str) -> Callable[[Facts], Floats]:
    return lambda facts: (facts[name] == 1).astype(np.float64)


def documentation(facts: Facts) -> Floats:
    """1 when metadata or external documentation is there."""
    return (_documentation_part(facts) > 0).astype(np.float64)


def data_quality(facts: Facts) -> Floats:
    """(100 - p) / 100 when the missing share p is known; else 1, 0.5, 0 for has_missing_values false, true, unknown."""
    percentage, flag = facts["missing_values_percentage"], facts["has_missing_values"]
    by_flag = np.where(flag == 0, 1.0, np.where(flag == 1, 0.5, 0.0))
    return np.where(np.isnan(percentage), by_flag, complete_share(percentage))


def complete_share(percentage: Floats) -> Floats:
    """The share that is not missing."""
    return (100 - percentage) / 100


def instances_count(facts: Facts) -> Floats:
    """clamp(log10(n) / 5, 0, 1)."""
    return np.clip(_log10_of_positive(facts["instances_number"]) / 5, 0.0, 1.0)


def features_count(facts: Facts) -> Floats:
    """clamp(n / 100, 0, 1)."""
    return np.nan_to_num(np.clip(facts["features_number"] / 100, 0.0, 1.0), nan=0.0)


def novelty(facts: Facts) -> Floats:
    """clamp((y - 2000) / 24, 0, 1)."""
    return np.nan_to_num(np.clip((facts["year"] - 2000) / 24, 0.0, 1.0), nan=0.0)


CRITERIA: Final[tuple[Criterion, ...]] = (
    Criterion(
        "ethical_score",
        "composite",
        "Éthique",
        "Ethical",
        "nombre de critères éthiques remplis ÷ 10",
        "number of ethical criteria that are met ÷ 10",
        ethical_score,
    ),
    Criterion(
        "technical_score",
        "composite",
        "Technique",
        "Technical",
        "documentation (0,30) + qualité (0,40) + taille et richesse (0,30)",
        "documentation (0.30) + quality (0.40) + size and richness (0.30)",
        technical_score,
    ),
    Criterion(
        "popularity_score",
        "composite",
        "Popularité",
        "Popularity",
        "log10(citations) ÷ 3, borné à 0–1",
        "log10(citations) ÷ 3, clamped to 0–1",
        popularity_score,
    ),
    Criterion(
        "anonymization",
        "binary",
        "Anonymisation",
        "Anonymization",
        "1 si anonymisation appliquée, sinon 0",
        "1 if anonymization is applied, else 0",
        _flag("anonymization_applied"),
    ),
    Criterion(
        "transparency",
        "binary",
        "Transparence",
        "Transparency",
        "1 si transparence documentée, sinon 0",
        "1 if transparency is documented, else 0",
        _flag("transparency"),
    ),
    Criterion(
        "informed_consent",
        "binary",
        "Consentement éclairé",
        "Informed consent",
        "1 si consentement éclairé, sinon 0",
        "1 if consent was informed, else 0",
        _flag("informed_consent"),
    ),
    Criterion(
        "documentation",
        "binary",
        "Documentation",
        "Documentation",
        "1 si métadonnées fournies ou documentation externe, sinon 0",
        "1 if metadata or external documentation is there, else 0",
        documentation,
    ),
    Criterion(
        "data_quality",
        "continuous",
        "Qualité des données",
        "Data quality",
        "(100 − % manquant) ÷ 100 ; à défaut, 1 sans valeurs manquantes, 0,5 avec, 0 si inconnu",
        "(100 − missing %) ÷ 100; otherwise 1 without missing values, 0.5 with, 0 if unknown",
        data_quality,
    ),
    Criterion(
        "instances_count",
        "continuous",
        "Nombre d’instances",
        "Number of instances",
        "log10(instances) ÷ 5, borné à 0–1",
        "log10(instances) ÷ 5, clamped to 0–1",
        instances_count,
    ),
    Criterion(
        "features_count",
        "continuous",
        "Nombre de variables",
        "Number of features",
        "variables ÷ 100, borné à 0–1",
        "features ÷ 100, clamped to 0–1",
        features_count,
    ),
    Criterion(
        "citations",
        "continuous",
        "Citations",
        "Citations",
        "log10(citations) ÷ 3, borné à 0–1",
        "log10(citations) ÷ 3, clamped to 0–1",
        popularity_score,
    ),
    Criterion(
        "year",
        "continuous",
        "Nouveauté",
        "Novelty",
        "(année − 2000) ÷ 24, borné à 0–1",
        "(year − 2000) ÷ 24, clamped to 0–1",
        novelty,
    ),
)
CRITERION_NAMES: Final = tuple(criterion.name for criterion in CRITERIA)
COMPOSITES: Final = tuple(criterion.name for criterion in CRITERIA if criterion.kind == "composite")
