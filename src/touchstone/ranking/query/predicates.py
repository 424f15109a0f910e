"""What a filter asks of a record: data only; the segment that holds the records evaluates it.

A `Query` is a conjunction. None as a viewer is someone who is not signed in.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

COMPOSITE_TOLERANCE: Final = 1e-9
"""A composite score reaches a bound when it is no more than this below it (or above it): 0.15 + 0.2 is 35 %."""


@dataclass(frozen=True, slots=True)
class Range:
    """`low <= column <= high`, a None bound being open; a record without the value never matches.

    `column`: an integer or percentage attribute, `id`, `created_at`, `updated_at`, or a composite score in 0-1, which
    is compared within `COMPOSITE_TOLERANCE`.
    """

    column: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class FlagEquals:
    """The flag has exactly this value; "not known" matches neither."""

    column: str
    value: bool


@dataclass(frozen=True, slots=True)
class AnyWord:
    """The list `domain` or `task` holds one of the words, whole and folded."""

    column: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contains:
    """The folded text holds the folded `text`; every character stands for itself."""

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """The text, folded, equals one of the values, folded."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Visible:
    """Public, or owned by the viewer."""

    viewer: UUID | None


Predicate: TypeAlias = Range | FlagEquals | AnyWord | Contains | OneOf | Visible
Query: TypeAlias = tuple[Predicate, ...]
