"""Unknown values are distinguished from zero."""

import numpy as np

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES
from touchstone.ranking.reasons.points import unknown_criteria


def test_criteria_without_a_known_fact_are_unknown() -> None:
    """A record without known facts has twelve unknown criteria, and each fact makes exactly its own criteria known."""
    facts = {name: np.full(2, np.nan) for name in NUMBERS} | {name: np.full(2, -1, np.int8) for name in FLAGS}
    facts["citations"][1] = 0.0
    facts["transparency"][1] = 0
    unknown_in_first, unknown_in_second = unknown_criteria(facts)
    assert unknown_in_first == list(CRITERION_NAMES)
    known_criteria = {"citations", "popularity_score", "transparency", "ethical_score"}
    assert unknown_in_second == [name for name in CRITERION_NAMES if name not in known_criteria]


def test_every_criterion_says_what_it_is_computed_from() -> None:
    """Each criterion can be computed from its facts alone."""
    facts = {name: np.full(1, np.nan) for name in NUMBERS} | {name: np.full(1, -1, np.int8) for name in FLAGS}
    for criterion in CRITERIA:
        assert criterion.compute({name: facts[name] for name in criterion.facts}).tolist() == [0.0]
