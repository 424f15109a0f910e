"""The words of a segment: a table that grows, in which each word has a number."""

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from touchstone.ranking.text.query_words import QueryWord, WordHits, collect_hits
from touchstone.ranking.text.word_forms import Likeness, inflected_forms, word_spellings


class WordTable:
    """The words of a growing segment; everything is only ever appended, so readers may use the table meanwhile."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._numbers: dict[str, int] = {}
        self._numbers_by_stem: dict[str, list[int]] = {}
        # Each spelling of each word, and in the same order the number of the word.
        self._spellings: list[str] = []
        self._numbers_by_spelling: list[int] = []

    def __len__(self) -> int:
        return len(self.words)

    def number(self, word: str) -> int:
        """Return the number of a word, adding the word when it is first seen."""
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
        """Return which of the first `size` words are like a word of a query."""
        equal = self._numbers_of((query_word.text,))
        related = self._numbers_of(query_word.terms)
        inflected = [number for stem in query_word.stems for number in self._numbers_by_stem.get(stem, ())]
        misspelled = [number for spelling in query_word.spellings for number in self._find_misspelled(spelling)]

        hits = collect_hits(
            {
                Likeness.EQUAL: equal,
                Likeness.RELATED: related,
                Likeness.INFLECTED: inflected,
                Likeness.MISSPELLED: misspelled,
            }
        )
        is_known = hits.words < size
        return WordHits(hits.words[is_known], hits.likeness[is_known])

    def _numbers_of(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of those words that are in the table."""
        return [self._numbers[word] for word in words if word in self._numbers]

    def _find_misspelled(self, spelling: str) -> Sequence[int]:
        """Return the numbers of the words of which a spelling is at most one typing error away."""
        spellings = self._spellings[:]
        distances = cdist([spelling], spellings, scorer=OSA.distance, score_cutoff=1, dtype=np.uint8)[0]
        return [self._numbers_by_spelling[index] for index in np.flatnonzero(distances <= 1).tolist()]

    def find_prefix(self, prefix: str, size: int) -> list[int]:
        """Return which of the first `size` words begin with a text."""
        return [number for number, word in enumerate(self.words[:size]) if word.startswith(prefix)]
