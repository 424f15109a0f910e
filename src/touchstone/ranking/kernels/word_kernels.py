"""Kernels that list the words of records with their weights, as `text.words.weigh_words` defines them.

A word is a sequence of ASCII letters, digits and bytes from 128 on; upper-case letters count as lower-case ones. This
is sufficient for plain ASCII texts without apostrophes. Other texts are split in Python beforehand and replaced by
their folded words, joined by blanks.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.text.words import IN_NAME, MAX_WEIGHT, NAME_WEIGHT, TEXT_WEIGHT

NO_WORD: Final = -1
_FIRST_NON_ASCII_BYTE: Final = 128
_APOSTROPHE: Final = 0x27
_CASE_DIFFERENCE: Final = 32
_HASH_START: Final = 2166136261  # the parameters of the 32-bit hash function FNV-1a, used here with 48 bits
_HASH_FACTOR: Final = 16777619
_HASH_MASK: Final = 2**48 - 1
_HASH_SHIFT: Final = 24


class RecordTexts(NamedTuple):
    """One text of each record.

    Attributes:
        data: the bytes of the texts.
        starts: the start of each record's text in `data`, or in `split_data` if it was split beforehand.
        ends: the end of each record's text in the same array.
        is_split: whether each record's text was split into words beforehand.
        split_data: the words of these texts.
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    is_split: NDArray[np.bool_]
    split_data: NDArray[np.uint8]


class RecordLabels(NamedTuple):
    """The words of each record's labels, such as its tags, which already have numbers.

    Attributes:
        starts: the start of each record's words in `numbers` and `weights`.
        ends: the end of each record's words in `numbers` and `weights`.
        numbers: the numbers of the words.
        weights: the weights of the words.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    numbers: NDArray[np.uint32]
    weights: NDArray[np.uint8]


class WordTable(NamedTuple):
    """A hash table with linear probing that assigns a number to each word, with spare capacity for new words.

    Attributes:
        word_count: the number of words, an array with one element.
        data: the bytes of all words.
        ends: the end of each word in `data`. A word begins at the end of the previous one.
        hashes: the hash of each word.
        slots: the number of the word in each slot, or NO_WORD. The number of slots is a power of two.
        last_indices: the index of each word in its last record, counted over the words of all records.
    """

    word_count: NDArray[np.int64]
    data: NDArray[np.uint8]
    ends: NDArray[np.int64]
    hashes: NDArray[np.int64]
    slots: NDArray[np.int32]
    last_indices: NDArray[np.int64]


class ListedWords(NamedTuple):
    """The words of a batch of records, which the kernels append one by one.

    Attributes:
        ends: the end of each record's words in `numbers` and `weights`.
        numbers: the numbers of the words, record by record.
        weights: the weights of these words.
        first_index: the index of the batch's first word among the words of all records.
        record_start: the start of the current record's words, an array with one element.
        word_count: the number of words so far, an array with one element.
    """

    ends: NDArray[np.int64]
    numbers: NDArray[np.uint32]
    weights: NDArray[np.uint8]
    first_index: int
    record_start: NDArray[np.int64]
    word_count: NDArray[np.int64]


def mark_special_texts(
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    is_special: NDArray[np.bool_],
) -> None:
    """Mark the texts that are not plain ASCII or contain an apostrophe."""
    for text in range(len(starts)):
        is_special[text] = False
        for i in range(starts[text], ends[text]):
            byte = data[i]
            if byte >= _FIRST_NON_ASCII_BYTE or byte == _APOSTROPHE:
                is_special[text] = True
                break


def list_words(
    texts: tuple[RecordTexts, RecordTexts],
    names: RecordTexts,
    labels: tuple[RecordLabels, RecordLabels, RecordLabels],
    table: WordTable,
    words: ListedWords,
) -> None:
    """List the words of records with two texts, a name and three kinds of labels.

    The table and the arrays of `words` must have sufficient capacity for all words.
    """
    for record in range(len(names.starts)):
        words.record_start[0] = words.word_count[0]
        for kind in range(len(texts)):
            add_text_words(texts[kind], record, table, words)
        for kind in range(len(labels)):
            add_label_words(labels[kind], record, table, words)
        add_name_words(names, record, table, words)
        words.ends[record] = words.word_count[0]


def add_text_words(texts: RecordTexts, record: int, table: WordTable, words: ListedWords) -> None:
    """Add the words of a text to the words of its record."""
    data = texts.split_data if texts.is_split[record] else texts.data
    end = texts.ends[record]

    word_start, word_end = next_word(data, texts.starts[record], end)
    while word_start < word_end:
        add_weight(table, words, find_or_add_word(table, data, word_start, word_end), TEXT_WEIGHT)
        word_start, word_end = next_word(data, word_end, end)


def add_label_words(labels: RecordLabels, record: int, table: WordTable, words: ListedWords) -> None:
    """Add the words of labels to the words of their record."""
    for i in range(labels.starts[record], labels.ends[record]):
        add_weight(table, words, labels.numbers[i], labels.weights[i])


def add_name_words(names: RecordTexts, record: int, table: WordTable, words: ListedWords) -> None:
    """Add the words of a name to the words of its record, and mark them.

    The parts of a word such as `GermanCredit` are added as well, unless they also occur as separate words of the name.
    If the name was split beforehand, its words already include the parts.
    """
    data = names.split_data if names.is_split[record] else names.data
    start, end = names.starts[record], names.ends[record]

    word_start, word_end = next_word(data, start, end)
    while word_start < word_end:
        number = find_or_add_word(table, data, word_start, word_end)
        add_weight(table, words, number, NAME_WEIGHT)
        mark_as_name(table, words, number)
        word_start, word_end = next_word(data, word_end, end)

    if not names.is_split[record]:
        add_name_parts(data, start, end, table, words)


def add_name_parts(data: NDArray[np.uint8], start: int, end: int, table: WordTable, words: ListedWords) -> None:
    """Add the parts of the words of the name `data[start:end]`, and mark them."""
    part_start, part_end = next_part(data, start, end)
    while part_start < part_end:
        number = find_or_add_word(table, data, part_start, part_end)
        if not is_word_of_name(table, words, number):
            add_weight(table, words, number, NAME_WEIGHT)
        part_start, part_end = next_part(data, part_end, end)

    # Mark the parts only after all have been added, because a marked part counts as a word of the name.
    part_start, part_end = next_part(data, start, end)
    while part_start < part_end:
        mark_as_name(table, words, find_or_add_word(table, data, part_start, part_end))
        part_start, part_end = next_part(data, part_end, end)


def is_in_record(table: WordTable, words: ListedWords, number: int) -> bool:
    """Return whether a word is among the words of the current record."""
    return bool(table.last_indices[number] >= words.first_index + words.record_start[0])


def is_word_of_name(table: WordTable, words: ListedWords, number: int) -> bool:
    """Return whether a word is marked as a word of the current record's name."""
    if not is_in_record(table, words, number):
        return False
    return bool(words.weights[index_of_word(table, words, number)] >= IN_NAME)


