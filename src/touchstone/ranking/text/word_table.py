"""The growing table of the words of a segment, in which each word has a number."""

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from touchstone.ranking.text.query_words import QueryWord, WordHits, collect_hits
from touchstone.ranking.text.word_forms import WordSimilarity, inflected_forms, word_spellings


class WordTable:
    """The words of a growing segment.

    Data is only appended, so other threads can read it without a lock.
    """

    def __init__(self) -> None:
        self.words: list[str] = []
        self._numbers: dict[str, int] = {}
        self._numbers_by_stem: dict[str, list[int]] = {}
        # The spellings of all words, and the number of the word of each spelling.
        self._spellings: list[str] = []
        self._numbers_by_spelling: list[int] = []

    def __len__(self) -> int:
        return len(self.words)

    def number(self, word: str) -> int:
        """Return the number of a word, adding the word to the table if it is new."""
        number = self._numbers.get(word)
        if number is None:
            number = len(self.words)
            self._add_forms(word, number)
            self.words.append(word)
            self._numbers[word] = number
        return number

    def _add_forms(self, word: str, number: int) -> None:
        """Add the stems and spellings of a new word."""
        for stem in inflected_forms(word):
            self._numbers_by_stem.setdefault(stem, []).append(number)
        for spelling in word_spellings(word):
            self._numbers_by_spelling.append(number)
            self._spellings.append(spelling)

    def find(self, query_word: QueryWord, size: int) -> WordHits:
        """Return the words among the first `size` words that are similar to a word of a query."""
        equal = self._find_exact((query_word.text,))
        related = self._find_exact(query_word.terms)
        inflected = [number for stem in query_word.stems for number in self._numbers_by_stem.get(stem, ())]
        misspelled = [number for spelling in query_word.spellings for number in self._find_misspelled_words(spelling)]

        hits = collect_hits(
            {
                WordSimilarity.EQUAL: equal,
                WordSimilarity.RELATED: related,
                WordSimilarity.INFLECTED: inflected,
                WordSimilarity.MISSPELLED: misspelled,
            }
        )
        is_known = hits.words < size
        return WordHits(hits.words[is_known], hits.similarity[is_known])

    def _find_exact(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of the given words, omitting words that are not in the table."""
        return [self._numbers[word] for word in words if word in self._numbers]

    def _find_misspelled_words(self, spelling: str) -> Sequence[int]:
        """Return the numbers of the words with a spelling that is at most one typing error away."""
        spellings = self._spellings[:]
        distances = cdist([spelling], spellings, scorer=OSA.distance, score_cutoff=1, dtype=np.uint8)[0]
        return [self._numbers_by_spelling[index] for index in np.flatnonzero(distances <= 1).tolist()]

    def find_prefix(self, prefix: str, size: int) -> list[int]:
        """Return the numbers of the words among the first `size` words that begin with a prefix."""
        return [number for number, word in enumerate(self.words[:size]) if word.startswith(prefix)]
