"""Kernels that find the texts that contain a substring, ignoring the case of ASCII letters.

The texts are UTF-8 bytes, one text after the other. Most of the work is one pass over these bytes that the compiler
turns into vector instructions: it marks where the substring may begin. Only there is all of it compared.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import ZERO, Words, lowest_bit, set_bit, without_lowest_bit
from touchstone.ranking.kernels.filter_kernels import contains_substring

MARKED_BYTES: Final = 1024  # the number of bytes of text that are marked at a time
_BYTES_PER_WORD: Final = 8
_LOWER_CASE_BIT: Final = np.uint8(32)


class EncodedTexts(NamedTuple):
    """Texts as one array of UTF-8 bytes; text `i` extends from `offsets[i]` to `offsets[i + 1]`."""

    data: NDArray[np.uint8]
    offsets: NDArray[Any]


class Marks(NamedTuple):
    """Scratch space: a boolean for each of MARKED_BYTES bytes of text, and the same memory as words of eight."""

    marks: NDArray[np.bool_]
    words: Words


def select_texts(texts: EncodedTexts, substring: NDArray[np.uint8], scratch: Marks, matches: Words) -> None:
    """Set the bits of those texts that contain a substring.

    The substring is not empty, and its ASCII letters are in lower case.
    """
    data, offsets, length = texts.data, texts.offsets, len(substring)
    end_of_beginnings = int(offsets[len(offsets) - 1]) - length + 1  # the substring begins before this byte
    text = 0

    for start in range(int(offsets[0]), end_of_beginnings, MARKED_BYTES):
        end = min(start + MARKED_BYTES, end_of_beginnings)
        mark_beginnings(data, start, end, substring, scratch.marks)

        for word_index in range(MARKED_BYTES // _BYTES_PER_WORD):
            remaining_marks = scratch.words[word_index]
            while remaining_marks != ZERO:
                marked_byte = _BYTES_PER_WORD * word_index + lowest_bit(remaining_marks) // _BYTES_PER_WORD
                remaining_marks = without_lowest_bit(remaining_marks)

                beginning = start + marked_byte
                text = text_at(offsets, beginning, text)
                is_within_text = beginning + length <= int(offsets[text + 1])
                if is_within_text and contains_substring(data, beginning, beginning + length, substring):
                    set_bit(matches, text)


def text_at(offsets: NDArray[Any], byte: int, first_text: int) -> int:
    """Return the number of the text that a byte belongs to, which is `first_text` or one after it.

    `offsets` holds where each text begins, and at the end where the last one ends.
    """
    text = first_text
    while int(offsets[text + 1]) <= byte:
        text += 1
    return text


def mark_beginnings(
    data: NDArray[np.uint8], start: int, end: int, substring: NDArray[np.uint8], marks: NDArray[np.bool_]
) -> None:
    """Mark each byte from `start` to `end - 1` at which a substring may begin, and clear all other marks.

    The first three bytes of the substring are compared, or as many as it has, with the bit set that makes ASCII letters
    lower case. So some marks are wrong, but none is missing.
    """
    second_offset, third_offset = min(1, len(substring) - 1), min(2, len(substring) - 1)
    first = substring[0] | _LOWER_CASE_BIT
    second = substring[second_offset] | _LOWER_CASE_BIT
    third = substring[third_offset] | _LOWER_CASE_BIT

    # Slices whose indices begin at 0 are needed for vector instructions.
    first_bytes = data[start:end]
    second_bytes = data[start + second_offset : end + second_offset]
    third_bytes = data[start + third_offset : end + third_offset]
    for i in range(len(first_bytes)):
        has_first = (first_bytes[i] | _LOWER_CASE_BIT) == first
        has_second = (second_bytes[i] | _LOWER_CASE_BIT) == second
        has_third = (third_bytes[i] | _LOWER_CASE_BIT) == third
        marks[i] = has_first & has_second & has_third

    for i in range(end - start, len(marks)):
        marks[i] = False
