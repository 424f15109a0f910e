"""When two words count as the same: equal, inflected in French or English, or one typing error apart.

All words are folded: without case and accents.
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
"""A word with fewer letters has to be typed correctly."""
_MIN_INFLECTED_LENGTH: Final = 4
_LANGUAGES: Final = ("english", "french")
_thread: Final = local()


class Likeness(IntEnum):
    """How alike a word of a text is to a word of a query; the numbers are its weights in the relevance."""

    NONE = 0
    MISSPELLED = 5
    RELATED = 8  # the word of the query names the domain or task of the record in another spelling
    INFLECTED = 16
    EQUAL = 20


@lru_cache(maxsize=50_000)
def word_stems(word: str) -> frozenset[str]:
    """Return a word and its stems in English and French, such as `model` for `models`.

    Two words that share a stem are taken for inflected forms of the same word.
    """
    if len(word) < _MIN_INFLECTED_LENGTH or not word.isalpha():
        return frozenset((word,))

    # Without its accent, a French participle such as "mesurée" needs help: "mesuree" has the stem of "mesure".
    singular = word.removesuffix("s")
    bases = (word, singular[:-1]) if singular.endswith("ee") else (word,)
    stems = [stemmer.stemWord(base) for stemmer in _stemmers() for base in bases]
    return frozenset((word, *stems))


def inflected_forms(word: str) -> Iterable[str]:
    """Return the forms by which a word of a record is found if it is inflected; a word with digits never is."""
    return word_stems(word) if word.isalpha() else ()


def word_spellings(word: str) -> tuple[str, ...]:
    """Return the spellings of a word among which a typing error is looked for: the word, and without a plural `s`.

    A word with digits has none: numbers and codes differ by one character without being the same.
    """
    if not word.isalpha():
        return ()

    is_plural = len(word) > MIN_TOLERANT_LENGTH and word.endswith("s") and not word.endswith("ss")
    return (word, word[:-1]) if is_plural else (word,)


def tolerated_spellings(word: str) -> tuple[str, ...]:
    """Return the spellings of a word of a query that may contain a typing error; short words have none."""
    return word_spellings(word) if len(word) >= MIN_TOLERANT_LENGTH else ()


def is_one_error_apart(spelling: str, other: str) -> bool:
    """Return whether at most one letter is missing, added, replaced, or exchanged with its neighbour."""
    return bool(OSA.distance(spelling, other, score_cutoff=1) <= 1)


def likeness(query_word: str, word: str) -> Likeness:
    """Return how alike a word of a text is to a word of a query."""
    if word == query_word:
        return Likeness.EQUAL
    if word_stems(query_word) & word_stems(word):
        return Likeness.INFLECTED

    spelling_pairs = product(tolerated_spellings(query_word), word_spellings(word))
    is_misspelled = any(is_one_error_apart(tolerated, spelling) for tolerated, spelling in spelling_pairs)
    return Likeness.MISSPELLED if is_misspelled else Likeness.NONE


def _stemmers() -> tuple[Stemmer.Stemmer, ...]:
    """Return the stemmers of this thread; a stemmer must not be used by two threads at once."""
    if not hasattr(_thread, "stemmers"):
        _thread.stemmers = tuple(Stemmer.Stemmer(language) for language in _LANGUAGES)
    stemmers: tuple[Stemmer.Stemmer, ...] = _thread.stemmers
    return stemmers
