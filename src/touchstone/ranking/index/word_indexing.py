"""Indexing of the words of a large catalog after its other columns, so that the rest can be served sooner.

Compiled kernels split the texts, which lets other threads run. Python code splits only the texts that are not plain
ASCII or contain an apostrophe, and each distinct list of labels.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.columns.growing_array import GrowingArray
from touchstone.ranking.columns.spool import SpooledColumn
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import CodedColumn, decode_words
from touchstone.ranking.index.word_index import WordIndex
from touchstone.ranking.kernels import word_kernels
from touchstone.ranking.kernels.word_kernels import ListedWords, RecordLabels, RecordTexts
from touchstone.ranking.text.record_words import DecodedWords
from touchstone.ranking.text.word_numbers import WordNumbers
from touchstone.ranking.text.words import name_words, split_words, weigh_words

_RECORDS_PER_BATCH: Final = 4096
_NOT_WEIGHED: Final = -1


class WordIndexing:
    """The indexing of the words of the records behind an index; `word_index` is None until `run` has finished."""

    def __init__(self, index: CatalogIndex, folder: Path | None = None) -> None:
        """Prepare to index words; large arrays are in unnamed files in `folder` meanwhile, or in memory for None."""
        self.index = index
        self.word_index: WordIndex | None = None
        self._folder = folder

    def run(self) -> None:
        """Index the words, which takes long in a large catalog; any thread may do this.

        Raises:
            OSError: the folder cannot be written to.
        """
        words = _WordCollector(self.index, self._folder)
        size = self.index.columns.size
        for start in range(0, size, _RECORDS_PER_BATCH):
            words.add_records(start, min(start + _RECORDS_PER_BATCH, size))

        self.word_index = WordIndex.build(words.read(), np.arange(size), self._folder)


class _WordCollector:
    """The words of a growing number of records of an index."""

    def __init__(self, index: CatalogIndex, folder: Path | None) -> None:
        columns = index.columns
        self._columns = columns
        self._objectives = columns.texts["objective"].pool
        self._descriptions = columns.long_texts["description"].pool.unpack(folder)
        self._words = WordNumbers()
        self._tags = _LabelColumn("tags", columns.words["tags"], self._words)
        self._domains = _LabelColumn("domain", columns.words["domain"], self._words)
        self._tasks = _LabelColumn("task", columns.words["task"], self._words)
        self._counts = SpooledColumn(np.int64, folder)
        self._numbers = SpooledColumn(np.uint32, folder)
        self._weights = SpooledColumn(np.uint8, folder)
        self._word_count = 0  # counted over all records

    def add_records(self, start: int, end: int) -> None:
        """Add the words of the records from `start` to before `end`."""
        objective_codes = self._columns.texts["objective"].codes[start:end]
        description_codes = self._columns.long_texts["description"].codes[start:end]
        texts = (_texts_of(self._objectives, objective_codes), _texts_of(self._descriptions, description_codes))
        names = self._names(start, end)
        labels = (
            self._tags.of_records(start, end),
            self._domains.of_records(start, end),
            self._tasks.of_records(start, end),
        )

        # Between two words of a text is at least one byte. Parts of the words of a name have no byte between them.
        text_bytes = sum(_byte_count(column) for column in texts)
        name_bytes = _byte_count(names)
        most_words = (text_bytes + 2 * (end - start)) // 2 + 2 * name_bytes
        most_labels = sum(int((column.ends - column.starts).sum()) for column in labels)

        self._words.reserve(most_words, text_bytes + 2 * name_bytes)
        listed = ListedWords(
            ends=np.empty(end - start, np.int64),
            numbers=np.empty(most_words + most_labels, np.uint32),
            weights=np.empty(most_words + most_labels, np.uint8),
            first_place=self._word_count,
            record_start=np.zeros(1, np.int64),
            word_count=np.zeros(1, np.int64),
        )
        word_kernels.list_words(texts, names, labels, self._words.table, listed)

        word_count = int(listed.word_count[0])
        self._counts.append(np.diff(listed.ends, prepend=0))
        self._numbers.append(listed.numbers[:word_count])
        self._weights.append(listed.weights[:word_count])
        self._word_count += word_count

    def read(self) -> DecodedWords:
        """Return the words of all records; no more records can be added."""
        return DecodedWords(self._words.words(), self._counts.read(), self._numbers.read(), self._weights.read())

    def _names(self, start: int, end: int) -> RecordTexts:
        """Return the names of some records."""
        pool = self._columns.names.pool
        offsets = pool.offsets[start : end + 1].astype(np.int64)
        return _split_special_texts(pool, offsets[:-1].copy(), offsets[1:].copy(), name_words)


class _LabelColumn:
    """The words of the lists of labels of a column; each distinct list is split when it first occurs."""

    def __init__(self, name: str, column: CodedColumn, words: WordNumbers) -> None:
        self._name = name
        self._column = column
        self._words = words
        # By the code of a list: where its words are in the arrays below. Code 0 is "not known".
        self._starts = np.full(len(column.pool), _NOT_WEIGHED, np.int64)
        self._ends = np.zeros(len(column.pool), np.int64)
        self._starts[:1] = 0
        self._numbers = GrowingArray(np.uint32)
        self._weights = GrowingArray(np.uint8)

    def of_records(self, start: int, end: int) -> RecordLabels:
        """Return the words of the lists of some records."""
        codes = self._column.codes[start:end].astype(np.int64)
        for code in np.unique(codes[self._starts[codes] == _NOT_WEIGHED]).tolist():
            self._weigh(code)
        return RecordLabels(self._starts[codes], self._ends[codes], self._numbers.view(), self._weights.view())

    def _weigh(self, code: int) -> None:
        """Append the words of a list with their weights."""
        labels = decode_words(self._column.pool[code])
        if self._name == "tags":
            weights = weigh_words("", (), labels, ())
        else:
            weights = weigh_words("", (), (), [(self._name, label) for label in labels])

        self._starts[code] = len(self._numbers.view())
        self._numbers.extend(self._words.numbers_of([*weights]))
        self._weights.extend(np.array([*weights.values()], np.uint8))
        self._ends[code] = len(self._numbers.view())


def _texts_of(pool: TextPool, stored_codes: NDArray[Any]) -> RecordTexts:
    """Return the texts of some records, whose codes in a pool are given."""
    codes = stored_codes.astype(np.int64)
    starts = pool.offsets[codes].astype(np.int64)
    ends = np.where(codes == 0, starts, pool.offsets[codes + 1].astype(np.int64))  # code 0 is "not known"
    return _split_special_texts(pool, starts, ends, split_words)


def _split_special_texts(
    pool: TextPool, starts: NDArray[np.int64], ends: NDArray[np.int64], split: Callable[[str], Sequence[str]]
) -> RecordTexts:
    """Prepare texts of a pool for the kernels, which split only simple texts: split the others here, with `split`.

    `starts` and `ends` say where each text is in the pool. For the texts that are split here, they are replaced by the
    places of their words, which are stored apart.
    """
    is_special = np.empty(len(starts), np.bool_)
    word_kernels.mark_special_texts(pool.data, starts, ends, is_special)

    special_texts = []
    for text in np.flatnonzero(is_special).tolist():
        encoded_text = pool.data[starts[text] : ends[text]].tobytes()
        words = split(encoded_text.decode())
        special_texts.append(" ".join(words).encode())

    split_ends = np.cumsum([0, *map(len, special_texts)], dtype=np.int64)
    starts[is_special] = split_ends[:-1]
    ends[is_special] = split_ends[1:]
    special_data = np.frombuffer(b"".join(special_texts), np.uint8)
    return RecordTexts(pool.data, starts, ends, is_special, special_data)


def _byte_count(texts: RecordTexts) -> int:
    """Return how many bytes some texts have altogether."""
    return int((texts.ends - texts.starts).sum())
