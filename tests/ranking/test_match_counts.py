"""Counting of matches for facets: by joint codes, and by chunks of leaves in two threads."""

from random import Random

import numpy as np
import pytest

from tests.ranking.catalogs import row
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.columns.bitmaps import list_bits, pack_bits
from touchstone.ranking.index import match_counts
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.joint_codes import MAX_JOINT_CODES, CodedValues, counted_columns, join
from touchstone.ranking.index.match_counts import Matches, divide_leaves
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words

SIZE = 700


@pytest.fixture(scope="module")
def index() -> CatalogIndex:
    """Return an index with leaves of one block."""
    layout = Layout(index_from=1, leaf_words=1)
    catalog = Catalog.build((row(Random(id_), id_) for id_ in range(1, SIZE + 1)), layout)
    assert catalog.index is not None
    return catalog.index


def _random_bitmap(index: CatalogIndex, share: float) -> Words:
    is_match = np.random.default_rng(1).random(SIZE) < share
    return pack_bits(is_match, index.columns.word_count)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_values_are_counted_as_in_each_column_alone(
    index: CatalogIndex, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The counts of all codes are those of the matching records, if these are few, many or most of the records."""
    monkeypatch.setattr(match_counts, "_MIN_LEAVES_PER_CHUNK", 1)
    bitmap = _random_bitmap(index, share)
    positions = list_bits(bitmap)
    matches = Matches(index, bitmap, len(positions))
    assert matches.are_few == (share == 0.02)

    counts = matches.count_values()
    for name, codes, code_count in counted_columns(index.columns):
        assert counts[name].tolist() == np.bincount(codes[positions], minlength=code_count).tolist(), name

    keys = [*index.columns.planes.rows]
    expected_counts = {key: np.intersect1d(positions, list_bits(index.plane(key))).size for key in keys}
    assert matches.count_in_planes(keys) == expected_counts


def test_leaves_are_divided_without_gaps() -> None:
    """Every leaf is in exactly one range, however many there are."""
    for leaf_count in (1, 255, 512, 1000, 9_766):
        ranges = divide_leaves(leaf_count)
        assert [leaf for leaves in ranges for leaf in range(leaves.start, leaves.end)] == [*range(leaf_count)]
    assert len(divide_leaves(9_766)) > 2


def test_columns_are_joined_only_as_long_as_their_codes_are_few() -> None:
    """A column with many codes stays alone and keeps its own codes; the others share two bytes."""
    large_column = CodedValues("many", np.arange(BITS_PER_WORD, dtype=np.uint32), MAX_JOINT_CODES)
    small_columns = [CodedValues(name, np.arange(BITS_PER_WORD, dtype=np.uint8) % 250, 250) for name in ("a", "b", "c")]
    joint_columns = join([*small_columns, large_column])
    assert [column.names for column in joint_columns] == [("many",), ("a", "b"), ("c",)]
    assert joint_columns[0].codes is large_column.codes
    assert joint_columns[1].codes.dtype == np.uint16
