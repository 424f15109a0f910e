"""Notes on rankings: weighted criteria that are equal, or unknown, for all records shown."""

import numpy as np

from tests.ranking.test_ranking_view import catalog_row
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.reasons.notes import NoteCode, NoteCollector, RankingNote

WEIGHTS = {"year": 1.0, "transparency": 1.0, "citations": 1.0, "data_quality": 0.0}


def notes_on(*records: CatalogRow, pieces: int = 1) -> list[RankingNote]:
    """Return the notes on a ranking of records that are added in pieces."""
    collector = NoteCollector(Catalog.build(records).view, WEIGHTS)
    for positions in np.array_split(np.arange(len(records)), pieces):
        collector.add(positions)
    return collector.notes()


def test_a_criterion_that_is_equal_for_all_is_noted_with_its_value() -> None:
    """Only weighted criteria are noted, in the order of the criteria."""
    records = [catalog_row(id_, year=2012, transparency=True, citations=id_) for id_ in (1, 5, 20)]
    expected = [
        RankingNote(NoteCode.CRITERION_EQUAL, "transparency", 1.0),
        RankingNote(NoteCode.CRITERION_EQUAL, "year", 0.5),
    ]
    assert notes_on(*records) == notes_on(*records, pieces=3) == expected


def test_a_criterion_that_is_unknown_for_all_is_noted_as_such() -> None:
    """If it is known for a single record, the criterion is equal instead of unknown, even if its value is 0."""
    uncited_records = [catalog_row(1, year=2001, transparency=True), catalog_row(2, year=2002)]
    assert notes_on(*uncited_records) == [RankingNote(NoteCode.CRITERION_UNKNOWN, "citations", None)]

    records = [*uncited_records, catalog_row(3, year=2003, citations=0)]
    assert notes_on(*records, pieces=2) == [RankingNote(NoteCode.CRITERION_EQUAL, "citations", 0.0)]


def test_fewer_than_two_records_have_no_notes() -> None:
    """There is nothing to distinguish."""
    assert notes_on() == notes_on(catalog_row(1)) == []


def test_a_collector_is_complete_when_every_criterion_distinguishes_some_records() -> None:
    """From then on, more records could not change the notes."""
    view = Catalog.build([catalog_row(1, year=2001), catalog_row(2, year=2002)]).view
    collector = NoteCollector(view, {"year": 1.0})
    collector.add(np.array([0]))
    completeness = [collector.is_complete]
    collector.add(np.array([1]))
    completeness.append(collector.is_complete)
    assert (completeness, collector.notes()) == ([False, True], [])
