"""Build time, memory and query times of the word index, compared with tantivy and SQLite FTS5, over generated records.

All times are processor time of the whole process, so that other work on the machine does not count.

Every engine gets the same records. The other engines only search for exact stems, because tantivy and FTS5 do not
correct typing errors in a conjunction of words. Their times are therefore a lower bound for the same search.
"""

import gc
import math
import random
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import msgspec
import numpy as np

from touchstone.demo.packaged_records import read_records
from touchstone.ranking.index.word_index import WordIndex
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words
from touchstone.ranking.kernels.compilation import compile_kernels
from touchstone.ranking.query.sort_order import select_window
from touchstone.ranking.text.query_words import QueryWord, parse_query
from touchstone.ranking.text.record_words import DecodedWords, RecordWordsWriter
from touchstone.ranking.text.relevance import WordStatistics, compute_relevance
from touchstone.ranking.text.words import split_words, weigh_words

QUERIES: Final = {
    "one rare word": "glaciology",
    "one common word": "dataset",
    "three common words": "dataset text english",
    "two words, one with a typing error": "hospitl dataset",
    "no match": "zyzzyva dataset",
}
_REPETITIONS: Final = 9
_WORDS_PER_DESCRIPTION: Final = 22
_CHUNK: Final = 10_000
_TOP: Final = 20


class GeneratedRecord(NamedTuple):
    """A record of the generated catalog."""

    name: str
    description: str


class Engine(Protocol):
    """A search engine over the generated records."""

    def find_all(self, search_text: str) -> int:
        """Find every match, and return their number."""

    def find_best(self, search_text: str) -> int:
        """Find the most relevant matches, and return their number."""


class Measurement(NamedTuple):
    """The cost of building an engine."""

    engine: Engine
    seconds: float
    bytes: int


def generate_records(count: int) -> Iterator[GeneratedRecord]:
    """Yield records with the word frequencies of the demo catalog. Each name also contains a unique word."""
    frequencies = word_frequencies()
    words, weights = list(frequencies), list(frequencies.values())
    generator = random.Random(0)
    for number in range(count):
        drawn_words = generator.choices(words, weights, k=_WORDS_PER_DESCRIPTION + 3)
        yield GeneratedRecord(
            f"{drawn_words[0]} {drawn_words[1]} {drawn_words[2]} r{number:x}", " ".join(drawn_words[3:])
        )


def word_frequencies() -> Counter[str]:
    """Return the word frequencies in the descriptions of the demo catalog, and a word that is rare everywhere."""
    frequencies = Counter(word for record in read_records() for word in split_words(record.description))
    frequencies["glaciology"] = 1
    return frequencies


class TouchstoneEngine:
    """The word index of this project."""

    def __init__(self, index: WordIndex) -> None:
        self._index = index
        self._word_count = math.ceil(len(index.lengths) / BITS_PER_WORD)

    def find_all(self, search_text: str) -> int:
        """Find every match, and return their number."""
        return int(np.bitwise_count(self._find(search_text)).sum(dtype=np.int64))

    def _find(self, search_text: str) -> Words:
        """Return a bitmap of the matches."""
        return reduce(np.bitwise_and, map(self._records_with, parse_query(search_text)))

    def _records_with(self, query_word: QueryWord) -> Words:
        """Return a bitmap of the records that contain a word of a query."""
        return self._index.records_with_word(query_word, self._word_count)

    def find_best(self, search_text: str) -> int:
        """Find the most relevant matches, and return their number."""
        query_words = parse_query(search_text)
        positions = np.flatnonzero(np.unpackbits(self._find(search_text).view(np.uint8), bitorder="little"))
        weights = [self._index.weigh(query_word, positions) for query_word in query_words]

        frequencies = [self._records_with(query_word) for query_word in query_words]
        word_statistics = WordStatistics(
            record_count=len(self._index.lengths),
            total_length=int(self._index.lengths.sum(dtype=np.int64)),
            frequencies=np.array([np.bitwise_count(bitmap).sum() for bitmap in frequencies], np.int64),
        )
        scores = compute_relevance(weights, self._index.lengths[positions], word_statistics)
        return len(select_window((-scores, positions), 0, _TOP))


def build_touchstone(count: int, _folder: Path) -> Measurement:
    """Build the word index."""
    compile_kernels()
    _index_words(list(generate_records(100)))  # generates the machine code
    records = list(generate_records(count))
    start = time.process_time()
    index = _index_words(records)
    seconds = time.process_time() - start
    return Measurement(TouchstoneEngine(index), seconds, array_bytes(index))


def _index_words(records: list[GeneratedRecord]) -> WordIndex:
    """Return the word index of the given records."""
    writer = RecordWordsWriter()
    weights = (weigh_words(record.name, (None, record.description), (), ()) for record in records)
    writer.extend_decoded(DecodedWords.from_weights(weights))
    every_record = np.arange(len(records))
    return WordIndex.build(writer.record_words().decode(every_record), every_record)


