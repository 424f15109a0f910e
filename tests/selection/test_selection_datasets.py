"""Creating, reading, changing and deleting records, and the requests that are refused."""

import re
from typing import Any

import httpx2
import pytest

from tests.selection.conftest import FOUR, client_of, create_record
from touchstone.core.attributes import ETHICAL, FLAGS
from touchstone.services.selection.app import Selection
from touchstone.services.selection.datasets.listing import LIST_PARAMETERS


async def test_a_created_record_has_both_shapes(ada: httpx2.AsyncClient) -> None:
    """A record has the simple fields and the attributes, with null for values that nobody has assessed."""
    record = await create_record(ada, year=2020, domain=["health"], informed_consent=True, is_split=False)
    assert record["name"] == record["dataset_name"] == "Cohort"
    assert (record["year"], record["domain"], record["informed_consent"], record["is_split"]) == (
        2020,
        ["health"],
        True,
        False,
    )
    assert record["transparency"] is None
    assert record["ethical_score"] == 0.1
    assert record["metadata"] is None
    for key in (record["id"], record["dataset_id"], record["dataset_id"].upper()):
        assert (await ada.get(f"/datasets/{key}")).json() == record


async def test_every_flag_keeps_its_three_values(ada: httpx2.AsyncClient) -> None:
    """True, false and null are returned as they were written, for every boolean attribute."""
    for value in (True, False, None):
        record = await create_record(ada, **dict.fromkeys(FLAGS, value))
        assert [record[name] for name in FLAGS] == [value] * len(FLAGS)
        assert record["ethical_score"] == (1.0 if value else 0.0)
    assert len(ETHICAL) == 10


@pytest.mark.parametrize("path", ["/datasets", "/datasets/"])
async def test_both_slash_forms_are_one_route(ada: httpx2.AsyncClient, path: str) -> None:
    """The list is answered without a redirect, with and without a trailing slash."""
    await create_record(ada)
    answer = await ada.get(path)
    assert answer.status_code == 200
    assert [record["name"] for record in answer.json()] == ["Cohort"]


async def test_a_name_is_trimmed_and_bounded(ada: httpx2.AsyncClient) -> None:
    """Without surrounding spaces, a name has 1 to 255 characters, of which at least one is visible."""
    assert (await create_record(ada, name="  é " + "x" * 250))["name"] == "é " + "x" * 250
    for name in ("", "   ", "\u200b \u2060", "\u3164", "\u2800\ufe0f \U000e0100", "x" * 256):
        assert (await ada.post("/datasets/", json={**FOUR, "name": name})).status_code == 422


@pytest.mark.parametrize(
    "fields",
    [
        {"id": 7},
        {"dataset_id": "8f16c955-192c-5e2d-b7d4-f5448e53879c"},
        {"owner": "00000000-0000-0000-0000-000000000b0b"},
        {"ethical_score": 1.0},
        {"nmae": "x"},
        {"year": 2020.5},
        {"year": -1},
        {"year": 10_000},
        {"year": True},
        {"year": "2020"},
        {"instances_number": -1},
        {"instances_number": 2**53},
        {"instances_number": 2**63},
        {"features_number": 2**31},
        {"missing_values_percentage": 100.1},
        {"missing_values_percentage": -0.1},
        {"is_split": 1},
        {"is_split": "true"},
        {"domain": "health"},
        {"domain": [1]},
        {"domain": [""]},
        {"objective": "a\x00b"},
        {"name": "a\x00b"},
        {"name": None},
        {"name": 5},
        {"description": None},
        {"metadata": []},
        {"metadata": {"a": "\x00"}},
        {"metadata": {"\x00": 1}},
        {"visibility": "secret"},
        {"visibility": None},
        {"dataset_name": "Another"},
    ],
)
async def test_what_does_not_fit_is_refused_whole(ada: httpx2.AsyncClient, fields: dict[str, Any]) -> None:
    """If a field is unknown, out of bounds or of a wrong type, the response is 422 and nothing is created."""
    refusal = await ada.post("/datasets/", json={**FOUR, **fields})
    assert refusal.status_code == 422, refusal.text
    assert set(refusal.json()) == {"detail", "code", "errors"}
    assert (await ada.get("/datasets/")).json() == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b'{"name": NaN}',
        b'{"name": "\xff"}',
        b'{"name": "\\ud800"}',
        b'{"year": 1e400}',
        b"[" * 100_000,
        b'{"year": ' + b"9" * 5000 + b"}",
        b'{"metadata": ' + b'{"a":' * 500 + b"1" + b"}" * 500 + b"}",
    ],
)
async def test_hostile_bodies_are_refused(ada: httpx2.AsyncClient, body: bytes) -> None:
    """Invalid and extreme JSON is refused with the usual error format, on every route with a body."""
    for method, path in (("POST", "/datasets/"), ("POST", "/datasets/search"), ("POST", "/datasets/score")):
        refusal = await ada.request(method, path, content=body)
        assert refusal.status_code in (400, 422), (path, refusal.text)
        assert set(refusal.json()) == {"detail", "code", "errors"}


