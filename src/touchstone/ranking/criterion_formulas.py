"""The formulas of the twelve criteria (interface, sections 2.7 and 2.8), such as the technical score.

Each formula is a function from columns of attributes (facts) to an array of values from 0 to 1, one for each record.
Unknown attributes count 0. All operations are in float64 and in the written order, so that scores are the same on every
machine.
`CRITERIA` in `criteria` is the table of all criteria with their names and labels.
"""

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa

from touchstone.core.attributes import ETHICAL
from touchstone.ranking.array_types import Facts, Floats

DOCUMENTATION_PART: Final = 0.15
"""The contribution of each kind of documentation to the technical score."""
QUALITY_PART: Final = 0.2
"""The maximum contribution of complete values, and of a split into training and test data, to the technical score."""
SIZE_PART: Final = 0.15
"""The maximum contribution of the number of instances, and of the number of features, to the technical score."""
MISSING_VALUES_QUALITY: Final = 0.5
"""The data quality of a record with missing values if the percentage of missing values is unknown."""


def ethical_score(facts: Facts) -> Floats:
    """Return the ethical score of each record: the share of true values among the ten ethical attributes."""
    record_count = len(facts[ETHICAL[0]])

    true_counts = np.zeros(record_count, np.int64)
    for attribute in ETHICAL:
        true_counts += facts[attribute] == 1
    return true_counts / 10


def technical_score(facts: Facts) -> Floats:
    """Return the technical score of each record, which is the sum of documentation, quality and size.

    Documentation contributes up to 0.30, quality up to 0.40, and size (numbers of instances and features) up to 0.30.
    """
    documentation_part = _documentation_part(facts)
    quality_part = _quality_part(facts)
    size_part = instances_part(facts["instances_number"]) + features_part(facts["features_number"])
    return np.minimum(1.0, documentation_part + quality_part + size_part)


def _documentation_part(facts: Facts) -> Floats:
    """Return the contribution of documentation: 0.15 for metadata plus 0.15 for external documentation."""
    has_metadata = facts["metadata_provided_with_dataset"] == 1
    has_external = facts["external_documentation_available"] == 1
    return np.where(has_metadata, DOCUMENTATION_PART, 0.0) + np.where(has_external, DOCUMENTATION_PART, 0.0)


def _quality_part(facts: Facts) -> Floats:
    """Return the contribution of quality: up to 0.2 for complete values plus 0.2 for a split.

    Completeness depends on the percentage of missing values if it is known, and otherwise on the flag
    `has_missing_values`.
    """
    missing_percentage = facts["missing_values_percentage"]
    completeness_by_flag = np.where(facts["has_missing_values"] == 0, QUALITY_PART, 0.0)
    completeness_by_percentage = completeness_part(missing_percentage)
    completeness = np.where(np.isnan(missing_percentage), completeness_by_flag, completeness_by_percentage)

    split = np.where(facts["is_split"] == 1, QUALITY_PART, 0.0)
    return completeness + split


def completeness_part(missing_percentage: Floats) -> Floats:
    """Return the contribution of a known percentage of missing values, from 0.2 for 0 % to 0 for 100 %."""
    return np.maximum(0.0, QUALITY_PART * (100 - missing_percentage) / 100)


def instances_part(instances: Floats) -> Floats:
    """Return the contribution of the number of instances, which rises from 0 for 100 to 0.15 for 100,000."""
    return SIZE_PART * np.clip((_log10(instances) - 2) / 3, 0.0, 1.0)


def features_part(features: Floats) -> Floats:
    """Return the contribution of the number of features, at most 0.15.

    The contribution is highest for 10 to 100 features, proportional to a smaller number, and gradually reduced to one
    half for a larger number.
    """
    above_100 = SIZE_PART * np.maximum(0.5, 1 - (features - 100) / 1000)
    below_10 = SIZE_PART * features / 10
    known = np.where(features > 100, above_100, np.where(features < 10, below_10, SIZE_PART))
    return np.where(np.isnan(features), 0.0, known)


def popularity_score(facts: Facts) -> Floats:
    """Return the popularity score of each record, log10(citations) / 3 clamped to 0-1."""
    return np.clip(_log10(facts["citations"]) / 3, 0.0, 1.0)


def flag_is_true(flag: str) -> Callable[[Facts], Floats]:
    """Return a formula that is 1 for records with a flag known to be true, and 0 for all others."""
    return lambda facts: (facts[flag] == 1).astype(np.float64)


def documentation(facts: Facts) -> Floats:
    """Return 1 for each record with metadata or external documentation, and 0 for all others."""
    return (_documentation_part(facts) > 0).astype(np.float64)


def data_quality(facts: Facts) -> Floats:
    """Return the data quality of each record: the share of values that are not missing.

    If the percentage of missing values is unknown, the quality depends on the flag `has_missing_values`: 1 if the
    flag is false, 0.5 if it is true, and 0 if it is unknown.
    """
    missing_percentage = facts["missing_values_percentage"]
    has_missing_values = facts["has_missing_values"]

    quality_if_missing = np.where(has_missing_values == 1, MISSING_VALUES_QUALITY, 0.0)
    quality_by_flag = np.where(has_missing_values == 0, 1.0, quality_if_missing)
    quality_by_percentage = complete_share(missing_percentage)
    return np.where(np.isnan(missing_percentage), quality_by_flag, quality_by_percentage)


def complete_share(missing_percentage: Floats) -> Floats:
    """Return the share of values that are not missing, from 0 to 1."""
    return (100 - missing_percentage) / 100


def instances_count(facts: Facts) -> Floats:
    """Return the criterion "number of instances", log10(instances) / 5 clamped to 0-1."""
    return np.clip(_log10(facts["instances_number"]) / 5, 0.0, 1.0)


def features_count(facts: Facts) -> Floats:
    """Return the criterion "number of features", features / 100 clamped to 0-1."""
    return np.nan_to_num(np.clip(facts["features_number"] / 100, 0.0, 1.0), nan=0.0)


def novelty(facts: Facts) -> Floats:
    """Return the novelty of each record, (year - 2000) / 24 clamped to 0-1."""
    return np.nan_to_num(np.clip((facts["year"] - 2000) / 24, 0.0, 1.0), nan=0.0)


def _log10(values: Floats) -> Floats:
    """Return log10 of positive values, and -inf for all other values including NaN.

    `math.log10` is called once for each distinct value. NumPy's log10 would be faster, but its last bit depends on the
    SIMD instructions of the CPU, and scores must be the same on every machine.
    """
    encoded_values = pa.array(values).dictionary_encode()
    distinct_values = encoded_values.dictionary.to_pylist()
    logarithms = [math.log10(value) if value > 0 else -math.inf for value in distinct_values]
    codes = encoded_values.indices.to_numpy()
    return np.asarray(np.array(logarithms, np.float64)[codes])
