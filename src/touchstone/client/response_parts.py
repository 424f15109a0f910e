"""Types that are part of several responses: pages, references to datasets, weights and changes."""

from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from msgspec import Struct

T = TypeVar("T")
GateOutcome = Literal["passed", "failed", "unknown"]


class Page(Struct, frozen=True, kw_only=True):
    """The position of a page in a list; `total_count` is the number of items on all pages."""

    total_count: int
    page: int
    page_size: int
    total_pages: int


class DatasetReference(Struct, frozen=True, kw_only=True):
    """The ids and the name of a dataset."""

    id: int
    dataset_id: UUID
    dataset_name: str


class BestCase(Struct, frozen=True, kw_only=True):
    """The score and the criteria of a dataset if all unknown values were as favourable as possible."""

    score: float
    criterion_scores: dict[str, float]


class Weight(Struct, frozen=True, kw_only=True):
    """The weight of a criterion in a ranking."""

    criterion_name: str
    weight: float


class FieldChange(Struct, frozen=True, kw_only=True):
    """A change of one field of a record or its claims.

    `field` is the name of an attribute, or a path such as `metadata.licence` or `claims.informed_consent`.
    """

    field: str
    before: Any = None
    after: Any = None


class Transition(Struct, Generic[T], frozen=True, kw_only=True):
    """A value at an earlier time and its value now."""

    before: T
    after: T
