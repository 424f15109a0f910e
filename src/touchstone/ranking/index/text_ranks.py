"""The ranks of the distinct texts of a column, by which lists are sorted."""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.columns.packed_texts import PackedTexts
from touchstone.ranking.columns.spool import AccentSpool, arrow_texts
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index.text_order import sort_folded

NO_RANKS: Final = np.empty(0, np.uint32)
"""A placeholder for ranks that have not been computed yet."""
_TEXTS_PER_PIECE: Final = 1 << 16


def rank_texts(pool: TextPool | PackedTexts, folder: Path | None) -> NDArray[np.uint32]:
    """Return the alphabetical rank of each text of a pool.

    Texts that differ only in case and accents share a rank. Ranks start at 1; code 0, which means "not known", has
    rank 0.

    Args:
        pool: the texts, with a placeholder for "not known" at index 0.
        folder: where temporary files hold large arrays, or None to use memory.
    """
    if isinstance(pool, PackedTexts):
        pool = pool.unpack(folder)
    texts = arrow_texts(pool).slice(1)

    accents = AccentSpool(folder)
    for start in range(0, len(texts), _TEXTS_PER_PIECE):
        accents.append(texts.slice(start, _TEXTS_PER_PIECE))

    offsets: NDArray[np.int64] = pool.offsets[1:].astype(np.int64)
    order = sort_folded(pool.data, offsets, accents.read())
    return np.concatenate([np.zeros(1, np.uint32), order.ranks() + np.uint32(1)])
