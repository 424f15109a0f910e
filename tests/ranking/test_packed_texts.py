"""Compressed texts are the texts that were packed, read one by one or all at once."""

from pathlib import Path

import numpy as np
import pytest

from touchstone.ranking.columns.packed_texts import TEXTS_PER_BLOCK, PackedTexts, pack_texts
from touchstone.ranking.columns.text_pool import TextPool


def _pack(texts: list[str], piece_bytes: int, folder: Path | None) -> PackedTexts:
    pool = TextPool.from_texts(texts)
    pieces = (pool.data[start : start + piece_bytes] for start in range(0, len(pool.data), piece_bytes))
    return pack_texts(pieces, pool.offsets, folder)


@pytest.mark.parametrize("count", [0, 1, TEXTS_PER_BLOCK, 3 * TEXTS_PER_BLOCK + 1])
@pytest.mark.parametrize("in_files", [False, True])
def test_texts_are_unpacked_as_they_were(tmp_path: Path, count: int, in_files: bool) -> None:
    """Pieces of bytes may end anywhere, texts may be empty, and the last block may be short."""
    folder = tmp_path if in_files else None
    texts = ["", *(f"Étude n° {number} " * (number % 7) for number in range(count))]
    packed_texts = _pack(texts, piece_bytes=1000, folder=folder)

    assert len(packed_texts) == len(texts)
    assert [packed_texts[index] for index in range(len(texts))] == texts
    assert list(packed_texts.unpack(folder)) == texts


def test_texts_that_resemble_each_other_take_fewer_bytes() -> None:
    """Neighbours are compressed together."""
    texts = [f"A collection of images of leaves, part {number} of 1000." for number in range(1000)]
    packed_texts = _pack(texts, piece_bytes=100_000, folder=None)
    assert len(packed_texts.data) < sum(map(len, texts)) / 4
    assert packed_texts.block_offsets[-1] == len(packed_texts.data)
    assert np.all(np.diff(packed_texts.block_offsets) > 0)
