"""Collecting the words of many records, the same words and weights as `weigh_words` returns for each record.

Compiled kernels, which release the GIL, split most texts into words. Python code splits only texts with an apostrophe
or with characters beyond ASCII, and each distinct list of labels.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.columns.growing_array import GrowingArray
from touchstone.ranking.columns.spool import SpooledColumn
from touchstone.ranking.columns.text_pool import Bytes, TextPool
from touchstone.ranking.kernels import word_kernels
from touchstone.ranking.kernels.word_kernels import ListedWords, RecordLabels, RecordTexts
from touchstone.ranking.text.record_words import DecodedWords
from touchstone.ranking.text.word_numbers import WordNumbers
from touchstone.ranking.text.words import name_words, split_words, weigh_words

RECORDS_PER_BATCH: Final = 4096
"""A good number of records to add at once: few enough for the CPU cache, and many enough for little overhead."""
LABEL_COLUMNS: Final = ("tags", "domain", "task")
_NOT_SPLIT: Final = -1


class TextRanges(NamedTuple):
    """One text of each record, as ranges of bytes.

    Attributes:
        data: the UTF-8 bytes of the texts.
        starts: the start of each record's text in `data`.
        ends: the end of each record's text in `data`, equal to the start if the text is unknown.
    """

    data: Bytes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    @classmethod
    def from_texts(cls, texts: Sequence[str | None]) -> "TextRanges":
        """Copy the text of each record."""
        pool = TextPool.from_texts([text or "" for text in texts])
        return cls.from_pool(pool, 0, len(pool))

    @classmethod
    def from_pool(cls, pool: TextPool, start: int, end: int) -> "TextRanges":
        """Return the texts of a pool from the index `start` to `end - 1`, one for each record."""
        offsets = pool.offsets[start : end + 1].astype(np.int64)
        return cls(pool.data, offsets[:-1].copy(), offsets[1:].copy())


class BatchTexts(NamedTuple):
    """The texts and labels of a batch of records.

    Attributes:
        names: the names of the records.
        texts: their objectives and their descriptions.
        label_codes: the code of each record's list of labels, for each of LABEL_COLUMNS. Code 0 means unknown.
    """

    names: TextRanges
    texts: tuple[TextRanges, TextRanges]
    label_codes: Mapping[str, NDArray[Any]]


class LabelLists(Protocol):
    """The lists of labels that the codes of a column refer to."""

    def __len__(self) -> int: ...

    def __getitem__(self, code: int, /) -> Any:
        """Return the list of labels with a code, as a sequence of strings."""


class WordCollector:
    """Collects the words of records, batch by batch."""

    def __init__(self, label_lists: Mapping[str, LabelLists], folder: Path | None = None) -> None:
        """Begin a collection without records.

        Args:
            label_lists: the lists that the codes of each of LABEL_COLUMNS refer to.
            folder: where temporary files hold the words, or None to use memory.
        """
        self._words = WordNumbers()
        self._labels = [(name, _LabelWords(name, label_lists[name], self._words)) for name in LABEL_COLUMNS]
        self._counts = SpooledColumn(np.int64, folder)
        self._numbers = SpooledColumn(np.uint32, folder)
        self._weights = SpooledColumn(np.uint8, folder)
        self._word_count = 0  # the total number of words of all records added so far

    def add(self, batch: BatchTexts) -> None:
        """Add the words of the next records."""
        record_count = len(batch.names.starts)
        tags, domains, tasks = (labels.for_records(batch.label_codes[name]) for name, labels in self._labels)
        objectives, descriptions = (_split_special_texts(texts, split_words) for texts in batch.texts)
        names = _split_special_texts(batch.names, name_words)

        # Two words of a text are separated by at least one byte, so n bytes hold at most (n + 1) / 2 words. A name is
        # also split within words, such as between letters and digits, where no byte separates the parts.
        text_bytes = _byte_count(objectives) + _byte_count(descriptions)
        name_bytes = _byte_count(names)
        most_words = (text_bytes + 2 * record_count) // 2 + 2 * name_bytes
        most_labels = sum(int((labels.ends - labels.starts).sum()) for labels in (tags, domains, tasks))

        self._words.reserve(most_words, text_bytes + 2 * name_bytes)
        word_lists = ListedWords(
            ends=np.empty(record_count, np.int64),
            numbers=np.empty(most_words + most_labels, np.uint32),
            weights=np.empty(most_words + most_labels, np.uint8),
            first_index=self._word_count,
            record_start=np.zeros(1, np.int64),
            word_count=np.zeros(1, np.int64),
        )
        word_kernels.list_words(
            (objectives, descriptions), names, (tags, domains, tasks), self._words.table, word_lists
        )

        word_count = int(word_lists.word_count[0])
        self._counts.append(np.diff(word_lists.ends, prepend=0))
        self._numbers.append(word_lists.numbers[:word_count])
        self._weights.append(word_lists.weights[:word_count])
        self._word_count += word_count

    def read(self) -> DecodedWords:
        """Finish the collection and return the words of all records."""
        return DecodedWords(self._words.words(), self._counts.read(), self._numbers.read(), self._weights.read())


class _LabelWords:
    """The words in a column of label lists.

    Each distinct list is split on its first occurrence.
    """

    def __init__(self, name: str, lists: LabelLists, words: WordNumbers) -> None:
        self._name = name
        self._lists = lists
        self._words = words
        # The range of each list's words in the arrays below, by the code of the list. Code 0 means unknown.
        self._starts = np.full(len(lists), _NOT_SPLIT, np.int64)
        self._ends = np.zeros(len(lists), np.int64)
        self._starts[:1] = 0
        self._numbers = GrowingArray(np.uint32)
        self._weights = GrowingArray(np.uint8)

    def for_records(self, stored_codes: NDArray[Any]) -> RecordLabels:
        """Return the words of the label lists of records, given the code of each record's list."""
        codes = stored_codes.astype(np.int64)
        for code in np.unique(codes[self._starts[codes] == _NOT_SPLIT]).tolist():
            self._add_list(code)
        return RecordLabels(self._starts[codes], self._ends[codes], self._numbers.view(), self._weights.view())

    def _add_list(self, code: int) -> None:
        """Split the list with the given code, and append its words with their weights."""
        labels = self._lists[code]
        if self._name == "tags":
            weights = weigh_words("", (), labels, ())
        else:
            weights = weigh_words("", (), (), [(self._name, label) for label in labels])

        self._starts[code] = len(self._numbers.view())
        self._numbers.extend(self._words.numbers_of(list(weights)))
        self._weights.extend(np.array(list(weights.values()), np.uint8))
        self._ends[code] = len(self._numbers.view())


