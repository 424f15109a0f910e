"""From a segment to the arrays of the index: leaf order, codes, tables, grades, planes, texts and permutations.

Everything lands in one flat dictionary of arrays and a small `Meta`, so that a snapshot is those bytes and no more.
"""

from itertools import pairwise
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import ETHICAL, FLAGS, NUMBERS, WORDS
from touchstone.core.text import fold
from touchstone.ranking import criteria as formulas
from touchstone.ranking.columns.bitmaps import leaf_counts, pack, smallest_unsigned
from touchstone.ranking.columns.segment import INTEGER_COLUMNS, Segment
from touchstone.ranking.columns.text_pool import Signatures, pool
from touchstone.ranking.criteria import CRITERION_NAMES, Bools, Floats, Ints
from touchstone.ranking.index.kd_layout import kd_order

GRADED: Final = (
    "ethical_score",
    "technical_score",
    "data_quality",
    "instances_count",
    "features_count",
    "citations",
    "year",
)
"""The criteria that a byte bounds, in the order of `Grid.grades`."""
MARKS: Final = (
    ("metadata_provided_with_dataset", 1),
    ("external_documentation_available", 1),
    ("is_split", 1),
    ("has_missing_values", 0),
    ("has_missing_values", 1),
    ("anonymization_applied", 1),
    ("transparency", 1),
    ("informed_consent", 1),
)
"""The flags with the values that set the bits of `Grid.marks`, the lowest bit first."""
POOLED: Final = ("objective", "description", "file_path", "file_type")
_IMPORTANCE: Final = np.array([1.0, 1.0, 0.4, 0.4, 0.25, 1.0, 0.7])
_MOST_WORDS: Final = {"domain": 32, "task": 16}
_QUANTILES: Final = {"year": 16}
_FEWEST_QUANTILES: Final = 4  # beside the round numbers
_ROUND: Final = 10.0 ** np.arange(1, 8)
_NARROW: Final = 2**16

Arrays = dict[str, NDArray[Any]]


