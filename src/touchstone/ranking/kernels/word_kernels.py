"""Kernels that list the words of records with their weights, as `text.words.weigh_words` defines them.

A word is a run of ASCII letters and digits, or of bytes from 128 on; upper-case letters count as lower-case ones. That
is all there is to a text in plain ASCII without apostrophes. Any other text is split beforehand, and its words, folded
and with a blank between them, are given instead of it.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.text.words import IN_NAME, MAX_WEIGHT, NAME_WEIGHT, TEXT_WEIGHT

NO_WORD: Final = -1
_FIRST_OTHER_BYTE: Final = 128
_APOSTROPHE: Final = 0x27
_CASE_DIFFERENCE: Final = 32
_HASH_START: Final = 2166136261  # the parameters of the hash function FNV-1a, of which more bits are kept here
_HASH_FACTOR: Final = 16777619
_HASH_MASK: Final = 2**48 - 1
_HASH_SHIFT: Final = 24


class RecordTexts(NamedTuple):
    """A text of each of some records.

    Attributes:
        data: The bytes of the texts.
        starts, ends: For each record where its text is in `data`, or in `split_data` if it has been split.
        is_split: For each record whether its text has been split into words beforehand.
        split_data: The words of the texts that have been split.
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    is_split: NDArray[np.bool_]
    split_data: NDArray[np.uint8]


class RecordLabels(NamedTuple):
    """Words of each of some records whose numbers are known, such as those of its tags.

    Attributes:
        starts, ends: For each record where its words are in the other arrays.
        numbers, weights: The numbers of the words, and their weights.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    numbers: NDArray[np.uint32]
    weights: NDArray[np.uint8]


class WordTable(NamedTuple):
    """The words so far, each of which has a number: a hash table with linear probing, which has room for more words.

    Attributes:
        word_count: The number of words, an array with one element.
        data: The bytes of all words.
        ends: For each word where it ends in `data`; it begins where the word before it ends.
        hashes: The hash of each word.
        slots: The number of the word in each slot, or NO_WORD. The number of slots is a power of two.
        last_places: For each word its place in the last record that contains it, counted over all records.
    """

    word_count: NDArray[np.int64]
    data: NDArray[np.uint8]
    ends: NDArray[np.int64]
    hashes: NDArray[np.int64]
    slots: NDArray[np.int32]
    last_places: NDArray[np.int64]


class ListedWords(NamedTuple):
    """The words of some records, which the kernels append one by one.

    Attributes:
        ends: For each record where its words end in the other arrays.
        numbers, weights: The words of all records, and their weights.
        first_place: The place of the first of these words among those of all records.
        record_start: Where the words of the current record begin, an array with one element.
        word_count: The number of words so far, an array with one element.
    """

    ends: NDArray[np.int64]
    numbers: NDArray[np.uint32]
    weights: NDArray[np.uint8]
    first_place: int
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
        for place in range(starts[text], ends[text]):
            byte = data[place]
            if byte >= _FIRST_OTHER_BYTE or byte == _APOSTROPHE:
                is_special[text] = True
                break


def list_words(
    texts: tuple[RecordTexts, RecordTexts],
    names: RecordTexts,
    labels: tuple[RecordLabels, RecordLabels, RecordLabels],
    table: WordTable,
    words: ListedWords,
) -> None:
    """List the words of records that have two texts, a name and three kinds of labels.

    The table and the arrays of `words` must have room for all words.
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
    """Add the words of a text to those of its record."""
    data = texts.split_data if texts.is_split[record] else texts.data
    end = texts.ends[record]

    word_start, word_end = next_word(data, texts.starts[record], end)
    while word_start < word_end:
        add_weight(table, words, number_of_word(table, data, word_start, word_end), TEXT_WEIGHT)
        word_start, word_end = next_word(data, word_end, end)


def add_label_words(labels: RecordLabels, record: int, table: WordTable, words: ListedWords) -> None:
    """Add the words of labels to those of their record."""
    for place in range(labels.starts[record], labels.ends[record]):
        add_weight(table, words, labels.numbers[place], labels.weights[place])


def add_name_words(names: RecordTexts, record: int, table: WordTable, words: ListedWords) -> None:
    """Add the words of a name to those of its record, and mark them.

    In a name such as `GermanCredit`, the parts of a word are words, too, unless they are separate words of the name. If
    the name was split beforehand, its parts are among its words.
    """
    data = names.split_data if names.is_split[record] else names.data
    start, end = names.starts[record], names.ends[record]

    word_start, word_end = next_word(data, start, end)
    while word_start < word_end:
        number = number_of_word(table, data, word_start, word_end)
        add_weight(table, words, number, NAME_WEIGHT)
        mark_as_name(table, words, number)
        word_start, word_end = next_word(data, word_end, end)

    if not names.is_split[record]:
        add_name_parts(data, start, end, table, words)


def add_name_parts(data: NDArray[np.uint8], start: int, end: int, table: WordTable, words: ListedWords) -> None:
    """Add the parts of the words of a name, which lies between two places in `data`, and mark them."""
    part_start, part_end = next_part(data, start, end)
    while part_start < part_end:
        number = number_of_word(table, data, part_start, part_end)
        if not is_word_of_name(table, words, number):
            add_weight(table, words, number, NAME_WEIGHT)
        part_start, part_end = next_part(data, part_end, end)

    # The parts are marked only when all have been added, because a part that is marked counts as a word of the name.
    part_start, part_end = next_part(data, start, end)
    while part_start < part_end:
        mark_as_name(table, words, number_of_word(table, data, part_start, part_end))
        part_start, part_end = next_part(data, part_end, end)


