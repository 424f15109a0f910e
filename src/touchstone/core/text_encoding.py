"""Detection of the encoding of a text file from its bytes.

UTF-16 and UTF-8 can be recognized reliably. Most other encodings accept any bytes, so they can only be guessed from the
plausibility of the decoded words.
"""

import codecs
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Final

WESTERN: Final = "cp1252"
_SAMPLE_BYTES: Final = 2**16
_MIN_UTF16_CHARACTERS: Final = 4
_RANK_TOLERANCE: Final = 1.0  # Smaller differences between mean letter ranks say nothing.
_PUNCTUATION: Final = frozenset("\u00a0‘’‚“”„–—…•«»€£¥§©®™°±²³·¿¡")  # may appear in any language
_WORD: Final = re.compile(r"[^\W\d_]+")
_THREE_ACCENTED_LETTERS: Final = re.compile(r"[^\x00-\x7f]{3}")
_HEBREW_FINAL_FORMS: Final = frozenset("ךםןףץ")
_USUAL_CASE: Final = re.compile(r"u?[ln]*|[un]*")  # one letter for upper case (u), lower case (l) or neither (n)


def _is_latin_word(word: str, accented_letters: str) -> bool:
    """Return whether a word consists of ASCII letters and the given accented letters.

    In languages with Latin letters, there are hardly ever three consecutive accented letters, or words of at least
    three letters that are all accented.
    """
    letters_beyond_ascii = {letter for letter in word.lower() if not letter.isascii()}
    if not letters_beyond_ascii <= set(accented_letters):
        return False
    if _THREE_ACCENTED_LETTERS.search(word) is not None:
        return False

    has_ascii_letter = any(letter.isascii() for letter in word)
    return has_ascii_letter or len(word) < 3


def _is_word_of_script(word: str, first_letter: str, last_letter: str, min_length: int = 1) -> bool:
    """Return whether a word has the minimum length and all of its letters are in the range of a script."""
    return len(word) >= min_length and all(first_letter <= letter <= last_letter for letter in word)


@dataclass(frozen=True, slots=True)
class _LegacyEncoding:
    """An encoding that is older than Unicode.

    Attributes:
        name: the name in Python.
        label: the common name.
        is_word: returns whether a decoded non-ASCII word is plausible in this encoding.
        strict_name: a variant with only the most frequent characters, or an empty string. It is used for the detection
            of languages whose complete encodings accept nearly all bytes.
        letters_by_frequency: the lower-case letters of the script, the most frequent first, or an empty string. They
            decide between encodings with equally plausible words, such as Windows-1251 and KOI8-R.
    """

    name: str
    label: str
    is_word: Callable[[str], bool]
    strict_name: str = ""
    letters_by_frequency: str = ""

    def mean_letter_rank(self, sample: bytes) -> float:
        """Return the mean position in `letters_by_frequency` of the letters of all distinct words with such letters.

        In most languages, the frequency of letters falls with their rank by about the same factor, so the encoding with
        the lowest mean rank is the most probable one.
        """
        ranks = {letter: rank for rank, letter in enumerate(self.letters_by_frequency)}
        words = set(_non_ascii_words(sample.decode(self.name)))
        return fmean(ranks.get(letter, len(ranks)) for word in words for letter in word.lower())


def _non_ascii_words(text: str) -> list[str]:
    """Return the words of a text that contain non-ASCII letters."""
    return [word for word in _WORD.findall(text) if not word.isascii()]


def _words_of_script(first_letter: str, last_letter: str, min_length: int = 1) -> Callable[[str], bool]:
    """Return a predicate for words in a script, given as a range of Unicode letters."""
    return partial(_is_word_of_script, first_letter=first_letter, last_letter=last_letter, min_length=min_length)


def _latin_words_with(accented_letters: str) -> Callable[[str], bool]:
    """Return a predicate for words with ASCII letters and the given accented letters."""
    return partial(_is_latin_word, accented_letters=accented_letters)


def _is_hebrew_word(word: str) -> bool:
    """Return whether a word is in Hebrew letters, with the final forms of letters at its end only."""
    has_inner_final_form = any(letter in _HEBREW_FINAL_FORMS for letter in word[:-1])
    return _is_word_of_script(word, "\u05d0", "\u05ea", min_length=2) and not has_inner_final_form


