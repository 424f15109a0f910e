"""A search by words finds exactly the records that the rule names, and orders them by BM25."""

from collections.abc import Sequence
from random import Random
from uuid import UUID

import pytest

from tests.ranking import by_hand
from touchstone.core.text import fold
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.index import text_builder
from touchstone.ranking.index.word_index import TextsNotIndexed
from touchstone.ranking.query.predicates import FullText, Query, Range, Visible

OWNER = UUID(int=7)
TEXTS = (
    "Hospital readmissions", "hospitals of Lyon", "Hôpital", "hôpitaux de Paris", "GermanCredit", "german credit risk",
    "l'analyse des sentiments", "Sentiment analysis", "question answering", "trains and stations", "the brain", "", "x",
)  # fmt: skip
TERMS = ("Question Answering", "QA", "question-answering", "Health", "santé", "medicine", "nlp")
QUERIES = (
    "hospital", "hopital", "hospitls", "hopsital lyon", "german credit", "credti", "analyses", "sentiments analyse",
    "qa", "nlp", "health", "Question-Answering", "sante", "brain", "train", "x", "zzz", "", "!", "medicine hospital",
)  # fmt: skip


def random_row(random: Random, id_: int) -> CatalogRow:
    return CatalogRow(
        id=id_,
        dataset_id=UUID(int=id_),
        dataset_name=random.choice(TEXTS) or "nameless",
        objective=random.choice((None, *TEXTS)),
        description=" ".join(random.sample(TEXTS, random.randrange(3))),
        tags=tuple(random.sample(TEXTS, random.randrange(2))),
        domain=tuple(random.sample(TERMS, random.randrange(2))),
        task=tuple(random.sample(TERMS, random.randrange(2))),
        year=random.choice((None, 2000, 2020)),
        visibility=random.choice(("public", "public", "private")),
        owner=random.choice((None, OWNER)),
    )


def matching(rows: Sequence[CatalogRow], text: str, viewer: UUID | None) -> list[CatalogRow]:
    return by_hand.matching(rows, (Visible(viewer), FullText(text)))


def catalog_in_two_parts(rows: Sequence[CatalogRow], *, indexed: bool) -> Catalog:
    """Return a catalog whose records are mostly in an index, if `indexed`; some of both parts are deleted again."""
    layout = Layout(index_from=10 if indexed else 10**9, leaf_words=1, compiled=False)
    indexed_count = len(rows) * 3 // 4
    catalog = Catalog.build([*rows[:indexed_count], *extra_rows(900, 910)], layout)
    catalog.apply(upserts=[*rows[indexed_count:], *extra_rows(910, 915)], deleted=[])
    catalog.apply(upserts=[], deleted=range(900, 915))
    assert catalog.view.is_indexed is indexed
    return catalog


def extra_rows(first: int, last: int) -> list[CatalogRow]:
    return [random_row(Random(id_), id_) for id_ in range(first, last)]


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_search_finds_exactly_the_matching_records_with_every_filter_and_in_the_order_of_bm25(
    seed: int, *, indexed: bool
) -> None:
    random = Random(seed)
    rows = [random_row(random, id_) for id_ in range(1, 80)]
    view = catalog_in_two_parts(rows, indexed=indexed).view

    for text in QUERIES:
        viewer = random.choice((None, OWNER))
        expected = matching(rows, text, viewer)
        query: Query = (Visible(viewer), FullText(text))
        assert view.count(query) == len(expected)
        assert view.facets(query).total_count == len(expected)

        ranked_window = view.rank(query, {"technical_score": 1.0}, skip=0, limit=None)
        assert sorted(view.ids(ranked_window.positions).tolist()) == [row.id for row in expected]

        window = view.sort((*query, Range("year", low=2010)), "id", descending=False, skip=0, limit=None)
        assert view.ids(window.positions).tolist() == [row.id for row in expected if row.year == 2020]

        by_relevance = view.sort(query, "relevance", descending=True, skip=1, limit=10)
        expected_order = sorted(expected, key=lambda row: (-round(by_hand.relevance(rows, row, text), 9), row.id))
        assert view.ids(by_relevance.positions).tolist() == [row.id for row in expected_order[1:11]]
        assert by_relevance.total_count == len(expected)


