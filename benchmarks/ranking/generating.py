"""Catalogs of any size with the skew and the ties of real ones: few domains hold most records, numbers are round."""

from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS
from touchstone.core.text import fold
from touchstone.ranking.columns.segment import Segment
from touchstone.ranking.columns.vocabulary import CodeVocabulary
from touchstone.ranking.criteria import CRITERIA

DOMAINS: Final = (
    "health",
    "finance",
    "education",
    "transport",
    "energy",
    "climate",
    "agriculture",
    "law",
    "media",
    "retail",
    "housing",
    "employment",
    "justice",
    "sports",
    "security",
    "biology",
    "chemistry",
    "physics",
    "astronomy",
    "linguistics",
    "geography",
    "tourism",
    "food",
    "water",
    "space",
    "robotics",
    "gaming",
    "demography",
    "culture",
    "politics",
)
TASKS: Final = (
    "classification",
    "regression",
    "clustering",
    "forecasting",
    "detection",
    "segmentation",
    "translation",
    "summarisation",
    "ranking",
    "recommendation",
    "generation",
    "retrieval",
)
_FIRST: Final = (
    "Annual",
    "Urban",
    "Rural",
    "Global",
    "National",
    "Regional",
    "Open",
    "Synthetic",
    "Clinical",
    "Daily",
    "Hourly",
    "Historic",
    "Public",
    "Anonymous",
    "Coastal",
    "Digital",
    "Electric",
    "Federal",
    "Genetic",
    "Household",
    "Industrial",
    "Joint",
    "Local",
    "Marine",
    "Nordic",
    "Optical",
    "Private",
    "Quarterly",
    "Remote",
    "Social",
)
_SECOND: Final = (
    "credit",
    "patient",
    "traffic",
    "weather",
    "income",
    "school",
    "crop",
    "energy",
    "voter",
    "image",
    "speech",
    "genome",
    "soil",
    "river",
    "bird",
    "accident",
    "loan",
    "claim",
    "rental",
    "survey",
    "census",
    "mobility",
    "air",
    "water",
    "retail",
    "sensor",
    "satellite",
    "radar",
    "text",
    "review",
)
_THIRD: Final = (
    "records",
    "survey",
    "panel",
    "corpus",
    "atlas",
    "register",
    "sample",
    "archive",
    "log",
    "benchmark",
    "collection",
    "index",
)
_PRIVATE_SHARE: Final = 0.02
_YEARS: Final = np.arange(1990, 2025)
Generator = np.random.Generator


def _skewed(rng: Generator, choices: int, size: int, power: float = 1.1) -> NDArray[np.int64]:
    """Return random indices of which the first are by far the most frequent."""
    shares = 1.0 / np.arange(1, choices + 1) ** power
    return np.searchsorted(np.cumsum(shares / shares.sum()), rng.random(size)).clip(0, choices - 1)


def _vocabulary(values: list[Any], folded: list[Any]) -> CodeVocabulary:
    """Return a vocabulary of values with codes from 1, ranked by folded value."""
    order = sorted(set(folded))
    place = dict(zip(order, range(len(order)), strict=True))
    ranks = np.array([-1, *(place[one] for one in folded)], np.int64)
    return CodeVocabulary(len(ranks), [None, *values], [None, *folded], ranks, {})


def _with_nulls(rng: Generator, values: NDArray[Any], share: float) -> NDArray[np.float64]:
    return np.where(rng.random(len(values)) < share, np.nan, values.astype(np.float64))


def _rounded(values: NDArray[np.float64], rng: Generator) -> NDArray[np.float64]:
    """Return whole numbers, half of them rounded to two digits, as people write them."""
    whole = np.floor(values)
    unit = 10.0 ** np.maximum(0, np.floor(np.log10(np.maximum(whole, 1))) - 1)
    return np.where(rng.random(len(values)) < 0.5, np.floor(whole / unit) * unit, whole)


