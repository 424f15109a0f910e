"""Filters: every row of the table, in query strings and in JSON objects, and every kind of invalid value."""

from random import Random
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest

from tests.ranking import by_hand
from tests.selection.conftest import ADA, create_record
from tests.selection.seeded import random_rows, stored_row
from touchstone.services.selection.catalog_query import build_query
from touchstone.services.selection.filters import FILTERS
from touchstone.services.selection.parameters import Parameter, ParameterType, ParameterValue

ROWS = random_rows(11, 300)
EXAMPLES: dict[ParameterType, tuple[Any, ...]] = {
    ParameterType.FLAG: (True, False),
    ParameterType.TEXT: ("ris", "Î", "%", "_", "straße"),
    ParameterType.WORDS: (("health",), ("Santé", "vision"), ("a,b", "finance"), ("csv",), ("nowhere",)),
    ParameterType.INTEGER: (-5, 0, 9, 100, 2000, 2**53 - 1),
    ParameterType.NUMBER: (0, 12.5, 33.3, 50, 70, 100),
    ParameterType.CHOICE: ("public", "private"),
}


def query_pairs(parameter: Parameter, name: str, value: Any) -> list[tuple[str, str]]:
    """Return a value as it is written in a query string."""
    if parameter.type is ParameterType.WORDS:
        # Repeated, a value may hold a comma; alone it is split there.
        return [(name, word) for word in value] + [(name, "")]
    return [(name, str(value).lower() if isinstance(value, bool) else str(value))]


def expected_ids(parameter: Parameter, value: ParameterValue) -> list[int]:
    """Return what the row-by-row reference finds."""
    return [row.id for row in by_hand.matching(map(stored_row, ROWS), build_query({parameter.name: value}, ADA))]


async def test_every_filter_finds_what_the_reference_finds(seeded_client: httpx2.AsyncClient) -> None:
    """Each filter, under each of its names, has the same result in a list, a facet count and a score."""
    for parameter in (catalog_filter.parameter for catalog_filter in FILTERS):
        for value in EXAMPLES[parameter.type]:
            ids = expected_ids(parameter, value)
            for name in parameter.names:
                query = urlencode(query_pairs(parameter, name, value))
                list_response = await seeded_client.get(f"/datasets/?limit=1000&{query}")
                assert [record["id"] for record in list_response.json()] == ids, (name, value)
                assert list_response.headers["X-Total-Count"] == str(len(ids))
                assert (await seeded_client.get(f"/datasets/facets?{query}")).json()["total_count"] == len(ids)
                json_value = list(value) if isinstance(value, tuple) else value
                for body in ({"filters": {name: json_value}}, {"criteria": {name: json_value}}):
                    score_response = await seeded_client.post("/datasets/score", json=body)
                    assert sorted(record["id"] for record in score_response.json()) == ids, (name, value)


async def test_filters_are_joined_by_and(seeded_client: httpx2.AsyncClient) -> None:
    """Several filters find the records that satisfy all of them."""
    random = Random(5)
    for _ in range(60):
        chosen_filters = random.sample(FILTERS, 3)
        values = {
            catalog_filter.parameter.name: random.choice(EXAMPLES[catalog_filter.parameter.type])
            for catalog_filter in chosen_filters
        }
        pairs = [
            pair
            for catalog_filter in chosen_filters
            for pair in query_pairs(
                catalog_filter.parameter, catalog_filter.parameter.name, values[catalog_filter.parameter.name]
            )
        ]
        response = await seeded_client.get(f"/datasets/?limit=1000&{urlencode(pairs)}")
        ids = [row.id for row in by_hand.matching(map(stored_row, ROWS), build_query(values, ADA))]
        assert [record["id"] for record in response.json()] == ids, values


async def test_a_percentage_floor_is_met_exactly(ada: httpx2.AsyncClient) -> None:
    """Seven of ten criteria are 70 %, so a minimum of 70 includes the record, and 70.0001 does not."""
    flags = (
        "informed_consent",
        "transparency",
        "user_control",
        "equity_non_discrimination",
        "security_measures_in_place",
        "data_quality_documented",
        "anonymization_applied",
    )
    await create_record(ada, **dict.fromkeys(flags, True))
    for floor, count in (("70", 1), ("70.0", 1), ("7e1", 1), ("70.0001", 0), ("0", 1), ("100", 0)):
        assert len((await ada.get(f"/datasets/?ethical_score_min={floor}")).json()) == count, floor


