"""Exporting a record over the API: formats, visibility, conditional requests and claims."""

import json
from typing import Any

import httpx2
import pytest

from tests.metadata.examples import CROISSANT, DATA_PACKAGE, SCHEMA_ORG
from tests.selection.conftest import FOUR
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.standards import read_document
from touchstone.metadata.writers.formats import FORMATS

RECORD = FOUR | {
    "name": "Été cohort",
    "informed_consent": True,
    "year": 2021,
    "domain": ["health"],
    "metadata": {"licence": "CC-BY-4.0", "own": {"a": [1]}},
}


async def create_record(client: httpx2.AsyncClient, **changes: object) -> dict[str, object]:
    """Create a record and return it."""
    response = await client.post("/datasets/", json=RECORD | changes)
    assert response.status_code == 201, response.text
    record: dict[str, object] = response.json()
    return record


@pytest.mark.parametrize("format_key", FORMATS)
async def test_a_record_is_exported_in_every_format(ada: httpx2.AsyncClient, format_key: str) -> None:
    """Its readers find the same record again, whichever id the address names."""
    record = await create_record(ada)

    response = await ada.get(f"/datasets/{record['id']}/export", params={"format": format_key})

    assert response.status_code == 200
    assert response.headers["content-type"].partition(";")[0] == FORMATS[format_key].media_type
    name = f"ete-cohort{FORMATS[format_key].suffix}"
    assert response.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert response.content == (await ada.get(f"/datasets/{record['dataset_id']}/export?format={format_key}")).content
    reading = read_document(SourceDocument(response.content, name))
    (document,) = reading.documents
    assert reading.standard == FORMATS[format_key].standard
    assert document.key == f"urn:uuid:{record['dataset_id']}"
    assert document.record == {
        "dataset_name": "Été cohort",
        "description": "d",
        "file_path": "none.csv",
        "file_type": "csv",
        "informed_consent": True,
        "year": 2021,
        "domain": ["health"],
        "metadata": RECORD["metadata"],
    }


async def test_croissant_is_the_default(ada: httpx2.AsyncClient) -> None:
    record = await create_record(ada)

    default_response = await ada.get(f"/datasets/{record['id']}/export")
    named_response = await ada.get(f"/datasets/{record['id']}/export?format=croissant")

    assert default_response.content == named_response.content


async def test_claims_are_exported_with_level_and_quote_and_without_addresses(ada: httpx2.AsyncClient) -> None:
    record = await create_record(ada)
    claim = {"attribute": "transparency", "value": True, "quote": "Collected in two hospitals.", "place": "Methods"}
    assert (await ada.post(f"/datasets/{record['id']}/evidence", json=claim)).status_code == 201

    document = (await ada.get(f"/datasets/{record['id']}/export?format=croissant")).json()

    assert document["rai:dataCollection"] == "Collected in two hospitals."
    claims = {claim["attribute"]: claim for claim in document["touchstone:dataset"]["claims"]}
    assert set(claims) == {"transparency", "informed_consent", "year"}
    assert claims["transparency"]["quote"] == "Collected in two hospitals."
    assert "level" not in claims["transparency"]  # declared, which is the default
    assert "@" not in json.dumps(claims)


@pytest.mark.parametrize("format_key", FORMATS)
async def test_all_claims_about_a_number_reach_another_catalog(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, format_key: str
) -> None:
    """Several sources may state the same number, and each of them is a claim of its own in the copy."""
    record = await create_record(ada, instances_number=150)
    quotes = {"150 rows", "It has 150 rows."}
    for quote in quotes:
        claim = {"attribute": "instances_number", "value": 150, "quote": quote}
        assert (await ada.post(f"/datasets/{record['id']}/evidence", json=claim)).status_code == 201

    exported = await ada.get(f"/datasets/{record['id']}/export", params={"format": format_key})
    headers = {"Content-Type": exported.headers["content-type"]}
    address = f"/datasets/import?name=table{FORMATS[format_key].suffix}"
    response = await bob.post(address, content=exported.content, headers=headers)

    [result] = response.json()["results"]
    copied_quotes = {claim["quote"] for claim in result["evidence"] if claim["attribute"] == "instances_number"}
    assert copied_quotes >= quotes


