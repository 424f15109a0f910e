"""Deferred indexing of the words of a large catalog, so that queries without words can be served sooner."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import CodedColumn, decode_words
from touchstone.ranking.index.word_index import WordIndex
from touchstone.ranking.text.word_collector import (
    LABEL_COLUMNS,
    RECORDS_PER_BATCH,
    BatchTexts,
    TextRanges,
    WordCollector,
)


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
        columns = self.index.columns
        descriptions = columns.long_texts["description"].pool.unpack(self._folder)
        label_lists = {name: _DecodedLists(columns.words[name]) for name in LABEL_COLUMNS}

        words = WordCollector(label_lists, self._folder)
        for start in range(0, columns.size, RECORDS_PER_BATCH):
            end = min(start + RECORDS_PER_BATCH, columns.size)
            words.add(self._batch_texts(descriptions, start, end))

        self.word_index = WordIndex.build(words.read(), np.arange(columns.size), self._folder)

    def _batch_texts(self, descriptions: TextPool, start: int, end: int) -> BatchTexts:
        """Return the texts of the records at the positions `start` to `end - 1`.

        Args:
            descriptions: the uncompressed descriptions of all records.
            start: the first position.
            end: the position after the last one.
        """
        columns = self.index.columns
        objectives = columns.texts["objective"]
        description_codes = columns.long_texts["description"].codes
        return BatchTexts(
            names=TextRanges.from_pool(columns.names.pool, start, end),
            texts=(
                _ranges_of_codes(objectives.pool, objectives.codes[start:end]),
                _ranges_of_codes(descriptions, description_codes[start:end]),
            ),
            label_codes={name: columns.words[name].codes[start:end] for name in LABEL_COLUMNS},
        )


class _DecodedLists:
    """The label lists of a column, each decoded when it is read."""

    def __init__(self, column: CodedColumn) -> None:
        self._pool = column.pool

    def __len__(self) -> int:
        return len(self._pool)

    def __getitem__(self, code: int) -> Any:
        return decode_words(self._pool[code])


def _ranges_of_codes(pool: TextPool, stored_codes: NDArray[Any]) -> TextRanges:
    """Return the texts of records, given the codes of the texts in a pool."""
    codes = stored_codes.astype(np.int64)
    starts = pool.offsets[codes].astype(np.int64)
    ends = np.where(codes == 0, starts, pool.offsets[codes + 1].astype(np.int64))  # code 0 means unknown
    return TextRanges(pool.data, starts, ends)
