"""The arrays of the index, what the kernels see of them, and what is derived from them once: values, permutations."""

from collections import OrderedDict
from threading import Lock
from typing import Any, Final
from uuid import UUID

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS, WORDS
from touchstone.ranking.columns.bitmaps import bits
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, Decoded
from touchstone.ranking.columns.text_pool import all_texts, some_texts, text
from touchstone.ranking.criteria import COMPOSITES, CRITERION_NAMES, Floats, Ints
from touchstone.ranking.index.builder import POOLED, Arrays, Meta
from touchstone.ranking.index.planner import Planner
from touchstone.ranking.kernels import leaf_kernels
from touchstone.ranking.kernels.leaf_kernels import Grid
from touchstone.ranking.kernels.two_threads import taken
from touchstone.ranking.query.sort_order import stable_order

_PERMUTATIONS: Final = 6  # sort orders that are kept, 4 bytes a record each
_LAST: Final = np.uint32(2**32 - 1)


def grid_of(arrays: Arrays, meta: Meta) -> Grid:
    """The arrays that the kernels work on."""
    return Grid(
        size=meta.size,
        leaf_words=meta.leaf_words,
        grades=arrays["grades"],
        marks=arrays["marks"],
        year_code=arrays["year.code"],
        instances_code=arrays["instances_number.code"],
        features_code=arrays["features_number.code"],
        citations_code=arrays["citations.code"],
        missing_code=arrays["missing_values_percentage.code"],
        ethical=arrays["ethical"],
        **{name.removeprefix("table."): array for name, array in arrays.items() if name.startswith("table.")},
        upper=arrays["upper"],
        first=arrays["name.first"],
        order=arrays["name.order"],
        planes=arrays["planes"],
        counts=arrays["counts"],
        blob=arrays["name.blob"],
        offsets=arrays["name.offsets"],
        odd=arrays["name.odd"],
        odd_positions=arrays["name.odd_positions"],
        odd_blob=arrays["name.odd_blob"],
        odd_offsets=arrays["name.odd_offsets"],
    )


