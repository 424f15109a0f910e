"""Saved indexes give the same results, and a file that is not complete is rejected."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.ranking.catalogs import row
from tests.ranking.test_ranking_twin import check_answers
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.index.snapshot_file import SnapshotError, map_snapshot
from touchstone.ranking.index.snapshot_writer import save_index

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
    mapped = map_snapshot(snapshot)
    assert mapped.version == 42
    rows = {id_: row(Random(id_), id_) for id_ in range(1, 301)}
    catalog = Catalog.from_index(mapped.index, LAYOUT)
    changed = [row(Random(id_ + 1000), id_) for id_ in range(290, 310)]
    catalog.apply(upserts=changed, deleted=[1, 2])
    rows |= {record.id: record for record in changed}
    del rows[1], rows[2]
    for seed in range(30):
        check_answers(catalog, rows, Random(seed))


@pytest.mark.parametrize("at", [3, 25, 200])
def test_a_damaged_header_is_noticed_at_once(snapshot: Path, at: int) -> None:
    """If one byte of the header has changed, the file is not mapped."""
    change_byte(snapshot, at)
    with pytest.raises(SnapshotError):
        map_snapshot(snapshot)


@pytest.mark.parametrize("at", [-200, -50_000])
def test_damaged_arrays_are_noticed_when_they_are_verified(snapshot: Path, at: int) -> None:
    """If one byte of the arrays has changed, the file is mapped, but not verified."""
    map_snapshot(snapshot).verify()
    change_byte(snapshot, at)
    with pytest.raises(SnapshotError):
        map_snapshot(snapshot).verify()


def test_positions_are_looked_up_for_many_ids_at_once(snapshot: Path) -> None:
    """Ids without a record are left out."""
    index = map_snapshot(snapshot).index
    ids = np.array([300, -5, 17, 301, 1, 10**9])
    positions = index.find_positions(ids)
    assert index.integers("id", positions).tolist() == [300, 17, 1]
    assert len(index.find_positions(np.empty(0, np.int64))) == 0


def test_a_snapshot_that_is_cut_short_or_missing_is_refused(snapshot: Path) -> None:
    """A truncated file is rejected; a crash while writing leaves the old file in place."""
    snapshot.write_bytes(snapshot.read_bytes()[:-4096])
    with pytest.raises(SnapshotError):
        map_snapshot(snapshot)
    with pytest.raises(SnapshotError):
        map_snapshot(snapshot.with_name("none"))


def test_nothing_is_left_aside_when_a_snapshot_is_written(snapshot: Path) -> None:
    """No temporary file remains."""
    assert [path.name for path in snapshot.parent.iterdir()] == ["index"]


def change_byte(path: Path, at: int) -> None:
    """Change one byte of a file, as a damaged disk might."""
    data = bytearray(path.read_bytes())
    data[at] ^= 0x40
    path.write_bytes(data)