def array_bytes(index: WordIndex) -> int:
    """Return the size of all arrays of an index in bytes."""
    sizes: list[int] = []

    def add(array: Any) -> int:
        sizes.append(array.nbytes)
        return 0

    msgspec.json.encode(index, enc_hook=add)
    return sum(sizes)


class FtsEngine:
    """SQLite FTS5 with its Porter stemmer."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find_all(self, search_text: str) -> int:
        """Find every match, and return their number."""
        rows = self._connection.execute("SELECT rowid FROM records WHERE records MATCH ?", (search_text,)).fetchall()
        return len(rows)

    def find_best(self, search_text: str) -> int:
        """Find the most relevant matches, and return their number."""
        statement = f"SELECT rowid FROM records WHERE records MATCH ? ORDER BY bm25(records) LIMIT {_TOP}"
        return len(self._connection.execute(statement, (search_text,)).fetchall())


def build_fts(count: int, folder: Path) -> Measurement:
    """Build an FTS5 table that stores only the words."""
    path = folder / "fts.db"
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE VIRTUAL TABLE records USING fts5(name, description, content='', tokenize='porter unicode61')"
    )
    records = list(generate_records(count))
    start = time.process_time()
    connection.executemany("INSERT INTO records (name, description) VALUES (?, ?)", records)
    connection.execute("INSERT INTO records (records) VALUES ('optimize')")
    connection.commit()
    return Measurement(FtsEngine(connection), time.process_time() - start, path.stat().st_size)


class TantivyEngine:
    """tantivy with its English stemmer."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self._searcher = index.searcher()

    def find_all(self, search_text: str) -> int:
        """Find every match, and return their number."""
        return len(self._search(search_text, max(1, self._searcher.num_docs)))

    def find_best(self, search_text: str) -> int:
        """Find the most relevant matches, and return their number."""
        return len(self._search(search_text, _TOP))

    def _search(self, search_text: str, limit: int) -> list[Any]:
        """Return the addresses of the records that contain every word."""
        query = self._index.parse_query(" AND ".join(search_text.split()), ["name", "description"])
        hits: list[Any] = self._searcher.search(query, limit).hits
        return hits


def build_tantivy(count: int, folder: Path) -> Measurement:
    """Build an index of tantivy in a folder, with two threads."""
    import tantivy  # noqa: PLC0415 (only installed for benchmarks)

    schema = tantivy.SchemaBuilder()
    for field in ("name", "description"):
        schema.add_text_field(field, stored=False, tokenizer_name="en_stem")
    schema.add_integer_field("id", stored=True, fast=True)
    path = folder / "tantivy"
    path.mkdir()
    index = tantivy.Index(schema.build(), path=str(path))

    records = list(generate_records(count))
    start = time.process_time()
    writer = index.writer(heap_size=512_000_000, num_threads=2)
    for number, record in enumerate(records):
        writer.add_document(tantivy.Document(id=number, name=record.name, description=record.description))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    seconds = time.process_time() - start
    size = sum(file.stat().st_size for file in path.iterdir())
    return Measurement(TantivyEngine(index), seconds, size)


_BUILDERS: Final[dict[str, Callable[[int, Path], Measurement]]] = {
    "Touchstone": build_touchstone,
    "tantivy": build_tantivy,
    "SQLite FTS5": build_fts,
}


def measure_scale(counts: list[int]) -> None:
    """Print the build time, memory and query times of all engines at the given sizes."""
    for count in counts:
        print(f"\n{count:,} records of {_WORDS_PER_DESCRIPTION + 4} words\n")
        print("| | " + " | ".join(_BUILDERS) + " |\n|---|" + "---:|" * len(_BUILDERS))
        columns = [_measure_engine(build, count) for build in _BUILDERS.values()]
        for cells in zip(*columns, strict=True):
            labels = [label for label, _ in cells]
            print(f"| {labels[0]} | " + " | ".join(value for _, value in cells) + " |")


def _measure_engine(build: Callable[[int, Path], Measurement], count: int) -> list[tuple[str, str]]:
    """Return the label and the value of each table row for one engine."""
    with tempfile.TemporaryDirectory() as folder:
        measurement = build(count, Path(folder))
        lines = [
            ("build, records a second", f"{count / measurement.seconds:,.0f}"),
            ("bytes a record", f"{measurement.bytes / count:.0f}"),
        ]
        for label, search_text in QUERIES.items():
            all_time, match_count = _median_time(measurement.engine.find_all, search_text)
            best_time, _ = _median_time(measurement.engine.find_best, search_text)
            lines.append((f"{label}: all, ms (matches)", f"{all_time:.2f} ({match_count:,})"))
            lines.append((f"{label}: best {_TOP}, ms", f"{best_time:.2f}"))

    del measurement
    gc.collect()
    return lines


def _median_time(search: Callable[[str], int], search_text: str) -> tuple[float, int]:
    """Return the median time of a search in milliseconds, and its result."""
    times = []
    match_count = 0
    for _ in range(_REPETITIONS):
        start = time.process_time()
        match_count = search(search_text)
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times), match_count