@pytest.mark.parametrize("indexed", [False, True])
def test_private_records_change_neither_the_results_of_others_nor_their_order_nor_what_is_suggested(
    *, indexed: bool
) -> None:
    random = Random(5)
    public_rows = [random_row(random, id_) for id_ in range(1, 60)]
    public_rows = [row for row in public_rows if row.visibility == "public"]
    private_rows = [
        CatalogRow(
            id=100 + number,
            dataset_id=UUID(int=100 + number),
            dataset_name="hospital secretword",
            domain=("secretdomain",),
            visibility="private",
            owner=OWNER,
        )
        for number in range(20)
    ]
    layout = Layout(index_from=10 if indexed else 10**9, leaf_words=1, compiled=False)
    public_view = Catalog.build(public_rows, layout).view
    complete_view = Catalog.build([*public_rows, *private_rows], layout).view

    for text in (*QUERIES, "secretword", "hospital lyon"):
        query: Query = (Visible(None), FullText(text))
        expected = public_view.sort(query, "relevance", descending=True, skip=0, limit=None)
        actual = complete_view.sort(query, "relevance", descending=True, skip=0, limit=None)
        assert complete_view.ids(actual.positions).tolist() == public_view.ids(expected.positions).tolist()
        assert complete_view.suggest(text, None, 10) == public_view.suggest(text, None, 10)

    assert complete_view.suggest("secr", None, 10) == []
    assert complete_view.count((Visible(UUID(int=9)), FullText("secretword"))) == 0
    assert complete_view.count((Visible(OWNER), FullText("secretword"))) == 20
    suggestions = complete_view.suggest("secr", OWNER, 10)
    assert [(suggestion.kind, suggestion.text, suggestion.count) for suggestion in suggestions] == [
        ("domain", "secretdomain", 20),
        ("name", "hospital secretword", 20),
    ]


@pytest.mark.parametrize("indexed", [False, True])
def test_names_domains_and_tasks_are_suggested_by_the_beginnings_of_their_words(*, indexed: bool) -> None:
    names = ("Heart Disease", "German Credit", "GermanCredit", "heart disease", "Credit cards", "Creditors of Heaven")
    rows = [
        CatalogRow(
            id=id_, dataset_id=UUID(int=id_), dataset_name=name, domain=("heart surgery",), citations=id_, task=("x",)
        )
        for id_, name in enumerate(names, start=1)
    ]
    view = Catalog.build(rows, Layout(index_from=1 if indexed else 10**9, leaf_words=1, compiled=False)).view

    def suggest(text: str, limit: int = 10) -> list[tuple[str, str, int]]:
        return [(suggestion.kind, suggestion.text, suggestion.count) for suggestion in view.suggest(text, None, limit)]

    assert suggest("hea") == [
        ("domain", "heart surgery", 6),
        ("name", "heart disease", 2),
        ("name", "Creditors of Heaven", 1),
    ]
    assert suggest("HEA dis") == [("name", "heart disease", 2)]
    assert [text for _, text, _ in suggest("cred")] == [
        "Creditors of Heaven",
        "Credit cards",
        "GermanCredit",
        "German Credit",
    ]
    assert suggest("") == suggest("zz") == []
    assert len(suggest("cred", 2)) == 2


def sorted_ids(catalog: Catalog, column: str) -> list[int]:
    window = catalog.view.sort((), column, descending=False, skip=0, limit=None)
    return [int(id_) for id_ in catalog.view.ids(window.positions)]


def test_the_texts_of_a_large_catalog_may_be_indexed_after_the_rest_and_survive_its_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text_builder, "_MAX_QUICKLY_SORTED_TEXTS", 1)
    layout = Layout(index_from=10, leaf_words=1, compiled=False)
    rows = [random_row(Random(id_), id_) for id_ in range(1, 60)]
    catalog = Catalog.build(rows[:40], layout, defers_texts=True)
    assert catalog.lacks_text_index
    with pytest.raises(TextsNotIndexed):
        catalog.view.count((FullText("hospital"),))
    with pytest.raises(TextsNotIndexed):
        sorted_ids(catalog, "description")
    assert catalog.view.count(()) == 40

    indexing = catalog.begin_text_indexing()
    catalog.apply(upserts=rows[40:], deleted=[3])
    indexing.run()
    catalog.adopt_text_index(indexing)
    assert catalog.view.is_indexed

    remaining_rows = [row for row in rows if row.id != 3]
    by_description = sorted(remaining_rows, key=lambda row: (fold(row.description or ""), row.id))
    for _ in range(2):
        assert sorted_ids(catalog, "description") == [row.id for row in by_description]
        for text in QUERIES:
            expected = matching(remaining_rows, text, OWNER)
            assert catalog.view.count((Visible(OWNER), FullText(text))) == len(expected)
        catalog.rebuild_index()
