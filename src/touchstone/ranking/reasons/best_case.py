"""The criteria that a record could have at best, if all unknown attributes had their most favourable values."""

from typing import Final

import numpy as np

from touchstone.core.attributes import FLAGS
from touchstone.ranking.array_types import Facts, Floats
from touchstone.ranking.criteria import CRITERIA

_FAVOURABLE_NUMBERS: Final = {
    "year": 2024,
    "instances_number": 100_000,
    "features_number": 100,
    "citations": 1000,
    "missing_values_percentage": 0,
}
"""A value of each number attribute that maximizes every criterion computed from it."""
_FAVOURABLE_IF_FALSE: Final = frozenset({"has_missing_values"})
"""The flags that are favourable if they are false, unlike all other flags."""


def best_case_criterion_scores(facts: Facts) -> Floats:
    """Return the criteria that records would have if all unknown attributes had their most favourable values.

    Returns:
        a matrix with one row for each record and one column for each of CRITERIA.
    """
    best_facts = {}
    for name, favourable_number in _FAVOURABLE_NUMBERS.items():
        numbers = facts[name]
        best_facts[name] = np.where(np.isnan(numbers), favourable_number, numbers)

    for name in FLAGS:
        flags = facts[name]
        favourable_flag = int(name not in _FAVOURABLE_IF_FALSE)
        best_facts[name] = np.where(flags < 0, favourable_flag, flags)

    return np.stack([criterion.compute(best_facts) for criterion in CRITERIA], axis=1)
