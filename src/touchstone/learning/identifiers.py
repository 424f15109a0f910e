"""Detection of columns that identify rows, such as a customer number.

A model cannot learn anything from them that applies to other rows.
"""

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.core.text import fold
from touchstone.learning.splits.column_names import DAY_WORDS, HOUR_WORDS, MINUTE_WORDS, MONTH_WORDS, YEAR_WORDS

MIN_ROWS: Final = 31  # In fewer rows, unique whole numbers may well be quantities.
_YEAR_RANGE: Final = (1500, 2200)
_IDENTIFIER_FIRST_WORDS: Final = frozenset({"id", "ids", "identifier", "identifiant", "uid", "uuid", "guid"})
_IDENTIFIER_LAST_WORDS: Final = frozenset(
    {*_IDENTIFIER_FIRST_WORDS, "key", "pk", "nr", "no", "number", "numero", "ref", "reference", "serial"}
)
_IDENTIFIER_NAMES: Final = frozenset({"index", "idx", "num", "row", "rows", "rowid", "rownum", "rownames", "rowname"})
# Things that people number, for names written as a single word, such as `customerid`.
_NUMBERED_THINGS: Final = (
    "user|customer|client|patient|person|subject|participant|passenger|student|employee|member|account|order|record|row|"
    "case|sample|product|item|transaction|session|house|household|property|loan|policy|ticket|flight|song|track|movie"
)
_SINGLE_WORD: Final = re.compile(rf"({_NUMBERED_THINGS})s?(id|no|nr|num|number)")
# Names of quantities that may be consecutive numbers although they do more than number the rows.
_RANK_AND_TIME_WORDS: Final = frozenset(
    {
        *("rank", "ranking", "rang", "place", "platz", "position", "order", "age", "alter", "edad"),
        *YEAR_WORDS,
        *MONTH_WORDS,
        *("week", "semaine", "semana", "settimana", "woche"),
        *DAY_WORDS,
        *HOUR_WORDS,
        *MINUTE_WORDS,
        *("date", "time", "zeit"),
    }
)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")


def is_named_like_identifier(name: str) -> bool:
    """Return whether the name of a column indicates an identifier, such as `customer_id`.

    The first or the last word has to indicate this, as in `id_number` and `PassengerId`.
    """
    words = _split_words(name)
    if not words:
        return False

    is_whole_name = len(words) == 1 and words[0] in _IDENTIFIER_NAMES
    is_single_word = _SINGLE_WORD.fullmatch(words[-1]) is not None
    return is_whole_name or is_single_word or words[0] in _IDENTIFIER_FIRST_WORDS or words[-1] in _IDENTIFIER_LAST_WORDS


def is_row_identifier(name: str, numbers: npt.NDArray[np.float64]) -> bool:
    """Return whether a column of whole numbers identifies the rows.

    The numbers must be unique. They identify the rows if the name of the column indicates an identifier, or if they are
    consecutive, from any start and in any order. Years, ranks and similar quantities may also be consecutive, but are
    meaningful.

    Args:
        name: the name of the column.
        numbers: the numbers, NaN where one is missing.
    """
    if len(numbers) < MIN_ROWS or np.isnan(numbers).any():
        return False

    sorted_numbers = np.sort(numbers)
    steps = np.diff(sorted_numbers)
    if steps.min() == 0:
        return False
    if is_named_like_identifier(name):
        return True

    are_consecutive = bool(steps.max() == 1)
    are_years = _YEAR_RANGE[0] <= sorted_numbers[0] and sorted_numbers[-1] <= _YEAR_RANGE[1]
    are_meaningful = are_years or not _RANK_AND_TIME_WORDS.isdisjoint(_split_words(name))
    return are_consecutive and not are_meaningful


def _split_words(name: str) -> list[str]:
    """Split a name at punctuation and capital letters, and fold the case and the accents of the words."""
    return [fold(word) for word in _WORD.findall(name)]
