"""Words and signs that stand for a missing value in the cells of a table."""

from typing import Final

# In lower case, although any case counts. Numbers such as -9 or 999 are values, although some tables use them as marks.
MISSING_MARKS: Final = frozenset({"", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "-", "--", "."})
MISSING_NUMBER_MARKS: Final = frozenset({"none", "missing", "unknown"})  # These are missing among numbers only.
PLUS: Final = "+"
DASHES: Final = frozenset({"-", "--"})


def missing_marks(*, has_plus: bool) -> frozenset[str]:
    """Return the marks of a column, in lower case; `has_plus` says whether one of its values is a plus sign.

    In a column of plus and minus signs, such as the results of a test, a minus sign is a value like the other.
    """
    return MISSING_MARKS - DASHES if has_plus else MISSING_MARKS
