"""Predicates, which are the conditions of a query, as plain data for evaluation by a segment or an index.

A `Query` is a conjunction of predicates. Texts are compared in folded form, without case and accents.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

from touchstone.core.evidence import Assurance

COMPOSITE_TOLERANCE: Final = 1e-9
"""The tolerance for comparing composite scores with bounds, so that 0.15 + 0.2 reaches 35 % despite rounding."""


@dataclass(frozen=True, slots=True)
class Range:
    """The value is known and in the range `low <= value <= high`.

    Attributes:
        column: a number attribute, `id`, `created_at`, `updated_at`, or a composite score in 0-1, which is compared
            with COMPOSITE_TOLERANCE.
        low: the lower bound, or None for an open side.
        high: the upper bound, or None for an open side.
    """

    column: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class FlagEquals:
    """The flag is known and has the given value.

    Attributes:
        column: the name of the flag.
        value: the required value.
        assurance: the assurance at which the flag must be known, or None for the assurance of the view.
    """

    column: str
    value: bool
    assurance: Assurance | None = None


@dataclass(frozen=True, slots=True)
class AnyWord:
    """The word list contains at least one of the words, compared as the vocabulary of the column defines."""

    column: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contains:
    """The text contains a substring.

    No character has a special meaning.

    Attributes:
        column: a text column other than the description, which an index stores compressed.
        text: the substring.
    """

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """The text equals one of the values."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FullText:
    """The record contains every word of the text, with words compared as in `ranking.text`."""

    text: str


@dataclass(frozen=True, slots=True)
class Visible:
    """The record is public or belongs to the viewer, who is None if not signed in."""

    viewer: UUID | None


Predicate: TypeAlias = Range | FlagEquals | AnyWord | Contains | OneOf | FullText | Visible
Query: TypeAlias = tuple[Predicate, ...]


def group_by_assurance(query: Query, assurance: Assurance) -> dict[Assurance, Query]:
    """Group the predicates of a query by the assurance at which they are evaluated.

    Args:
        query: the predicates.
        assurance: the assurance of predicates without an explicit one; it is always among the keys of the result.
    """
    groups: dict[Assurance, Query] = {assurance: ()}
    for predicate in query:
        explicit_assurance = predicate.assurance if isinstance(predicate, FlagEquals) else None
        key = explicit_assurance or assurance
        groups[key] = (*groups.get(key, ()), predicate)
    return groups
