"""Saved indexes give the same results, and a file that is not complete is rejected."""

from pathlib import Path
from random import Random

import pytest

from tests.ranking.catalogs import row
from tests.ranking.test_ranking_twin import check_answers
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.index.snapshot_file import SnapshotError, load_index, save_index

LAYOUT = Layout(index_from=1, leaf_words=1)


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """Save an index of 300 records at version 42."""
    catalog = Catalog.build((row(Random(id_), id_) for id_ in range(1, 301)), LAYOUT)
    assert catalog.index is not None
    save_index(tmp_path / "index", catalog.index, 42)
    return tmp_path / "index"


def test_a_catalog_over_a_snapshot_answers_as_the_one_it_was_made_of(snapshot: Path) -> None:
    """Later changes are applied on top, and every result equals that of the formulas."""
    index, version = load_index(snapshot)
    assert version == 42
    rows = {id_: row(Random(id_), id_) for id_ in range(1, 301)}
    catalog = Catalog.from_index(index, LAYOUT)
    changed = [row(Random(id_ + 1000), id_) for id_ in range(290, 310)]
    catalog.apply(upserts=changed, deleted=[1, 2])
    rows |= {record.id: record for record in changed}
    del rows[1], rows[2]
    for seed in range(30):
        check_answers(catalog, rows, Random(seed))


@pytest.mark.parametrize("at", [3, 25, 200, -200, -50_000])
def test_a_damaged_snapshot_is_noticed(snapshot: Path, at: int) -> None:
    """If one byte of the header or the arrays has changed, the file is rejected."""
    data = bytearray(snapshot.read_bytes())
    data[at] ^= 0x40
    snapshot.write_bytes(data)
    with pytest.raises(SnapshotError):
        load_index(snapshot)


def test_a_snapshot_that_is_cut_short_or_missing_is_refused(snapshot: Path) -> None:
    """A truncated file is rejected; a crash while writing leaves the old file in place."""
    snapshot.write_bytes(snapshot.read_bytes()[:-4096])
    with pytest.raises(SnapshotError):
        load_index(snapshot)
    with pytest.raises(SnapshotError):
        load_index(snapshot.with_name("none"))


def test_nothing_is_left_aside_when_a_snapshot_is_written(snapshot: Path) -> None:
    """No temporary file remains."""
    assert [path.name for path in snapshot.parent.iterdir()] == ["index"]
