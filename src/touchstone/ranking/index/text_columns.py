"""The columns of an index that hold texts."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.packed_texts import PackedTexts
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index.word_index import TextsNotIndexed
from touchstone.ranking.kernels.bits import Words

Pool = TypeVar("Pool", TextPool, PackedTexts)


@dataclass(frozen=True, slots=True)
class TextColumn(Generic[Pool]):
    """A column of texts, stored as codes for distinct texts.

    Code 0 means unknown.

    Attributes:
        pool: the distinct texts by code; long texts are compressed.
        codes: the code of each record.
        ranks: the alphabetical rank of each code, empty until the texts of a large catalog are indexed.
    """

    pool: Pool
    codes: NDArray[Any]
    ranks: NDArray[np.uint32]

    def ranks_at(self, positions: NDArray[Any]) -> NDArray[np.uint32]:
        """Return the rank of the text at each of the given positions.

        Rank 0 means unknown.

        Raises:
            TextsNotIndexed: the ranks have not been computed yet.
        """
        if not len(self.ranks):
            raise TextsNotIndexed
        return np.asarray(self.ranks[self.codes[positions]])

    def take(self, positions: NDArray[Any]) -> list[str | None]:
        """Return the texts at the given positions, None where unknown."""
        codes = self.codes[positions].tolist()
        text_by_code = {code: self.pool[code] if code else None for code in set(codes)}
        return [text_by_code[code] for code in codes]


@dataclass(frozen=True, slots=True)
class NameColumn:
    """The names of the records and their alphabetical order, by folded name and then by id.

    Attributes:
        pool: the name of each record.
        accented: a bitmap of the records with names that are not plain ASCII.
        accented_positions: the ascending positions of these records.
        accented_pool: the folded names of these records.
        places: the rank of each record in the alphabetical order, counted from 0.
        permutation: the positions of all records in the alphabetical order.
        group_starts: a bitmap of the ranks where the folded name differs from the previous one.
        first_places: the lowest rank in each leaf.
        signatures: a filter of the trigrams in the names of each leaf: one row for each trigram bucket, with one bit
            for each leaf.
    """

    pool: TextPool
    accented: Words
    accented_positions: Ints
    accented_pool: TextPool
    places: NDArray[np.uint32]
    permutation: NDArray[np.uint32]
    group_starts: Words
    first_places: NDArray[np.uint32]
    signatures: NDArray[np.uint8]