@pytest.mark.parametrize("key", ["0", "-1", "+1", "01", "1.0", "abc", "2147483648", "9" * 400, "%00", "½", "{}"])
async def test_a_missing_or_malformed_id_is_not_found(reader: httpx2.AsyncClient, key: str) -> None:
    """A malformed id is answered like a missing one."""
    answer = await reader.get(f"/datasets/{key}")
    assert (answer.status_code, answer.json()["detail"]) == (404, "Jeu de données non trouvé")


async def test_a_change_touches_what_it_names(ada: httpx2.AsyncClient) -> None:
    """PATCH sets the given fields, clears those that are null, and keeps the others."""
    record = await create_record(ada, year=2020, objective="o", metadata={"tags": ["x"]})
    response = await ada.patch(f"/datasets/{record['id']}", json={"year": 2021, "objective": None})
    assert response.status_code == 200, response.text
    expected_record = {**record, "year": 2021, "objective": None, "updated_at": response.json()["updated_at"]}
    assert response.json() == expected_record
    assert (await ada.get("/datasets/?year_min=2021")).json() == [expected_record]
    assert (await ada.patch(f"/datasets/{record['id']}", json={"name": None})).status_code == 422
    assert (await ada.patch(f"/datasets/{record['id']}", json={"name": "New"})).json()["dataset_name"] == "New"