async def test_lists_are_split_at_commas_or_repeated(ada: httpx2.AsyncClient) -> None:
    """A single value is split at its commas, except after a backslash; a repeated parameter is never split."""
    comma_record = await create_record(ada, domain=["a,b"])
    plain_record = await create_record(ada, domain=["a"])
    spaced_record = await create_record(ada, domain=["c d"])
    for query, ids in (
        ("domain=a,b", [plain_record["id"]]),
        ("domain=a,b&domain=c%20d", [comma_record["id"], spaced_record["id"]]),
        ("domain=a%2Cb&domain=", [comma_record["id"]]),
        ("domain=a%5C,b", [comma_record["id"]]),
        ("domain=C+D,a%5C,b", [comma_record["id"], spaced_record["id"]]),
        ("domain=%20A%20,C+D", [plain_record["id"], spaced_record["id"]]),
        ("domain=,", [comma_record["id"], plain_record["id"], spaced_record["id"]]),
    ):
        assert [record["id"] for record in (await ada.get(f"/datasets/?{query}")).json()] == ids, query
    for value, ids in (
        ("a,b", [plain_record["id"]]),
        (["a,b"], [comma_record["id"]]),
        ("a\\,b", [comma_record["id"]]),
        ([], [comma_record["id"], plain_record["id"], spaced_record["id"]]),
    ):
        response = await ada.post("/datasets/score", json={"filters": {"domain": value}})
        assert sorted(item["id"] for item in response.json()) == ids, value


@pytest.mark.parametrize("true_spelling", ["true", "True", "TRUE", "1"])
async def test_a_flag_is_written_as_languages_write_theirs(ada: httpx2.AsyncClient, true_spelling: str) -> None:
    """A boolean in a query string may be in any case, such as Python's `str(True)`."""
    split_record, unsplit_record = await create_record(ada, is_split=True), await create_record(ada, is_split=False)
    false_spelling = {"true": "false", "True": "False", "TRUE": "FALSE", "1": "0"}[true_spelling]
    assert [record["id"] for record in (await ada.get(f"/datasets/?split={true_spelling}")).json()] == [
        split_record["id"]
    ]
    assert [record["id"] for record in (await ada.get(f"/datasets/?split={false_spelling}")).json()] == [
        unsplit_record["id"]
    ]


@pytest.mark.parametrize(
    "query", ["year_min=", "domain=", "dataset_name=", "is_split=", "skip=", "page=", "sort_by=", "&&"]
)
async def test_an_empty_value_is_not_given(ada: httpx2.AsyncClient, query: str) -> None:
    """An empty value is treated as if the parameter were missing."""
    await create_record(ada)
    answer = await ada.get(f"/datasets/?{query}")
    assert answer.status_code == 200
    assert len(answer.json()) == 1


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("yaer_min=2000", "unknown_name"),
        ("name=x", "unknown_name"),
        ("YEAR_MIN=2000", "unknown_name"),
        ("year_min=2000&year_min=2000", "invalid_value"),
        ("is_split=true&split=false", "conflicting_values"),
        ("instances_min=1&instances_number_min=2", "conflicting_values"),
        ("year_min=1_000", "invalid_value"),
        ("year_min=+1", "invalid_value"),
        ("year_min=%201", "invalid_value"),
        ("year_min=%D9%A1", "invalid_value"),
        ("year_min=1.0", "invalid_value"),
        ("year_min=1e3", "invalid_value"),
        ("year_min=0x10", "invalid_value"),
        ("year_min=9223372036854775808", "invalid_value"),
        ("year_min=" + "9" * 5000, "invalid_value"),
        ("ethical_score_min=101", "invalid_value"),
        ("ethical_score_min=-1", "invalid_value"),
        ("ethical_score_min=NaN", "invalid_value"),
        ("ethical_score_min=inf", "invalid_value"),
        ("ethical_score_min=1e400", "invalid_value"),
        ("ethical_score_min=.5", "invalid_value"),
        ("is_split=on", "invalid_value"),
        ("is_split=yes", "invalid_value"),
        ("is_split=2", "invalid_value"),
        ("visibility=secret", "unknown_name"),
        ("dataset_name=a%00b", "invalid_value"),
        ("dataset_name=%FF", "validation_error"),
        ("dataset_name=%ED%A0%80", "validation_error"),
        ("%FF=1", "validation_error"),
        ("dataset_name=" + "x" * 1001, "invalid_value"),
        ("sort_by=id;DROP TABLE datasets", "unknown_name"),
        ("sort_by=metadata", "unknown_name"),
        ("sort_by=id desc", "unknown_name"),
        ("sort_order=ASC", "unknown_name"),
        ("skip=-1", "invalid_value"),
        ("limit=0", "invalid_value"),
        ("limit=1001", "invalid_value"),
        ("page=0", "invalid_value"),
        ("page_size=0", "invalid_value"),
        ("page_size=1001", "invalid_value"),
        ("skip=9007199254740992", "invalid_value"),
        ("page=1&limit=5000", "invalid_value"),
    ],
)
async def test_what_does_not_fit_a_query_is_refused(reader: httpx2.AsyncClient, query: str, code: str) -> None:
    """An unknown name, a repeated scalar, two aliases that differ, and every malformed value are refused with 422."""
    refusal = await reader.get(f"/datasets/?{query}")
    assert (refusal.status_code, refusal.json()["code"]) == (422, code), refusal.text


