"""The formulas of the twelve criteria (interface, sections 2.7 and 2.8), such as the technical score.

Each formula is a function over columns: it takes the facts of many records and returns one value in 0-1 for each. A
fact that is not known counts 0. Everything is evaluated in float64 in the order in which it is written, so that a score
is the same everywhere. `CRITERIA` in `criteria` is the table of all criteria with their names and labels.
"""

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from touchstone.core.attributes import ETHICAL
from touchstone.ranking.array_types import Facts, Floats

DOCUMENTATION_PART: Final = 0.15
"""What each kind of documentation adds to the technical score."""
QUALITY_PART: Final = 0.2
"""What complete values, and a split into training and test data, each add to the technical score."""
SIZE_PART: Final = 0.15
"""What the numbers of instances and of features each add to the technical score at most."""
MISSING_VALUES_QUALITY: Final = 0.5
"""The data quality of a record with missing values if their share is not known."""


def ethical_score(facts: Facts) -> Floats:
    """Return the ethical score of each record: the share of the ten ethical attributes that are true."""
    record_count = len(facts[ETHICAL[0]])

    true_counts = np.zeros(record_count, np.int64)
    for attribute in ETHICAL:
        true_counts += facts[attribute] == 1
    return true_counts / 10


def technical_score(facts: Facts) -> Floats:
    """Return the technical score of each record: the sum of documentation, quality and size, at most 1.

    Documentation adds up to 0.30, quality up to 0.40, and size (numbers of instances and features) up to 0.30.
    """
    documentation_part = _documentation_part(facts)
    quality_part = _quality_part(facts)
    size_part = instances_part(facts["instances_number"]) + features_part(facts["features_number"])
    return np.minimum(1.0, documentation_part + quality_part + size_part)


def _documentation_part(facts: Facts) -> Floats:
    """Return what documentation adds to the technical score: 0.15 for metadata and 0.15 for an external document."""
    has_metadata = facts["metadata_provided_with_dataset"] == 1
    has_external = facts["external_documentation_available"] == 1
    return np.where(has_metadata, DOCUMENTATION_PART, 0.0) + np.where(has_external, DOCUMENTATION_PART, 0.0)


def _quality_part(facts: Facts) -> Floats:
    """Return what quality adds to the technical score: up to 0.2 for complete values, and 0.2 for a split.

    The percentage of missing values decides where it is known; elsewhere the flag `has_missing_values` does.
    """
    missing_percentage = facts["missing_values_percentage"]
    completeness_by_flag = np.where(facts["has_missing_values"] == 0, QUALITY_PART, 0.0)
    completeness_by_percentage = completeness_part(missing_percentage)
    completeness = np.where(np.isnan(missing_percentage), completeness_by_flag, completeness_by_percentage)

    split = np.where(facts["is_split"] == 1, QUALITY_PART, 0.0)
    return completeness + split


def completeness_part(missing_percentage: Floats) -> Floats:
    """Return what a known percentage of missing values adds to the technical score: 0.2 for none, 0 for 100 %."""
    return np.maximum(0.0, QUALITY_PART * (100 - missing_percentage) / 100)


def instances_part(instances: Floats) -> Floats:
    """Return what the number of instances adds to the technical score: 0 up to 100, 0.15 from 100,000 on."""
    return SIZE_PART * np.clip((_log10(instances) - 2) / 3, 0.0, 1.0)


def features_part(features: Floats) -> Floats:
    """Return what the number of features adds to the technical score, 0.15 being the most.

    From 10 to 100 features are ideal. Fewer count in proportion; more than 100 gradually lower the value to one half.
    """
    above_100 = SIZE_PART * np.maximum(0.5, 1 - (features - 100) / 1000)
    below_10 = SIZE_PART * features / 10
    known = np.where(features > 100, above_100, np.where(features < 10, below_10, SIZE_PART))
    return np.where(np.isnan(features), 0.0, known)


def popularity_score(facts: Facts) -> Floats:
    """Return the popularity score of each record: log10(citations) / 3, clamped to 0-1."""
    return np.clip(_log10(facts["citations"]) / 3, 0.0, 1.0)


def flag_is_true(flag: str) -> Callable[[Facts], Floats]:
    """Return a formula that is 1 for the records whose flag is known to be true, and 0 for all others."""
    return lambda facts: (facts[flag] == 1).astype(np.float64)


def documentation(facts: Facts) -> Floats:
    """Return 1 for each record with metadata or external documentation, and 0 for the others."""
    return (_documentation_part(facts) > 0).astype(np.float64)


def data_quality(facts: Facts) -> Floats:
    """Return the data quality of each record: the share of values that are not missing.

    If the percentage of missing values is not known, the flag `has_missing_values` decides: 1 if it is false, 0.5 if it
    is true, 0 if it is not known either.
    """
    missing_percentage = facts["missing_values_percentage"]
    has_missing_values = facts["has_missing_values"]

    quality_if_missing = np.where(has_missing_values == 1, MISSING_VALUES_QUALITY, 0.0)
    quality_by_flag = np.where(has_missing_values == 0, 1.0, quality_if_missing)
    quality_by_percentage = complete_share(missing_percentage)
    return np.where(np.isnan(missing_percentage), quality_by_flag, quality_by_percentage)


def complete_share(missing_percentage: Floats) -> Floats:
    """Return the share of values that are not missing, in 0-1."""
    return (100 - missing_percentage) / 100


def instances_count(facts: Facts) -> Floats:
    """Return the criterion "number of instances": log10(instances) / 5, clamped to 0-1."""
    return np.clip(_log10(facts["instances_number"]) / 5, 0.0, 1.0)


def features_count(facts: Facts) -> Floats:
    """Return the criterion "number of features": features / 100, clamped to 0-1."""
    return np.nan_to_num(np.clip(facts["features_number"] / 100, 0.0, 1.0), nan=0.0)


def novelty(facts: Facts) -> Floats:
    """Return the novelty of each record: (year - 2000) / 24, clamped to 0-1."""
    return np.nan_to_num(np.clip((facts["year"] - 2000) / 24, 0.0, 1.0), nan=0.0)


def _log10(values: Floats) -> Floats:
    """Return log10 of the positive values, and -inf for all others, including NaN.

    `math.log10` is called once for each distinct value. NumPy's log10 would be faster, but may differ from the C
    library's in the last bit, depending on the width of the processor's vectors, and a score must not.
    """
    distinct_values, inverse = np.unique(values, return_inverse=True)
    logarithms = [math.log10(value) if value > 0 else -math.inf for value in distinct_values.tolist()]
    return np.array(logarithms, np.float64)[inverse]
