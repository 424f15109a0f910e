"""What records could score at most: their criteria if everything unknown about them were as favourable as possible."""

from typing import Final

import numpy as np

from touchstone.core.attributes import FLAGS
from touchstone.ranking.column_types import Facts, Floats
from touchstone.ranking.criteria import CRITERIA

# With each of these numbers, every criterion that is computed from it has its highest value.
_FAVOURABLE_NUMBERS: Final = {
    "year": 2024,
    "instances_number": 100_000,
    "features_number": 100,
    "citations": 1000,
    "missing_values_percentage": 0,
}
_FAVOURABLE_IF_FALSE: Final = frozenset({"has_missing_values"})


def best_case_criterion_scores(facts: Facts) -> Floats:
    """Return the highest value that each criterion of some records could have, whatever is still found out about them.

    What is known stays as it is. The result has one row for each record, with its criteria in the order of CRITERIA.
    """
    best_facts = {}
    for name, number in _FAVOURABLE_NUMBERS.items():
        best_facts[name] = np.where(np.isnan(facts[name]), number, facts[name])
    for flag in FLAGS:
        favourable_value = int(flag not in _FAVOURABLE_IF_FALSE)
        best_facts[flag] = np.where(facts[flag] < 0, favourable_value, facts[flag])

    return np.stack([criterion.compute(best_facts) for criterion in CRITERIA], axis=1)
