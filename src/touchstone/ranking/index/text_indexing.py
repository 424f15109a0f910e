"""Indexing of the texts of a large catalog after its other columns, so that the rest can be served sooner."""

from dataclasses import replace
from pathlib import Path

from touchstone.ranking.index.catalog_index import CatalogIndex
from touchstone.ranking.index.index_columns import IndexColumns
from touchstone.ranking.index.text_builder import pack_column
from touchstone.ranking.index.text_columns import Pool, TextColumn
from touchstone.ranking.index.text_ranks import rank_texts
from touchstone.ranking.index.word_indexing import WordIndexing


class TextIndexing:
    """The indexing of the texts of the records behind an index.

    It lists their words, compresses long texts, and sorts the texts that have no ranks yet.

    Attributes:
        index: The index.
        columns: Its columns with everything about texts; None until `run` has finished.
    """

    def __init__(self, index: CatalogIndex, folder: Path | None) -> None:
        """Prepare the indexing, during which unnamed files in `folder` hold what is large, unless it is None."""
        self.index = index
        self.columns: IndexColumns | None = None
        self._folder = folder

    def run(self) -> None:
        """Index the texts, which takes long in a large catalog; any thread may do this.

        Raises:
            OSError: a file in the folder cannot be written.
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
        """Return a text column with the ranks of its texts."""
        if len(column.ranks):
            return column
        return replace(column, ranks=rank_texts(column.pool, self._folder))
