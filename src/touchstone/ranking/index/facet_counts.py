"""Facets from the index: flags and tenths by counting common bits, values and numbers by their codes."""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS, WORDS
from touchstone.ranking.columns.bitmaps import Words
from touchstone.ranking.columns.text_pool import all_texts
from touchstone.ranking.criteria import Floats, Ints
from touchstone.ranking.index.arrays import Index
from touchstone.ranking.kernels import search_kernels
from touchstone.ranking.query.facets import Counts


def count_index(counts: Counts, index: Index, words: Words, total: int) -> None:
    """Add the `total` records of an index whose bits are set."""
    counts.total_count += total
    if total:
        _count_planes(counts, index, words, total)
        _count_texts(counts, index, words)
        _count_numbers(counts, index, words)


def _common(index: Index, words: Words, plane: str) -> int:
    return int(search_kernels.overlap(words, index.arrays["planes"][index.meta.planes.index(plane)]))


def _count_planes(counts: Counts, index: Index, words: Words, total: int) -> None:
    for flag in FLAGS:
        true, false = _common(index, words, f"flag:{flag}:1"), _common(index, words, f"flag:{flag}:0")
        counts.flag(flag, total - true - false, false, true)
    public = _common(index, words, "public")
    for spelling, count in (("public", public), ("private", total - public)):
        if count:
            counts.spell("visibility", spelling, count)
    met = [total, *(_common(index, words, f"ethical:{least}") for least in range(1, 11))]
    fewest, most = sum(count == total for count in met) - 1, sum(count > 0 for count in met) - 1
    counts.extend("ethical_score", fewest / 10, most / 10)
    low, high = search_kernels.technical_extremes(index.grid, words, index.arrays["lower"][1])
    counts.extend("technical_score", float(low), float(high))


def _tallied(codes: NDArray[Any], words: Words, size: int) -> Ints:
    found = np.zeros(size, np.int64)
    search_kernels.tally(words, codes, found)
    return found


def _count_texts(counts: Counts, index: Index, words: Words) -> None:
    for column in (*WORDS, "file_type"):
        blob, offsets = index.arrays[f"{column}.blob"], index.arrays[f"{column}.offsets"]
        found = _tallied(index.arrays[f"{column}.code"], words, len(offsets) - 1).tolist()
        values = zip(all_texts(blob, offsets), found, strict=True)
        for value, count in list(values)[1:]:
            if count and column in WORDS:
                counts.spell_words(column, tuple(msgspec.json.decode(value)), count)
            elif count:
                counts.spell(column, value, count)


def _count_numbers(counts: Counts, index: Index, words: Words) -> None:
    for column in NUMBERS:
        values: Floats = index.arrays[f"{column}.values"]
        found = _tallied(index.arrays[f"{column}.code"], words, len(values))
        known = np.flatnonzero(found[1:]) + 1
        if len(known):
            counts.extend(column, float(values[known[0]]), float(values[known[-1]]))
        if column == "year":
            for code in known.tolist():
                counts.year(int(values[code]), int(found[code]))
        if column == "citations":
            scores = index.arrays["table.citations"][np.flatnonzero(found)]
            counts.extend("popularity_score", float(scores.min()), float(scores.max()))
