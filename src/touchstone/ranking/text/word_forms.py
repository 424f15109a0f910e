"""Similarity of two words: equal, inflected in French or English, or one typing error apart.

All words are folded, which means without case and accents.
"""

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from itertools import product
from threading import local
from typing import Final

import Stemmer
from rapidfuzz.distance import OSA

MIN_TOLERANT_LENGTH: Final = 5
"""The minimum number of letters of a query word that may contain a typing error."""
_MIN_INFLECTED_LENGTH: Final = 4
_LANGUAGES: Final = ("english", "french")
_thread: Final = local()


class WordSimilarity(IntEnum):
    """The similarity of a word of a record to a word of a query, as a weight in the relevance."""

    NONE = 0
    MISSPELLED = 5
    RELATED = 8  # the word of the query names the domain or task of the record in another spelling
    INFLECTED = 16
    EQUAL = 20


@lru_cache(maxsize=50_000)
def word_stems(word: str) -> frozenset[str]:
    """Return a word and its stems in English and French, such as `model` for `models`.

    Two words with a common stem are considered inflected forms of the same word.
    """
    if len(word) < _MIN_INFLECTED_LENGTH or not word.isalpha():
        return frozenset((word,))

    # The French stemmer does not recognize folded participles: "mesuree" ("mesurée") should have the stem of "mesure".
    singular = word.removesuffix("s")
    bases = (word, singular[:-1]) if singular.endswith("ee") else (word,)
    stems = [stemmer.stemWord(base) for stemmer in _stemmers() for base in bases]
    return frozenset((word, *stems))


def inflected_forms(word: str) -> Iterable[str]:
    """Return the forms that match a word of a record with its inflections.

    Words with digits have none.
    """
    return word_stems(word) if word.isalpha() else ()


def word_spellings(word: str) -> tuple[str, ...]:
    """Return the spellings of a word for finding typing errors: the word itself, and without a plural `s`.

    Words with digits have none, because different numbers and codes often differ by only one character.
    """
    if not word.isalpha():
        return ()

    is_plural = len(word) > MIN_TOLERANT_LENGTH and word.endswith("s") and not word.endswith("ss")
    return (word, word[:-1]) if is_plural else (word,)


def tolerated_spellings(word: str) -> tuple[str, ...]:
    """Return the spellings of a query word that may contain a typing error.

    Short words have none.
    """
    return word_spellings(word) if len(word) >= MIN_TOLERANT_LENGTH else ()


def is_one_error_apart(spelling: str, other: str) -> bool:
    """Return whether at most one letter is missing, added, replaced, or swapped with its neighbour."""
    return bool(OSA.distance(spelling, other, score_cutoff=1) <= 1)


def word_similarity(query_word: str, word: str) -> WordSimilarity:
    """Return the similarity of a word of a record to a word of a query."""
    if word == query_word:
        return WordSimilarity.EQUAL
    if word_stems(query_word) & word_stems(word):
        return WordSimilarity.INFLECTED

    spelling_pairs = product(tolerated_spellings(query_word), word_spellings(word))
    is_misspelled = any(is_one_error_apart(tolerated, spelling) for tolerated, spelling in spelling_pairs)
    return WordSimilarity.MISSPELLED if is_misspelled else WordSimilarity.NONE


def _stemmers() -> tuple[Stemmer.Stemmer, ...]:
    """Return the stemmers of this thread, because stemmers are not thread-safe."""
    if not hasattr(_thread, "stemmers"):
        _thread.stemmers = tuple(Stemmer.Stemmer(language) for language in _LANGUAGES)
    stemmers: tuple[Stemmer.Stemmer, ...] = _thread.stemmers
    return stemmers