def _numbers(rng: Generator, size: int, quality: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    years = _YEARS[len(_YEARS) - 1 - _skewed(rng, len(_YEARS), size, 0.7)]
    instances = _rounded(np.exp(rng.normal(8.0, 2.5, size)).clip(1, 1e9), rng)
    features = np.floor(np.exp(rng.normal(3.0, 1.3, size)).clip(1, 60_000))
    citations = np.floor(np.exp(rng.exponential(1.3, size) + quality) - 1).clip(0, 50_000)
    missing = np.round(rng.exponential(6.0, size).clip(0, 100), 1) * (rng.random(size) < 0.6)
    return {
        "year": _with_nulls(rng, years, 0.05),
        "instances_number": _with_nulls(rng, instances, 0.05),
        "features_number": _with_nulls(rng, features, 0.08),
        "citations": _with_nulls(rng, citations, 0.2),
        "missing_values_percentage": _with_nulls(rng, missing, 0.4),
    }


def _flags(rng: Generator, size: int, quality: NDArray[np.float64]) -> dict[str, NDArray[np.int8]]:
    """Return flags: records of good quality tend to have all of them, and a third is not assessed."""
    columns = {}
    for number, flag in enumerate(FLAGS):
        true = rng.random(size, np.float32) < 0.1 + 0.5 * quality + 0.02 * (number % 5)
        columns[flag] = np.where(rng.random(size, np.float32) < 0.33, -1, true).astype(np.int8)
    return columns


def _lists(
    rng: Generator, size: int, words: tuple[str, ...], second: float
) -> tuple[NDArray[np.int32], CodeVocabulary]:
    """Return lists of one or two words, some of them unknown."""
    count = len(words)
    one, other = _skewed(rng, count, size), rng.integers(0, count, size)
    pair = np.where((rng.random(size) < second) & (one != other), other + 1, 0)
    codes = np.where(rng.random(size) < 0.1, 0, one * (count + 1) + pair + 1).astype(np.int32)
    values = [
        (words[a], words[b - 1]) if b and b - 1 != a else (words[a],) for a in range(count) for b in range(count + 1)
    ]
    return codes, _vocabulary(values, values)


def _names(rng: Generator, size: int) -> tuple[NDArray[np.int32], CodeVocabulary]:
    """Return names of three words and an edition; a third of the records share theirs with others."""
    editions = max(4, size // 8000)
    code = rng.integers(0, len(_FIRST), size)
    for choices in (len(_SECOND), len(_THIRD), editions):
        code = code * choices + _skewed(rng, choices, size, 0.6)
    distinct, codes = np.unique(code, return_inverse=True)
    rest, edition = np.divmod(distinct, editions)
    rest, third = np.divmod(rest, len(_THIRD))
    first, second = np.divmod(rest, len(_SECOND))
    parts = zip(first.tolist(), second.tolist(), third.tolist(), edition.tolist(), strict=True)
    values = [
        f"{_FIRST[a]} {_SECOND[b]} {_THIRD[c]} {e}" if e else f"Élan {_SECOND[b]} {_THIRD[c]}" for a, b, c, e in parts
    ]
    return (codes + 1).astype(np.int32), _vocabulary(values, [fold(value) for value in values])


def segment(size: int, seed: int = 7) -> Segment:
    """Return a catalog of `size` records, the same for the same seed."""
    rng = np.random.default_rng(seed)
    quality = rng.beta(2, 4, size)
    columns: dict[str, NDArray[Any]] = _numbers(rng, size, quality) | _flags(rng, size, quality)
    vocabularies = {}
    columns["domain"], vocabularies["domain"] = _lists(rng, size, DOMAINS, 0.3)
    columns["task"], vocabularies["task"] = _lists(rng, size, TASKS, 0.1)
    columns["dataset_name"], vocabularies["dataset_name"] = _names(rng, size)
    for column, values in _TEXTS.items():
        columns[column] = (_skewed(rng, len(values) + 1, size)).astype(np.int32)
        vocabularies[column] = _vocabulary(values, [fold(value) for value in values])
    columns["visibility"] = np.where(rng.random(size) < _PRIVATE_SHARE, 2, 1).astype(np.int32)
    vocabularies["visibility"] = _vocabulary(["public", "private"], ["public", "private"])
    columns["owner"] = _skewed(rng, 1000, size).astype(np.int32)
    owners = [UUID(int=number) for number in range(1, 1000)]
    vocabularies["owner"] = _vocabulary(owners, [str(owner) for owner in owners])
    columns |= _identities(rng, size)
    return Segment(size, columns, {criterion.name: criterion.compute(columns) for criterion in CRITERIA}, vocabularies)


def _identities(rng: Generator, size: int) -> dict[str, NDArray[Any]]:
    """Return ids in the order of arrival; records come in imports of about a thousand that share their times."""
    batches = np.sort(rng.integers(0, max(1, size // 1000), size))
    return {
        "id": np.arange(1, size + 1),
        "uuid_high": rng.integers(0, 2**64, size, np.uint64),
        "uuid_low": rng.integers(0, 2**64, size, np.uint64),
        "created_at": 1_600_000_000_000_000 + batches * 1_000_003,
        "updated_at": 1_700_000_000_000_000 + rng.permutation(batches) * 1_000_003,
    }


_TEXTS: Final = {
    "objective": [f"Predict {second} from {third} data" for second in _SECOND for third in _THIRD],
    "description": [
        f"A {third} of {second} measurements, collected for research." for second in _SECOND for third in _THIRD
    ],
    "file_path": [f"uploads/{second}.csv" for second in _SECOND],
    "file_type": ["csv", "parquet", "json"],
}
