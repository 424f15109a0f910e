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
def snapshot_path(tmp_path: Path) -> Path:
    """Save an index of 300 records at version 42, and return the path of the file."""
    catalog = Catalog.build((row(Random(id_), id_) for id_ in range(1, 301)), LAYOUT)
    assert catalog.index is not None
    save_index(tmp_path / "index", catalog.index, 42)
    return tmp_path / "index"


def test_a_catalog_over_a_snapshot_gives_the_same_results_as_its_original(snapshot_path: Path) -> None:
    """Later changes are applied on top, and every result equals that of the formulas."""
    snapshot = map_snapshot(snapshot_path)
    assert snapshot.version == 42
    rows = {id_: row(Random(id_), id_) for id_ in range(1, 301)}
    catalog = Catalog.from_index(snapshot.index, LAYOUT)
    changed_rows = [row(Random(id_ + 1000), id_) for id_ in range(290, 310)]
    catalog.apply(upserts=changed_rows, deleted=[1, 2])
    rows |= {record.id: record for record in changed_rows}
    del rows[1], rows[2]
    for seed in range(30):
        check_answers(catalog, rows, Random(seed))


@pytest.mark.parametrize("offset", [3, 25, 200])
def test_a_damaged_header_is_noticed_at_once(snapshot_path: Path, offset: int) -> None:
    """If one byte of the header has changed, the file is not mapped."""
    change_byte(snapshot_path, offset)
    with pytest.raises(SnapshotError):
        map_snapshot(snapshot_path)


@pytest.mark.parametrize("offset", [-200, -50_000])
def test_damaged_arrays_are_noticed_when_they_are_verified(snapshot_path: Path, offset: int) -> None:
    """If one byte of the arrays has changed, the file is mapped, but not verified."""
    map_snapshot(snapshot_path).verify()
    change_byte(snapshot_path, offset)
    with pytest.raises(SnapshotError):
        map_snapshot(snapshot_path).verify()


def test_positions_are_looked_up_for_many_ids_at_once(snapshot_path: Path) -> None:
    """Ids without a record are left out."""
    index = map_snapshot(snapshot_path).index
    ids = np.array([300, -5, 17, 301, 1, 10**9])
    positions = index.find_positions(ids)
    assert index.integers("id", positions).tolist() == [300, 17, 1]
    assert len(index.find_positions(np.empty(0, np.int64))) == 0


def test_a_snapshot_that_is_cut_short_or_missing_is_refused(snapshot_path: Path) -> None:
    """A truncated file is rejected; a crash while writing leaves the old file in place."""
    snapshot_path.write_bytes(snapshot_path.read_bytes()[:-4096])
    with pytest.raises(SnapshotError):
        map_snapshot(snapshot_path)
    with pytest.raises(SnapshotError):
        map_snapshot(snapshot_path.with_name("none"))


def test_no_temporary_file_remains_when_a_snapshot_is_written(snapshot_path: Path) -> None:
    """The folder contains the snapshot alone."""
    assert [path.name for path in snapshot_path.parent.iterdir()] == ["index"]


def test_the_unfinished_file_of_a_process_that_has_ended_is_removed(snapshot_path: Path) -> None:
    """A process that ends while it writes a snapshot leaves a file behind, which the next writer removes."""
    unfinished_file = snapshot_path.with_suffix(".4711")
    unfinished_file.write_bytes(b"unfinished")
    other_file = snapshot_path.with_suffix(".lock")
    other_file.touch()

    save_index(snapshot_path, map_snapshot(snapshot_path).index, version=2)
    assert {path.name for path in snapshot_path.parent.iterdir()} == {"index", other_file.name}


def change_byte(path: Path, offset: int) -> None:
    """Change one byte of a file, as a damaged disk might."""
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x40
    path.write_bytes(data)
