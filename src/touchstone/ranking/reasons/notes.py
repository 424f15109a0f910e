"""Notes on a ranking, which name the weighted criteria that do not affect the order of the shown records.

These criteria have the same value for all shown records. Often this value is 0 because the criterion is unknown.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from touchstone.ranking.array_types import Ints
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import FACTS_BY_CRITERION
from touchstone.ranking.weighted_mean import active_weights


class NoteCode(StrEnum):
    """The reason why a weighted criterion does not affect the order of the shown records."""

    CRITERION_EQUAL = "criterion_equal"
    """It has the same value for all records, and is known for at least one of them."""
    CRITERION_UNKNOWN = "criterion_unknown"
    """It is unknown for all records, and therefore counts as 0 for all of them."""


class RankingNote(NamedTuple):
    """A note on one criterion.

    Attributes:
        code: the kind of the note.
        criterion_name: the name of the criterion.
        value: the common value of all shown records, or None if it is unknown for all of them.
    """

    code: NoteCode
    criterion_name: str
    value: float | None


class NoteCollector:
    """Collects the notes on a ranking while its records are added in batches."""

    def __init__(self, view: View, weights: Mapping[str, float]) -> None:
        weighted_names = [name for name, _ in active_weights(weights).terms]
        self._view = view
        self._record_count = 0
        # The criteria with the same value for all records so far, with this value.
        self._common_values: dict[str, float] = dict.fromkeys(weighted_names, 0.0)
        self._known_criteria: set[str] = set()

    @property
    def is_complete(self) -> bool:
        """Whether there are no notes regardless of further records, because all criteria differ between records."""
        return not self._common_values

    def add(self, positions: Ints) -> None:
        """Add the records at the given positions of the view, and drop the criteria that differ between records."""
        if not len(positions):
            return

        is_first_batch = self._record_count == 0
        self._record_count += len(positions)
        for name, common_value in list(self._common_values.items()):
            values = self._view.criterion(name, positions)
            expected_value = float(values[0]) if is_first_batch else common_value
            if not (values == expected_value).all():
                del self._common_values[name]
                continue

            self._common_values[name] = expected_value
            if expected_value > 0.0 or self._has_known_fact(name, positions):
                self._known_criteria.add(name)

    def _has_known_fact(self, criterion: str, positions: Ints) -> bool:
        """Return whether any attribute that a criterion is computed from is known for any of the records."""
        if criterion in self._known_criteria:
            return True

        # Unknown flags are negative. Unknown numbers are NaN, which also fails the comparison.
        facts = FACTS_BY_CRITERION[criterion]
        return any(bool(np.any(self._view.attribute(fact, positions) >= 0)) for fact in facts)

    def notes(self) -> list[RankingNote]:
        """Return the notes in the order of the criteria, or an empty list for fewer than two records."""
        if self._record_count < 2:
            return []

        notes = []
        for name, value in self._common_values.items():
            if name in self._known_criteria:
                notes.append(RankingNote(NoteCode.CRITERION_EQUAL, name, value))
            else:
                notes.append(RankingNote(NoteCode.CRITERION_UNKNOWN, name, None))
        return notes
