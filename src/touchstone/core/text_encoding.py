"""Detection of the encoding of a text file from its bytes.

A file is UTF-16 or UTF-8 if its bytes say so. All other encodings are guesses: any bytes are valid in most of them, so
that only the letters show which one makes sense.
"""

import codecs
from dataclasses import dataclass
from typing import Final

from charset_normalizer import from_bytes

WESTERN: Final = "cp1252"
# The encodings, apart from Unicode, in which tables are still written: the names of Python, and those that people know.
LEGACY_ENCODINGS: Final = {
    WESTERN: "Windows-1252",
    "cp1251": "Windows-1251",
    "koi8_r": "KOI8-R",
    "cp1250": "Windows-1250",
    "cp1253": "Windows-1253",
    "cp1254": "Windows-1254",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "cp932": "Shift JIS",
    "gb18030": "GB 18030",
    "cp949": "EUC-KR",
    "big5": "Big5",
}
_SAMPLE_BYTES: Final = 2**16
_MIN_LETTERS: Final = 8  # Fewer letters outside of ASCII say nothing; the Western encoding is the most frequent one.
_MIN_RUN: Final = 3  # Languages with Latin letters hardly ever have so many accented ones in a row.


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """The encoding of a text file, by the name of Python, and whether it was guessed from the letters."""

    name: str
    is_guess: bool = False

    @property
    def label(self) -> str:
        """The name that people know the encoding by."""
        return LEGACY_ENCODINGS.get(self.name, self.name.upper())


class EncodingDetector:
    """A detector of the encoding of a text file; `update` adds the file chunk by chunk."""

    def __init__(self) -> None:
        self._utf8_decoder = codecs.getincrementaldecoder("utf-8")()
        self._is_utf8 = True
        self._beginning = b""
        self._sample = b""

    def update(self, chunk: bytes) -> None:
        """Look at the next chunk of the file."""
        if not self._beginning:
            self._beginning = chunk[:_SAMPLE_BYTES]
        if self._is_utf8:
            self._is_utf8 = self._continues_utf8(chunk)
        if not self._is_utf8 and len(self._sample) < _SAMPLE_BYTES:
            self._sample += _lines_beyond_ascii(chunk)[:_SAMPLE_BYTES]

    def result(self) -> TextEncoding:
        """Return the encoding, after the whole file has been added."""
        unicode_encoding = detect_utf16(self._beginning)
        if unicode_encoding is not None:
            return TextEncoding(unicode_encoding)

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


def detect_utf16(beginning: bytes) -> str | None:
    """Return the variant of UTF-16 that a file begins in, or None if it begins in another encoding.

    Without a byte order mark, UTF-16 shows by null bytes in every second place, since most characters of tables, such
    as digits and delimiters, are ASCII.
    """
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"

    half = len(beginning) // 2
    null_bytes_first = beginning[0 : 2 * half : 2].count(0)
    null_bytes_second = beginning[1 : 2 * half : 2].count(0)
    if null_bytes_first == 0 and null_bytes_second > half / 2:
        return "utf-16-le"
    if null_bytes_second == 0 and null_bytes_first > half / 2:
        return "utf-16-be"
    return None


def _lines_beyond_ascii(chunk: bytes) -> bytes:
    """Return the lines of a chunk that contain other characters than ASCII."""
    return b"".join(line for line in chunk.splitlines(keepends=True) if not line.isascii())


def _guess_legacy_encoding(sample: bytes) -> str:
    """Return the encoding that makes most sense of a text that is not in Unicode.

    Accented letters within words of ASCII letters are Western, unless the text shows another language clearly. Words
    without any ASCII letter are of another script, such as Cyrillic.
    """
    letters = sum(byte >= 0x80 for byte in sample)
    if letters < _MIN_LETTERS and not _has_long_run(sample):
        return WESTERN

    best_match = from_bytes(sample, cp_isolation=list(LEGACY_ENCODINGS)).best()
    return best_match.encoding if best_match is not None else WESTERN


def _has_long_run(sample: bytes) -> bool:
    """Return whether several bytes beyond ASCII follow one another, as in words of another script than Latin."""
    run = 0
    for byte in sample:
        run = run + 1 if byte >= 0x80 else 0
        if run >= _MIN_RUN:
            return True
    return False
