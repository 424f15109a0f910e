"""Criteria and scores of single records, from the codes and tables of an index.

All values are float64 and agree bit for bit with `ranking.criteria`: terms are added in the same order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.criteria import DOCUMENTATION_PART, MISSING_VALUES_QUALITY, QUALITY_PART
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


def technical_score(columns: KernelColumns, i: int) -> float:
    """Return the technical score of one record."""
    flags = columns.flag_bytes[i]

    metadata = DOCUMENTATION_PART if flags & METADATA_PROVIDED else 0.0
    external = DOCUMENTATION_PART if flags & EXTERNAL_DOCUMENTATION else 0.0
    documentation = metadata + external

    code = columns.missing_codes[i]
    completeness = QUALITY_PART if flags & NO_MISSING_VALUES else 0.0
    if code > 0:
        completeness = columns.missing_parts[code]
    quality = completeness + (QUALITY_PART if flags & IS_SPLIT else 0.0)

    instances = columns.instances_parts[columns.instances_codes[i]]
    features = columns.features_parts[columns.features_codes[i]]
    size = instances + features

    return float(min(1.0, documentation + quality + size))


def data_quality(columns: KernelColumns, i: int) -> float:
    """Return the data quality of one record."""
    code = columns.missing_codes[i]
    if code > 0:
        return float(columns.quality_scores[code])

    flags = columns.flag_bytes[i]
    if flags & NO_MISSING_VALUES:
        return 1.0
    return MISSING_VALUES_QUALITY if flags & HAS_MISSING_VALUES else 0.0


def criterion_value(columns: KernelColumns, criterion: int, i: int) -> float:
    """Return one criterion of one record."""
    mask = BINARY_MASKS[criterion]
    if mask:
        return 1.0 if columns.flag_bytes[i] & mask else 0.0

    if criterion == ETHICAL_SCORE:
        value = columns.ethical_by_grade[columns.grades[ETHICAL_GRADE, i]]
    elif criterion == TECHNICAL_SCORE:
        value = technical_score(columns, i)
    elif criterion in (POPULARITY_SCORE, CITATIONS):
        value = columns.citations_scores[columns.citations_codes[i]]
    elif criterion == DATA_QUALITY:
        value = data_quality(columns, i)
    elif criterion == INSTANCES_COUNT:
        value = columns.instances_scores[columns.instances_codes[i]]
    elif criterion == FEATURES_COUNT:
        value = columns.features_scores[columns.features_codes[i]]
    else:
        value = columns.year_scores[columns.year_codes[i]]
    return float(value)


def score(columns: KernelColumns, weights: KernelWeights, i: int) -> float:
    """Return the score of one record: the weighted criteria added in order, divided once."""
    weighted_sum = 0.0
    for term in range(len(weights.criteria)):
        weighted_sum += weights.weights[term] * criterion_value(columns, weights.criteria[term], i)
    return weighted_sum / weights.total


def fill_criterion(
    columns: KernelColumns, criterion: int, positions: NDArray[np.int64], out: NDArray[np.float64]
) -> None:
    """Write one criterion of the records at some positions."""
    for k in range(len(positions)):
        out[k] = criterion_value(columns, criterion, positions[k])


def fill_scores(
    columns: KernelColumns, weights: KernelWeights, positions: NDArray[Any], out: NDArray[np.float64]
) -> None:
    """Write the scores of the records at some positions."""
    for k in range(len(positions)):
        out[k] = score(columns, weights, positions[k])
