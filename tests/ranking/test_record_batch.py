"""Records that are appended to a segment in batches, compared with the same records row by row."""

from random import Random

import numpy as np

from tests.ranking.catalogs import row
from touchstone.ranking.columns.evidence_columns import STRICTER_ASSURANCES
from touchstone.ranking.columns.row_batches import to_record_batch
from touchstone.ranking.columns.segment import Segment, SegmentWriter


def assert_same_segment(segment: Segment, expected: Segment) -> None:
    """Check that two segments hold the same records, with the same codes."""
    for name, column in expected.columns.items():
        np.testing.assert_array_equal(segment.columns[name], column, err_msg=name)
    for name, values in expected.criteria.items():
        np.testing.assert_array_equal(segment.criteria[name], values, err_msg=name)
    for name, vocabulary in expected.vocabularies.items():
        assert segment.vocabularies[name].values == vocabulary.values, name

    np.testing.assert_array_equal(segment.evidence.positions, expected.evidence.positions)
    for assurance in STRICTER_ASSURANCES:
        for name, values in expected.evidence.values[assurance].items():
            np.testing.assert_array_equal(segment.evidence.values[assurance][name], values, err_msg=name)

    assert segment.words is not None
    assert expected.words is not None
    every_position = np.arange(expected.size)
    words, expected_words = segment.words.decode(every_position), expected.words.decode(every_position)
    assert words.words == expected_words.words
    np.testing.assert_array_equal(words.counts, expected_words.counts)
    np.testing.assert_array_equal(words.numbers, expected_words.numbers)
    np.testing.assert_array_equal(words.weights, expected_words.weights)


def test_batches_make_the_same_segment_as_rows() -> None:
    """It makes no difference whether records come as rows or in batches, and how many come at once."""
    random = Random(7)
    rows = [row(random, id_) for id_ in range(1, 300)]
    writer, row_writer = SegmentWriter(), SegmentWriter()

    first_rows, other_rows = rows[:100], rows[100:]
    writer.extend_batch(to_record_batch(first_rows))
    writer.extend_batch(to_record_batch(other_rows))
    row_writer.extend(rows)

    assert_same_segment(writer.segment(), row_writer.segment())


def test_empty_batch() -> None:
    """A batch without records changes nothing."""
    writer = SegmentWriter()
    writer.extend_batch(to_record_batch([]))
    assert writer.segment().size == 0