async def test_a_misspelled_filter_names_the_nearest_one(reader: httpx2.AsyncClient) -> None:
    """The error for an unknown parameter suggests the most similar name, in the language of the caller."""
    refusal = await reader.get("/datasets/?instances_mim=3")
    assert "instances_min" in refusal.json()["detail"]
    assert "est inconnu" in refusal.json()["detail"]
    english_refusal = await reader.get("/datasets/?instances_mim=3", headers={"Accept-Language": "en"})
    assert "is unknown" in english_refusal.json()["detail"]


@pytest.mark.parametrize(
    "filters",
    [
        None,
        [],
        "x",
        {"yaer_min": 1},
        {"year_min": "2000"},
        {"year_min": 2000.5},
        {"year_min": True},
        {"year_min": 2**63},
        {"year_min": {}},
        {"ethical_score_min": 101},
        {"ethical_score_min": "70"},
        {"is_split": 1},
        {"is_split": "true"},
        {"domain": 5},
        {"domain": [5]},
        {"domain": {"a": 1}},
        {"domain": ["\x00"]},
        {"domain": ["x"] * 201 + [str(i) for i in range(201)]},
        {"dataset_name": 5},
        {"dataset_name": ["x"]},
        {"visibility": "secret"},
        {"split": True, "is_split": False},
    ],
)
async def test_what_does_not_fit_a_filter_object_is_refused(reader: httpx2.AsyncClient, filters: Any) -> None:
    """The same table defines types and bounds in JSON, for scores and for stored projects."""
    for name in ("filters", "criteria"):
        refusal = await reader.post("/datasets/score", json={name: filters})
        assert refusal.status_code == 422, refusal.text
    if filters:
        refusal = await reader.post("/projects", json={"name": "p", "criteria": filters})
        assert refusal.status_code == 422, refusal.text


async def test_filters_and_criteria_are_one_object(ada: httpx2.AsyncClient) -> None:
    """Both names may be given with the same value or with different filters, but not with a contradiction."""
    await create_record(ada, domain=["a", "b"], year=2000)
    for body, status in (
        ({"filters": {"domain": ["a", "b"]}, "criteria": {"domain": "b,a"}}, 200),
        ({"filters": {"split": None}, "criteria": {"is_split": None}}, 200),
        ({"filters": {"year_min": 1999}, "criteria": {"year_max": 2001}}, 200),
        ({"filters": {"split": True}, "criteria": {"is_split": False}}, 422),
        ({"filters": {"year_min": 1}, "criteria": {"year_min": 2}}, 422),
    ):
        answer = await ada.post("/datasets/score", json=body)
        assert answer.status_code == status, body
        assert len(answer.json()) == (1 if status == 200 else 3)
