"""Detection of the encoding of a text file from its bytes.

A file is UTF-16 or UTF-8 if its bytes say so. All other encodings are guesses: any bytes are valid in most of them, so
that only the words show which one makes sense.
"""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

WESTERN: Final = "cp1252"
_SAMPLE_BYTES: Final = 2**16
_MIN_UTF16_CHARACTERS: Final = 4
_PUNCTUATION: Final = frozenset("\u00a0‘’‚“”„–—…•«»€£¥§©®™°±²³·¿¡")  # As in texts of any language.
_WORD: Final = re.compile(r"[^\W\d_]+")
_THREE_ACCENTED_LETTERS: Final = re.compile(r"[^\x00-\x7f]{3}")
_USUAL_CASE: Final = re.compile(r"u?[ln]*|[un]*")  # Of letters that are upper case, lower case, or neither.


def _is_latin_word(word: str, accented_letters: str) -> bool:
    """Return whether a word consists of ASCII letters and some of these accented letters.

    Languages with Latin letters hardly ever have three accented ones in a row, or a longer word of nothing else.
    """
    accented = {letter for letter in word.lower() if not letter.isascii()}
    has_ascii_letter = any(letter.isascii() for letter in word)
    has_long_run = _THREE_ACCENTED_LETTERS.search(word) is not None
    return accented <= set(accented_letters) and not has_long_run and (has_ascii_letter or len(word) < 3)


def _is_word_of_script(word: str, first_letter: str, last_letter: str, min_length: int = 1) -> bool:
    """Return whether all letters of a word are in the range of a script, in which words have a minimum length."""
    return len(word) >= min_length and all(first_letter <= letter <= last_letter for letter in word)


@dataclass(frozen=True, slots=True)
class _LegacyEncoding:
    """An encoding that is older than Unicode, and which words beyond ASCII make sense in it.

    `strict_name` is an encoding of the most frequent characters only, where there is one: it tells languages apart,
    in whose complete encodings nearly all bytes are valid.
    """

    name: str
    label: str  # The name that people know it by.
    is_word: Callable[[str], bool]
    strict_name: str = ""


def _words_between(first_letter: str, last_letter: str, min_length: int = 1) -> Callable[[str], bool]:
    """Return a function that says whether a word consists of the letters of a script, which is a range of Unicode."""
    return partial(_is_word_of_script, first_letter=first_letter, last_letter=last_letter, min_length=min_length)


def _words_with(accented_letters: str) -> Callable[[str], bool]:
    """Return a function that says whether a word consists of ASCII letters and some of these accented ones."""
    return partial(_is_latin_word, accented_letters=accented_letters)


_CYRILLIC: Final = _words_between("\u0400", "\u04ff")
_CHINESE: Final = _words_between("\u4e00", "\u9fff")
# Where several make equal sense of a text, the first one is chosen.
_LEGACY_ENCODINGS: Final = (
    _LegacyEncoding(WESTERN, "Windows-1252", _words_with("àáâãäåæçèéêëìíîïñòóôõöøœùúûüÿßšžªº")),
    _LegacyEncoding("cp1255", "Windows-1255", _words_between("\u05d0", "\u05ea", min_length=2)),
    _LegacyEncoding("cp1251", "Windows-1251", _CYRILLIC),
    _LegacyEncoding("koi8_r", "KOI8-R", _CYRILLIC),
    _LegacyEncoding("cp1253", "Windows-1253", _words_between("\u0386", "\u03ce")),
    _LegacyEncoding("cp1256", "Windows-1256", _words_between("\u0621", "\u06d2")),
    _LegacyEncoding("cp1254", "Windows-1254", _words_with("çğıöşüâîû\u0307")),
    _LegacyEncoding("cp1250", "Windows-1250", _words_with("ąćčďęěáâăäéëíîĺľłńňóôőöřŕśšşťţúůűüýźžżçđß")),
    _LegacyEncoding("cp949", "EUC-KR", _words_between("\uac00", "\ud7a3"), strict_name="euc_kr"),
    _LegacyEncoding("cp932", "Shift JIS", _words_between("\u3005", "\u9fff"), strict_name="shift_jis"),
    _LegacyEncoding("gb18030", "GB 18030", _CHINESE, strict_name="gb2312"),
    _LegacyEncoding("big5", "Big5", _CHINESE),
)
_LABELS: Final = {encoding.name: encoding.label for encoding in _LEGACY_ENCODINGS}


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """The encoding of a text file, by the name of Python, and whether it was guessed from the words."""

    name: str
    is_guess: bool = False

    @property
    def label(self) -> str:
        """The name that people know the encoding by."""
        return _LABELS.get(self.name, self.name.upper())