def _is_cyrillic_word(word: str) -> bool:
    """Return whether a word is in Cyrillic letters, with no hard or soft sign where these signs never stand."""
    lower_case = word.lower()
    has_misplaced_sign = lower_case.startswith(("ъ", "ь", "ы")) or lower_case.endswith("ъ")
    return _is_word_of_script(word, "\u0400", "\u04ff") and not has_misplaced_sign


_CYRILLIC_LETTERS: Final = "оеаинтсрвлкмдпуіязьгбчйыхъжшюцщэфєїёґ"
_GREEK_LETTERS: Final = "αοιετσνηρκπυμλςίάόγέδήωύχθώφβξζψϊϋΐΰ"
_HEBREW_LETTERS: Final = "יוהלארתבמשםנדחקעפכטגצסזןךףץ"
_ARABIC_LETTERS: Final = "الينمورتبةعدسفهكقحجأشطصخذىزضغثءإآئؤظ"
_GREEK: Final = _words_of_script("\u0386", "\u03ce")
_ARABIC: Final = _words_of_script("\u0621", "\u06d2")
_CHINESE: Final = _words_of_script("\u4e00", "\u9fff")
# If several encodings are equally plausible, the first one is chosen, unless the frequency of letters decides.
_LEGACY_ENCODINGS: Final = (
    _LegacyEncoding(WESTERN, "Windows-1252", _latin_words_with("àáâãäåæçèéêëìíîïñòóôõöøœùúûüÿßšžªº")),
    _LegacyEncoding("cp1255", "Windows-1255", _is_hebrew_word, letters_by_frequency=_HEBREW_LETTERS),
    _LegacyEncoding("cp1251", "Windows-1251", _is_cyrillic_word, letters_by_frequency=_CYRILLIC_LETTERS),
    _LegacyEncoding("koi8_r", "KOI8-R", _is_cyrillic_word, letters_by_frequency=_CYRILLIC_LETTERS),
    _LegacyEncoding("cp1253", "Windows-1253", _GREEK, letters_by_frequency=_GREEK_LETTERS),
    _LegacyEncoding("cp1256", "Windows-1256", _ARABIC, letters_by_frequency=_ARABIC_LETTERS),
    _LegacyEncoding("cp1254", "Windows-1254", _latin_words_with("çğıöşüâîû\u0307")),
    _LegacyEncoding("cp1250", "Windows-1250", _latin_words_with("ąćčďęěáâăäéëíîĺľłńňóôőöřŕśšşťţúůűüýźžżçđß")),
    _LegacyEncoding("cp949", "EUC-KR", _words_of_script("\uac00", "\ud7a3"), strict_name="euc_kr"),
    _LegacyEncoding("cp932", "Shift JIS", _words_of_script("\u3005", "\u9fff"), strict_name="shift_jis"),
    _LegacyEncoding("gb18030", "GB 18030", _CHINESE, strict_name="gb2312"),
    _LegacyEncoding("big5", "Big5", _CHINESE),
)
_LABELS: Final = {encoding.name: encoding.label for encoding in _LEGACY_ENCODINGS}


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """The encoding of a text file.

    Attributes:
        name: the name in Python.
        is_guess: whether the encoding was guessed from the words in the file.
    """

    name: str
    is_guess: bool = False

    @property
    def label(self) -> str:
        """The common name of the encoding."""
        return _LABELS.get(self.name, self.name.upper())