async def test_others_may_neither_change_nor_delete(
    selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """Writing to a public record of another user, or without an identity, gives 403 whatever the body."""
    record = await create_record(ada)
    async with client_of(selection, None) as nobody:
        for client in (bob, nobody):
            bodies: tuple[Any, ...] = ({"year": 1}, {"yaer": 1}, [])
            for body in bodies:
                assert (await client.patch(f"/datasets/{record['id']}", json=body)).status_code == 403
            assert (await client.delete(f"/datasets/{record['id']}")).status_code == 403
        orphan = await create_record(nobody)
        assert (await ada.delete(f"/datasets/{orphan['id']}")).status_code == 403
        assert (await nobody.post("/datasets/", json={**FOUR, "visibility": "private"})).status_code == 422
    assert (await ada.delete(f"/datasets/{record['id']}")).status_code == 204
    assert (await ada.get(f"/datasets/{record['id']}")).status_code == 404
    assert (await ada.delete(f"/datasets/{record['id']}")).status_code == 404


async def test_a_private_record_is_missing_for_others(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """To other users, a private record looks like a missing one, byte for byte, on every route."""
    record = await create_record(ada, visibility="private", domain=["rare"])
    for method, suffix, body in (
        ("GET", "", None),
        ("GET", "/source", None),
        ("DELETE", "", None),
        ("PATCH", "", b'{"year": 1}'),
        ("PATCH", "", b"{broken"),
    ):
        missing_response = await bob.request(method, f"/datasets/999999{suffix}", content=body)
        for key in (record["id"], record["dataset_id"]):
            answer = await bob.request(method, f"/datasets/{key}{suffix}", content=body)
            assert (
                (answer.status_code, answer.content)
                == (missing_response.status_code, missing_response.content)
                == (404, answer.content)
            )
    for client, count in ((ada, 1), (bob, 0)):
        assert (await client.get("/datasets/")).headers["X-Total-Count"] == str(count)
        assert (await client.get("/datasets/facets")).json()["total_count"] == count
        assert len((await client.get("/datasets/?visibility=private")).json()) == count
        assert len((await client.post("/datasets/search", json={})).json()) == count
        assert len((await client.post("/datasets/score", json={})).json()) == count


async def test_a_record_turned_private_leaves_every_list(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """A public record that has been cached disappears for others as soon as it becomes private."""
    record = await create_record(ada)
    assert len((await bob.get("/datasets/")).json()) == 1
    await ada.patch(f"/datasets/{record['id']}", json={"visibility": "private"})
    assert (await bob.get("/datasets/")).json() == []
    assert (await bob.get(f"/datasets/{record['id']}")).status_code == 404


async def test_entity_tags_guard_changes(ada: httpx2.AsyncClient) -> None:
    """A write for an outdated version is refused with 412, and reading an unchanged version gives 304."""
    creation = await ada.post("/datasets/", json=FOUR)
    path, etag = f"/datasets/{creation.json()['id']}", creation.headers["ETag"]
    assert creation.headers["Location"] == path
    assert (await ada.get(path, headers={"If-None-Match": etag})).status_code == 304
    assert (await ada.patch(path, json={"year": 2001}, headers={"If-Match": etag})).status_code == 200
    assert (await ada.patch(path, json={"year": 2002}, headers={"If-Match": etag})).status_code == 412
    assert (await ada.delete(path, headers={"If-Match": f"W/{etag}"})).status_code == 412
    assert (await ada.delete(path, headers={"If-Match": "nonsense"})).status_code == 412
    assert (await ada.delete(path, headers={"If-Match": "*"})).status_code == 204


async def test_the_tag_of_a_change_is_the_tag_of_the_stored_record(ada: httpx2.AsyncClient) -> None:
    """A whole percentage has one form, so the response to a change has the entity tag of the stored record."""
    path = f"/datasets/{(await create_record(ada))['id']}"
    for percentage in (0, 25):
        response = await ada.patch(path, json={"missing_values_percentage": percentage})
        tag = response.headers["ETag"]
        assert (await ada.get(path)).headers["ETag"] == tag
        assert (await ada.patch(path, json={"citations": percentage}, headers={"If-Match": tag})).status_code == 200


async def test_search_joins_its_criteria(ada: httpx2.AsyncClient) -> None:
    """A search ignores case and accents, accepts the short names of ethical attributes, and counts its results."""
    first_record = await create_record(ada, name="Été 100 %", instances_number=100, anonymization_applied=True)
    second_record = await create_record(ada, name="ete", anonymization_applied=True, transparency=True)
    for body, ids in (
        ({}, [first_record["id"], second_record["id"]]),
        ({"name_contains": "ÉTÉ"}, [first_record["id"], second_record["id"]]),
        ({"name_contains": "%"}, [first_record["id"]]),
        ({"name_contains": "_"}, []),
        ({"min_rows": 100}, [first_record["id"]]),
        ({"min_rows": 101}, []),
        ({"ethical_tags": ["anonymization", "transparency"]}, [second_record["id"]]),
        (
            {"ethical_tags": ["anonymization_applied"], "name_contains": "", "min_rows": None},
            [first_record["id"], second_record["id"]],
        ),
    ):
        answer = await ada.post("/datasets/search", json=body)
        assert [record["id"] for record in answer.json()] == ids, body
        assert answer.headers["X-Total-Count"] == str(len(ids))
    refusal = await ada.post("/datasets/search", json={"ethical_tags": ["fairness"]})
    assert (refusal.status_code, refusal.json()["code"]) == (422, "unknown_name")
    assert "transparency" in refusal.json()["detail"]


async def test_facets_offer_no_blank_file_type(ada: httpx2.AsyncClient) -> None:
    """Every value of a facet finds, as a filter, as many records as the facet says; a blank one would find all."""
    for file_type in ("", "  ", "csv", "CSV"):
        await create_record(ada, file_type=file_type)

    facets = (await ada.get("/datasets/facets")).json()
    assert (facets["total_count"], facets["values"]["file_type"]) == (4, [{"value": "csv", "count": 2}])
    assert len((await ada.get("/datasets", params={"file_type": "CSV"})).json()) == 2


async def test_facets_count_under_the_filters(ada: httpx2.AsyncClient) -> None:
    """Facets return values with counts, three-valued flags and ranges of the records that match the filters."""
    await create_record(ada, domain=["health", "vision"], year=2010, is_split=True)
    await create_record(ada, domain=["Health"], year=2020)
    response = await ada.get("/datasets/facets?year_min=2000")
    facets = response.json()
    assert facets["total_count"] == 2
    assert {entry["value"].lower(): entry["count"] for entry in facets["values"]["domain"]} == {
        "health": 2,
        "vision": 1,
    }
    assert facets["flags"]["is_split"] == {"true": 1, "false": 0, "unknown": 1}
    assert '"year":{"min":2010,"max":2020}' in response.text  # Python would consider 2010.0 equal.
    assert (await ada.get("/datasets/facets?year_min=2011")).json()["total_count"] == 1
    assert (await ada.get("/datasets/facets?page=1")).status_code == 422


async def test_the_tables_are_published(ada: httpx2.AsyncClient) -> None:
    """The criteria, profiles and sort keys are returned with labels in both languages."""
    tables = (await ada.get("/datasets/criteria")).json()
    assert len(tables["criteria"]) == 12
    assert tables["criteria"][0]["label"] == {"fr": "Éthique", "en": "Ethical"}
    assert [profile["name"] for profile in tables["profiles"] if profile["default"]] == ["balanced"]
    assert {"dataset_name", "num_citations", "created_at"} <= set(tables["sort_keys"])


async def test_the_document_is_closed_and_complete(ada: httpx2.AsyncClient) -> None:
    """The OpenAPI document contains every schema that it refers to, with bounds, and every filter as a parameter."""
    document = (await ada.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    assert set(re.findall(r"#/components/schemas/(\w+)", str(document))) == set(schemas)
    assert schemas["DatasetCreate"]["required"] == ["name", "description", "file_path", "file_type"]
    # The last year that is accepted moves with the calendar, and so it is not in the document.
    assert schemas["DatasetCreate"]["properties"]["year"]["anyOf"][0] == {"type": "integer", "minimum": 1900}
    parameters = str(document["paths"]["/datasets/"]["get"]["parameters"])
    assert all(f"'{name}'" in parameters or f"`{name}`" in parameters for name in LIST_PARAMETERS.by_name)


async def test_a_whole_number_may_be_written_with_a_point(ada: httpx2.AsyncClient) -> None:
    """In JSON, 2020.0 is an integer, in bodies and in filters."""
    record = await create_record(ada, year=2020.0)
    assert record["year"] == 2020
    assert len((await ada.post("/datasets/score", json={"filters": {"year_min": 2020.0}})).json()) == 1
