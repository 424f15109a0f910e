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
    facts = {a.name: record[a.name] for a in ATTRIBUTES}
    facts |= {name: facts[name] and tuple(facts[name]) for name in ("domain", "task")}
    rest = {name: record[name] for name in ("id", "visibility", "description", "file_path", "file_type")}
    return CatalogRow(**facts, **rest, dataset_id=UUID(record["dataset_id"]), owner=None, created_at=0, updated_at=0)


def at_least(record: Record, name: str, low: float) -> bool:
    """Return whether a number is known and reaches a bound."""
    return record[name] is not None and record[name] >= low


def has_word(record: Record, name: str, words: list[str]) -> bool:
    """Return whether a record has one of some words in its domain or task, in whatever spelling."""
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


def draw_filters(chance: random.Random, records: list[Record]) -> Record:
    """Return random filters with values that occur."""
    one = chance.choice(records)
    every: Record = {
        "domain": one["domain"] or ["none of these"],
        "task": one["task"] or ["none of these"],
        "year_min": chance.randrange(1990, 2024),
        "instances_number_min": 10 ** chance.randrange(1, 6),
        "features_max": chance.randrange(1, 50),
        "ethical_score_min": chance.choice((0, 10, 20, 30)),
        "is_split": chance.random() < 0.5,
        "transparency": chance.random() < 0.5,
        "dataset_name": one["dataset_name"][:3].upper(),
    }
    return {name: every[name] for name in chance.sample(sorted(every), chance.choice((0, 0, 1, 1, 2)))}


async def whole_catalog(user: httpx2.AsyncClient) -> list[Record]:
    """Return every record that the service lists."""
    records: list[Record] = []
    while page := (await user.get("/api/v1/datasets/", params={"limit": 1000, "skip": len(records)})).json():
        records += page
    return records


@pytest.mark.timeout(900)
async def test_the_demo_catalog_is_scored_to_the_letter(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Four profiles, and random weights and filters, give the order and the scores of the formulas."""
    chance = random.Random(20)
    settings = Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path)})
    async with running(settings, "embedded") as service:
        user = await service.register("ada@example.org")
        records = await whole_catalog(user)
        assert len(records) >= 1500
        rows = {record["id"]: row_of(record) for record in records}
        asked: list[tuple[Record, dict[str, float]]] = [({}, dict(p.weights)) for p in PROFILES.values()]
        for _ in range(1000 if request.config.getoption("--long") else 100):
            names = chance.sample(CRITERION_NAMES, chance.randrange(1, 13))
            asked.append((draw_filters(chance, records), {n: chance.choice((0.1, 0.5, 1, 3, 0.7)) for n in names}))
        for filters, weights in asked:
            wanted = [{"criterion_name": name, "weight": weight} for name, weight in weights.items()]
            answer = await user.post("/api/v1/datasets/score", json={"filters": filters, "weights": wanted})
            expected = sorted(
                (-by_hand.score(rows[r["id"]], weights), fold(r["dataset_name"]), r["id"])
                for r in records
                if matches(r, filters)
            )
            assert [item["id"] for item in answer.json()] == [id_ for _, _, id_ in expected], (filters, weights)
            assert [item["score"] for item in answer.json()] == [-score for score, _, _ in expected]
            assert answer.headers["X-Total-Count"] == str(len(expected))


async def test_every_sort_key_pages_through_every_record_once(tmp_path: Path) -> None:
    """In both orders, the pages together contain the whole catalog."""
    async with running(Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path)}), "embedded") as service:
        user = await service.register("ada@example.org")
        known = (await user.get("/api/v1/datasets/criteria")).json()["sort_keys"]
        everything = {record["id"] for record in await whole_catalog(user)}
        keys = [key if isinstance(key, str) else key["name"] for key in known]
        assert {"dataset_name", "num_citations", "ethical_score", "created_at", "file_type"} <= set(keys)
        for key in keys:
            for order in ("asc", "desc"):
                found: list[int] = []
                query = {"sort_by": key, "sort_order": order, "page_size": 700}
                for page in range(1, 10):
                    answer = (await user.get("/api/v1/datasets/", params={**query, "page": page})).json()
                    found += [record["id"] for record in answer["datasets"]]
                assert len(found) == len(everything), (key, order)
                assert set(found) == everything, (key, order)