class EncodingDetector:
    """An incremental detector of the encoding of a text file, which is added in chunks with `update`."""

    def __init__(self) -> None:
        self._utf8_decoder = codecs.getincrementaldecoder("utf-8")()
        self._is_utf8 = True
        self._beginning = b""
        self._sample = b""

    def update(self, chunk: bytes) -> None:
        """Add the next chunk of the file."""
        is_beginning = not self._beginning
        if is_beginning:
            self._beginning = chunk[:_SAMPLE_BYTES]
        if self._is_utf8:
            self._is_utf8 = self._continues_utf8(chunk)
        if not self._is_utf8 and len(self._sample) < _SAMPLE_BYTES:
            self._sample += _non_ascii_lines(chunk, starts_within_line=not is_beginning)

    def result(self) -> TextEncoding:
        """Return the encoding after the whole file has been added."""
        utf16_variant = _detect_utf16(self._beginning)
        if utf16_variant is not None:
            return TextEncoding(utf16_variant)

        unfinished_character, _state = self._utf8_decoder.getstate()
        if self._is_utf8 and not unfinished_character:
            return TextEncoding("utf-8")
        return TextEncoding(_guess_legacy_encoding(self._sample), is_guess=True)

    def _continues_utf8(self, chunk: bytes) -> bool:
        """Return whether the file is still valid UTF-8 after a chunk."""
        try:
            self._utf8_decoder.decode(chunk)
        except UnicodeDecodeError:
            return False
        return True


def _detect_utf16(beginning: bytes) -> str | None:
    """Return the variant of UTF-16 according to the first bytes of a file, or None.

    A file without a byte order mark is recognized by null bytes. Most characters in a table are ASCII, such as digits
    and delimiters, and UTF-16 encodes each of them as a null byte and another byte.
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


def _non_ascii_lines(chunk: bytes, *, starts_within_line: bool) -> bytes:
    """Return the lines of a chunk that contain non-ASCII characters, up to the size of a sample.

    The first and the last line are omitted if they are incomplete in this chunk.
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
    """Return the most plausible encoding of bytes that are not Unicode.

    Among equally plausible encodings, the first one is chosen. If that is the encoding of a script other than Latin,
    such as Cyrillic, the frequencies of the letters decide instead, because the same bytes often look like words in
    several such encodings.
    """
    plausibility_of = {encoding: _plausibility(encoding, sample) for encoding in _LEGACY_ENCODINGS}
    highest = max(plausibility_of.values())
    candidates = [encoding for encoding, plausibility in plausibility_of.items() if plausibility == highest]

    if candidates[0].letters_by_frequency:
        return _choose_by_letters([candidate for candidate in candidates if candidate.letters_by_frequency], sample)
    return candidates[0].name


def _choose_by_letters(encodings: Sequence[_LegacyEncoding], sample: bytes) -> str:
    """Return the first encoding whose letters are about as frequent in its script as those of any other one."""
    mean_ranks = [encoding.mean_letter_rank(sample) for encoding in encodings]
    highest_rank = min(mean_ranks) + _RANK_TOLERANCE
    return next(encoding.name for encoding, rank in zip(encodings, mean_ranks, strict=True) if rank <= highest_rank)


def _plausibility(encoding: _LegacyEncoding, sample: bytes) -> float:
    """Return the plausibility, from 0 to 1, that the bytes are text in an encoding.

    Only non-ASCII characters and words with such characters are considered. The result is the share of these words that
    are possible, multiplied by the share of these characters that are letters.

    If the bytes are invalid in the encoding, the plausibility is 0, except for the Western encoding, which is the
    default.
    """
    is_default = encoding.name == WESTERN
    try:
        text = sample.decode(encoding.strict_name or encoding.name, errors="replace" if is_default else "strict")
    except UnicodeDecodeError:
        return 0.0

    characters = [character for character in text if not character.isascii() and character not in _PUNCTUATION]
    words = set(_non_ascii_words(text))
    if not characters or not words:
        return 1.0 if is_default else 0.0

    possible_word_count = sum(_has_usual_case(word) and encoding.is_word(word) for word in words)
    letter_count = sum(character.isalpha() for character in characters)
    return possible_word_count / len(words) * letter_count / len(characters)


def _has_usual_case(word: str) -> bool:
    """Return whether a word is in lower case, in upper case, or capitalized."""
    cases = "".join(_case_of(letter) for letter in word)
    return _USUAL_CASE.fullmatch(cases) is not None


def _case_of(letter: str) -> str:
    """Return `u` for an upper-case letter, `l` for a lower-case one, or `n` for a letter without case."""
    if letter.isupper():
        return "u"
    return "l" if letter.islower() else "n"