class Meta(msgspec.Struct, frozen=True):
    """What the arrays do not say: sizes, and which question each plane answers.

    `planes`: keys such as `flag:is_split:1`, `word:domain:health`, `least:year:17` (a code), `ethical:7`, `public`.
    """

    size: int
    leaf_words: int
    planes: tuple[str, ...]

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return -(-self.size // (64 * self.leaf_words))

    @property
    def words(self) -> int:
        """How many words a plane has."""
        return self.leaves * self.leaf_words


class _Planes:
    """The planes in the making."""

    def __init__(self, words: int) -> None:
        self._words = words
        self.keys: list[str] = []
        self.rows: list[NDArray[np.uint64]] = []

    def add(self, key: str, mask: Bools) -> None:
        """One more plane."""
        self.keys.append(key)
        self.rows.append(pack(mask, self._words))

    def stacked(self) -> NDArray[np.uint64]:
        """All planes, one row each."""
        return np.stack(self.rows)


def build(segment: Segment, leaf_words: int) -> tuple[Arrays, Meta]:
    """The arrays of an index over all records of a segment, in leaves of `64 * leaf_words` records."""
    leaf = 64 * leaf_words
    by_name = np.lexsort((segment.columns["id"], segment.name_order()))
    named = np.empty(segment.size, np.int64)
    named[by_name] = np.arange(segment.size)
    order = kd_order(_grades(segment), _IMPORTANCE, named, leaf)
    leaves = -(-segment.size // leaf)
    planes = _Planes(leaves * leaf_words)
    arrays = _scored(segment, order, leaf) | _numbers(segment, order, planes)
    arrays |= _flags(segment, order, planes) | _words(segment, order, planes)
    arrays |= _named(segment, order, named[order], leaf) | _identities(segment, order)
    arrays |= _owners(segment, order, planes)
    for column in POOLED:
        arrays |= _pooled(segment, column, order)
    arrays["planes"] = planes.stacked()
    arrays["counts"] = np.stack([leaf_counts(row, leaf_words) for row in planes.rows])
    return arrays, Meta(size=segment.size, leaf_words=leaf_words, planes=tuple(planes.keys))


def _grades(segment: Segment) -> NDArray[np.uint8]:
    """The graded criteria in bytes: times 255, rounded up, so that a grade is never below its criterion."""
    return np.stack([np.ceil(segment.criteria[name] * 255).astype(np.uint8) for name in GRADED])


def _scored(segment: Segment, order: Ints, leaf: int) -> Arrays:
    starts = np.arange(0, segment.size, leaf)
    upper = [np.maximum.reduceat(segment.criteria[name][order], starts) for name in CRITERION_NAMES]
    lower = [np.minimum.reduceat(segment.criteria[name][order], starts) for name in CRITERION_NAMES]
    ethical = np.zeros(256)
    for met in range(11):
        ethical[int(np.ceil(met / 10 * 255))] = met / 10
    return {
        "grades": np.ascontiguousarray(_grades(segment)[:, order]),
        "upper": np.stack(upper),
        "lower": np.stack(lower),
        "ethical": ethical,
    }


def _numbers(segment: Segment, order: Ints, planes: _Planes) -> Arrays:
    arrays: Arrays = {}
    for column in NUMBERS:
        values = segment.columns[column][order]
        distinct = np.unique(values[~np.isnan(values)])
        codes = np.where(np.isnan(values), 0, np.searchsorted(distinct, values) + 1)
        arrays[f"{column}.values"] = np.concatenate([[np.nan], distinct])
        arrays[f"{column}.code"] = codes
        for edge in _edges(column, codes, distinct):
            planes.add(f"least:{column}:{edge}", codes >= edge)
    return _sized(arrays) | _tables(arrays)


def _edges(column: str, codes: Ints, distinct: Floats) -> list[int]:
    """The codes from which planes begin: the first, some quantiles, and where round numbers are."""
    known = codes[codes > 0]
    shares = np.linspace(0, 1, _QUANTILES.get(column, _FEWEST_QUANTILES) + 1)[1:-1]
    edges = {1}
    if len(known):
        edges |= set(np.quantile(known, shares, method="nearest").tolist())
        rounded = np.searchsorted(distinct, _ROUND) + 1
        edges |= set(rounded[rounded <= len(distinct)].tolist())
    return sorted(edges)


def _sized(arrays: Arrays) -> Arrays:
    """Codes in fixed widths, so that the kernels are compiled for two cases at most: narrow and wide catalogs."""
    rest = ("features_number", "citations", "missing_values_percentage")
    narrow = all(len(arrays[f"{column}.values"]) < _NARROW for column in rest)
    widths = dict.fromkeys(rest, np.uint16 if narrow else np.uint32) | {
        "year": np.uint16,
        "instances_number": np.uint32,
    }
    return {
        name: array.astype(widths[name.removesuffix(".code")]) if name.endswith(".code") else array
        for name, array in arrays.items()
    }


def _tables(arrays: Arrays) -> Arrays:
    """Each criterion, or part of the technical score, that depends on one number only, for every code of it."""
    instances, features = arrays["instances_number.values"], arrays["features_number.values"]
    missing = arrays["missing_values_percentage.values"]
    return {
        "table.year": formulas.novelty({"year": arrays["year.values"]}),
        "table.instances": formulas.instances_count({"instances_number": instances}),
        "table.instances_part": formulas.instances_part(instances),
        "table.features": formulas.features_count({"features_number": features}),
        "table.features_part": formulas.features_part(features),
        "table.citations": formulas.popularity_score({"citations": arrays["citations.values"]}),
        "table.quality": formulas.complete_share(missing),
        "table.missing_part": formulas.missing_part(missing),
    }


def _flags(segment: Segment, order: Ints, planes: _Planes) -> Arrays:
    marks = np.zeros(segment.size, np.uint8)
    met = np.zeros(segment.size, np.uint8)
    for flag in FLAGS:
        values = segment.columns[flag][order]
        planes.add(f"flag:{flag}:1", values == 1)
        planes.add(f"flag:{flag}:0", values == 0)
        if flag in ETHICAL:
            met += values == 1
    for bit, (flag, wanted) in enumerate(MARKS):
        marks |= (segment.columns[flag][order] == wanted).astype(np.uint8) << np.uint8(bit)
    for count in range(1, 11):
        planes.add(f"ethical:{count}", met >= count)
    return {"marks": marks}


def _words(segment: Segment, order: Ints, planes: _Planes) -> Arrays:
    arrays: Arrays = {}
    for column in WORDS:
        vocabulary = segment.vocabularies[column]
        used, codes = _with_unknown(segment.columns[column][order])
        lists = [vocabulary.values[code] for code in used.tolist()]
        encoded = ["" if words is None else msgspec.json.encode(words).decode() for words in lists]
        arrays[f"{column}.blob"], arrays[f"{column}.offsets"] = pool(encoded)
        arrays[f"{column}.code"] = smallest_unsigned(codes)
        folded = [frozenset(map(fold, words or ())) for words in lists]
        counts = np.bincount(codes, minlength=len(used))
        for word in _most_frequent(folded, counts, _MOST_WORDS[column]):
            planes.add(f"word:{column}:{word}", np.array([word in words for words in folded])[codes])
    return arrays


def _with_unknown(codes: NDArray[np.int32]) -> tuple[Ints, Ints]:
    """The codes in use, 0 ("not known") always the first of them, and each record's index among them."""
    used = np.union1d([0], codes)
    return used, np.searchsorted(used, codes)


def _most_frequent(folded: list[frozenset[str]], counts: Ints, limit: int) -> list[str]:
    totals: dict[str, int] = {}
    for words, count in zip(folded, counts.tolist(), strict=True):
        for word in words:
            totals[word] = totals.get(word, 0) + count
    return sorted(totals, key=lambda word: (-totals[word], word))[:limit]


def _named(segment: Segment, order: Ints, named: Ints, leaf: int) -> Arrays:
    """Names in leaf order, their signatures, and each record's place by folded name and id."""
    values = segment.vocabularies["dataset_name"].values
    codes = segment.columns["dataset_name"][order].tolist()
    names, folded = [values[code] for code in codes], segment.vocabularies["dataset_name"].folded
    blob, offsets = pool(names)
    odd_positions = [position for position, name in enumerate(names) if not name.isascii()]
    odd_blob, odd_offsets = pool(folded[codes[position]] for position in odd_positions)
    odd = np.zeros(segment.size, np.bool_)
    odd[odd_positions] = True
    by_name = np.empty(segment.size, np.uint32)
    by_name[named] = np.arange(segment.size)
    ranks = segment.name_order()[order][by_name]
    leaves = -(-segment.size // leaf)
    arrays: Arrays = {
        "name.blob": blob,
        "name.offsets": offsets,
        "name.odd": pack(odd, leaves * leaf // 64),
        "name.odd_positions": np.array(odd_positions, np.int64),
        "name.odd_blob": odd_blob,
        "name.odd_offsets": odd_offsets.astype(np.int64),
        "name.order": named.astype(np.uint32),
        "name.by": by_name,
        "name.new": pack(np.diff(ranks, prepend=-1) > 0, leaves * leaf // 64),
        "name.first": np.minimum.reduceat(named, np.arange(0, segment.size, leaf)).astype(np.uint32),
    }
    return arrays | {"name.signatures": _signatures(arrays, leaves, leaf)}


def _signatures(arrays: Arrays, leaves: int, leaf: int) -> NDArray[np.uint8]:
    signatures = Signatures(leaves)
    offsets, blob = arrays["name.offsets"], arrays["name.blob"]
    for number in range(leaves):
        end = min((number + 1) * leaf, len(offsets) - 1)
        signatures.add(number, blob[int(offsets[number * leaf]) : int(offsets[end])])
    ends = arrays["name.odd_offsets"][np.searchsorted(arrays["name.odd_positions"], np.arange(leaves + 1) * leaf)]
    for number, (start, end) in enumerate(pairwise(ends.tolist())):
        signatures.add(number, arrays["name.odd_blob"][start:end])
    return signatures.packed()


def _identities(segment: Segment, order: Ints) -> Arrays:
    high, low = segment.columns["uuid_high"][order], segment.columns["uuid_low"][order]
    arrays: Arrays = {"uuid_high": high, "uuid_low": low}
    for column in INTEGER_COLUMNS:
        values = segment.columns[column][order]
        distinct = np.unique(values)
        if 3 * len(distinct) < len(values):
            arrays[f"{column}.values"] = distinct
            arrays[f"{column}.code"] = smallest_unsigned(np.searchsorted(distinct, values))
        else:
            arrays[f"{column}.values"] = np.array([values.min(initial=0)])
            arrays[f"{column}.offset"] = smallest_unsigned(values - values.min(initial=0))
    return arrays | {"by_id": np.argsort(segment.columns["id"][order]).astype(np.uint32)}


def _owners(segment: Segment, order: Ints, planes: _Planes) -> Arrays:
    """Who owns what, and the private records sorted by owner: what `Visible` needs."""
    vocabulary = segment.vocabularies["owner"]
    used, codes = _with_unknown(segment.columns["owner"][order])
    owners = [vocabulary.values[code] for code in used.tolist()]
    values = segment.vocabularies["visibility"].values
    public = np.array([value == "public" for value in values])[segment.columns["visibility"][order]]
    planes.add("public", public)
    private = np.flatnonzero(~public)
    by_owner = private[np.argsort(codes[private], kind="stable")]
    blob, offsets = pool("" if owner is None else owner.hex for owner in owners)
    return {
        "owner.blob": blob,
        "owner.offsets": offsets,
        "private.position": by_owner.astype(np.uint32),
        "private.owner": codes[by_owner].astype(np.uint32),
        "owner.code": smallest_unsigned(codes),
    }


def _pooled(segment: Segment, column: str, order: Ints) -> Arrays:
    """A text column as codes into its distinct texts, sorted by folded form; code 0 is "not known"."""
    vocabulary = segment.vocabularies[column]
    used, codes = _with_unknown(segment.columns[column][order])
    known = used[1:]
    ranks = vocabulary.ranks[known]
    place = np.argsort(ranks, kind="stable")
    code_of = np.zeros(len(used), np.int64)
    code_of[1:][place] = np.arange(1, len(known) + 1)
    blob, offsets = pool(["", *(vocabulary.values[code] for code in known[place].tolist())])
    _, dense = np.unique(ranks[place], return_inverse=True)
    return {
        f"{column}.blob": blob,
        f"{column}.offsets": offsets,
        f"{column}.code": smallest_unsigned(code_of[codes]),
        f"{column}.rank": np.concatenate([[0], dense + 1]).astype(np.uint32),
    }
