"""The records of each word of a large catalog: arrays that never change and can be mapped from a file."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Ints
from touchstone.ranking.columns.spool import empty_array
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.kernels import posting_kernels
from touchstone.ranking.kernels.bits import Words
from touchstone.ranking.kernels.posting_kernels import WEIGHT_LIMIT, RecordPostings, WordPostings, WordRange
from touchstone.ranking.kernels.radix_sort import sort_by_key
from touchstone.ranking.text.query_words import QueryWord, WordHits, collect_hits
from touchstone.ranking.text.record_words import DecodedWords
from touchstone.ranking.text.word_forms import Likeness, inflected_forms, is_one_error_apart, word_spellings
from touchstone.ranking.text.words import IN_NAME

_NUMBERS_PER_PIECE: Final = 1 << 22


class TextsNotIndexed(Exception):
    """The words of a large catalog cannot be searched yet, and lists cannot be sorted by its texts."""


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
        postings: In which records each word is, and its weight there, packed as `posting_kernels` describes.
        starts: Where the postings of each word begin, and at the end where those of the last one end.
        posting_count: How many postings there are.
        lengths: For each record the sum of the weights of its words.
    """

    words: TextPool
    stems: WordForms
    spellings: WordForms
    by_ending: NDArray[np.uint32]
    postings: NDArray[np.uint8]
    starts: NDArray[Any]
    posting_count: int
    lengths: NDArray[np.uint16]

    @classmethod
    def build(cls, records: DecodedWords, order: Ints, folder: Path | None = None) -> "WordIndex":
        """Build the index of the words of some records, which lists for each word the records that contain it.

        `order` holds for each position the number of the record among those in `records`. Large arrays are in unnamed
        files in `folder`, or in memory for None.

        Raises:
            OSError: the folder cannot be written to.
        """
        counts_by_number = _count_numbers(records)
        used_numbers = np.flatnonzero(counts_by_number).tolist()
        used_numbers.sort(key=records.words.__getitem__)
        words = [records.words[number] for number in used_numbers]

        postings, lengths = _list_postings(records, order, counts_by_number, used_numbers, folder)
        packed_postings, starts = _pack(postings, folder)

        spellings = WordForms.build(words, word_spellings)
        reversed_spellings = [spelling[::-1] for spelling in spellings.forms]
        by_ending = sorted(range(len(reversed_spellings)), key=reversed_spellings.__getitem__)
        return cls(
            words=TextPool.from_texts(words),
            stems=WordForms.build(words, inflected_forms),
            spellings=spellings,
            by_ending=np.array(by_ending, np.uint32),
            postings=packed_postings,
            starts=starts,
            posting_count=len(postings.positions),
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
        ending = spelling[len(beginning) + 1 :]
        candidates = {*self._spellings_with_beginning(beginning), *self._spellings_with_ending(ending)}

        words: list[int] = []
        for candidate in candidates:
            if is_one_error_apart(spelling, self.spellings.forms[candidate]):
                words += self.spellings.words_at(candidate)
        return words

    def _spellings_with_beginning(self, beginning: str) -> range:
        """Return the indices of the spellings that begin with some letters."""
        forms = self.spellings.forms
        return range(bisect_left(forms, beginning), bisect_left(forms, _after(beginning)))

    def _spellings_with_ending(self, ending: str) -> list[int]:
        """Return the indices of the spellings that end with some letters, found by their letters in reverse order."""

        def reversed_spelling(index: int) -> str:
            return self.spellings.forms[int(index)][::-1]

        reversed_ending = ending[::-1]
        first = bisect_left(self.by_ending, reversed_ending, key=reversed_spelling)
        end = bisect_left(self.by_ending, _after(reversed_ending), key=reversed_spelling)
        indices: list[int] = self.by_ending[first:end].tolist()
        return indices

    def weigh(self, query_word: QueryWord, positions: Ints) -> Ints:
        """Return the weight of a word of a query in the records at some ascending positions.

        It is the sum of the weights of all words that are like it, each times its likeness.
        """
        hits = self.find_words(query_word)
        weight_sums = np.zeros(len(positions), np.int64)
        for word, likeness in zip(hits.words.tolist(), hits.likeness.tolist(), strict=True):
            postings = self.postings[int(self.starts[word]) : int(self.starts[word + 1])]
            posting_kernels.add_weights(postings, likeness, positions, weight_sums)
        return weight_sums

    def contain(self, query_word: QueryWord, word_count: int) -> Words:
        """Return a bitmap, `word_count` integers of 64 bits, of the records that contain a word of a query."""
        bitmap = np.zeros(word_count, np.uint64)
        for word in self.find_words(query_word).words.tolist():
            posting_kernels.mark_records(self.postings, self.starts, WordRange(word, word + 1), 0, bitmap)
        return bitmap

    def contain_in_name(self, prefix: str, word_count: int) -> Words:
        """Return a bitmap, `word_count` integers of 64 bits, of the records with a name with a word that begins so."""
        bitmap = np.zeros(word_count, np.uint64)
        words = WordRange(bisect_left(self.words, prefix), bisect_left(self.words, _after(prefix)))
        posting_kernels.mark_records(self.postings, self.starts, words, IN_NAME, bitmap)
        return bitmap

    def decode(self, positions: Ints) -> DecodedWords:
        """Return the words of the records at some positions, in ascending order, for another layout."""
        postings = self._unpack()

        # Each posting is a record and a word; they are listed by word here, and needed by record.
        word_numbers = np.repeat(np.arange(len(self.words), dtype=np.uint32), np.diff(postings.starts))
        places = np.arange(self.posting_count, dtype=np.uint32)
        counts = np.bincount(postings.positions, minlength=len(self.lengths))[positions]
        sorted_positions, sorted_places = sort_by_key(postings.positions, places)

        is_taken = np.zeros(len(self.lengths), np.bool_)
        is_taken[positions] = True
        kept_places = sorted_places[is_taken[sorted_positions]]
        return DecodedWords(list(self.words), counts, word_numbers[kept_places], postings.weights[kept_places])

    def _unpack(self) -> WordPostings:
        """Return the postings of all words as arrays."""
        postings = WordPostings(
            starts=np.empty(len(self.starts), np.int64),
            positions=np.empty(self.posting_count, np.uint32),
            weights=np.empty(self.posting_count, np.uint8),
        )
        posting_kernels.unpack_postings(self.postings, self.starts, postings)
        return postings


def _count_numbers(records: DecodedWords) -> Ints:
    """Return for each word in how many records it is; a piece at a time, because NumPy widens what it counts."""
    counts = np.zeros(len(records.words), np.int64)
    for start in range(0, len(records.numbers), _NUMBERS_PER_PIECE):
        piece = records.numbers[start : start + _NUMBERS_PER_PIECE]
        counts += np.bincount(piece, minlength=len(records.words))
    return counts


def _list_postings(
    records: DecodedWords, order: Ints, counts_by_number: Ints, used_numbers: Sequence[int], folder: Path | None
) -> tuple[WordPostings, NDArray[np.uint16]]:
    """List the postings of each word, which are the records that contain it, and sum up the length of each record.

    The words are in the order of `used_numbers`, their numbers in `records`.
    """
    postings = WordPostings(
        starts=np.concatenate([[0], np.cumsum(counts_by_number[used_numbers])]).astype(np.int64),
        positions=empty_array(len(records.numbers), np.uint32, folder),
        weights=empty_array(len(records.numbers), np.uint8, folder),
    )
    lengths = np.zeros(len(order), np.uint16)

    # The next free place among the records of each word, by the number that the word has in `records`.
    next_places = np.zeros(len(records.words), np.int64)
    next_places[used_numbers] = postings.starts[:-1]

    ends = np.cumsum(records.counts)
    starts = ends - records.counts
    source = RecordPostings(order, starts, ends, records.numbers, records.weights)
    posting_kernels.place_postings(source, next_places, postings, lengths)
    return postings, lengths


def _pack(postings: WordPostings, folder: Path | None) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return the packed postings of all words, and where those of each word begin and the last ones end."""
    usual_weights = np.empty(len(postings.starts) - 1, np.uint8)
    packed_starts = np.empty(len(postings.starts), np.int64)
    weight_counts = np.zeros(WEIGHT_LIMIT, np.int64)
    posting_kernels.measure_postings(postings, weight_counts, usual_weights, packed_starts)

    packed = empty_array(int(packed_starts[-1]), np.uint8, folder)
    posting_kernels.pack_postings(postings, usual_weights, packed_starts, packed)
    start_type = np.uint32 if len(packed) < 2**32 else np.int64
    return packed, packed_starts.astype(start_type)


def _after(prefix: str) -> str:
    """Return a text that comes after every text with this prefix, and before all others that come after them."""
    return prefix + "\U0010ffff"
