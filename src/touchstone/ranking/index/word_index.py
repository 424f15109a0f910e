"""The inverted index of the words of a large catalog, as immutable arrays that can be mapped from a file."""

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
from touchstone.ranking.kernels.posting_kernels import WEIGHT_VALUES, RecordPostings, WordPostings, WordRange
from touchstone.ranking.kernels.radix_sort import sort_by_key
from touchstone.ranking.text.query_words import QueryWord, WordHits, collect_hits
from touchstone.ranking.text.record_words import DecodedWords
from touchstone.ranking.text.word_forms import WordSimilarity, inflected_forms, is_one_error_apart, word_spellings
from touchstone.ranking.text.words import IN_NAME

_NUMBERS_PER_CHUNK: Final = 1 << 22


class TextsNotIndexed(Exception):
    """The texts of a large catalog are not indexed yet, so searches for words and sorting by texts are impossible."""


@dataclass(frozen=True, slots=True)
class WordForms:
    """A mapping from forms of words, such as stems, to the words that have these forms.

    Attributes:
        forms: the distinct forms, sorted.
        starts: the start of each form's words in `words`, followed by the end of the last ones.
        words: the numbers of the words, grouped by form.
    """

    forms: TextPool
    starts: NDArray[np.uint32]
    words: NDArray[np.uint32]

    @classmethod
    def build(cls, words: Sequence[str], forms_of: Callable[[str], Iterable[str]]) -> "WordForms":
        """Build the mapping for words that are numbered by their index in `words`."""
        numbered_forms: list[tuple[str, int]] = []
        for number, word in enumerate(words):
            numbered_forms += [(form, number) for form in forms_of(word)]
        numbered_forms.sort()

        forms = [form for form, _number in numbered_forms]
        numbers = np.array([number for _form, number in numbered_forms], np.uint32)
        is_first = [index == 0 or forms[index - 1] != form for index, form in enumerate(forms)]
        starts = np.flatnonzero(np.array([*is_first, True], np.bool_)).astype(np.uint32)
        distinct_forms = TextPool.from_texts(forms[start] for start in starts[:-1].tolist())
        return cls(distinct_forms, starts, numbers)

    def words_with_form(self, form: str) -> list[int]:
        """Return the numbers of the words with the given form."""
        index = bisect_left(self.forms, form)
        is_known = index < len(self.forms) and self.forms[index] == form
        return self.words_at(index) if is_known else []

    def words_at(self, index: int) -> list[int]:
        """Return the numbers of the words with the form at the given index."""
        numbers: list[int] = self.words[int(self.starts[index]) : int(self.starts[index + 1])].tolist()
        return numbers


