"""An index that is built batch by batch is the same in memory and in a file, and orders texts as Python does."""

from pathlib import Path
from random import Random

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ranking.catalogs import row
from touchstone.core.text import fold
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.index_builder import IndexBuilder
from touchstone.ranking.columns.row_batches import to_record_batch
from touchstone.ranking.columns.spool import RepeatedTextSpool
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index import text_order
from touchstone.ranking.index.array_store import MemoryStore
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.snapshot_file import map_snapshot
from touchstone.ranking.index.snapshot_writer import save_index
from touchstone.ranking.index.text_builder import number_texts
from touchstone.ranking.index.text_ranks import rank_texts
from touchstone.ranking.kernels.distinct_text_kernels import find_first_equal

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
    index_in_memory = build(None, [60, 1, 90])
    index_in_file = build(path, [60, 1, 90])
    snapshot = map_snapshot(path)
    snapshot.verify()

    assert encode(index_in_memory) == encode(index_in_file) == encode(snapshot.index)
    assert snapshot.version == 7
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
    snapshot = map_snapshot(path)
    snapshot.verify()
    assert encode(rebuild.index) == encode(snapshot.index)
    assert snapshot.version == 5

    catalog.adopt_rebuild(rebuild)
    window = catalog.view.sort((), "id", descending=False, skip=0, limit=None)
    assert catalog.view.ids(window.positions).tolist() == [id_ for id_ in range(140) if id_ != 3]


def test_a_rebuild_in_a_file_gives_the_same_index_as_in_memory(tmp_path: Path) -> None:
    """Both index the texts, in a file by reading them again, in memory by using the words that are known."""
    random = Random(3)
    catalog = Catalog.build([row(random, id_) for id_ in range(120)], LAYOUT)
    catalog.apply(upserts=[row(random, id_) for id_ in range(100, 140)], deleted=[3])

    rebuilds = [catalog.begin_rebuild(5, path) for path in (tmp_path / "index", None)]
    indexes = []
    for rebuild in rebuilds:
        rebuild.run()
        assert rebuild.index is not None
        indexes.append(rebuild.index)
    assert indexes[0].columns.word_index is not None
    assert encode(indexes[0]) == encode(indexes[1])


@given(st.lists(TEXTS, min_size=1, max_size=60))
def test_texts_are_sorted_like_strings(texts: list[str]) -> None:
    """Texts have the ranks of their folded forms, and those that are not known rank before all others."""
    ranks = rank_texts(TextPool.from_texts(["", *texts]), folder=None)
    distinct_folded = sorted({fold(text) for text in texts})
    assert ranks.tolist() == [0, *(distinct_folded.index(fold(text)) + 1 for text in texts)]


def test_many_texts_are_sorted_like_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many texts are compared with their neighbours chunk by chunk."""
    monkeypatch.setattr(text_order, "_TEXTS_PER_CHUNK", 50)
    random = Random(4)
    beginnings = ["", "A", "Éléments de", "Elements of", "elements of", "data set", "Data set of "]
    texts = [random.choice(beginnings) + str(random.randrange(300)) * random.randrange(4) for _ in range(1000)]
    ranks = rank_texts(TextPool.from_texts(["", *texts]), folder=None)
    distinct_folded = sorted({fold(text) for text in texts})
    assert ranks.tolist() == [0, *(distinct_folded.index(fold(text)) + 1 for text in texts)]


@given(st.lists(st.none() | TEXTS | st.sampled_from(["", "ab"]), min_size=1, max_size=60), st.integers(1, 60))
def test_equal_texts_have_the_same_code(texts: list[str | None], batch_size: int) -> None:
    """Distinct texts are numbered in the order in which they were collected; 0 is "not known"."""
    spool = RepeatedTextSpool(None)
    for start in range(0, len(texts), batch_size):
        spool.append(pa.array(texts[start : start + batch_size], pa.large_string()))

    numbered_texts = number_texts(spool.read(), MemoryStore())
    distinct_texts = list(dict.fromkeys(text for text in texts if text is not None))
    assert list(numbered_texts.pool) == ["", *distinct_texts]
    assert numbered_texts.codes.tolist() == [0 if text is None else distinct_texts.index(text) + 1 for text in texts]


def test_long_texts_are_stored_once_and_compressed_when_texts_are_indexed(tmp_path: Path) -> None:
    """Until then every known text is stored as it is; afterwards the index is the same as one that is built at once."""
    random = Random(3)
    descriptions = [None, "", "A text.", "Another text.", "A text.", None, "Another text.", "A text."]
    rows = [msgspec.structs.replace(row(random, id_), description=descriptions[id_ % 8]) for id_ in range(100)]
    catalog = Catalog.build(rows, LAYOUT, defers_texts=True)
    assert catalog.index is not None
    stored_pool = catalog.index.columns.long_texts["description"].pool
    assert not stored_pool.is_compressed
    positions = np.arange(100)
    ids = catalog.index.integers("id", positions).tolist()
    expected_texts = [descriptions[id_ % 8] for id_ in ids]
    assert catalog.index.texts("description", positions) == expected_texts

    indexing = catalog.begin_text_indexing(tmp_path)
    indexing.run()
    catalog.adopt_text_index(indexing)
    column = catalog.index.columns.long_texts["description"]
    complete_index = Catalog.build(rows, LAYOUT).index
    assert complete_index is not None
    complete_column = complete_index.columns.long_texts["description"]
    assert column.pool.is_compressed
    assert list(column.pool.unpack(None)) == list(complete_column.pool.unpack(None))
    assert len(column.pool) == 4
    assert column.take(positions) == expected_texts
    assert column.ranks.tolist() == complete_column.ranks.tolist()


def test_texts_with_the_same_hash_are_compared() -> None:
    """Different texts keep different codes even if their hashes are the same."""
    data, offsets = np.frombuffer(bytearray(b"abacab"), np.uint8), np.array([0, 2, 4, 6])
    first_equal = np.zeros(3, np.uint32)
    find_first_equal(data, offsets, np.zeros(3, np.uint64), np.arange(3, dtype=np.uint32), first_equal)
    assert first_equal.tolist() == [0, 1, 0]


def test_negative_zero_is_zero() -> None:
    """A negative zero, which JSON can express, is the number zero, not an unknown one."""
    random = Random(3)
    rows = [
        msgspec.structs.replace(row(random, id_), missing_values_percentage=zero)
        for id_, zero in enumerate((-0.0, 0.0))
    ]
    builder = IndexBuilder(1, None, compiled=False)
    builder.add(to_record_batch(rows))
    assert builder.finish(version=1).numbers("missing_values_percentage", np.arange(2)).tolist() == [0.0, 0.0]
