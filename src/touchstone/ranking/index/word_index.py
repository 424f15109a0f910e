"""The records of each word of a large catalog: arrays that never change and can be mapped from a file."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.column_types import Bools, Ints
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.kernels import posting_kernels
from touchstone.ranking.kernels.radix_sort import sort_by_key
from touchstone.ranking.text.query_words import QueryWord, WordHits, collect_hits
from touchstone.ranking.text.record_words import DecodedWords, WordMatches
from touchstone.ranking.text.word_forms import Likeness, inflected_forms, is_one_error_apart, word_spellings
from touchstone.ranking.text.words import IN_NAME, MAX_WEIGHT


class WordsNotIndexed(Exception):
    """The words of a large catalog cannot be searched yet."""


@dataclass(frozen=True, slots=True)
class WordForms:
    """Forms of words, such as their stems, and which words have each form.

    Attributes:
        forms: The different forms, sorted.
        starts: Where the words of each form begin in `words`, and at the end where those of the last one end.
        words: The numbers of the words of all forms.
    """

    forms: TextPool
    starts: NDArray[np.uint32]
    words: NDArray[np.uint32]

    @classmethod
    def build(cls, words: Sequence[str], forms_of: Callable[[str], Iterable[str]]) -> "WordForms":
        """Return the forms of some words, each of which is known by its index."""
        pairs = sorted((form, number) for number, word in enumerate(words) for form in forms_of(word))
        forms = [form for form, _ in pairs]
        is_first = [index == 0 or forms[index - 1] != form for index, form in enumerate(forms)]
        starts = np.flatnonzero(np.array([*is_first, True], np.bool_)).astype(np.uint32)
        numbers = np.array([number for _, number in pairs], np.uint32)
        return cls(TextPool.from_texts(forms[start] for start in starts[:-1].tolist()), starts, numbers)

    def words_of(self, form: str) -> list[int]:
        """Return the numbers of the words that have a form."""
        index = bisect_left(self.forms, form)
        is_known = index < len(self.forms) and self.forms[index] == form
        return self.words_at(index) if is_known else []

    def words_at(self, index: int) -> list[int]:
        """Return the numbers of the words that have the form at an index."""
        numbers: list[int] = self.words[int(self.starts[index]) : int(self.starts[index + 1])].tolist()
        return numbers


@dataclass(frozen=True, slots=True)
class WordIndex:
    """The words of a catalog and their records; the names of the fields are part of the format of snapshots.

    Attributes:
        words: The different words, sorted.
        stems, spellings: The words by their stems and by the spellings among which typing errors are looked for.
        by_ending: The indices of all spellings in the order of their letters from the last to the first.
        starts: Where the records of each word begin in `positions`, and at the end where those of the last one end.
        positions: The positions of the records of all words, ascending for each word.
        weights: The weight of the word in each of these records.
        lengths: For each record the sum of the weights of its words.
    """

    words: TextPool
    stems: WordForms
    spellings: WordForms
    by_ending: NDArray[np.uint32]
    starts: Ints
    positions: NDArray[np.uint32]
    weights: NDArray[np.uint8]
    lengths: NDArray[np.uint16]

    @classmethod
    def build(cls, records: DecodedWords, order: Ints) -> "WordIndex":
        """Return the index of some records, which are in the order of their positions given by `order`.

        `order` holds for each position the number of the record among those in `records`.
        """
        counts_by_number = np.bincount(records.numbers, minlength=len(records.words))
        used_numbers = np.flatnonzero(counts_by_number).tolist()
        used_numbers.sort(key=records.words.__getitem__)
        words = [records.words[number] for number in used_numbers]

        # The next free place among the records of each word, by the number that the word has in `records`.
        starts = np.concatenate([[0], np.cumsum(counts_by_number[used_numbers])]).astype(np.int64)
        next_places = np.zeros(len(records.words), np.int64)
        next_places[used_numbers] = starts[:-1]

        positions = np.empty(len(records.numbers), np.uint32)
        weights = np.empty(len(records.numbers), np.uint8)
        lengths = np.zeros(len(order), np.uint16)
        ends = np.cumsum(records.counts)
        source = posting_kernels.RecordPostings(order, ends - records.counts, ends, records.numbers, records.weights)
        posting_kernels.place_postings(source, next_places, positions, weights, lengths)

        spellings = WordForms.build(words, word_spellings)
        reversed_spellings = [spelling[::-1] for spelling in spellings.forms]
        by_ending = sorted(range(len(reversed_spellings)), key=reversed_spellings.__getitem__)
        return cls(
            words=TextPool.from_texts(words),
            stems=WordForms.build(words, inflected_forms),
            spellings=spellings,
            by_ending=np.array(by_ending, np.uint32),
            starts=starts,
            positions=positions,
            weights=weights,
            lengths=lengths,
        )

    def find_words(self, query_word: QueryWord) -> WordHits:
        """Return which words are like a word of a query."""
        equal = self._numbers_of((query_word.text,))
        related = self._numbers_of(query_word.terms)
        inflected = chain.from_iterable(self.stems.words_of(stem) for stem in query_word.stems)
        misspelled = chain.from_iterable(self._find_misspelled(spelling) for spelling in query_word.spellings)
        return collect_hits(
            {
                Likeness.EQUAL: equal,
                Likeness.RELATED: related,
                Likeness.INFLECTED: inflected,
                Likeness.MISSPELLED: misspelled,
            }
        )

    def _numbers_of(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of those words that are in the index."""
        places = [(bisect_left(self.words, word), word) for word in words]
        return [place for place, word in places if place < len(self.words) and self.words[place] == word]

    def _find_misspelled(self, spelling: str) -> list[int]:
        """Return the words of which a spelling is at most one typing error away.

        An error changes at most two neighbouring letters, so either the beginning or the end of the word is intact.
        """
        beginning = spelling[: len(spelling) // 2]
        ending = spelling[len(beginning) + 1 :][::-1]
        forms = self.spellings.forms

        def reversed_form(index: int) -> str:
            return forms[int(index)][::-1]

        same_beginning = range(bisect_left(forms, beginning), bisect_left(forms, _after(beginning)))
        first = bisect_left(self.by_ending, ending, key=reversed_form)
        last = bisect_left(self.by_ending, _after(ending), key=reversed_form)
        candidates = {*same_beginning, *self.by_ending[first:last].tolist()}

        return [
            word
            for candidate in candidates
            if is_one_error_apart(spelling, forms[candidate])
            for word in self.spellings.words_at(candidate)
        ]

    def find(self, query_word: QueryWord) -> WordMatches:
        """Return the records that contain a word of a query."""
        hits = self.find_words(query_word)
        if len(hits.words) == 1:
            postings = self._postings(int(hits.words[0]))
            weights = (self.weights[postings] & MAX_WEIGHT).astype(np.int64) * int(hits.likeness[0])
            return WordMatches(self.positions[postings].astype(np.int64), weights)

        sums = np.zeros(len(self.lengths), np.uint32)
        for word, likeness in zip(hits.words.tolist(), hits.likeness.tolist(), strict=True):
            postings = self._postings(word)
            sums[self.positions[postings]] += (self.weights[postings] & MAX_WEIGHT).astype(np.uint32) * likeness
        positions = np.flatnonzero(sums)
        return WordMatches(positions, sums[positions].astype(np.int64))

    def contain_all(self, query_words: Sequence[QueryWord]) -> Bools:
        """Return for each record whether it contains every word of a query."""
        contains_all = np.ones(len(self.lengths), np.bool_)
        for query_word in query_words:
            contains_word = np.zeros(len(self.lengths), np.bool_)
            for word in self.find_words(query_word).words.tolist():
                contains_word[self.positions[self._postings(word)]] = True
            contains_all &= contains_word
        return contains_all

    def name_positions(self, prefix: str) -> Ints:
        """Return the records that have a word in their name that begins with a text."""
        first, last = bisect_left(self.words, prefix), bisect_left(self.words, _after(prefix))
        postings = slice(int(self.starts[first]), int(self.starts[last]))
        is_in_name = self.weights[postings] >= IN_NAME
        has_word = np.zeros(len(self.lengths), np.bool_)
        has_word[self.positions[postings][is_in_name]] = True
        return np.flatnonzero(has_word)

    def _postings(self, word: int) -> slice:
        """Return where the records of a word are."""
        return slice(int(self.starts[word]), int(self.starts[word + 1]))

    def decode(self, positions: Ints) -> DecodedWords:
        """Return the words of the records at some positions, in ascending order, for another layout."""
        # Each posting is a record and a word; they are listed by word here, and needed by record.
        word_numbers = np.repeat(np.arange(len(self.words), dtype=np.uint32), np.diff(self.starts))
        places = np.arange(len(self.positions), dtype=np.uint32)
        sorted_positions, sorted_places = sort_by_key(self.positions.copy(), places)

        is_taken = np.zeros(len(self.lengths), np.bool_)
        is_taken[positions] = True
        kept_places = sorted_places[is_taken[sorted_positions]]
        counts = np.bincount(self.positions, minlength=len(self.lengths))[positions]
        return DecodedWords(list(self.words), counts, word_numbers[kept_places], self.weights[kept_places])


def _after(prefix: str) -> str:
    """Return a text that comes after every text with this prefix, and before all others that come after them."""
    return prefix + "\U0010ffff"
