"""A pool of texts that can be extended while other threads read its previous texts."""

from collections.abc import Sequence

import numpy as np

from touchstone.ranking.columns.growing_array import GrowingArray
from touchstone.ranking.columns.text_pool import TextPool, smallest_offset_type


class GrowingTextPool:
    """A growing pool of texts, which are concatenated in UTF-8."""

    def __init__(self) -> None:
        self._data = GrowingArray(np.uint8)
        self._offsets = GrowingArray(np.int64)
        self._offsets.extend(np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self._offsets.view()) - 1

    def extend(self, texts: Sequence[str]) -> None:
        """Append texts."""
        new_pool = TextPool.from_texts(texts)
        last_offset = self._offsets.view()[-1]
        self._data.extend(new_pool.data)
        self._offsets.extend(last_offset + new_pool.offsets[1:].astype(np.int64))

    def first(self, count: int) -> TextPool:
        """Return the first `count` texts as an immutable pool."""
        offsets = self._offsets.view()[: count + 1]
        byte_count = int(offsets[-1])
        return TextPool(self._data.view()[:byte_count], offsets.astype(smallest_offset_type(byte_count)))
