"""Building an index batch by batch: the same index in memory and in a file, and texts in the order of Python's."""

from pathlib import Path
from random import Random

import msgspec
import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ranking.catalogs import row
from touchstone.core.text import fold
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.index_builder import IndexBuilder
from touchstone.ranking.columns.row_batches import to_record_batch
from touchstone.ranking.columns.spool import TextSpool
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.snapshot_file import map_snapshot
from touchstone.ranking.index.snapshot_writer import save_index
from touchstone.ranking.index.text_order import sort_distinct, sort_folded

LAYOUT = Layout(index_from=1, leaf_words=1, compiled=False)
TEXTS = st.text(st.sampled_from("abAB éÉœ\0ß7"), max_size=20) | st.text(max_size=30).map(
    lambda text: text.encode("utf-8", "ignore").decode()
)


def encode(index: CatalogIndex) -> bytes:
    """Return everything that an index consists of."""
    return msgspec.json.encode(index.columns, enc_hook=lambda array: [array.dtype.str, array.tolist()])


def build(snapshot_path: Path | None, sizes: list[int]) -> CatalogIndex:
    """Return an index over batches of random records."""
    random = Random(1)
    builder = IndexBuilder(1, snapshot_path, compiled=False)
    for size in sizes:
        builder.add(to_record_batch([row(random, builder.size + number) for number in range(size)]))
    return builder.finish(version=7)


def test_an_index_in_a_file_is_the_one_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "index"
    in_memory = build(None, [60, 1, 90])
    mapped = build(path, [60, 1, 90])
    loaded = map_snapshot(path)
    loaded.verify()

    assert encode(in_memory) == encode(mapped) == encode(loaded.index)
    assert loaded.version == 7
    assert [file.name for file in tmp_path.iterdir()] == ["index"]


def test_a_build_writes_no_more_into_the_file_than_saving_the_index_does(tmp_path: Path) -> None:
    built_path, saved_path = tmp_path / "built", tmp_path / "saved"
    index = build(built_path, [150])
    save_index(saved_path, index, version=7)
    assert built_path.stat().st_size == saved_path.stat().st_size


def test_batches_of_any_size_give_the_same_index() -> None:
    assert encode(build(None, [150])) == encode(build(None, [50, 50, 50]))


def test_a_rebuild_writes_the_snapshot_file(tmp_path: Path) -> None:
    random, path = Random(2), tmp_path / "index"
    catalog = Catalog.build([row(random, id_) for id_ in range(120)], LAYOUT)
    catalog.apply(upserts=[row(random, id_) for id_ in range(100, 140)], deleted=[3])

    rebuild = catalog.begin_rebuild(5, path)
    rebuild.run()
    assert rebuild.index is not None
    loaded = map_snapshot(path)
    loaded.verify()
    assert encode(rebuild.index) == encode(loaded.index)
    assert loaded.version == 5

    catalog.adopt_rebuild(rebuild)
    ids = catalog.view.sort((), "id", descending=False, skip=0, limit=None)
    assert catalog.view.ids(ids.positions).tolist() == [id_ for id_ in range(140) if id_ != 3]


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=60))
def test_texts_are_sorted_like_strings(texts: list[str]) -> None:
    spool = TextSpool(None)
    for text in texts:
        spool.append(pa.array([text], pa.large_string()))
    spooled = spool.read()

    folded_order = sort_folded(spooled)
    numbers = range(len(texts))
    assert folded_order.order.tolist() == sorted(numbers, key=lambda number: fold(texts[number]))
    distinct_folded = sorted({fold(text) for text in texts})
    assert folded_order.ranks().tolist() == [distinct_folded.index(fold(text)) for text in texts]

    exact_order = sort_distinct(spooled, folded_order)
    by_folded_and_exact = sorted(numbers, key=lambda number: (fold(texts[number]), texts[number].encode()))
    assert exact_order.order.tolist() == by_folded_and_exact
    assert np.count_nonzero(exact_order.is_first) == len(set(texts))