@dataclass(frozen=True, slots=True)
class WordIndex:
    """The words of a catalog and the records that contain them.

    The field names are part of the snapshot format.

    Attributes:
        words: the distinct words, sorted.
        stems: the words by their stems.
        spellings: the words by the spellings that typing errors are compared with.
        by_ending: the indices of all spellings, sorted by the reversed spellings.
        postings: the records that contain each word and its weight there, packed as `posting_kernels` describes.
        starts: the start of each word's postings in bytes, followed by the end of the last ones.
        posting_count: the number of postings.
        lengths: the sum of the weights of each record's words.
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
        """Build the index from the words of each record.

        Args:
            records: the words of the records.
            order: the number in `records` of the record at each position.
            folder: where temporary files hold large arrays, or None to use memory.

        Raises:
            OSError: the folder cannot be written to.
        """
        record_counts = _count_records_by_word(records)
        used_numbers = np.flatnonzero(record_counts).tolist()
        used_numbers.sort(key=records.words.__getitem__)
        words = [records.words[number] for number in used_numbers]

        postings, lengths = _build_postings(
            records, order, record_counts=record_counts, used_numbers=used_numbers, folder=folder
        )
        packed_postings, starts = _pack_postings(postings, folder)

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
        """Return the words that are similar to a word of a query."""
        equal = self._find_exact((query_word.text,))
        related = self._find_exact(query_word.terms)
        inflected = chain.from_iterable(self.stems.words_with_form(stem) for stem in query_word.stems)
        misspelled = chain.from_iterable(self._find_misspelled_words(spelling) for spelling in query_word.spellings)
        return collect_hits(
            {
                WordSimilarity.EQUAL: equal,
                WordSimilarity.RELATED: related,
                WordSimilarity.INFLECTED: inflected,
                WordSimilarity.MISSPELLED: misspelled,
            }
        )

    def _find_exact(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of the given words, omitting words that are not in the index."""
        candidates = [(bisect_left(self.words, word), word) for word in words]
        return [number for number, word in candidates if number < len(self.words) and self.words[number] == word]

    def _find_misspelled_words(self, spelling: str) -> list[int]:
        """Return the numbers of the words with a spelling that is at most one typing error away.

        An error affects at most two neighbouring letters. So either the first half of the spelling is free of it, or
        everything after the letter that follows this half.
        """
        first_half = spelling[: len(spelling) // 2]
        ending = spelling[len(first_half) + 1 :]
        candidates = {*self._spellings_with_beginning(first_half), *self._spellings_with_ending(ending)}

        word_numbers: list[int] = []
        for candidate in candidates:
            if is_one_error_apart(spelling, self.spellings.forms[candidate]):
                word_numbers += self.spellings.words_at(candidate)
        return word_numbers

    def _spellings_with_beginning(self, beginning: str) -> range:
        """Return the indices of the spellings with the given beginning."""
        forms = self.spellings.forms
        return range(bisect_left(forms, beginning), bisect_left(forms, _upper_bound(beginning)))

    def _spellings_with_ending(self, ending: str) -> list[int]:
        """Return the indices of the spellings with the given ending, which are contiguous in `by_ending`."""

        def reversed_spelling(index: int) -> str:
            return self.spellings.forms[int(index)][::-1]

        reversed_ending = ending[::-1]
        start = bisect_left(self.by_ending, reversed_ending, key=reversed_spelling)
        end = bisect_left(self.by_ending, _upper_bound(reversed_ending), key=reversed_spelling)
        indices: list[int] = self.by_ending[start:end].tolist()
        return indices

    def weigh(self, query_word: QueryWord, positions: Ints) -> Ints:
        """Return the weight of a query word in the records at the given ascending positions.

        This is the sum of the weights of all similar words, each multiplied by its similarity.
        """
        hits = self.find_words(query_word)
        weight_sums = np.zeros(len(positions), np.int64)
        for word, similarity in zip(hits.words.tolist(), hits.similarity.tolist(), strict=True):
            postings = self.postings[int(self.starts[word]) : int(self.starts[word + 1])]
            posting_kernels.add_weights(postings, similarity, positions, weight_sums)
        return weight_sums

    def records_with_word(self, query_word: QueryWord, word_count: int) -> Words:
        """Return a bitmap of `word_count` 64-bit words with the records that contain a word of a query."""
        bitmap = np.zeros(word_count, np.uint64)
        for word in self.find_words(query_word).words.tolist():
            posting_kernels.mark_records(self.postings, self.starts, WordRange(word, word + 1), 0, bitmap)
        return bitmap

    def records_with_name_word(self, prefix: str, word_count: int) -> Words:
        """Return a bitmap of the records with a word in their name that begins with `prefix`."""
        bitmap = np.zeros(word_count, np.uint64)
        words = WordRange(bisect_left(self.words, prefix), bisect_left(self.words, _upper_bound(prefix)))
        posting_kernels.mark_records(self.postings, self.starts, words, IN_NAME, bitmap)
        return bitmap

    def decode(self, positions: Ints) -> DecodedWords:
        """Return the words of each record at the given ascending positions."""
        postings = self._unpack()

        # Postings are stored by word but needed by record, so sort them by the position of their record.
        word_numbers = np.repeat(np.arange(len(self.words), dtype=np.uint32), np.diff(postings.starts))
        posting_indices = np.arange(self.posting_count, dtype=np.uint32)
        counts = np.bincount(postings.positions, minlength=len(self.lengths))[positions]
        sorted_positions, sorted_indices = sort_by_key(postings.positions, posting_indices)

        is_requested = np.zeros(len(self.lengths), np.bool_)
        is_requested[positions] = True
        indices = sorted_indices[is_requested[sorted_positions]]
        return DecodedWords(list(self.words), counts, word_numbers[indices], postings.weights[indices])

    def _unpack(self) -> WordPostings:
        """Unpack the postings of all words into arrays."""
        postings = WordPostings(
            starts=np.empty(len(self.starts), np.int64),
            positions=np.empty(self.posting_count, np.uint32),
            weights=np.empty(self.posting_count, np.uint8),
        )
        posting_kernels.unpack_postings(self.postings, self.starts, postings)
        return postings


def _count_records_by_word(records: DecodedWords) -> Ints:
    """Return the number of records that contain each word.

    The numbers are counted in chunks, because NumPy converts its input to 64 bits.
    """
    counts = np.zeros(len(records.words), np.int64)
    for start in range(0, len(records.numbers), _NUMBERS_PER_CHUNK):
        chunk = records.numbers[start : start + _NUMBERS_PER_CHUNK]
        counts += np.bincount(chunk, minlength=len(records.words))
    return counts


def _build_postings(
    records: DecodedWords, order: Ints, *, record_counts: Ints, used_numbers: Sequence[int], folder: Path | None
) -> tuple[WordPostings, NDArray[np.uint16]]:
    """Build the postings of each word and the length of each record.

    Args:
        records: the words of the records.
        order: the number in `records` of the record at each position.
        record_counts: the number of records that contain each word, by its number in `records`.
        used_numbers: the numbers in `records` of the words of the index, in the order of the index.
        folder: where temporary files hold large arrays, or None to use memory.
    """
    postings = WordPostings(
        starts=np.concatenate([[0], np.cumsum(record_counts[used_numbers])]).astype(np.int64),
        positions=empty_array(len(records.numbers), np.uint32, folder),
        weights=empty_array(len(records.numbers), np.uint8, folder),
    )
    lengths = np.zeros(len(order), np.uint16)

    # The index of the next posting of each word, by the number of the word in `records`.
    write_positions = np.zeros(len(records.words), np.int64)
    write_positions[used_numbers] = postings.starts[:-1]

    ends = np.cumsum(records.counts)
    starts = ends - records.counts
    source = RecordPostings(order, starts, ends, records.numbers, records.weights)
    posting_kernels.write_postings(source, write_positions, postings, lengths)
    return postings, lengths


def _pack_postings(postings: WordPostings, folder: Path | None) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Pack the postings, and return them with the start of each word's postings and the end of the last ones."""
    common_weights = np.empty(len(postings.starts) - 1, np.uint8)
    packed_starts = np.empty(len(postings.starts), np.int64)
    weight_counts = np.zeros(WEIGHT_VALUES, np.int64)
    posting_kernels.measure_postings(postings, weight_counts, common_weights, packed_starts)

    packed = empty_array(int(packed_starts[-1]), np.uint8, folder)
    posting_kernels.pack_postings(postings, common_weights, packed_starts, packed)
    start_type = np.uint32 if len(packed) < 2**32 else np.int64
    return packed, packed_starts.astype(start_type)


def _upper_bound(prefix: str) -> str:
    """Return an upper bound for all strings with the given prefix, below all later strings."""
    return prefix + "\U0010ffff"