def _split_special_texts(texts: TextRanges, split: Callable[[str], Sequence[str]]) -> RecordTexts:
    """Prepare texts for the kernels, and split the texts that kernels cannot split.

    The words of these special texts are stored separately, joined by blanks, and replace the texts.

    Args:
        texts: the texts of the records. The ranges of special texts are replaced in place.
        split: the function that splits a special text into words.
    """
    starts, ends = texts.starts, texts.ends
    is_special = np.empty(len(starts), np.bool_)
    word_kernels.mark_special_texts(texts.data, starts, ends, is_special)

    special_texts = []
    for record in np.flatnonzero(is_special).tolist():
        encoded_text = texts.data[starts[record] : ends[record]].tobytes()
        words = split(encoded_text.decode())
        special_texts.append(" ".join(words).encode())

    split_ends = np.cumsum([0, *map(len, special_texts)], dtype=np.int64)
    starts[is_special] = split_ends[:-1]
    ends[is_special] = split_ends[1:]
    special_data = np.frombuffer(b"".join(special_texts), np.uint8)
    return RecordTexts(texts.data, starts, ends, is_special, special_data)


def _byte_count(texts: RecordTexts) -> int:
    """Return the total length of the texts in bytes, after special texts have been replaced by their words."""
    return int((texts.ends - texts.starts).sum())
