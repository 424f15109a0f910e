"""Columns that identify rows, such as a customer number: nothing can be learned from them that holds for other rows."""

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.core.text import fold

MIN_ROWS: Final = 31  # Among few rows, whole numbers that do not repeat may well be quantities.
_YEARS: Final = (1500, 2200)
_FIRST_WORDS: Final = frozenset({"id", "ids", "identifier", "identifiant", "uid", "uuid", "guid"})
_LAST_WORDS: Final = frozenset(
    {*_FIRST_WORDS, "key", "pk", "nr", "no", "number", "numero", "ref", "reference", "serial"}
)
_NAMES: Final = frozenset({"index", "idx", "num", "row", "rows", "rowid", "rownum", "rownames", "rowname"})
# What people number, for names that are written as a single word, such as `customerid`.
_NUMBERED_THINGS: Final = (
    "user|customer|client|patient|person|subject|participant|passenger|student|employee|member|account|order|record|row|"
    "case|sample|product|item|transaction|session|house|household|property|loan|policy|ticket|flight|song|track|movie"
)
_SINGLE_WORD: Final = re.compile(rf"({_NUMBERED_THINGS})s?(id|no|nr|num|number)")
# Quantities that may count without a gap, although they do not merely number the rows.
_RANKS_AND_TIMES: Final = frozenset(
    {
        *("rank", "ranking", "rang", "place", "position", "order", "age"),
        *("year", "month", "week", "day", "hour", "date", "time", "annee", "jahr"),
    }
)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")


def is_named_like_identifier(name: str) -> bool:
    """Return whether the name of a column says that it identifies rows or what they are about, such as `customer_id`.

    The first or the last word has to say so: `id_number`, `PassengerId`.
    """
    words = _words_of(name)
    if not words:
        return False

    is_whole_name = len(words) == 1 and words[0] in _NAMES
    is_single_word = _SINGLE_WORD.fullmatch(words[-1]) is not None
    return is_whole_name or is_single_word or words[0] in _FIRST_WORDS or words[-1] in _LAST_WORDS


def is_row_identifier(name: str, numbers: npt.NDArray[np.float64]) -> bool:
    """Return whether a column of whole numbers, NaN where one is missing, identifies the rows.

    No number may occur twice. They identify the rows if the column is named so, or if they count the rows without a
    gap, from any start and in any order. Years, ranks and the like may do so, too, but have a meaning of their own.
    """
    if len(numbers) < MIN_ROWS or np.isnan(numbers).any():
        return False

    sorted_numbers = np.sort(numbers)
    steps = np.diff(sorted_numbers)
    if steps.min() == 0:
        return False
    if is_named_like_identifier(name):
        return True

    counts_without_gap = bool(steps.max() == 1)
    are_years = _YEARS[0] <= sorted_numbers[0] and sorted_numbers[-1] <= _YEARS[1]
    has_meaning = are_years or not _RANKS_AND_TIMES.isdisjoint(_words_of(name))
    return counts_without_gap and not has_meaning


def _words_of(name: str) -> list[str]:
    """Return the words of a name, which signs or capital letters separate, without case and accents."""
    return [fold(word) for word in _WORD.findall(name)]
