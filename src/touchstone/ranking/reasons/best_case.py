"""The best possible criteria of a record, if all its unknown attributes had their best values."""

from typing import Final

import numpy as np

from touchstone.core.attributes import FLAGS
from touchstone.ranking.array_types import Facts, Floats
from touchstone.ranking.criteria import CRITERIA

_BEST_NUMBERS: Final = {
    "year": 2024,
    "instances_number": 100_000,
    "features_number": 100,
    "citations": 1000,
    "missing_values_percentage": 0,
}
"""A value of each numeric attribute that maximizes every criterion computed from it."""
_FLAGS_BEST_IF_FALSE: Final = frozenset({"has_missing_values"})
"""The flags with the best value False, unlike all other flags."""


def best_value(flag: str) -> int:
    """Return the value of a flag, 1 or 0, that maximizes every criterion computed from it."""
    return int(flag not in _FLAGS_BEST_IF_FALSE)


def best_case_criterion_scores(facts: Facts) -> Floats:
    """Return the criteria that records would have if all their unknown attributes had their best values.

    Args:
        facts: the attributes of the records by name. Unknown numbers are NaN, and unknown flags are negative.

    Returns:
        a matrix with one row for each record and one column for each of CRITERIA.
    """
    best_facts = {}
    for name, best_number in _BEST_NUMBERS.items():
        numbers = facts[name]
        best_facts[name] = np.where(np.isnan(numbers), best_number, numbers)

    for name in FLAGS:
        flags = facts[name]
        best_facts[name] = np.where(flags < 0, best_value(name), flags)

    return np.stack([criterion.compute(best_facts) for criterion in CRITERIA], axis=1)
