"""Words and signs that represent a missing value in the cells of a table."""

from typing import Final

# In lower case, but compared ignoring case. Numbers such as -9 or 999, which some tables use as marks, are values.
MISSING_MARKS: Final = frozenset({"", "?", "na", "n/a", "#n/a", "<na>", "nan", "null", "-", "--", "."})
MISSING_NUMBER_MARKS: Final = frozenset({"none", "missing", "unknown"})  # only in columns of numbers
MIN_AGREEMENT: Final = 0.95  # the share of the different values that must fit a type; the others become missing
PLUS: Final = "+"
DASHES: Final = frozenset({"-", "--"})


def missing_marks(*, has_plus: bool) -> frozenset[str]:
    """Return the marks for missing values in a column, in lower case.

    In a column of plus and minus signs, such as test results, a minus sign is a value.

    Args:
        has_plus: whether one of the values in the column is a plus sign.
    """
    return MISSING_MARKS - DASHES if has_plus else MISSING_MARKS
