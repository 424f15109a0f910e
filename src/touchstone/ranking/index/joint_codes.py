"""Columns of codes that are counted together.

To count how often each code of a column occurs among some records takes a pass over the column. So columns with few
distinct codes are joined: every combination of their codes has a joint code. One pass counts the joint codes, and how
often a code of one column occurs is the sum over the combinations that contain it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Ints
from touchstone.ranking.index.index_columns import IndexColumns
from touchstone.ranking.query.facets import FACET_WORDS

JOINT_CODE_TYPE: Final = np.uint16
MAX_JOINT_CODES: Final = 1 << 16  # as many as the type has values; the counts of all of them fit into a CPU cache
_RECORDS_AT_A_TIME: Final = 1 << 18


class CodedValues(NamedTuple):
    """A column of codes: for each record the code of its value, below `code_count`."""

    name: str
    codes: NDArray[Any]
    code_count: int


@dataclass(frozen=True)
class JointColumn:
    """Some columns over the same records, with the joint codes of the records.

    Attributes:
        names: The names of the columns.
        code_counts: How many codes each of the columns has.
        codes: For each record its joint code: the place of its combination of codes in a table with one axis for each
            column, whose rows are stored one after the other.
    """

    names: tuple[str, ...]
    code_counts: tuple[int, ...]
    codes: NDArray[Any]

    @classmethod
    def of(cls, columns: Sequence[CodedValues]) -> "JointColumn":
        """Join some columns, which have at most MAX_JOINT_CODES combinations of codes unless there is only one."""
        names = tuple(column.name for column in columns)
        code_counts = tuple(column.code_count for column in columns)
        if len(columns) == 1:
            return cls(names, code_counts, columns[0].codes)

        joint_codes = np.empty(len(columns[0].codes), JOINT_CODE_TYPE)
        for start in range(0, len(joint_codes), _RECORDS_AT_A_TIME):
            piece = slice(start, start + _RECORDS_AT_A_TIME)
            joint_codes[piece] = np.ravel_multi_index([column.codes[piece] for column in columns], code_counts)
        return cls(names, code_counts, joint_codes)

    @property
    def joint_code_count(self) -> int:
        """How many combinations of codes there can be."""
        return prod(self.code_counts)

    @cached_property
    def total_counts(self) -> Ints:
        """How many of all records have each joint code."""
        return np.bincount(self.codes, minlength=self.joint_code_count)

    def counts_by_column(self, joint_counts: Ints) -> dict[str, Ints]:
        """Return for each column, by name, how often each of its codes occurs, given how often each joint code does."""
        table = joint_counts.reshape(self.code_counts)
        counts: dict[str, Ints] = {}
        for axis, name in enumerate(self.names):
            other_axes = tuple(other_axis for other_axis in range(table.ndim) if other_axis != axis)
            counts[name] = table.sum(axis=other_axes)
        return counts


def counted_columns(columns: IndexColumns) -> list[CodedValues]:
    """Return the columns of an index whose values facets count."""
    return [*_text_columns(columns), _year_column(columns)]


def join_text_columns(columns: IndexColumns) -> list[JointColumn]:
    """Return the texts and word lists whose values facets count, joined so that few passes count all of them."""
    return join(_text_columns(columns))


def year_alone(columns: IndexColumns) -> JointColumn:
    """Return the years, which are not joined with others because they alone depend on the assurance."""
    return JointColumn.of([_year_column(columns)])


def _text_columns(columns: IndexColumns) -> list[CodedValues]:
    """Return the texts and word lists of an index whose values facets count."""
    word_lists = [CodedValues(name, columns.words[name].codes, len(columns.words[name].pool)) for name in FACET_WORDS]
    file_types = columns.texts["file_type"]
    return [*word_lists, CodedValues("file_type", file_types.codes, len(file_types.pool))]


def _year_column(columns: IndexColumns) -> CodedValues:
    """Return the years of an index."""
    years = columns.numbers["year"]
    return CodedValues("year", years.codes, len(years.values))


def join(columns: Iterable[CodedValues]) -> list[JointColumn]:
    """Divide columns over the same records into groups, and join the columns of each group.

    The columns with the most codes come first, and each column joins the first group that has room for it.
    """
    groups: list[list[CodedValues]] = []
    most_codes_first = sorted(columns, key=lambda column: column.code_count, reverse=True)
    for column in most_codes_first:
        group = next((group for group in groups if _can_join(group, column)), None)
        if group is None:
            groups.append([column])
        else:
            group.append(column)
    return [JointColumn.of(group) for group in groups]


def _can_join(group: Sequence[CodedValues], column: CodedValues) -> bool:
    """Return whether the joint codes of a group of columns and another column are few enough."""
    return prod(member.code_count for member in group) * column.code_count <= MAX_JOINT_CODES
