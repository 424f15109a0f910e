"""Deferred indexing of the texts of a large catalog, so that queries without texts can be served sooner."""

from dataclasses import replace
from pathlib import Path

from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import IndexColumns
from touchstone.ranking.index.text_builder import pack_column
from touchstone.ranking.index.text_columns import Pool, TextColumn
from touchstone.ranking.index.text_ranks import rank_texts
from touchstone.ranking.index.word_indexing import WordIndexing


class TextIndexing:
    """A task that completes the text columns of an index.

    It indexes words, compresses long texts, and computes missing ranks.

    Attributes:
        index: the index without word index and with incomplete text columns.
        columns: the completed columns, or None until `run` has finished.
    """

    def __init__(self, index: CatalogIndex, folder: Path | None) -> None:
        """Prepare the indexing.

        Args:
            index: an index without text ranks and words.
            folder: where temporary files hold large arrays, or None to use memory.
        """
        self.index = index
        self.columns: IndexColumns | None = None
        self._folder = folder

    def run(self) -> None:
        """Index the texts, possibly in another thread because this takes long for a large catalog.

        Raises:
            OSError: the folder cannot be written to.
        """
        words = WordIndexing(self.index, self._folder)
        words.run()

        columns = self.index.columns
        texts = {name: self._with_ranks(column) for name, column in columns.texts.items()}
        long_texts = {
            name: self._with_ranks(pack_column(column, self._folder)) for name, column in columns.long_texts.items()
        }
        self.columns = replace(columns, texts=texts, long_texts=long_texts, word_index=words.word_index)

    def _with_ranks(self, column: TextColumn[Pool]) -> TextColumn[Pool]:
        """Return a text column with its ranks, which are computed if they are missing."""
        if len(column.ranks):
            return column
        return replace(column, ranks=rank_texts(column.pool, self._folder))