class Index:
    """The arrays of an index and what is derived from them once; shared by all the states of deletion over it."""

    def __init__(self, arrays: Arrays, meta: Meta) -> None:
        self.arrays, self.meta = arrays, meta
        self.grid = grid_of(arrays, meta)
        self.planner = Planner(arrays, meta, self.grid, self.integers)
        self._permutations: OrderedDict[tuple[str, bool], NDArray[np.uint32]] = OrderedDict()
        self._lock = Lock()

    def integers(self, column: str, positions: Any = slice(None)) -> Ints:
        """An id or a time at these positions."""
        values = self.arrays[f"{column}.values"]
        if f"{column}.code" in self.arrays:
            return np.asarray(values[self.arrays[f"{column}.code"][positions]])
        offsets = self.arrays[f"{column}.offset"]
        ordered = isinstance(positions, np.ndarray) and positions.dtype == np.uint32  # as a whole ranking comes
        found = taken(offsets, positions) if ordered else offsets[positions]
        return np.asarray(np.add(values[0], found, dtype=np.int64))

    def number(self, column: str, positions: NDArray[Any]) -> Floats:
        """A number at these positions; NaN for not known."""
        return np.asarray(self.arrays[f"{column}.values"][self.arrays[f"{column}.code"][positions]])

    def flag(self, flag: str, positions: NDArray[Any]) -> NDArray[np.int8]:
        """A flag at these positions: 1, 0, or -1 for not known."""
        planes, at = self.arrays["planes"], self.meta.planes.index(f"flag:{flag}:1")
        true, false = bits(planes[at], positions), bits(planes[at + 1], positions)
        return np.where(true, 1, np.where(false, 0, -1)).astype(np.int8)

    def criterion(self, name: str, positions: NDArray[Any]) -> Floats:
        """One criterion at these positions, in float64."""
        out = np.empty(len(positions))
        leaf_kernels.values_at(self.grid, CRITERION_NAMES.index(name), np.asarray(positions, np.int64), out)
        return out

    def texts(self, column: str, positions: NDArray[Any]) -> list[str | None]:
        """A text column, `visibility` included."""
        arrays = self.arrays
        if column == "dataset_name":
            return [*some_texts(arrays["name.blob"], arrays["name.offsets"], positions)]
        if column == "visibility":
            public = bits(arrays["planes"][self.meta.planes.index("public")], np.asarray(positions))
            return ["public" if is_public else "private" for is_public in public.tolist()]
        blob, offsets = arrays[f"{column}.blob"], arrays[f"{column}.offsets"]
        codes = arrays[f"{column}.code"][positions].tolist()
        known = {code: text(blob, offsets, code) if code else None for code in set(codes)}
        return [known[code] for code in codes]

    def sort_codes(self, column: str) -> NDArray[np.uint32]:
        """For every record a number that grows as the sort column does; 0 where it has no value."""
        arrays = self.arrays
        if column in FLAGS:
            return (self.flag(column, np.arange(self.meta.size)) + 1).astype(np.uint32)
        if column in NUMBERS:
            return np.asarray(arrays[f"{column}.code"].astype(np.uint32))
        if column == "dataset_name":
            ends = np.cumsum(np.unpackbits(arrays["name.new"].view(np.uint8), bitorder="little"), dtype=np.uint32)
            return np.asarray(ends[arrays["name.order"]])
        if f"{column}.rank" in arrays:
            return np.asarray(arrays[f"{column}.rank"][arrays[f"{column}.code"]])
        values = self.criterion(column, np.arange(self.meta.size)) if column in COMPOSITES else self.integers(column)
        _, ranks = np.unique(values, return_inverse=True)
        return (ranks + 1).astype(np.uint32)

    def permutation(self, column: str, descending: bool) -> NDArray[np.uint32]:
        """All records by a sort column, those without a value last, ties by id; made when first asked for."""
        if column == "id":
            return self.arrays["by_id"][::-1] if descending else self.arrays["by_id"]
        if column == "dataset_id" and descending:
            return self.permutation(column, False)[::-1]
        with self._lock:
            made = self._permutations.get((column, descending))
            if made is None:
                made = self._permutations[column, descending] = self._permuted(column, descending)
            self._permutations.move_to_end((column, descending))
            if len(self._permutations) > _PERMUTATIONS:
                self._permutations.popitem(last=False)
        return made

    def _permuted(self, column: str, descending: bool) -> NDArray[np.uint32]:
        if column == "dataset_name" and not descending:
            return self.arrays["name.by"]
        if column == "dataset_id":
            return np.lexsort((self.arrays["uuid_low"], self.arrays["uuid_high"])).astype(np.uint32)
        by_id = self.arrays["by_id"]
        codes = self.sort_codes(column)[by_id]
        keys = np.where(codes == 0, _LAST, codes.max(initial=0) - codes) if descending else codes - np.uint32(1)
        return stable_order(keys, by_id.copy()).places

    def decoded(self, positions: Ints) -> Decoded:
        """The records at these positions, for another layout."""
        arrays = self.arrays
        columns: Arrays = {name: self.number(name, positions) for name in NUMBERS}
        columns |= {name: self.flag(name, positions) for name in FLAGS}
        columns |= {name: self.integers(name, positions) for name in INTEGER_COLUMNS}
        columns |= {name: arrays[name][positions] for name in ("uuid_high", "uuid_low")}
        columns |= {name: arrays[f"{name}.code"][positions] for name in (*POOLED, *WORDS, "owner")}
        columns["dataset_name"] = positions + 1
        columns["visibility"] = bits(arrays["planes"][self.meta.planes.index("public")], positions).astype(np.int64) + 1
        values: dict[str, list[Any]] = {name: [None, *self._pool(name)[1:]] for name in POOLED}
        values |= {name: [None, *map(_words, self._pool(name)[1:])] for name in WORDS}
        values["owner"] = [None, *map(UUID, self._pool("owner")[1:])]
        values |= {"dataset_name": [None, *self._pool("name")], "visibility": [None, "private", "public"]}
        return Decoded(columns, values)

    def _pool(self, column: str) -> list[str]:
        return list(all_texts(self.arrays[f"{column}.blob"], self.arrays[f"{column}.offsets"]))


def _words(encoded: str) -> tuple[str, ...]:
    return tuple(msgspec.json.decode(encoded))