def mark_as_name(table: WordTable, words: ListedWords, number: int) -> None:
    """Mark a word of the current record as a word of its name."""
    words.weights[index_of_word(table, words, number)] |= IN_NAME


def index_of_word(table: WordTable, words: ListedWords, number: int) -> int:
    """Return the index in `words` of a word of the current record."""
    return int(table.last_indices[number]) - words.first_index


def add_weight(table: WordTable, words: ListedWords, number: int, weight: int) -> None:
    """Add to the weight of a word of the current record, up to MAX_WEIGHT, or append the word if it is new."""
    if is_in_record(table, words, number):
        index = index_of_word(table, words, number)
        name_bit = words.weights[index] & IN_NAME
        sum_of_weights = min((words.weights[index] & MAX_WEIGHT) + weight, MAX_WEIGHT)
        words.weights[index] = name_bit | sum_of_weights
        return

    index = words.word_count[0]
    words.numbers[index] = number
    words.weights[index] = weight
    table.last_indices[number] = words.first_index + index
    words.word_count[0] = index + 1


def next_word(data: NDArray[np.uint8], start: int, end: int) -> tuple[int, int]:
    """Return the start and the end of the first word in `data[start:end]`, or `end` twice if there is none."""
    word_start = start
    while word_start < end and not is_word_byte(data[word_start]):
        word_start += 1

    word_end = word_start
    while word_end < end and is_word_byte(data[word_end]):
        word_end += 1
    return word_start, word_end


