"""The plan for dividing the rows of a table, which is stored with the model."""

from typing import Any

import msgspec
from msgspec import Struct

from touchstone.learning.request_choices import Duplicates, Strategy
from touchstone.learning.request_definitions import Split


class SplitPlan(Struct, frozen=True, kw_only=True):
    """A complete plan for dividing the rows of a table into training and test rows.

    Attributes:
        strategy: any strategy except `auto`.
        test_size: the share of rows to hold out, unless there are several folds.
        folds: the number of folds of a cross-validation.
        group_column: the column whose groups stay together.
        time_columns: the columns that order the rows in time, such as a date, or a year, a month and a day.
        duplicates: whether equal rows stay together or are divided like all others; never `auto`.
        compares_approximately: whether rows that nearly repeat each other count as equal.
    """

    strategy: Strategy
    test_size: float
    folds: int
    group_column: str | None = None
    time_columns: tuple[str, ...] = ()
    duplicates: Duplicates = Duplicates.KEEP
    compares_approximately: bool = False


def plan_from_record(record: dict[str, Any]) -> SplitPlan:
    """Return the plan stored with a model.

    Models of early releases contain the requested split instead, which was always explicit.
    """
    if "time_columns" in record:
        return msgspec.convert(record, SplitPlan)

    split = msgspec.convert(record, Split)
    return SplitPlan(
        strategy=split.strategy,
        test_size=split.test_size,
        folds=split.folds,
        time_columns=() if split.time_column is None else (split.time_column,),
    )
