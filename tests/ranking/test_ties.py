"""Places and ties are exact at the edges of pages, in every plan, in the index and beside it."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from tests.ranking.by_hand import rank
from tests.ranking.catalogs import row
from tests.ranking.catalogs import weights as random_weights
from tests.ranking.test_ranking_twin import LAYOUTS
from tests.ranking.test_ranking_view import catalog_row
from touchstone.core.evidence import Assurance
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.indexed_part import PlanThresholds
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.query.predicates import FlagEquals, Query

# Few values of these criteria differ, so that most records are tied.
COARSE_WEIGHTS = ({"transparency": 1.0}, {"transparency": 2.0, "anonymization": 1.0}, {"ethical_score": 1.0})
BEST_FIRST = Layout(index_from=1, leaf_words=1, plans=PlanThresholds(gather_up_to=0))


def standings(view: View, query: Query, weights: dict[str, float], *, skip: int, limit: int | None) -> list[list[int]]:
    """Return the rank, the place and the number of ties of each record on a page."""
    records = view.rank(query, weights, skip=skip, limit=limit).records()
    columns = zip(records.ranks, records.places.tolist(), records.tied_with.tolist(), strict=True)
    return [list(standing) for standing in columns]


def expected_standings(rows: list[CatalogRow], query: Query, weights: dict[str, float]) -> list[list[int]]:
    """Return the rank, the place and the number of ties of every matching record, counted one by one."""
    scores = [score for _, score in rank(rows, query, weights)]
    counts = Counter(scores)
    return [[index + 1, scores.index(score) + 1, counts[score] - 1] for index, score in enumerate(scores)]


def pages() -> Iterator[tuple[int, int | None]]:
    """Yield pages that begin, end, or lie within groups of equal scores."""
    yield from (
        (0, 1),
        (0, 7),
        (3, 4),
        (60, 1),
        (119, 40),
        (250, 100),
        (0, 300),
        (0, None),
        (10, None),
        (299, 5),
        (400, 5),
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_equal_scores_share_a_place_whatever_the_page(layout: str) -> None:
    """A page agrees with the whole ranking about each record, with and without changes beside the index."""
    random = Random(5)
    rows = {id_: row(random, id_) for id_ in range(1, 301)}
    catalog = Catalog.build(rows.values(), LAYOUTS[layout])
    for is_changed in (False, True):
        if is_changed:
            changed_rows = [row(random, id_) for id_ in range(260, 340)]
            catalog.apply(upserts=changed_rows, deleted=[4, 5, 6])
            rows = {id_: record for id_, record in rows.items() if id_ not in (4, 5, 6)}
            rows |= {record.id: record for record in changed_rows}

        for weights in (*COARSE_WEIGHTS, random_weights(random)):
            for query in ((), (FlagEquals("is_public", value=True),)):
                expected = expected_standings(list(rows.values()), query, weights)
                for skip, limit in pages():
                    end = None if limit is None else skip + limit
                    page = standings(catalog.view, query, weights, skip=skip, limit=limit)
                    assert page == expected[skip:end]


def test_records_of_which_nothing_is_known_are_all_tied() -> None:
    """At an assurance that no evidence reaches, every record is in the first place, and tied with all others."""
    catalog = Catalog.build((catalog_row(id_, year=2000 + id_ % 20) for id_ in range(1, 201)), BEST_FIRST)
    view = catalog.view.at(Assurance.REVIEWED)
    assert standings(view, (), {"year": 1.0}, skip=0, limit=2) == [[1, 1, 199], [2, 1, 199]]


def test_leaves_of_records_that_are_all_alike_are_counted_whole() -> None:
    """Thousands of equal records are counted with those of the same score in mixed leaves, filtered ones left out."""
    records = [catalog_row(id_, transparency=id_ % 3 > 0, citations=id_ % 2) for id_ in range(1, 3001)]
    catalog = Catalog.build(records, BEST_FIRST)
    is_transparent = (FlagEquals("transparency", value=True),)
    assert standings(catalog.view, (), {"transparency": 1.0}, skip=0, limit=1) == [[1, 1, 1999]]
    assert standings(catalog.view, is_transparent, {"transparency": 1.0}, skip=5, limit=1) == [[6, 1, 1999]]
    assert standings(catalog.view, (), {"transparency": 1.0}, skip=2500, limit=1) == [[2501, 2001, 999]]
