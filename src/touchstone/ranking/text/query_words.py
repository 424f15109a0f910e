"""The words of a query, and which words of a table are like them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Ints
from touchstone.ranking.text.word_forms import Likeness, tolerated_spellings, word_stems
from touchstone.ranking.text.words import query_term_words, split_words


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query with everything that a table of words is searched for.

    Attributes:
        text: The folded word.
        stems: The word and its stems.
        spellings: The spellings that may contain a typing error, none for a short word.
        terms: The words that stand for the domain and the task of this name.
    """

    text: str
    stems: frozenset[str]
    spellings: tuple[str, ...]
    terms: tuple[str, ...]


class WordHits(NamedTuple):
    """The words of a table that are like a word of a query: their numbers, and how alike they are."""

    words: Ints
    likeness: NDArray[np.uint8]


@lru_cache(maxsize=1000)
def parse_query(text: str) -> tuple[QueryWord, ...]:
    """Return the different words of a query; a text without a word restricts nothing."""
    return tuple(
        QueryWord(word, word_stems(word), tolerated_spellings(word), query_term_words(word))
        for word in dict.fromkeys(split_words(text))
    )


def collect_hits(words_by_likeness: Mapping[Likeness, Iterable[int]]) -> WordHits:
    """Return the words that were found in a table, each once and with its best likeness, in ascending order."""
    likeness_by_word: dict[int, Likeness] = {}
    for likeness, words_found in sorted(words_by_likeness.items()):
        likeness_by_word |= dict.fromkeys(words_found, likeness)

    words = np.array(sorted(likeness_by_word), np.int64)
    return WordHits(words, np.array([likeness_by_word[word] for word in words.tolist()], np.uint8))
