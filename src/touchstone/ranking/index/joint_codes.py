"""Columns of codes that are counted together in one pass.

Counting the codes of a column takes a pass over the column. To save passes, columns with few distinct codes are joined:
each combination of their codes has a joint code. One pass counts the joint codes, and the count of a single code is the
sum over all combinations that contain it.
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
MAX_JOINT_CODES: Final = 1 << 16  # the number of values of the type; an array of their counts fits into a CPU cache
_RECORDS_PER_CHUNK: Final = 1 << 18


class CodedValues(NamedTuple):
    """A column with the code of each record's value, from 0 to `code_count - 1`."""

    name: str
    codes: NDArray[Any]
    code_count: int


@dataclass(frozen=True)
class JointColumn:
    """Columns over the same records, with the joint code of each record.

    Attributes:
        names: the names of the columns.
        code_counts: the number of codes of each column.
        codes: the joint code of each record: the flat index of its combination of codes in a table in C order that has
            one axis for each column.
    """

    names: tuple[str, ...]
    code_counts: tuple[int, ...]
    codes: NDArray[Any]

    @classmethod
    def from_columns(cls, columns: Sequence[CodedValues]) -> "JointColumn":
        """Join columns, which must have at most MAX_JOINT_CODES combinations.

        A single column is used as it is.
        """
        names = tuple(column.name for column in columns)
        code_counts = tuple(column.code_count for column in columns)
        if len(columns) == 1:
            return cls(names, code_counts, columns[0].codes)

        joint_codes = np.empty(len(columns[0].codes), JOINT_CODE_TYPE)
        for start in range(0, len(joint_codes), _RECORDS_PER_CHUNK):
            chunk = slice(start, start + _RECORDS_PER_CHUNK)
            joint_codes[chunk] = np.ravel_multi_index([column.codes[chunk] for column in columns], code_counts)
        return cls(names, code_counts, joint_codes)

    @property
    def joint_code_count(self) -> int:
        """The number of possible combinations of codes."""
        return prod(self.code_counts)

    @cached_property
    def total_counts(self) -> Ints:
        """The number of all records with each joint code."""
        return np.bincount(self.codes, minlength=self.joint_code_count)

    def counts_by_column(self, joint_counts: Ints) -> dict[str, Ints]:
        """Return the counts of the codes of each column, keyed by its name, from the count of each joint code."""
        table = joint_counts.reshape(self.code_counts)
        counts: dict[str, Ints] = {}
        for axis, name in enumerate(self.names):
            other_axes = tuple(other_axis for other_axis in range(table.ndim) if other_axis != axis)
            counts[name] = table.sum(axis=other_axes)
        return counts


def counted_columns(columns: IndexColumns) -> list[CodedValues]:
    """Return the columns of an index with values that facets count."""
    return [*_text_columns(columns), _year_column(columns)]


def join_text_columns(columns: IndexColumns) -> list[JointColumn]:
    """Join the columns of texts and word lists that facets count, to count them in few passes."""
    return join(_text_columns(columns))


def join_year_column(columns: IndexColumns) -> JointColumn:
    """Return the years as a single joint column, because only they depend on the assurance."""
    return JointColumn.from_columns([_year_column(columns)])


def _text_columns(columns: IndexColumns) -> list[CodedValues]:
    """Return the columns of texts and word lists with values that facets count."""
    word_lists = [CodedValues(name, columns.words[name].codes, len(columns.words[name].pool)) for name in FACET_WORDS]
    file_types = columns.texts["file_type"]
    return [*word_lists, CodedValues("file_type", file_types.codes, len(file_types.pool))]


def _year_column(columns: IndexColumns) -> CodedValues:
    """Return the column of years."""
    years = columns.numbers["year"]
    return CodedValues("year", years.codes, len(years.values))


def join(columns: Iterable[CodedValues]) -> list[JointColumn]:
    """Divide columns over the same records into groups, and join the columns of each group.

    This is a first-fit-decreasing packing: columns with the most codes come first, and each column is added to the
    first group with enough room.
    """
    groups: list[list[CodedValues]] = []
    most_codes_first = sorted(columns, key=lambda column: column.code_count, reverse=True)
    for column in most_codes_first:
        group = next((group for group in groups if _can_join(group, column)), None)
        if group is None:
            groups.append([column])
        else:
            group.append(column)
    return [JointColumn.from_columns(group) for group in groups]


def _can_join(group: Sequence[CodedValues], column: CodedValues) -> bool:
    """Return whether a column can be added to a group without exceeding MAX_JOINT_CODES."""
    return prod(member.code_count for member in group) * column.code_count <= MAX_JOINT_CODES
