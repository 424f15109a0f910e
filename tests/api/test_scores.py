"""The scores of the whole demo catalog equal the formulas of the interface, row by row and in the exact order."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.ranking import by_hand
from tests.serving import running
from touchstone.core.attributes import ATTRIBUTES
from touchstone.core.settings import Settings
from touchstone.core.text import fold
from touchstone.core.vocabulary import comparison_key
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.weight_profiles import PROFILES

Record = dict[str, Any]


def row_of(record: Record) -> CatalogRow:
    """Return a record in the form that the row-by-row formulas take."""
    attributes = {a.name: record[a.name] for a in ATTRIBUTES}
    attributes |= {name: attributes[name] and tuple(attributes[name]) for name in ("domain", "task")}
    other_fields = {name: record[name] for name in ("id", "visibility", "description", "file_path", "file_type")}
    return CatalogRow(
        **attributes, **other_fields, dataset_id=UUID(record["dataset_id"]), owner=None, created_at=0, updated_at=0
    )


def at_least(record: Record, name: str, minimum: float) -> bool:
    """Return whether a number is known and reaches a bound."""
    return record[name] is not None and record[name] >= minimum


def has_word(record: Record, name: str, words: list[str]) -> bool:
    """Return whether the domain or task of a record has one of these words, in whatever spelling."""
    keys = {comparison_key(name, word) for word in words}
    return any(comparison_key(name, word) in keys for word in record[name] or ())


def matches(record: Record, filters: Record) -> bool:
    """Return whether a record matches the filters of this test, according to the contract."""
    checks: dict[str, Callable[[Any], bool]] = {
        "domain": lambda words: has_word(record, "domain", words),
        "task": lambda words: has_word(record, "task", words),
        "year_min": lambda v: at_least(record, "year", v),
        "instances_number_min": lambda v: at_least(record, "instances_number", v),
        "features_max": lambda v: record["features_number"] is not None and record["features_number"] <= v,
        "ethical_score_min": lambda v: by_hand.ethical_score(row_of(record)) * 10 >= v / 10,
        "is_split": lambda v: record["is_split"] is v,
        "transparency": lambda v: record["transparency"] is v,
        "dataset_name": lambda v: fold(v) in fold(record["dataset_name"]),
    }
    return all(checks[name](value) for name, value in filters.items())


def draw_filters(rng: random.Random, records: list[Record]) -> Record:
    """Return random filters with values that occur in the catalog."""
    sample = rng.choice(records)
    candidates: Record = {
        "domain": sample["domain"] or ["none of these"],
        "task": sample["task"] or ["none of these"],
        "year_min": rng.randrange(1990, 2024),
        "instances_number_min": 10 ** rng.randrange(1, 6),
        "features_max": rng.randrange(1, 50),
        "ethical_score_min": rng.choice((0, 10, 20, 30)),
        "is_split": rng.random() < 0.5,
        "transparency": rng.random() < 0.5,
        "dataset_name": sample["dataset_name"][:3].upper(),
    }
    return {name: candidates[name] for name in rng.sample(sorted(candidates), rng.choice((0, 0, 1, 1, 2)))}


async def whole_catalog(user: httpx2.AsyncClient) -> list[Record]:
    """Return every record that the service lists."""
    records: list[Record] = []
    while page := (await user.get("/api/v1/datasets/", params={"limit": 1000, "skip": len(records)})).json():
        records += page
    return records


@pytest.mark.timeout(900)
async def test_the_demo_catalog_is_scored_to_the_letter(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Four profiles, and random weights and filters, give the order and the scores of the formulas."""
    rng = random.Random(20)
    settings = Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path)})
    async with running(settings, "embedded") as service:
        user = await service.register("ada@example.org")
        records = await whole_catalog(user)
        assert len(records) >= 1500
        rows = {record["id"]: row_of(record) for record in records}
        requests: list[tuple[Record, dict[str, float]]] = [({}, dict(p.weights)) for p in PROFILES.values()]
        for _ in range(1000 if request.config.getoption("--long") else 100):
            names = rng.sample(CRITERION_NAMES, rng.randrange(1, 13))
            requests.append((draw_filters(rng, records), {n: rng.choice((0.1, 0.5, 1, 3, 0.7)) for n in names}))
        for filters, weights in requests:
            weight_list = [{"criterion_name": name, "weight": weight} for name, weight in weights.items()]
            answer = await user.post("/api/v1/datasets/score", json={"filters": filters, "weights": weight_list})
            expected = sorted(
                (-by_hand.score(rows[record["id"]], weights), fold(record["dataset_name"]), record["id"])
                for record in records
                if matches(record, filters)
            )
            assert [item["id"] for item in answer.json()] == [id_ for _, _, id_ in expected], (filters, weights)
            assert [item["score"] for item in answer.json()] == [-score for score, _, _ in expected]
            assert answer.headers["X-Total-Count"] == str(len(expected))


async def test_every_sort_key_pages_through_every_record_once(tmp_path: Path) -> None:
    """In both orders, the pages together contain the whole catalog."""
    async with running(Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path)}), "embedded") as service:
        user = await service.register("ada@example.org")
        entries = (await user.get("/api/v1/datasets/criteria")).json()["sort_keys"]
        all_ids = {record["id"] for record in await whole_catalog(user)}
        sort_keys = [entry if isinstance(entry, str) else entry["name"] for entry in entries]
        assert {"dataset_name", "num_citations", "ethical_score", "created_at", "file_type"} <= set(sort_keys)
        for sort_key in sort_keys:
            for order in ("asc", "desc"):
                listed_ids: list[int] = []
                query = {"sort_by": sort_key, "sort_order": order, "page_size": 700}
                for page in range(1, 10):
                    answer = (await user.get("/api/v1/datasets/", params={**query, "page": page})).json()
                    listed_ids += [record["id"] for record in answer["datasets"]]
                assert len(listed_ids) == len(all_ids), (sort_key, order)
                assert set(listed_ids) == all_ids, (sort_key, order)
