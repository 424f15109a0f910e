"""Kernels that find the texts containing a substring, ignoring the case of ASCII letters.

The texts are concatenated in one array of UTF-8 bytes. A fast pass, which is compiled to SIMD instructions, marks
candidates for the start of the substring. Only at these candidates is the whole substring compared.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import ZERO, Words, lowest_bit, set_bit, without_lowest_bit
from touchstone.ranking.kernels.filter_kernels import contains_substring

BYTES_PER_PASS: Final = 1024  # the number of bytes in each pass that marks candidates
_BYTES_PER_WORD: Final = 8
_LOWER_CASE_BIT: Final = np.uint8(32)


class EncodedTexts(NamedTuple):
    """Texts as one array of UTF-8 bytes.

    Text `i` is `data[offsets[i]:offsets[i + 1]]`.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[Any]


class CandidateMarks(NamedTuple):
    """Scratch space for marks of candidates.

    Attributes:
        marks: a boolean for each of BYTES_PER_PASS bytes.
        words: the same memory as 64-bit words of eight marks each.
    """

    marks: NDArray[np.bool_]
    words: Words


def select_texts(texts: EncodedTexts, substring: NDArray[np.uint8], scratch: CandidateMarks, matches: Words) -> None:
    """Set the bits in `matches` of the texts that contain a substring.

    The substring must not be empty, and its ASCII letters must be in lower case.
    """
    data, offsets, length = texts.data, texts.offsets, len(substring)
    candidate_end = int(offsets[len(offsets) - 1]) - length + 1  # the substring must begin before this byte
    text = 0

    for start in range(int(offsets[0]), candidate_end, BYTES_PER_PASS):
        end = min(start + BYTES_PER_PASS, candidate_end)
        mark_candidate_starts(data, start, end, substring, scratch.marks)

        for word_index in range(BYTES_PER_PASS // _BYTES_PER_WORD):
            remaining_marks = scratch.words[word_index]
            while remaining_marks != ZERO:
                marked_byte = _BYTES_PER_WORD * word_index + lowest_bit(remaining_marks) // _BYTES_PER_WORD
                remaining_marks = without_lowest_bit(remaining_marks)

                candidate = start + marked_byte
                text = text_at(offsets, candidate, text)
                is_within_text = candidate + length <= int(offsets[text + 1])
                if is_within_text and contains_substring(data, candidate, candidate + length, substring):
                    set_bit(matches, text)


def text_at(offsets: NDArray[Any], byte: int, first_text: int) -> int:
    """Return the index of the text that contains a byte, searching from `first_text` on.

    `offsets` contains the start of each text, followed by the end of the last one.
    """
    text = first_text
    while int(offsets[text + 1]) <= byte:
        text += 1
    return text


def mark_candidate_starts(
    data: NDArray[np.uint8], start: int, end: int, substring: NDArray[np.uint8], marks: NDArray[np.bool_]
) -> None:
    """Mark each byte from `start` to `end - 1` where a substring may begin, and clear all other marks.

    Only the first three bytes are compared, after bit 5 is set in both, which makes ASCII letters lower case. This may
    mark too many bytes, but never too few.
    """
    # In a shorter substring, the last byte replaces the missing ones.
    second_offset = min(1, len(substring) - 1)
    third_offset = min(2, len(substring) - 1)
    first = substring[0] | _LOWER_CASE_BIT
    second = substring[second_offset] | _LOWER_CASE_BIT
    third = substring[third_offset] | _LOWER_CASE_BIT

    # Numba vectorizes only loops over slices with indices from 0.
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
