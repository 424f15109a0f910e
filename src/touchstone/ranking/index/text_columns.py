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
    """Texts as codes into a pool of distinct texts, long ones compressed; code 0 is "not known".

    Attributes:
        pool: The distinct texts by code.
        codes: The code of each record.
        ranks: The rank of each code in a sorted list; empty until the texts of a large catalog are indexed.
    """

    pool: Pool
    codes: NDArray[Any]
    ranks: NDArray[np.uint32]

    def ranks_at(self, positions: NDArray[Any]) -> NDArray[np.uint32]:
        """Return the rank of the text of each of some records; 0 is "not known".

        Raises:
            TextsNotIndexed: the ranks have not been determined yet.
        """
        if not len(self.ranks):
            raise TextsNotIndexed
        return np.asarray(self.ranks[self.codes[positions]])

    def take(self, positions: NDArray[Any]) -> list[str | None]:
        """Return the texts at some positions, None where not known; each distinct text is decoded once."""
        codes = self.codes[positions].tolist()
        text_by_code = {code: self.pool[code] if code else None for code in set(codes)}
        return [text_by_code[code] for code in codes]


@dataclass(frozen=True, slots=True)
class NameColumn:
    """The names of the records, and their alphabetical order: by folded name, then id.

    Attributes:
        pool: The name of each record.
        accented: A bitmap of the records whose name is not plain ASCII.
        accented_positions, accented_pool: The positions of these records, and their folded names in the same order.
        places: The place of each record in the alphabetical order.
        permutation: The positions of all records in the alphabetical order.
        group_starts: A bitmap of the places at which another folded name begins.
        first_places: The lowest place in each leaf.
        signatures: The trigrams that occur in the names of each leaf, one row of bits for each of their buckets.
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
