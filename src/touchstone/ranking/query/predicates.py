"""The conditions that a record can be filtered by: data only, evaluated by a segment or an index.

A `Query` is a conjunction of predicates. Texts are compared folded: without case and accents.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

from touchstone.core.evidence import Assurance

COMPOSITE_TOLERANCE: Final = 1e-9
"""A composite score that misses a bound by no more than this still reaches it: 0.15 + 0.2 counts as 35 %."""


@dataclass(frozen=True, slots=True)
class Range:
    """`low <= column <= high`, where None leaves a side open; a record without the value never matches.

    `column`: an integer or percentage attribute, `id`, `created_at`, `updated_at`, or a composite score in 0-1, which
    is compared within `COMPOSITE_TOLERANCE`.
    """

    column: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class FlagEquals:
    """The flag is known and has exactly this value.

    `assurance`: the weakest level of evidence by which it is known; None for that of whoever reads the catalog.
    """

    column: str
    value: bool
    assurance: Assurance | None = None


@dataclass(frozen=True, slots=True)
class AnyWord:
    """The word list contains one of the words, compared as a whole and by the vocabulary of its column."""

    column: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contains:
    """The text column contains a substring; no character has a special meaning.

    `column`: a text other than the description, which an index stores compressed.
    """

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """The text column equals one of the values."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FullText:
    """The record contains every word of the text, as `ranking.text` compares words."""

    text: str


@dataclass(frozen=True, slots=True)
class Visible:
    """The record is public or belongs to the viewer; None is a viewer who is not signed in."""

    viewer: UUID | None


Predicate: TypeAlias = Range | FlagEquals | AnyWord | Contains | OneOf | FullText | Visible
Query: TypeAlias = tuple[Predicate, ...]


def group_by_assurance(query: Query, assurance: Assurance) -> dict[Assurance, Query]:
    """Return the predicates of a query by the assurance at which they are evaluated.

    `assurance` is that of the predicates which name none. It is always among the keys.
    """
    groups: dict[Assurance, Query] = {assurance: ()}
    for predicate in query:
        own_assurance = predicate.assurance if isinstance(predicate, FlagEquals) else None
        key = own_assurance or assurance
        groups[key] = (*groups.get(key, ()), predicate)
    return groups
