"""Indexing of the words of a large catalog after its other columns, so that the rest can be served sooner."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import CodedColumn, decode_words
from touchstone.ranking.index.word_index import WordIndex
from touchstone.ranking.text.record_words import RecordWordsWriter
from touchstone.ranking.text.words import weigh_words

_RECORDS_PER_CHUNK: Final = 8192


class WordIndexing:
    """The indexing of the words of the records behind an index; `word_index` is None until `run` has finished."""

    def __init__(self, index: CatalogIndex) -> None:
        self.index = index
        self.word_index: WordIndex | None = None

    def run(self) -> None:
        """Index the words, which takes long in a large catalog; any thread may do this."""
        writer = RecordWordsWriter()
        size = self.index.columns.size
        for start in range(0, size, _RECORDS_PER_CHUNK):
            positions = np.arange(start, min(start + _RECORDS_PER_CHUNK, size))
            writer.extend(self._weigh_words(positions))

        self.word_index = WordIndex.build(writer.record_words().decode_all(), np.arange(size))

    def _weigh_words(self, positions: NDArray[np.int64]) -> Iterator[dict[str, int]]:
        """Yield the words of the records at some positions, with their weights."""
        names = self.index.texts("dataset_name", positions)
        objectives = self.index.texts("objective", positions)
        descriptions = self.index.texts("description", positions)

        words = self.index.columns.words
        tags = _read_lists(words["tags"], positions)
        domains = _read_lists(words["domain"], positions)
        tasks = _read_lists(words["task"], positions)

        for i in range(len(positions)):
            terms = [("domain", domain) for domain in domains[i]]
            terms += [("task", task) for task in tasks[i]]
            yield weigh_words(names[i] or "", (objectives[i], descriptions[i]), tags[i], terms)


def _read_lists(column: CodedColumn, positions: NDArray[np.int64]) -> list[tuple[str, ...]]:
    """Return the word lists of the records at some positions; each distinct list is decoded once."""
    list_by_code: dict[int, tuple[str, ...]] = {0: ()}  # code 0 is "not known"
    word_lists = []
    for code in column.codes[positions].tolist():
        if code not in list_by_code:
            list_by_code[code] = decode_words(column.pool[code])
        word_lists.append(list_by_code[code])
    return word_lists
