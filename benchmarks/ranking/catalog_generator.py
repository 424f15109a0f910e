"""Catalogs of any size with the skew and the ties of real ones: few domains hold most records, numbers are round."""

from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.evidence import Assurance, EvidenceLevel
from touchstone.core.text import fold
from touchstone.ranking.catalog.index_builder import IndexBuilder, build_from_parts
from touchstone.ranking.catalog.unindexed_part import UnindexedPart
from touchstone.ranking.columns.evidence_columns import EvidenceColumns, pack_levels
from touchstone.ranking.columns.segment import KNOWN_ETHICAL, Segment, count_known_ethical
from touchstone.ranking.columns.vocabulary import CodeVocabulary, FoldedValues, SearchableTexts, ValueRanking
from touchstone.ranking.criteria import CRITERIA
from touchstone.ranking.index.catalog_index import CatalogIndex

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
_FIRST_WORDS: Final = (
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
_SECOND_WORDS: Final = (
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
_THIRD_WORDS: Final = (
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
_OWNER_COUNT: Final = 1000
_YEARS: Final = np.arange(1990, 2025)
Generator = np.random.Generator


def generate_segment(size: int, seed: int = 7) -> Segment:
    """Generate a catalog of `size` records, which depends only on the seed."""
    rng = np.random.default_rng(seed)
    quality = rng.beta(2, 4, size)  # a hidden property, on which numbers and flags depend
    columns: dict[str, NDArray[Any]] = _numbers(rng, size, quality) | _flags(rng, size, quality)
    vocabularies = {}

    columns["domain"], vocabularies["domain"] = _word_lists(rng, size, DOMAINS, second_word_share=0.3)
    columns["task"], vocabularies["task"] = _word_lists(rng, size, TASKS, second_word_share=0.1)
    columns["dataset_name"], vocabularies["dataset_name"] = _names(rng, size)
    for column, values in _TEXT_VALUES.items():
        columns[column] = _skewed_choices(rng, len(values) + 1, size).astype(np.int32)
        vocabularies[column] = _vocabulary(values, [fold(value) for value in values])

    public_code, private_code = 1, 2
    is_private = rng.random(size) < _PRIVATE_SHARE
    columns["visibility"] = np.where(is_private, private_code, public_code).astype(np.int32)
    vocabularies["visibility"] = _vocabulary(["public", "private"], ["public", "private"])

    owners = [UUID(int=number) for number in range(1, _OWNER_COUNT)]
    columns["owner"] = _skewed_choices(rng, _OWNER_COUNT, size).astype(np.int32)
    vocabularies["owner"] = _vocabulary(owners, [str(owner) for owner in owners])

    columns |= _ids_and_times(rng, size)
    for column, words in _LABELS.items():
        columns[column], vocabularies[column] = _word_lists(rng, size, words, second_word_share=0.0)
    columns[KNOWN_ETHICAL] = count_known_ethical(columns)
    criteria = {criterion.name: criterion.compute(columns) for criterion in CRITERIA}
    return Segment(size, columns, criteria, vocabularies)


def build_index(segment: Segment, leaf_words: int) -> CatalogIndex:
    """Return an index over the records of a segment, built in memory."""
    builder = IndexBuilder(leaf_words, snapshot_path=None, compiled=True)
    index = build_from_parts(builder, [UnindexedPart(segment, np.ones(segment.size, np.bool_))], version=1)
    assert index is not None
    return index


def add_evidence(segment: Segment, documented_share: float, reviewed_share: float, seed: int = 8) -> Segment:
    """Add evidence to random shares of the records. A reviewed record also counts as documented.

    The evidence supports two thirds of the values that such a record shows.
    """
    rng = np.random.default_rng(seed)
    positions = np.flatnonzero(rng.random(segment.size) < documented_share)
    is_reviewed = rng.random(len(positions)) < reviewed_share / documented_share

    documented_values: dict[str, NDArray[Any]] = {}
    reviewed_values: dict[str, NDArray[Any]] = {}
    levels: dict[str, NDArray[np.int64]] = {}
    for name in (*NUMBERS, *FLAGS):
        shown_values = segment.columns[name][positions]
        unknown_value = np.array(np.nan if name in NUMBERS else -1, shown_values.dtype)
        is_supported = rng.random(len(positions)) < 2 / 3
        documented_values[name] = np.where(is_supported, shown_values, unknown_value)
        reviewed_values[name] = np.where(is_supported & is_reviewed, shown_values, unknown_value)
        supported_level = np.where(is_reviewed, EvidenceLevel.REVIEWED.strength, EvidenceLevel.DOCUMENTED.strength)
        levels[name] = np.where(is_supported, supported_level, EvidenceLevel.DECLARED.strength)

    packed_levels = pack_levels(levels, len(positions))
    values = {Assurance.DOCUMENTED: documented_values, Assurance.REVIEWED: reviewed_values}
    return replace(segment, evidence=EvidenceColumns(positions, values, packed_levels, packed_levels))


def _skewed_choices(rng: Generator, choice_count: int, size: int, power: float = 1.1) -> NDArray[np.int64]:
    """Return random indices below `choice_count` with the frequencies of Zipf's law."""
    frequencies = 1.0 / np.arange(1, choice_count + 1) ** power
    cumulative_shares = np.cumsum(frequencies / frequencies.sum())
    return np.searchsorted(cumulative_shares, rng.random(size)).clip(0, choice_count - 1)


def _vocabulary(values: list[Any], folded_forms: list[Any]) -> CodeVocabulary:
    """Return a vocabulary of values with codes from 1."""
    folded_values = FoldedValues([None, *folded_forms], lambda value: value)  # they are folded already
    return CodeVocabulary(
        size=len(values) + 1,
        values=[None, *values],
        folded_values=folded_values,
        codes={},
        ranking=ValueRanking(folded_values),
        searchable_texts=SearchableTexts(folded_values),
    )


def _with_unknowns(rng: Generator, values: NDArray[Any], unknown_share: float) -> NDArray[np.float64]:
    """Replace a random share of numbers by NaN, which means "unknown"."""
    is_unknown = rng.random(len(values)) < unknown_share
    return np.where(is_unknown, np.nan, values.astype(np.float64))


def _rounded(rng: Generator, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return whole numbers, half of them rounded down to two digits, as people write them."""
    whole_numbers = np.floor(values)
    decimal_places = np.floor(np.log10(np.maximum(whole_numbers, 1)))
    unit = 10.0 ** np.maximum(0, decimal_places - 1)
    is_rounded = rng.random(len(values)) < 0.5
    return np.where(is_rounded, np.floor(whole_numbers / unit) * unit, whole_numbers)


def _numbers(rng: Generator, size: int, quality: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return the number columns: recent years are the most frequent, and better records have more citations."""
    years_ago = _skewed_choices(rng, len(_YEARS), size, power=0.7)
    years = _YEARS[len(_YEARS) - 1 - years_ago]
    instances = _rounded(rng, np.exp(rng.normal(8.0, 2.5, size)).clip(1, 1e9))
    features = np.floor(np.exp(rng.normal(3.0, 1.3, size)).clip(1, 60_000))
    citations = np.floor(np.exp(rng.exponential(1.3, size) + quality) - 1).clip(0, 50_000)
    missing_percentages = np.round(rng.exponential(6.0, size).clip(0, 100), 1) * (rng.random(size) < 0.6)
    return {
        "year": _with_unknowns(rng, years, 0.05),
        "instances_number": _with_unknowns(rng, instances, 0.05),
        "features_number": _with_unknowns(rng, features, 0.08),
        "citations": _with_unknowns(rng, citations, 0.2),
        "missing_values_percentage": _with_unknowns(rng, missing_percentages, 0.4),
    }


def _flags(rng: Generator, size: int, quality: NDArray[np.float64]) -> dict[str, NDArray[np.int8]]:
    """Return the flag columns: records of good quality tend to have all flags, and a third is not known."""
    columns = {}
    for number, flag in enumerate(FLAGS):
        is_true = rng.random(size, np.float32) < 0.1 + 0.5 * quality + 0.02 * (number % 5)
        is_unknown = rng.random(size, np.float32) < 0.33
        columns[flag] = np.where(is_unknown, -1, is_true).astype(np.int8)
    return columns


def _word_lists(
    rng: Generator, size: int, words: tuple[str, ...], *, second_word_share: float
) -> tuple[NDArray[np.int32], CodeVocabulary]:
    """Return lists of one word, or of two for a share of the records. A tenth of the lists is unknown.

    The code of a list is computed from the numbers of its two words. The second number is 0 if there is no second word.
    """
    word_count = len(words)
    first_index, second_index = _skewed_choices(rng, word_count, size), rng.integers(0, word_count, size)
    has_second = (rng.random(size) < second_word_share) & (first_index != second_index)
    second_number = np.where(has_second, second_index + 1, 0)
    is_unknown = rng.random(size) < 0.1
    codes = np.where(is_unknown, 0, first_index * (word_count + 1) + second_number + 1).astype(np.int32)

    word_lists: list[tuple[str, ...]] = []
    for first_word in words:
        word_lists.append((first_word,))
        for second_word in words:
            is_repeated = second_word == first_word
            word_lists.append((first_word,) if is_repeated else (first_word, second_word))
    return codes, _vocabulary(word_lists, word_lists)


def _names(rng: Generator, size: int) -> tuple[NDArray[np.int32], CodeVocabulary]:
    """Return names of three words and an edition. A third of the records have a name that is not unique.

    The parts of a name are numbers at first, combined into a single one, so that equal names are found without
    comparing strings. Names of edition 0 begin with an accented word instead of the first one.
    """
    edition_count = max(4, size // 8000)
    name_numbers = rng.integers(0, len(_FIRST_WORDS), size)
    for choice_count in (len(_SECOND_WORDS), len(_THIRD_WORDS), edition_count):
        name_numbers = name_numbers * choice_count + _skewed_choices(rng, choice_count, size, power=0.6)

    distinct_numbers, indices = np.unique(name_numbers, return_inverse=True)
    remaining_numbers, editions = np.divmod(distinct_numbers, edition_count)
    remaining_numbers, third_indices = np.divmod(remaining_numbers, len(_THIRD_WORDS))
    first_indices, second_indices = np.divmod(remaining_numbers, len(_SECOND_WORDS))

    names = []
    for first_index, second_index, third_index, edition in zip(
        first_indices.tolist(), second_indices.tolist(), third_indices.tolist(), editions.tolist(), strict=True
    ):
        subject = f"{_SECOND_WORDS[second_index]} {_THIRD_WORDS[third_index]}"
        names.append(f"{_FIRST_WORDS[first_index]} {subject} {edition}" if edition else f"Élan {subject}")
    return (indices + 1).astype(np.int32), _vocabulary(names, [fold(name) for name in names])


def _ids_and_times(rng: Generator, size: int) -> dict[str, NDArray[Any]]:
    """Return ids in the order of arrival. Records arrive in imports of about a thousand with equal timestamps."""
    imports = np.sort(rng.integers(0, max(1, size // 1000), size))
    return {
        "id": np.arange(1, size + 1),
        "uuid_high": rng.integers(0, 2**64, size, np.uint64),
        "uuid_low": rng.integers(0, 2**64, size, np.uint64),
        "created_at": 1_600_000_000_000_000 + imports * 1_000_003,
        "updated_at": 1_700_000_000_000_000 + rng.permutation(imports) * 1_000_003,
    }


_LABELS: Final = {
    "tags": _SECOND_WORDS,
    "license": ("cc-by-4.0", "cc0-1.0", "mit", "apache-2.0", "odbl-1.0", "unknown"),
    "language": ("en", "fr", "de", "es", "zh"),
    "source": ("openml", "huggingface", "uci", "kaggle", "zenodo"),
    "trainable": ("true", "false"),
}
_TEXT_VALUES: Final = {
    "objective": [f"Predict {subject} from {kind} data" for subject in _SECOND_WORDS for kind in _THIRD_WORDS],
    "description": [
        f"A {kind} of {subject} measurements, collected for research."
        for subject in _SECOND_WORDS
        for kind in _THIRD_WORDS
    ],
    "file_path": [f"uploads/{subject}.csv" for subject in _SECOND_WORDS],
    "file_type": ["csv", "parquet", "json"],
}
