"""The peer: the same list and score on the same database, as a plain, careful FastAPI + SQLAlchemy service has them.

Filters, sort and limit in SQL; response models; for the score one query of the needed columns and vectorised NumPy.
No login and no gateway: what it saves there is a gift to it. Its queries are called directly in the event loop, which
costs less CPU than the thread pool.
"""

import os
from typing import Any

import numpy as np
import sqlalchemy as sa
from fastapi import FastAPI, Query
from pydantic import BaseModel
from sqlalchemy.orm import Session

from touchstone.core.attributes import ETHICAL
from touchstone.database.tables import datasets

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


class Scored(BaseModel):
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


class Weight(BaseModel):
    """How much one criterion counts."""

    criterion_name: str
    weight: float


class Weights(BaseModel):
    """A scoring request."""

    filters: dict[str, Any] = {}
    weights: list[Weight] = []


@app.get("/datasets", response_model=Page)
async def list_datasets(
    year_min: int | None = None, page: int = 1, page_size: int = Query(20, le=1000), sort_by: str = "dataset_name"
) -> Any:
    """A page, filtered and sorted in SQL."""
    query = sa.select(datasets)
    if year_min is not None:
        query = query.where(datasets.c.year >= year_min)
    ordered = query.order_by(datasets.c[sort_by].nulls_last(), datasets.c.id)
    with Session(engine) as session:
        total = session.scalar(sa.select(sa.func.count()).select_from(query.subquery()))
        found = session.execute(ordered.offset((page - 1) * page_size).limit(page_size)).mappings().all()
    return {"datasets": [dict(row) for row in found], "total_count": total}


SCORE_COLUMNS = [
    datasets.c[name]
    for name in (
        *("id", "dataset_id", "dataset_name", "objective", "instances_number", "features_number", "citations"),
        *("missing_values_percentage", "has_missing_values", "is_split", "metadata_provided_with_dataset"),
        *("external_documentation_available", *ETHICAL),
    )
]


def numbers(found: list[Any], name: str) -> Any:
    """A column as floats, NaN where null."""
    return np.array([np.nan if row[name] is None else row[name] for row in found], dtype=float)


def truths(found: list[Any], name: str) -> Any:
    """A column as 1.0 where true, else 0.0."""
    return np.array([row[name] is True for row in found], dtype=float)


def composites(found: list[Any]) -> tuple[Any, Any, Any]:
    """The three composite scores of every row (interface 2.8), vectorised."""
    ethical = sum(truths(found, name) for name in ETHICAL) / 10
    missing = numbers(found, "missing_values_percentage")
    whole = np.array([row["has_missing_values"] is False for row in found], dtype=float)
    quality = np.where(np.isnan(missing), 0.2 * whole, 0.2 * np.maximum(100 - np.nan_to_num(missing), 0) / 100)
    instances = np.nan_to_num(numbers(found, "instances_number"))
    size = 0.15 * np.clip((np.log10(np.maximum(instances, 1)) - 2) / 3, 0, 1)
    features = np.nan_to_num(numbers(found, "features_number"))
    many = 0.15 * np.maximum(0.5, 1 - (features - 100) / 1000)
    richness = np.where(features < 10, 0.15 * features / 10, np.where(features <= 100, 0.15, many))
    documented = truths(found, "metadata_provided_with_dataset") + truths(found, "external_documentation_available")
    technical = 0.15 * documented + quality + 0.2 * truths(found, "is_split") + size + richness
    citations = np.nan_to_num(numbers(found, "citations"))
    popularity = np.clip(np.log10(np.maximum(citations, 1)) / 3, 0, 1)
    return ethical, technical, popularity


READY: list[dict[str, Any]] = []


@app.put("/ready", status_code=204)
async def make_ready(items: list[dict[str, Any]]) -> None:
    """Take a ranking that others have made."""
    READY[:] = items


@app.post("/ready", response_model=list[Scored])
async def ready(wanted: Weights, limit: int = 20) -> Any:
    """A ranking that is ready: what it costs to be asked for it and to answer with it, and nothing else."""
    return READY[:limit]


@app.post("/datasets/score", response_model=list[Scored])
async def score(wanted: Weights, limit: int = 20) -> Any:
    """The best `limit` records by the balanced weights."""
    query = sa.select(*SCORE_COLUMNS)
    if "year_min" in wanted.filters:
        query = query.where(datasets.c.year >= wanted.filters["year_min"])
    with Session(engine) as session:
        found = list(session.execute(query).mappings())
    ethical, technical, popularity = composites(found)
    total = 0.4 * ethical + 0.4 * technical + 0.2 * popularity
    best = np.argpartition(-total, min(limit, len(total) - 1))[:limit]
    best = best[np.argsort(-total[best], kind="stable")]
    return [
        dict(found[i])
        | {
            "score": float(total[i]),
            "ethical_score": float(ethical[i]),
            "technical_score": float(technical[i]),
            "popularity_score": float(popularity[i]),
            "rank": rank,
        }
        for rank, i in enumerate(best, 1)
    ]
