"""Kernels that compute criteria and scores of single records from the codes and tables of an index.

All values are float64 and identical to the results of `ranking.criterion_formulas`, because terms are added in the same
order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.criterion_formulas import DOCUMENTATION_PART, MISSING_VALUES_QUALITY, QUALITY_PART
from touchstone.ranking.kernels.constants import (
    BINARY_MASKS,
    CITATIONS,
    DATA_QUALITY,
    ETHICAL_GRADE,
    ETHICAL_SCORE,
    EXTERNAL_DOCUMENTATION,
    FEATURES_COUNT,
    HAS_MISSING_VALUES,
    INSTANCES_COUNT,
    IS_SPLIT,
    METADATA_PROVIDED,
    NO_MISSING_VALUES,
    POPULARITY_SCORE,
    TECHNICAL_SCORE,
)
from touchstone.ranking.kernels.inputs import KernelColumns, KernelWeights


def technical_score(columns: KernelColumns, position: int) -> float:
    """Return the technical score (0 to 1) of the record at a position, as defined in `criterion_formulas`."""
    flags = columns.flag_bytes[position]

    metadata = DOCUMENTATION_PART if flags & METADATA_PROVIDED else 0.0
    external_documentation = DOCUMENTATION_PART if flags & EXTERNAL_DOCUMENTATION else 0.0
    documentation = metadata + external_documentation

    # The flag counts only if the percentage of missing values, which is more precise, is unknown.
    missing_percentage_code = columns.missing_percentage_codes[position]
    completeness = QUALITY_PART if flags & NO_MISSING_VALUES else 0.0
    if missing_percentage_code > 0:
        completeness = columns.completeness_part_by_code[missing_percentage_code]
    quality = completeness + (QUALITY_PART if flags & IS_SPLIT else 0.0)

    instances = columns.instances_part_by_code[columns.instances_codes[position]]
    features = columns.features_part_by_code[columns.features_codes[position]]
    size = instances + features

    return float(min(1.0, documentation + quality + size))


def data_quality(columns: KernelColumns, position: int) -> float:
    """Return the data quality (0 to 1) of the record at a position, as defined in `criterion_formulas`."""
    missing_percentage_code = columns.missing_percentage_codes[position]
    if missing_percentage_code > 0:
        return float(columns.data_quality_by_code[missing_percentage_code])

    flags = columns.flag_bytes[position]
    if flags & NO_MISSING_VALUES:
        return 1.0
    return MISSING_VALUES_QUALITY if flags & HAS_MISSING_VALUES else 0.0


def criterion_value(columns: KernelColumns, criterion: int, position: int) -> float:
    """Return a criterion (0 to 1), given by its index in CRITERIA, of the record at a position."""
    binary_mask = BINARY_MASKS[criterion]
    if binary_mask:
        return 1.0 if columns.flag_bytes[position] & binary_mask else 0.0

    if criterion == ETHICAL_SCORE:
        value = columns.ethical_score_by_grade[columns.grades[ETHICAL_GRADE, position]]
    elif criterion == TECHNICAL_SCORE:
        value = technical_score(columns, position)
    elif criterion in (POPULARITY_SCORE, CITATIONS):
        value = columns.citations_score_by_code[columns.citations_codes[position]]
    elif criterion == DATA_QUALITY:
        value = data_quality(columns, position)
    elif criterion == INSTANCES_COUNT:
        value = columns.instances_score_by_code[columns.instances_codes[position]]
    elif criterion == FEATURES_COUNT:
        value = columns.features_score_by_code[columns.features_codes[position]]
    else:
        value = columns.year_score_by_code[columns.year_codes[position]]
    return float(value)


def score(columns: KernelColumns, weights: KernelWeights, position: int) -> float:
    """Return the score (0 to 1) of the record at a position, which is the weighted mean of its criteria.

    The order of operations is the same as in `weighted_mean`, so that scores are identical bit for bit.
    """
    weighted_sum = 0.0
    for term in range(len(weights.criteria)):
        weighted_sum += weights.weights[term] * criterion_value(columns, weights.criteria[term], position)
    return weighted_sum / weights.total


def fill_criterion(
    columns: KernelColumns, criterion: int, positions: NDArray[np.int64], values: NDArray[np.float64]
) -> None:
    """Write a criterion of the records at the given positions into `values`."""
    for i in range(len(positions)):
        values[i] = criterion_value(columns, criterion, positions[i])


def fill_scores(
    columns: KernelColumns, weights: KernelWeights, positions: NDArray[Any], scores: NDArray[np.float64]
) -> None:
    """Write the scores of the records at the given positions into `scores`."""
    for i in range(len(positions)):
        scores[i] = score(columns, weights, positions[i])
