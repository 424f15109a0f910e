"""The words of a query, and the similar words found in a table of words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Ints
from touchstone.ranking.text.word_forms import WordSimilarity, tolerated_spellings, word_stems
from touchstone.ranking.text.words import query_term_words, split_words


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query in all forms that a table of words is searched for.

    Attributes:
        text: the folded word.
        stems: the word and its stems.
        spellings: the spellings that may contain a typing error; empty for short words.
        terms: the special words that represent the domain and the task with this name.
    """

    text: str
    stems: frozenset[str]
    spellings: tuple[str, ...]
    terms: tuple[str, ...]


class WordHits(NamedTuple):
    """The numbers of the words in a table that are similar to a word of a query, and their similarities."""

    words: Ints
    similarity: NDArray[np.uint8]


@lru_cache(maxsize=1000)
def parse_query(text: str) -> tuple[QueryWord, ...]:
    """Return the distinct words of a query, or an empty tuple if it contains no word."""
    return tuple(
        QueryWord(word, word_stems(word), tolerated_spellings(word), query_term_words(word))
        for word in dict.fromkeys(split_words(text))
    )


def collect_hits(words_by_similarity: Mapping[WordSimilarity, Iterable[int]]) -> WordHits:
    """Return the found words in ascending order, each once with its highest similarity."""
    similarity_by_word: dict[int, WordSimilarity] = {}
    for similarity, found_words in sorted(words_by_similarity.items()):
        similarity_by_word |= dict.fromkeys(found_words, similarity)

    words = np.array(sorted(similarity_by_word), np.int64)
    return WordHits(words, np.array([similarity_by_word[word] for word in words.tolist()], np.uint8))