class EncodingDetector:
    """A detector of the encoding of a text file; `update` adds the file chunk by chunk."""

    def __init__(self) -> None:
        self._utf8_decoder = codecs.getincrementaldecoder("utf-8")()
        self._is_utf8 = True
        self._beginning = b""
        self._sample = b""

    def update(self, chunk: bytes) -> None:
        """Look at the next chunk of the file."""
        is_beginning = not self._beginning
        if is_beginning:
            self._beginning = chunk[:_SAMPLE_BYTES]
        if self._is_utf8:
            self._is_utf8 = self._continues_utf8(chunk)
        if not self._is_utf8 and len(self._sample) < _SAMPLE_BYTES:
            self._sample += _lines_beyond_ascii(chunk, starts_within_line=not is_beginning)

    def result(self) -> TextEncoding:
        """Return the encoding, after the whole file has been added."""
        utf16_variant = _detect_utf16(self._beginning)
        if utf16_variant is not None:
            return TextEncoding(utf16_variant)

        unfinished_character, _state = self._utf8_decoder.getstate()
        if self._is_utf8 and not unfinished_character:
            return TextEncoding("utf-8")
        return TextEncoding(_guess_legacy_encoding(self._sample), is_guess=True)

    def _continues_utf8(self, chunk: bytes) -> bool:
        """Return whether a chunk continues a text in UTF-8."""
        try:
            self._utf8_decoder.decode(chunk)
        except UnicodeDecodeError:
            return False
        return True


def _detect_utf16(beginning: bytes) -> str | None:
    """Return the variant of UTF-16 in which a file is written, judging by its first bytes, or None if it is not UTF-16.

    A file without a byte order mark is recognized by null bytes: most characters of a table are ASCII, such as digits
    and delimiters, and UTF-16 writes each of these as a null byte and another one.
    """
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"

    character_count = len(beginning) // 2
    if character_count < _MIN_UTF16_CHARACTERS:
        return None

    end = 2 * character_count
    nulls_at_even_positions = beginning[0:end:2].count(0)
    nulls_at_odd_positions = beginning[1:end:2].count(0)

    # The null byte comes second in little-endian order, and first in big-endian order.
    most_characters = character_count / 2
    if nulls_at_even_positions == 0 and nulls_at_odd_positions > most_characters:
        return "utf-16-le"
    if nulls_at_odd_positions == 0 and nulls_at_even_positions > most_characters:
        return "utf-16-be"
    return None


def _lines_beyond_ascii(chunk: bytes, *, starts_within_line: bool) -> bytes:
    """Return the lines of a chunk that contain other characters than ASCII, until they are enough for a sample.

    The first and the last line of the chunk are left out if they continue in its neighbours.
    """
    lines = chunk.splitlines(keepends=True)
    if starts_within_line:
        lines = lines[1:]

    ends_within_line = not chunk.endswith((b"\n", b"\r"))
    if ends_within_line and len(lines) > 1:
        lines = lines[:-1]

    sample = b""
    for line in lines:
        if len(sample) > _SAMPLE_BYTES:
            break
        if not line.isascii():
            sample += line
    return sample


def _guess_legacy_encoding(sample: bytes) -> str:
    """Return the encoding in which a text makes most sense, for a text that is not in Unicode."""
    plausibilities = [_plausibility(encoding, sample) for encoding in _LEGACY_ENCODINGS]
    return _LEGACY_ENCODINGS[plausibilities.index(max(plausibilities))].name


def _plausibility(encoding: _LegacyEncoding, sample: bytes) -> float:
    """Return how plausible it is that some bytes are text in an encoding, from 0 to 1.

    Only the characters beyond ASCII, and the words that contain them, are judged: the result is the share of these
    words that are possible, times the share of these characters that are letters.

    An encoding in which the bytes are invalid has plausibility 0. Only the Western encoding, which is the default,
    accepts all bytes.
    """
    is_default = encoding.name == WESTERN
    try:
        text = sample.decode(encoding.strict_name or encoding.name, errors="replace" if is_default else "strict")
    except UnicodeDecodeError:
        return 0.0

    characters = [character for character in text if not character.isascii() and character not in _PUNCTUATION]
    words = {word for word in _WORD.findall(text) if not word.isascii()}
    if not characters or not words:
        return 1.0 if is_default else 0.0

    possible_word_count = sum(_has_usual_case(word) and encoding.is_word(word) for word in words)
    letter_count = sum(character.isalpha() for character in characters)
    return possible_word_count / len(words) * letter_count / len(characters)


def _has_usual_case(word: str) -> bool:
    """Return whether the letters of a word are small, capital, or small after a capital one."""
    cases = "".join("u" if letter.isupper() else "l" if letter.islower() else "n" for letter in word)
    return _USUAL_CASE.fullmatch(cases) is not None