async def test_a_withdrawn_claim_is_not_exported(ada: httpx2.AsyncClient) -> None:
    record = await create_record(ada)
    address = f"/datasets/{record['id']}/evidence"
    claim = {"attribute": "transparency", "value": True, "quote": "Collected in two hospitals."}
    claim_id = (await ada.post(address, json=claim)).json()["id"]
    assert (await ada.post(f"{address}/{claim_id}/withdraw")).status_code == 200

    response = await ada.get(f"/datasets/{record['id']}/export")

    assert "two hospitals" not in response.text


async def test_a_private_record_is_exported_to_its_owner_alone(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """For anybody else it does not exist."""
    record = await create_record(ada, visibility="private")

    owner_response = await ada.get(f"/datasets/{record['id']}/export")
    stranger_response = await bob.get(f"/datasets/{record['id']}/export")
    missing_response = await bob.get("/datasets/999999/export")

    assert owner_response.status_code == 200
    assert (stranger_response.status_code, stranger_response.content) == (
        missing_response.status_code,
        missing_response.content,
    )
    assert stranger_response.status_code == 404


@pytest.mark.parametrize("format_key", FORMATS)
async def test_the_copy_of_a_private_record_is_private(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, format_key: str
) -> None:
    """A document does not publish what only its owner sees, unless the import asks for it."""
    record = await create_record(ada, visibility="private")
    exported = await ada.get(f"/datasets/{record['id']}/export", params={"format": format_key})
    headers = {"Content-Type": exported.headers["content-type"]}
    address = f"/datasets/import?name=table{FORMATS[format_key].suffix}"

    for query, visibility in (("", "private"), ("&visibility=public", "public"), ("", "public")):
        response = await bob.post(address + query, content=exported.content, headers=headers)
        [result] = response.json()["results"]
        assert result["dataset"]["visibility"] == visibility


async def test_a_reader_who_has_the_document_gets_no_second_copy(ada: httpx2.AsyncClient) -> None:
    record = await create_record(ada)
    address = f"/datasets/{record['id']}/export?format=card"
    etag = (await ada.get(address)).headers["etag"]

    assert (await ada.get(address, headers={"If-None-Match": etag})).status_code == 304
    other_response = await ada.get(f"/datasets/{record['id']}/export?format=dcat", headers={"If-None-Match": etag})
    assert other_response.status_code == 200
    await ada.patch(f"/datasets/{record['id']}", json={"description": "changed"})
    assert (await ada.get(address, headers={"If-None-Match": etag})).status_code == 200


@pytest.mark.parametrize(
    ("query", "code", "word"),
    [("format=crossaint", "unknown_name", "croissant"), ("fromat=dcat", "unknown_name", "format")],
)
async def test_an_unknown_format_or_parameter_is_refused(
    ada: httpx2.AsyncClient, query: str, code: str, word: str
) -> None:
    record = await create_record(ada)

    response = await ada.get(f"/datasets/{record['id']}/export?{query}")

    assert (response.status_code, response.json()["code"]) == (422, code)
    assert word in response.json()["detail"]


ORIGINALS = [
    (CROISSANT, "signs.json", "croissant"),
    (DATA_PACKAGE | {"x-own": {"a": [1]}}, "datapackage.json", "datapackage"),
    (SCHEMA_ORG | {"x:own": {"a": [1]}}, "rain.jsonld", "jsonld"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("original", "name", "format_key"), ORIGINALS)
async def test_what_was_imported_is_exported_even_by_another_catalog(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, original: dict[str, Any], name: str, format_key: str
) -> None:
    """Whatever format a record travels in, its new owner can export the document that it was first imported from."""
    record_id = await import_document(ada, json.dumps(original).encode(), name)

    assert await missing_members(ada, record_id, format_key, original) == []
    for travel_format, export_format in FORMATS.items():
        document = await ada.get(f"/datasets/{record_id}/export?format={travel_format}")
        copy_id = await import_document(bob, document.content, f"copy{export_format.suffix}")
        assert await missing_members(bob, copy_id, format_key, original) == []


async def import_document(client: httpx2.AsyncClient, content: bytes, name: str) -> int:
    """Import a document and return the id of its record."""
    response = await client.post("/datasets/import", params={"name": name}, content=content)
    assert response.status_code == 201, response.text
    return int(response.json()["results"][0]["dataset"]["id"])


async def missing_members(
    client: httpx2.AsyncClient, record_id: int, format_key: str, original: dict[str, Any]
) -> list[str]:
    """Return the members of an imported document that its export does not have as they were."""
    document = (await client.get(f"/datasets/{record_id}/export?format={format_key}")).json()
    return [name for name, value in original.items() if name != "@context" and document.get(name) != value]