def next_part(data: NDArray[np.uint8], start: int, end: int) -> tuple[int, int]:
    """Return the start and the end of the first word part in `data[start:end]`, or `end` twice if there is none.

    The word `GermanCredit` has the parts `German` and `Credit`, and most words have a single part.
    """
    part_start = start
    while part_start < end and not is_word_byte(data[part_start]):
        part_start += 1

    part_end = part_start
    while part_end < end and is_word_byte(data[part_end]):
        part_end += 1
        if part_end < end and is_part_boundary(data[part_end - 1], data[part_end]):
            break
    return part_start, part_end


def is_word_byte(byte: int) -> bool:
    """Return whether a byte belongs to a word."""
    return is_letter(byte) or is_digit(byte) or byte >= _FIRST_NON_ASCII_BYTE


def is_letter(byte: int) -> bool:
    """Return whether a byte is an ASCII letter."""
    return is_lower(byte) or is_upper(byte)


def is_lower(byte: int) -> bool:
    """Return whether a byte is a lower-case ASCII letter."""
    return ord("a") <= byte <= ord("z")


def is_upper(byte: int) -> bool:
    """Return whether a byte is an upper-case ASCII letter."""
    return ord("A") <= byte <= ord("Z")


def is_digit(byte: int) -> bool:
    """Return whether a byte is an ASCII digit."""
    return ord("0") <= byte <= ord("9")


def is_part_boundary(byte: int, next_byte: int) -> bool:
    """Return whether a part of a word ends between two adjacent bytes, as in `GermanCredit` and `covid19`."""
    if is_lower(byte) and is_upper(next_byte):
        return True
    return (is_letter(byte) and is_digit(next_byte)) or (is_digit(byte) and is_letter(next_byte))


def to_lower(byte: int) -> int:
    """Return a byte, converted to lower case if it is an ASCII letter."""
    return byte + _CASE_DIFFERENCE if is_upper(byte) else byte


def find_or_add_word(table: WordTable, data: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the number of the word `data[start:end]`, adding it to the table if it is new."""
    word_hash = _HASH_START
    for i in range(start, end):
        word_hash = ((word_hash ^ int(to_lower(data[i]))) * _HASH_FACTOR) & _HASH_MASK

    slot = slot_of_hash(table.slots, word_hash)
    while table.slots[slot] != NO_WORD:
        number = int(table.slots[slot])
        if table.hashes[number] == word_hash and is_same_word(table, number, data, start, end):
            return number
        slot = next_slot(table.slots, slot)

    number = int(table.word_count[0])
    append_word(table, data, start, end)
    table.hashes[number] = word_hash
    table.slots[slot] = number
    table.last_indices[number] = -1  # not in any record yet
    return number


def slot_of_hash(slots: NDArray[np.int32], word_hash: int) -> int:
    """Return the first slot to search for a word."""
    mixed_bits = word_hash ^ (word_hash >> _HASH_SHIFT)
    return mixed_bits & (len(slots) - 1)


def next_slot(slots: NDArray[np.int32], slot: int) -> int:
    """Return the next slot to search."""
    return (slot + 1) & (len(slots) - 1)


def is_same_word(table: WordTable, number: int, data: NDArray[np.uint8], start: int, end: int) -> bool:
    """Return whether a word of the table is equal to `data[start:end]`, ignoring the case of ASCII letters."""
    word_start = start_of_word(table, number)
    if table.ends[number] - word_start != end - start:
        return False
    for i in range(end - start):  # noqa: SIM110 (the compiler knows no generators)
        if table.data[word_start + i] != to_lower(data[start + i]):
            return False
    return True


def start_of_word(table: WordTable, number: int) -> int:
    """Return the start of a word in the data of the table."""
    return 0 if number == 0 else int(table.ends[number - 1])


def append_word(table: WordTable, data: NDArray[np.uint8], start: int, end: int) -> None:
    """Append the word `data[start:end]` in lower case to the words of the table."""
    number = int(table.word_count[0])
    word_start = start_of_word(table, number)
    for i in range(end - start):
        table.data[word_start + i] = to_lower(data[start + i])
    table.ends[number] = word_start + end - start
    table.word_count[0] = number + 1


def fill_slots(hashes: NDArray[np.int64], word_count: int, slots: NDArray[np.int32]) -> None:
    """Insert the first `word_count` words of a table into empty slots."""
    for number in range(word_count):
        slot = slot_of_hash(slots, hashes[number])
        while slots[slot] != NO_WORD:
            slot = next_slot(slots, slot)
        slots[slot] = number
