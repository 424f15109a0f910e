"""The words of a large catalog are those that `weigh_words` lists record by record, with the same weights."""

from itertools import islice
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.columns import segment
from touchstone.ranking.columns.segment import CatalogRow, SegmentWriter
from touchstone.ranking.index import word_indexing
from touchstone.ranking.index.word_index import WordIndex
from touchstone.ranking.index.word_indexing import WordIndexing
from touchstone.ranking.kernels.compilation import compile_kernels
from touchstone.ranking.text import record_words
from touchstone.ranking.text.record_words import DecodedWords
from touchstone.ranking.text.words import weigh_words

ALPHABET = "abcSS019 -_.'’éÉß字ﬁ"
WORDS = ("Heart", "heart", "HEART", "GermanCredit", "covid19", "l'Hôpital", "d’eau", "women's", "x_s", "data", "the")
TAGS = ("health", "Health", "rare disease", "l'eau", "a,b", "covid19")
TERMS = ("NLP", "question-answering", "Santé", "x")


def random_text(random: Random, max_words: int) -> str | None:
    """Return a text of random words and characters, or None."""
    if random.random() < 0.2:
        return None
    words = [
        random.choice(WORDS) if random.random() < 0.7 else "".join(random.choices(ALPHABET, k=random.randrange(9)))
        for _ in range(random.randrange(max_words))
    ]
    return random.choice((" ", "-", "_", "")).join(words)


def random_record(random: Random, id_: int) -> CatalogRow:
    """Return a record with random texts and labels."""
    return CatalogRow(
        id=id_,
        dataset_id=UUID(int=id_),
        dataset_name=random_text(random, 6) or "",
        objective=random_text(random, 12),
        description=random_text(random, 100),
        tags=tuple(random.choices(TAGS, k=random.randrange(4))),
        domain=tuple(random.choices(TERMS, k=random.randrange(3))),
        task=tuple(random.choices(TERMS, k=random.randrange(3))),
    )


def expected_words(record: CatalogRow) -> dict[str, int]:
    """Return the words of a record with their weights, as they are defined."""
    domains = [("domain", domain) for domain in record.domain or ()]
    tasks = [("task", task) for task in record.task or ()]
    return weigh_words(record.dataset_name, (record.objective, record.description), record.tags or (), domains + tasks)


def words_by_record(index: WordIndex, record_count: int) -> list[dict[str, int]]:
    """Return the words of each record in an index with their weights."""
    words: list[dict[str, int]] = [{} for _ in range(record_count)]
    postings = index._unpack()
    for number, word in enumerate(index.words):
        for posting in range(int(postings.starts[number]), int(postings.starts[number + 1])):
            words[postings.positions[posting]][word] = int(postings.weights[posting])
    return words


@pytest.mark.parametrize(("seed", "compiled"), [(1, False), (2, True), (3, True)])
def test_words_and_weights_are_those_of_each_record(seed: int, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several batches share one table of words, and in the uncompiled form large arrays are in memory."""
    monkeypatch.setattr(word_indexing, "RECORDS_PER_BATCH", 64)
    random = Random(seed)
    records = [random_record(random, id_) for id_ in range(1, 301)]
    record_by_id = {record.id: record for record in records}
    catalog = Catalog.build(records, Layout(index_from=1, leaf_words=1, compiled=compiled), defers_texts=True)

    indexing = catalog.begin_text_indexing()
    indexing.run()

    assert indexing.columns is not None
    assert indexing.columns.word_index is not None
    ids = indexing.index.columns.integers["id"].take(slice(None)).tolist()
    words = words_by_record(indexing.columns.word_index, len(records))
    assert dict(zip(ids, words, strict=True)) == {id_: expected_words(record) for id_, record in record_by_id.items()}


@pytest.mark.parametrize("seed", [1, 2])
def test_words_of_new_records_are_collected_with_kernels(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several chunks of records, each with several batches, share one table of words."""
    compile_kernels()
    monkeypatch.setattr(segment, "_MIN_RECORDS_FOR_KERNELS", 1)
    monkeypatch.setattr(segment, "RECORDS_PER_BATCH", 16)
    monkeypatch.setattr(record_words, "_RECORDS_PER_CHUNK", 100)
    random = Random(seed)
    records = [random_record(random, id_) for id_ in range(1, 301)]
    writer = SegmentWriter()
    writer.extend(records[:150])
    first_words = writer.segment().words
    writer.extend(records[150:])

    assert writer.unlisted_count == 300
    writer.list_words()

    assert writer.unlisted_count == 0
    words = writer.segment().words
    assert words is not None
    assert first_words is not None
    assert by_record(words.decode_all()) == [expected_words(record) for record in records]
    assert by_record(first_words.decode_all()) == [expected_words(record) for record in records[:150]]


def by_record(words: DecodedWords) -> list[dict[str, int]]:
    """Return the words of each record with their weights."""
    pairs = zip((words.words[number] for number in words.numbers.tolist()), words.weights.tolist(), strict=True)
    return [dict(islice(pairs, count)) for count in words.counts.tolist()]


def test_large_arrays_may_be_in_files(tmp_path: Path) -> None:
    records = [random_record(Random(id_), id_) for id_ in range(1, 100)]
    catalog = Catalog.build(records, Layout(index_from=1, leaf_words=1, compiled=False), defers_texts=True)
    assert catalog.index is not None
    in_memory = WordIndexing(catalog.index)
    in_memory.run()

    in_files = WordIndexing(catalog.index, tmp_path)
    in_files.run()

    assert in_memory.word_index is not None
    assert in_files.word_index is not None
    assert words_by_record(in_files.word_index, 99) == words_by_record(in_memory.word_index, 99)
    assert [*tmp_path.iterdir()] == []
