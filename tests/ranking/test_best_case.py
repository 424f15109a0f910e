"""The best case: what the score of a record could be at most, whatever its unknown attributes turn out to be."""

from itertools import product
from random import Random

import numpy as np

from tests.ranking.catalogs import row
from tests.ranking.test_ranking_view import catalog_row
from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.reasons.best_case import best_case_criterion_scores


def best_case(view: View, position: int = 0) -> dict[str, float]:
    """Return the best case of one record, by criterion."""
    [values] = best_case_criterion_scores(view.facts(np.array([position]))).tolist()
    return dict(zip(CRITERION_NAMES, values, strict=True))


def test_a_record_of_which_nothing_is_known_could_have_the_highest_value_everywhere() -> None:
    """No favourable value stands in the way of another criterion that uses the same attribute."""
    assert best_case(Catalog.build([catalog_row(1)]).view) == dict.fromkeys(CRITERION_NAMES, 1.0)


def test_what_is_known_limits_the_best_case() -> None:
    """Attributes that are known to be false stay so, and known numbers keep their value."""
    known_values = dict.fromkeys(ETHICAL[:3], False) | {
        "year": 2012,
        "citations": 10,
        "missing_values_percentage": 25.0,
    }
    best_values = best_case(Catalog.build([catalog_row(1, **known_values)]).view)
    assert best_values["ethical_score"] == 0.7
    assert best_values["informed_consent"] == 0.0
    assert best_values["year"] == 0.5
    assert best_values["data_quality"] == 0.75
    assert best_values["technical_score"] == 0.95
    assert best_values["anonymization"] == 1.0


def test_no_value_of_an_unknown_attribute_exceeds_the_best_case() -> None:
    """Whatever the unknown attributes turn out to be, no criterion rises above its best case."""
    random = Random(5)
    values_by_attribute = dict.fromkeys(NUMBERS, (0.0, 7.0, 100.0)) | dict.fromkeys(FLAGS, (0, 1))
    records = [row(random, id_) for id_ in range(1, 60)]
    view = Catalog.build(records).view
    for position, _ in product(range(len(records)), range(20)):
        facts = view.facts(np.array([position]))
        values = {name: random.choice(possible_values) for name, possible_values in values_by_attribute.items()}
        completed_facts = {
            name: np.array([values[name] if np.isnan(column[0]) or column[0] == -1 else column[0]])
            for name, column in facts.items()
        }
        completed_best_case = best_case_criterion_scores(completed_facts)
        assert (completed_best_case <= best_case_criterion_scores(facts) + 1e-15).all()
        assert (view.criterion_scores(np.array([position])) <= best_case_criterion_scores(facts) + 1e-15).all()
