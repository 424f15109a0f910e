"""The ranks of the distinct texts of a column, for sorting lists."""

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.columns.packed_texts import PackedTexts
from touchstone.ranking.columns.spool import FoldedTextSpool, arrow_texts
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index.text_order import sort_texts

NO_RANKS: Final = np.empty(0, np.uint32)
"""A placeholder for ranks that have not been computed yet."""
_TEXTS_PER_CHUNK: Final = 1 << 16


def rank_texts(pool: TextPool | PackedTexts, folder: Path | None) -> NDArray[np.uint32]:
    """Return the alphabetical rank of each text of a pool, from 1.

    Texts that differ only in case and accents share a rank.

    Args:
        pool: the texts, after a placeholder for unknown texts at index 0, which has rank 0.
        folder: where temporary files hold large arrays, or None to use memory.
    """
    text_pool = pool.unpack(folder) if isinstance(pool, PackedTexts) else pool

    # Only the texts after the placeholder are sorted.
    texts = arrow_texts(text_pool).slice(1)
    folded_texts = FoldedTextSpool(folder)
    for start in range(0, len(texts), _TEXTS_PER_CHUNK):
        folded_texts.append(texts.slice(start, _TEXTS_PER_CHUNK))

    order = sort_texts(folded_texts.read().texts, tie_breakers=np.arange(len(texts)))
    return np.concatenate([np.zeros(1, np.uint32), order.ranks() + np.uint32(1)])
