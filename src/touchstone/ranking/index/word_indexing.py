"""Deferred indexing of the words of a large catalog, so that queries without words can be served sooner.

Compiled kernels, which release the GIL, split most texts into words. Python code splits only texts with an apostrophe
or with characters beyond ASCII, and each distinct list of labels.
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
_NOT_SPLIT: Final = -1


class WordIndexing:
    """A task that builds the word index of an index.

    `word_index` is None until `run` has finished.
    """

    def __init__(self, index: CatalogIndex, folder: Path | None = None) -> None:
        """Prepare the indexing.

        Args:
            index: an index without words.
            folder: where temporary files hold large arrays, or None to use memory.
        """
        self.index = index
        self.word_index: WordIndex | None = None
        self._folder = folder

    def run(self) -> None:
        """Index the words, possibly in another thread because this takes long for a large catalog.

        Raises:
            OSError: the folder cannot be written to.
        """
        words = _WordCollector(self.index, self._folder)
        size = self.index.columns.size
        for start in range(0, size, _RECORDS_PER_BATCH):
            words.add_records(start, min(start + _RECORDS_PER_BATCH, size))

        self.word_index = WordIndex.build(words.read(), np.arange(size), self._folder)


class _WordCollector:
    """Collects the words of the records of an index, batch by batch."""

    def __init__(self, index: CatalogIndex, folder: Path | None) -> None:
        columns = index.columns
        self._columns = columns
        self._objectives = columns.texts["objective"].pool
        self._descriptions = columns.long_texts["description"].pool.unpack(folder)
        self._words = WordNumbers()
        self._tags = _LabelWords("tags", columns.words["tags"], self._words)
        self._domains = _LabelWords("domain", columns.words["domain"], self._words)
        self._tasks = _LabelWords("task", columns.words["task"], self._words)
        self._counts = SpooledColumn(np.int64, folder)
        self._numbers = SpooledColumn(np.uint32, folder)
        self._weights = SpooledColumn(np.uint8, folder)
        self._word_count = 0  # the total number of words of all records added so far

    def add_records(self, start: int, end: int) -> None:
        """Add the words of the records at the positions `start` to `end - 1`."""
        objective_codes = self._columns.texts["objective"].codes[start:end]
        description_codes = self._columns.long_texts["description"].codes[start:end]
        texts = (
            _record_texts(self._objectives, objective_codes),
            _record_texts(self._descriptions, description_codes),
        )
        names = self._record_names(start, end)
        labels = (
            self._tags.for_records(start, end),
            self._domains.for_records(start, end),
            self._tasks.for_records(start, end),
        )

        # Two words of a text are separated by at least one byte, so n bytes hold at most (n + 1) / 2 words. A name is
        # also split within words, such as between letters and digits, where no byte separates the parts.
        text_bytes = sum(_byte_count(column) for column in texts)
        name_bytes = _byte_count(names)
        most_words = (text_bytes + 2 * (end - start)) // 2 + 2 * name_bytes
        most_labels = sum(int((column.ends - column.starts).sum()) for column in labels)

        self._words.reserve(most_words, text_bytes + 2 * name_bytes)
        word_lists = ListedWords(
            ends=np.empty(end - start, np.int64),
            numbers=np.empty(most_words + most_labels, np.uint32),
            weights=np.empty(most_words + most_labels, np.uint8),
            first_index=self._word_count,
            record_start=np.zeros(1, np.int64),
            word_count=np.zeros(1, np.int64),
        )
        word_kernels.list_words(texts, names, labels, self._words.table, word_lists)

        word_count = int(word_lists.word_count[0])
        self._counts.append(np.diff(word_lists.ends, prepend=0))
        self._numbers.append(word_lists.numbers[:word_count])
        self._weights.append(word_lists.weights[:word_count])
        self._word_count += word_count

    def read(self) -> DecodedWords:
        """Finish the collection and return the words of all records."""
        return DecodedWords(self._words.words(), self._counts.read(), self._numbers.read(), self._weights.read())

    def _record_names(self, start: int, end: int) -> RecordTexts:
        """Return the names of the records at the positions `start` to `end - 1`."""
        pool = self._columns.names.pool
        offsets = pool.offsets[start : end + 1].astype(np.int64)
        return _split_special_texts(pool, offsets[:-1].copy(), offsets[1:].copy(), name_words)


class _LabelWords:
    """The words in a column of label lists.

    Each distinct list is split on its first occurrence.
    """

    def __init__(self, name: str, column: CodedColumn, words: WordNumbers) -> None:
        self._name = name
        self._column = column
        self._words = words
        # The range of each list's words in the arrays below, by the code of the list. Code 0 means unknown.
        self._starts = np.full(len(column.pool), _NOT_SPLIT, np.int64)
        self._ends = np.zeros(len(column.pool), np.int64)
        self._starts[:1] = 0
        self._numbers = GrowingArray(np.uint32)
        self._weights = GrowingArray(np.uint8)

    def for_records(self, start: int, end: int) -> RecordLabels:
        """Return the words of the label lists of the records at the positions `start` to `end - 1`."""
        codes = self._column.codes[start:end].astype(np.int64)
        for code in np.unique(codes[self._starts[codes] == _NOT_SPLIT]).tolist():
            self._add_list(code)
        return RecordLabels(self._starts[codes], self._ends[codes], self._numbers.view(), self._weights.view())

    def _add_list(self, code: int) -> None:
        """Split the list with the given code, and append its words with their weights."""
        labels = decode_words(self._column.pool[code])
        if self._name == "tags":
            weights = weigh_words("", (), labels, ())
        else:
            weights = weigh_words("", (), (), [(self._name, label) for label in labels])

        self._starts[code] = len(self._numbers.view())
        self._numbers.extend(self._words.numbers_of(list(weights)))
        self._weights.extend(np.array(list(weights.values()), np.uint8))
        self._ends[code] = len(self._numbers.view())


def _record_texts(pool: TextPool, stored_codes: NDArray[Any]) -> RecordTexts:
    """Return the texts of records, given the codes of the texts in a pool."""
    codes = stored_codes.astype(np.int64)
    starts = pool.offsets[codes].astype(np.int64)
    ends = np.where(codes == 0, starts, pool.offsets[codes + 1].astype(np.int64))  # code 0 means unknown
    return _split_special_texts(pool, starts, ends, split_words)


def _split_special_texts(
    pool: TextPool, starts: NDArray[np.int64], ends: NDArray[np.int64], split: Callable[[str], Sequence[str]]
) -> RecordTexts:
    """Prepare texts for the kernels, and split the texts that kernels cannot split.

    The words of these special texts are stored separately, joined by blanks, and replace the texts.

    Args:
        pool: the pool of the texts.
        starts: the start of each text in the pool, in bytes; replaced in place for special texts.
        ends: the end of each text in the pool, in bytes; replaced in place for special texts.
        split: the function that splits a special text into words.
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
    """Return the total length of the texts in bytes."""
    return int((texts.ends - texts.starts).sum())
