"""The service that the product is compared with: the same lists and scores with plain FastAPI and SQLAlchemy.

It is carefully written: filters, order and limit are in SQL, and a score needs one query and vectorised NumPy. It has
neither logins nor a gateway, which saves time in its favour. Its queries are called directly in the event loop, which
takes less CPU time than a thread pool.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import sqlalchemy as sa
from fastapi import FastAPI, Query
from numpy.typing import NDArray
from pydantic import BaseModel
from sqlalchemy.orm import Session

from touchstone.core.attributes import ETHICAL
from touchstone.database.tables import datasets

Floats = NDArray[np.float64]

engine = sa.create_engine(f"sqlite:///{os.environ.get('PLAIN_DATABASE', 'bench.db')}")
app = FastAPI()


class Dataset(BaseModel):
    """A record, as the list shows it."""

    id: int
    dataset_id: Any
    dataset_name: str
    description: str
    file_path: str
    file_type: str
    visibility: str
    metadata: dict[str, Any] | None
    objective: str | None
    domain: list[str] | None
    task: list[str] | None
    year: int | None
    instances_number: int | None
    features_number: int | None
    citations: int | None
    missing_values_percentage: float | None
    has_missing_values: bool | None
    is_split: bool | None
    has_temporal_factors: bool | None
    is_public: bool | None
    metadata_provided_with_dataset: bool | None
    external_documentation_available: bool | None
    informed_consent: bool | None
    transparency: bool | None
    user_control: bool | None
    equity_non_discrimination: bool | None
    security_measures_in_place: bool | None
    data_quality_documented: bool | None
    anonymization_applied: bool | None
    record_keeping_policy_exists: bool | None
    purpose_limitation_respected: bool | None
    accountability_defined: bool | None
    created_at: Any
    updated_at: Any


class Page(BaseModel):
    """A page of the list."""

    datasets: list[Dataset]
    total_count: int


class RankedDataset(BaseModel):
    """An item of the ranking."""

    id: int
    dataset_id: Any
    dataset_name: str
    score: float
    ethical_score: float
    technical_score: float
    popularity_score: float
    instances_number: int | None
    features_number: int | None
    objective: str | None
    rank: int
    known: int
    ethical_interval: tuple[float, float]
    place: int
    tied_with: int


class Weight(BaseModel):
    """The weight of one criterion."""

    criterion_name: str
    weight: float


class ScoringRequest(BaseModel):
    """Filters, and the weights of the criteria."""

    filters: dict[str, Any] = {}
    weights: list[Weight] = []


@app.get("/datasets", response_model=Page)
async def list_datasets(
    year_min: int | None = None, page: int = 1, page_size: int = Query(20, le=1000), sort_by: str = "dataset_name"
) -> Any:
    """Return a page of the records, filtered and sorted in SQL."""
    query = sa.select(datasets)
    if year_min is not None:
        query = query.where(datasets.c.year >= year_min)

    count_query = sa.select(sa.func.count()).select_from(query.subquery())
    page_query = (
        query.order_by(datasets.c[sort_by].nulls_last(), datasets.c.id).offset((page - 1) * page_size).limit(page_size)
    )
    with Session(engine) as session:
        total_count = session.scalar(count_query)
        rows = session.execute(page_query).mappings().all()

    return {"datasets": [dict(row) for row in rows], "total_count": total_count}


SCORE_COLUMNS: Final = [
    datasets.c[name]
    for name in (
        *("id", "dataset_id", "dataset_name", "objective", "instances_number", "features_number", "citations"),
        *("missing_values_percentage", "has_missing_values", "is_split", "metadata_provided_with_dataset"),
        *("external_documentation_available", *ETHICAL),
    )
]

Rows = Sequence[sa.RowMapping]


def number_column(rows: Rows, name: str) -> Floats:
    """Return a column as floats, with NaN where it is null."""
    return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=float)


def flag_column(rows: Rows, name: str) -> Floats:
    """Return a column as 1.0 where it is true, and as 0.0 where it is false or null."""
    return np.array([row[name] is True for row in rows], dtype=float)


@dataclass(frozen=True, slots=True)
class CompositeScores:
    """The three composite scores of every row, each between 0 and 1."""

    ethical: Floats
    technical: Floats
    popularity: Floats

    @classmethod
    def from_rows(cls, rows: Rows) -> "CompositeScores":
        """Compute the scores by the product's formulas, one whole column at a time."""
        ethical = sum((flag_column(rows, name) for name in ETHICAL), start=np.zeros(len(rows))) / len(ETHICAL)

        citations = np.nan_to_num(number_column(rows, "citations"))
        popularity = np.clip(np.log10(np.maximum(citations, 1)) / 3, 0, 1)

        return cls(ethical, _technical_scores(rows), popularity)

    def balanced(self) -> Floats:
        """Return the score by the balanced weights."""
        return 0.4 * self.ethical + 0.4 * self.technical + 0.2 * self.popularity


