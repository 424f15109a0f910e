"""Indexing of the words of a large catalog after its other columns, so that the rest can be served sooner."""

from collections.abc import Callable, Iterator
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
        names, objectives, descriptions = (
            self.index.texts(column, positions) for column in ("dataset_name", "objective", "description")
        )
        words = self.index.columns.words
        tag_codes, domain_codes, task_codes = (
            words[column].codes[positions].tolist() for column in ("tags", "domain", "task")
        )
        tags, domains, tasks = (_list_reader(words[column]) for column in ("tags", "domain", "task"))

        for record in range(len(positions)):
            terms = [("domain", value) for value in domains(domain_codes[record])]
            terms += [("task", value) for value in tasks(task_codes[record])]
            texts = (objectives[record], descriptions[record])
            yield weigh_words(names[record] or "", texts, tags(tag_codes[record]), terms)


def _list_reader(column: CodedColumn) -> Callable[[int], tuple[str, ...]]:
    """Return a function that returns the word list of a code, and decodes each list once."""
    lists: dict[int, tuple[str, ...]] = {0: ()}

    def read(code: int) -> tuple[str, ...]:
        if code not in lists:
            lists[code] = decode_words(column.pool[code])
        return lists[code]

    return read