def is_in_record(table: WordTable, words: ListedWords, number: int) -> bool:
    """Return whether a word is among those of the current record."""
    return bool(table.last_places[number] >= words.first_place + words.record_start[0])


def is_word_of_name(table: WordTable, words: ListedWords, number: int) -> bool:
    """Return whether a word is marked as a word of the current record's name."""
    if not is_in_record(table, words, number):
        return False
    return bool(words.weights[place_of_word(table, words, number)] >= IN_NAME)


def mark_as_name(table: WordTable, words: ListedWords, number: int) -> None:
    """Mark a word of the current record as a word of its name."""
    words.weights[place_of_word(table, words, number)] |= IN_NAME


def place_of_word(table: WordTable, words: ListedWords, number: int) -> int:
    """Return where in `words` a word of the current record is."""
    return int(table.last_places[number]) - words.first_place


def add_weight(table: WordTable, words: ListedWords, number: int, weight: int) -> None:
    """Add a weight to a word of the current record; the sum of the weights is never more than MAX_WEIGHT."""
    if is_in_record(table, words, number):
        place = place_of_word(table, words, number)
        name_bit = words.weights[place] & IN_NAME
        sum_of_weights = min((words.weights[place] & MAX_WEIGHT) + weight, MAX_WEIGHT)
        words.weights[place] = name_bit | sum_of_weights
        return

    place = words.word_count[0]
    words.numbers[place] = number
    words.weights[place] = weight
    table.last_places[number] = words.first_place + place
    words.word_count[0] = place + 1


def next_word(data: NDArray[np.uint8], place: int, end: int) -> tuple[int, int]:
    """Return where the next word of a text that ends at `end` begins and ends; both are `end` if there is none."""
    while place < end and not is_word_byte(data[place]):
        place += 1
    word_start = place
    while place < end and is_word_byte(data[place]):
        place += 1
    return word_start, place


def next_part(data: NDArray[np.uint8], place: int, end: int) -> tuple[int, int]:
    """Return where the next part of a word of a name begins and ends; both are `end` if there is none."""
    while place < end and not is_word_byte(data[place]):
        place += 1
    part_start = place
    while place < end and is_word_byte(data[place]):
        place += 1
        if place < end and is_inner_border(data[place - 1], data[place]):
            break
    return part_start, place


def is_word_byte(byte: int) -> bool:
    """Return whether a byte belongs to a word."""
    return is_letter(byte) or is_digit(byte) or byte >= _FIRST_OTHER_BYTE


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


def is_inner_border(byte: int, next_byte: int) -> bool:
    """Return whether a word within a name ends between two neighbouring bytes, as in `GermanCredit` and `covid19`."""
    if is_lower(byte) and is_upper(next_byte):
        return True
    return (is_letter(byte) and is_digit(next_byte)) or (is_digit(byte) and is_letter(next_byte))


def lower(byte: int) -> int:
    """Return a byte, in lower case if it is an ASCII letter."""
    return byte + _CASE_DIFFERENCE if is_upper(byte) else byte


def number_of_word(table: WordTable, data: NDArray[np.uint8], start: int, end: int) -> int:
    """Return the number of the word between two places in `data`, after adding it to the table if it is new."""
    word_hash = _HASH_START
    for place in range(start, end):
        word_hash = ((word_hash ^ int(lower(data[place]))) * _HASH_FACTOR) & _HASH_MASK

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
    table.last_places[number] = -1
    return number


def slot_of_hash(slots: NDArray[np.int32], word_hash: int) -> int:
    """Return the slot at which the search for a word begins."""
    mixed_bits = word_hash ^ (word_hash >> _HASH_SHIFT)
    return mixed_bits & (len(slots) - 1)


def next_slot(slots: NDArray[np.int32], slot: int) -> int:
    """Return the slot at which the search goes on."""
    return (slot + 1) & (len(slots) - 1)


def is_same_word(table: WordTable, number: int, data: NDArray[np.uint8], start: int, end: int) -> bool:
    """Return whether a word of the table is the one between two places in `data`."""
    word_start = start_of_word(table, number)
    if table.ends[number] - word_start != end - start:
        return False
    for i in range(end - start):  # noqa: SIM110 (the compiler knows no generators)
        if table.data[word_start + i] != lower(data[start + i]):
            return False
    return True


def start_of_word(table: WordTable, number: int) -> int:
    """Return where a word of the table begins in its data."""
    return 0 if number == 0 else int(table.ends[number - 1])


def append_word(table: WordTable, data: NDArray[np.uint8], start: int, end: int) -> None:
    """Append the word between two places in `data` to the words of the table."""
    number = int(table.word_count[0])
    word_start = start_of_word(table, number)
    for i in range(end - start):
        table.data[word_start + i] = lower(data[start + i])
    table.ends[number] = word_start + end - start
    table.word_count[0] = number + 1


def fill_slots(hashes: NDArray[np.int64], word_count: int, slots: NDArray[np.int32]) -> None:
    """Enter the first words of a table into empty slots."""
    for number in range(word_count):
        slot = slot_of_hash(slots, hashes[number])
        while slots[slot] != NO_WORD:
            slot = next_slot(slots, slot)
        slots[slot] = number