def _technical_scores(rows: Rows) -> Floats:
    """Return the technical score: documentation, completeness, split, number of rows and number of columns."""
    has_metadata = flag_column(rows, "metadata_provided_with_dataset")
    has_documentation = flag_column(rows, "external_documentation_available")
    is_split = flag_column(rows, "is_split")

    missing_percentage = number_column(rows, "missing_values_percentage")
    is_complete = np.array([row["has_missing_values"] is False for row in rows], dtype=float)
    completeness = np.where(
        np.isnan(missing_percentage),
        is_complete,  # without a percentage, only whether any value is missing is known
        np.maximum(100 - np.nan_to_num(missing_percentage), 0) / 100,
    )

    instances = np.nan_to_num(number_column(rows, "instances_number"))
    size = np.clip((np.log10(np.maximum(instances, 1)) - 2) / 3, 0, 1)

    features = np.nan_to_num(number_column(rows, "features_number"))
    richness_of_many = np.maximum(0.5, 1 - (features - 100) / 1000)
    richness = np.where(features < 10, features / 10, np.where(features <= 100, 1.0, richness_of_many))

    return (
        0.15 * (has_metadata + has_documentation)
        + 0.2 * completeness
        + 0.2 * is_split
        + 0.15 * size
        + 0.15 * richness
    )  # fmt: skip


# A ranking that `PUT /ready` has stored.
ready_items: list[dict[str, Any]] = []


@app.put("/ready", status_code=204)
async def store_ready_items(items: list[dict[str, Any]]) -> None:
    """Store a ranking that another service has made."""
    ready_items[:] = items


@app.post("/ready", response_model=list[RankedDataset])
async def return_ready_items(request: ScoringRequest, limit: int = 20) -> Any:
    """Return the stored ranking, to measure only the cost of reading a request and sending a response."""
    return ready_items[:limit]


@app.post("/datasets/score", response_model=list[RankedDataset])
async def score_datasets(request: ScoringRequest, limit: int = 20) -> Any:
    """Return the best `limit` records by the balanced weights."""
    query = sa.select(*SCORE_COLUMNS)
    if "year_min" in request.filters:
        query = query.where(datasets.c.year >= request.filters["year_min"])
    with Session(engine) as session:
        rows = list(session.execute(query).mappings())

    scores = CompositeScores.from_rows(rows)
    balanced_scores = scores.balanced()

    # Sorting only the best records is faster than sorting all of them.
    best_indices = np.argpartition(-balanced_scores, min(limit, len(balanced_scores) - 1))[:limit]
    best_indices = best_indices[np.argsort(-balanced_scores[best_indices], kind="stable")]

    return [
        {
            **rows[index],
            "score": float(balanced_scores[index]),
            "ethical_score": float(scores.ethical[index]),
            "technical_score": float(scores.technical[index]),
            "popularity_score": float(scores.popularity[index]),
            "rank": rank,
            "place": 1 + int(np.count_nonzero(balanced_scores > balanced_scores[index])),
            "tied_with": int(np.count_nonzero(balanced_scores == balanced_scores[index])) - 1,
            **known_ethics(rows[index], float(scores.ethical[index])),
        }
        for rank, index in enumerate(best_indices, 1)
    ]


def known_ethics(row: sa.RowMapping, ethical_score: float) -> dict[str, Any]:
    """Return the number of known ethical attributes of a record, and the bounds of its ethical score."""
    known_count = sum(row[name] is not None for name in ETHICAL)
    unknown_share = (len(ETHICAL) - known_count) / len(ETHICAL)
    return {"known": known_count, "ethical_interval": (ethical_score, ethical_score + unknown_share)}
