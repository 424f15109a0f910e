"""Columns of numbers or dates with a few other values, which count as missing.

Trainings read such columns in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.missing_values import MIN_AGREEMENT, PLUS
from touchstone.core.number_notation import CODE_WITH_LEADING_ZERO
from touchstone.datafiles.column_queries import aggregate_columns
from touchstone.datafiles.duckdb_table import DuckDbTable
from touchstone.datafiles.file_profile import ColumnType
from touchstone.datafiles.source_columns import (
    PLAIN_TEXT,
    Interpretation,
    SourceColumn,
    choose_text_interpretation,
)

_MAX_COUNTED_VALUES: Final = 1_000  # larger numbers of different values are estimated, because counting needs memory


@dataclass(frozen=True, slots=True)
class MixedColumn:
    """A column that may consist of numbers or dates and a few other values.

    Attributes:
        source: the column.
        interpretations: the interpretations as numbers or dates that can read some values, with the best one as numbers
            first, followed by dates.
        has_many_values: whether the number of different values is too large to be counted exactly.
    """

    source: SourceColumn
    interpretations: Sequence[Interpretation]
    has_many_values: bool

    @property
    def counts_sql(self) -> str:
        """The SQL that counts the different values, and those that each interpretation cannot read."""
        count = "approx_count_distinct({})" if self.has_many_values else "count(DISTINCT {})"
        pairs = []
        for interpretation in self.interpretations:
            # Some words are missing marks among numbers only.
            condition = "ambiguous_word IS NULL" if interpretation.is_numeric else "value IS NOT NULL"
            unreadable = f"{condition} AND {interpretation.conversion_of('value')} IS NULL"
            all_count = count.format(f"CASE WHEN {condition} THEN value END")
            unreadable_count = count.format(f"CASE WHEN {unreadable} THEN value END")
            pairs.append(f"[{all_count}, {unreadable_count}]")

        code_count = f"count_if(regexp_full_match(value, '{CODE_WITH_LEADING_ZERO}'))"
        return f"{{'distinct_counts': [{', '.join(pairs)}]::BIGINT[][], 'code_count': {code_count}}}"

    def choose_interpretation(self, counts: Mapping[str, Any]) -> Interpretation | None:
        """Return the first interpretation that can read nearly all different values, or None.

        A column with codes, such as the postal code 01067, is no column of numbers.

        Args:
            counts: the result of `counts_sql`.
        """
        for interpretation, (all_count, unreadable_count) in zip(
            self.interpretations, counts["distinct_counts"], strict=True
        ):
            has_codes = interpretation.is_numeric and counts["code_count"] > 0
            if not has_codes and unreadable_count <= (1 - MIN_AGREEMENT) * all_count:
                return interpretation
        return None


def find_mixed_columns(
    table: DuckDbTable, columns: Sequence[SourceColumn], counts: Mapping[int, Mapping[str, Any]]
) -> dict[int, Interpretation]:
    """Return how to read the columns of numbers or dates with a few other values, by index in the file.

    Args:
        table: the table.
        columns: the columns of the table.
        counts: the number of values of each column, and of those that each of its interpretations can read, by index.
    """
    candidates = []
    for column in columns:
        candidate = _find_candidate(column, counts.get(column.index, {}))
        if candidate is not None:
            candidates.append(candidate)

    counts_sql = {candidate.source.index: candidate.counts_sql for candidate in candidates}
    distinct_counts = aggregate_columns(table, candidates, counts_sql)

    chosen = {}
    for candidate in candidates:
        interpretation = candidate.choose_interpretation(distinct_counts[candidate.source.index])
        if interpretation is not None:
            chosen[candidate.source.index] = interpretation
    return chosen


def _find_candidate(column: SourceColumn, counts: Mapping[str, Any]) -> MixedColumn | None:
    """Return a text column as a candidate, or None if one interpretation fits all of its values, or none fits any."""
    if not column.is_read_as_text or not counts:
        return None

    ambiguous_counts = dict(counts["ambiguous_counts"] or {})
    has_plus = ambiguous_counts.pop(PLUS, 0) > 0  # Dashes are then values, which no interpretation can read.
    readable_counts = counts["readable_counts"]
    missing_number_count = sum(ambiguous_counts.values())
    fitting = choose_text_interpretation(column, readable_counts, counts["present_count"], missing_number_count)
    if has_plus or fitting is not PLAIN_TEXT:
        return None

    count_by_interpretation = {
        interpretation: count
        for interpretation, count in zip(column.interpretations, readable_counts, strict=True)
        if count > 0 and interpretation.type is not ColumnType.BOOLEAN
    }
    if not count_by_interpretation:
        return None

    numeric = [interpretation for interpretation in count_by_interpretation if interpretation.is_numeric]
    best_as_numbers = [max(numeric, key=count_by_interpretation.__getitem__)] if numeric else []
    dates = [interpretation for interpretation in count_by_interpretation if not interpretation.is_numeric]
    return MixedColumn(column, [*best_as_numbers, *dates], counts["distinct_count"] > _MAX_COUNTED_VALUES)
