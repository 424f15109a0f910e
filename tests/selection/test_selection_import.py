"""Import of metadata documents: from the document to the record, its claims, and importing it again."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import httpx2
import pytest
import sqlalchemy as sa

from tests.metadata.examples import (
    CARD,
    CROISSANT,
    DATACITE,
    DATASHEET,
    DCAT_US,
    INFOS,
    PMLB,
    as_bytes,
    read_dataset,
    sources,
)
from tests.selection.claims import calling_as
from tests.selection.conftest import ADA, BOB, client_of, create_record
from touchstone.core.identity import Caller
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.tables import datasets
from touchstone.http.backend_auth import CALLER
from touchstone.metadata.readers.standards import STANDARDS
from touchstone.metadata.reading_protocol import ReadDataset
from touchstone.services.selection.app import Selection
from touchstone.services.selection.evidence.claim_editor import ClaimLimits
from touchstone.services.selection.imports.dataset_importer import DocumentImporter, ImportedFile
from touchstone.services.selection.imports.schemas import ImportOrder

pytestmark = pytest.mark.slow
CURATOR = BOB
OTHER_CURATOR = Caller(UUID(int=77), is_curator=True)
# Facts of the table `iris` in the Penn Machine Learning Benchmarks (MIT licence).
PMLB_COUNTS = (
    "dataset\tn_instances\tn_features\tn_binary_features\tn_categorical_features\tn_continuous_features"
    "\tendpoint_type\tn_classes\timbalance\ttask\n"
    "signs\t150\t4\t0\t0\t4\tcategorical\t3.0\t0.0\tclassification\n"
)
PROSE = """# Datasheet for Voices

This dataset contains 1200 clips of read speech.

## Motivation
The clips were recorded to train speech recognition.

## Collection process
All speakers signed a consent form before the recording.

## Maintenance
Errors are corrected in a new version every month.
"""


@pytest.fixture
async def curator(selection: Selection) -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a client that acts as a curator."""

    async def as_curator(scope: Any, receive: Any, send: Any) -> None:
        await selection.app({**scope, CALLER: Caller(CURATOR, is_curator=True)}, receive, send)

    transport = httpx2.ASGITransport(as_curator)
    async with httpx2.AsyncClient(transport=transport, base_url="http://selection.test", timeout=60) as client:
        yield client


async def import_document(client: httpx2.AsyncClient, content: bytes | str, name: str, **query: Any) -> dict[str, Any]:
    """Import one document and return the only result."""
    answer = await client.post("/datasets/import", params={"name": name, **query}, content=content)
    assert answer.status_code in (200, 201), answer.text
    report = answer.json()
    assert report["total"] == len(report["results"]) == 1
    assert (answer.status_code == 201) == (report["results"][0]["status"] == "created" and not query.get("dry_run"))
    result: dict[str, Any] = report["results"][0]
    return result


async def import_form(client: httpx2.AsyncClient, *files: tuple[str, bytes], **query: Any) -> list[dict[str, Any]]:
    """Import several documents and return the results."""
    form = [("files", (name, content, "application/octet-stream")) for name, content in files]
    answer = await client.post("/datasets/import", params=query, files=form)
    assert answer.status_code in (200, 201), answer.text
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


async def evidence_of(client: httpx2.AsyncClient, dataset: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all claims about a record."""
    answer = await client.get(f"/datasets/{dataset['id']}/evidence")
    assert answer.status_code == 200, answer.text
    claims: list[dict[str, Any]] = answer.json()["claims"]
    return claims


async def test_a_document_becomes_a_record_with_claims(ada: httpx2.AsyncClient) -> None:
    """Values become attributes, each number and flag has a verbatim quote, and nothing of the document is lost."""
    result = await import_document(
        ada, as_bytes(CROISSANT), "signs.json", source_name="Signs", source_url="https://a.example"
    )
    record = result["dataset"]
    assert (result["status"], result["standard"], result["error"]) == ("created", "croissant", None)
    assert (record["name"], record["year"], record["visibility"]) == ("Street Signs", 2023, "public")
    assert record["metadata"]["licence"] == "CC-BY-4.0"

    source = record["metadata"]["source"]
    assert (source["kind"], source["name"], source["url"]) == ("croissant", "Signs", "https://a.example")
    assert (await ada.get(f"/datasets/{record['id']}")).json() == record

    year = next(claim for claim in result["evidence"] if claim["attribute"] == "year")
    assert (year["value"], year["level"], year["status"]) == (2023, "declared", "active")
    assert year["quote"] in json.dumps(CROISSANT)
    assert year["source"]["sha256"] == source["sha256"]

    assert "/x:own" in result["unmapped"]
    [imported_document] = record["metadata"]["imported"]
    assert imported_document["unmapped"]["/x:own"] == {"deep": [1, 2]}


async def test_importing_again_changes_nothing(ada: httpx2.AsyncClient) -> None:
    """The second import answers with the same record and the same claims."""
    first_result = await import_document(ada, as_bytes(CROISSANT), "signs.json", source_name="Signs")
    second_result = await import_document(ada, as_bytes(CROISSANT), "signs.json", source_name="Signs")
    assert second_result["status"] == "unchanged"
    assert second_result["dataset"] == first_result["dataset"]
    assert sorted(claim["id"] for claim in second_result["evidence"]) == sorted(
        claim["id"] for claim in first_result["evidence"]
    )
    assert len((await ada.get("/datasets/")).json()) == 1


async def test_the_same_document_at_the_same_time_changes_nothing(selection: Selection, database: Database) -> None:
    """Of several importers that find no record, the others find that of the first before they write."""
    dataset = ReadDataset(file=0, dataset=read_dataset(CROISSANT), proposals=())
    file = ImportedFile(name="signs.json", sha256="0" * 64)
    limits = selection.services.imports.limits
    importer = DocumentImporter(database, selection.services.catalog, Caller(ADA), ImportOrder(), limits)

    outcomes = await asyncio.gather(*(importer.put(dataset, file) for _ in range(4)))
    assert sorted(outcome.status for outcome in outcomes) == ["created", *["unchanged"] * 3]
    assert len({outcome.record and outcome.record.changed_at_version for outcome in outcomes}) == 1


async def test_a_changed_document_updates_its_record(ada: httpx2.AsyncClient) -> None:
    """What the document no longer says is withdrawn; what it still says is kept; what its owner changed stays."""
    first_result = await import_document(ada, as_bytes(CROISSANT), "signs.json")
    dataset_id = first_result["dataset"]["id"]
    changes = {"objective": "Mine", "metadata": {**first_result["dataset"]["metadata"], "note": "kept"}}
    assert (await ada.patch(f"/datasets/{dataset_id}", json=changes)).status_code == 200

    newer_document = {**CROISSANT, "datePublished": "2024-01-01", "description": "Pictures of signs from four cities."}
    result = await import_document(ada, as_bytes(newer_document), "signs.json")
    record = result["dataset"]
    assert (result["status"], record["id"], record["year"]) == ("updated", dataset_id, 2024)
    assert (record["objective"], record["metadata"]["note"]) == ("Mine", "kept")
    assert record["description"] == "Pictures of signs from four cities."

    years = [claim for claim in await evidence_of(ada, record) if claim["attribute"] == "year"]
    assert {(claim["value"], claim["status"]) for claim in years} == {(2024, "active"), (2023, "withdrawn")}
    kept_ids = {claim["id"] for claim in first_result["evidence"] if claim["attribute"] != "year"}
    assert kept_ids <= {claim["id"] for claim in result["evidence"]}

    restored_result = await import_document(ada, as_bytes(CROISSANT), "signs.json")
    assert (restored_result["status"], restored_result["dataset"]["year"]) == ("updated", 2023)
    document_without_year = {name: value for name, value in CROISSANT.items() if name != "datePublished"}
    assert (await import_document(ada, as_bytes(document_without_year), "signs.json"))["dataset"]["year"] is None


async def year_after_edit(client: httpx2.AsyncClient, edited_year: int | None, *dates: str) -> list[int | None]:
    """Import a document, change the year of its record, and return the year after each further version of the document.

    Each version has one of the `dates` as the date of its publication.
    """
    record = (await import_document(client, as_bytes(CROISSANT), "signs.json"))["dataset"]
    assert (await client.patch(f"/datasets/{record['id']}", json={"year": edited_year})).status_code == 200

    years = []
    for date in dates:
        result = await import_document(client, as_bytes({**CROISSANT, "datePublished": date}), "signs.json")
        assert result["status"] == "updated"
        years.append(result["dataset"]["year"])
    return years


@pytest.mark.parametrize("edited_year", [1999, None])
async def test_a_number_that_its_owner_has_changed_stays(ada: httpx2.AsyncClient, edited_year: int | None) -> None:
    """Neither the next version of the document nor the one after it overrules the owner, who may clear a value, too."""
    years = await year_after_edit(ada, edited_year, "2024-01-01", "2025-01-01")
    assert years == [edited_year, edited_year]

    [record] = (await ada.get("/datasets/")).json()
    claims = [claim for claim in await evidence_of(ada, record) if claim["attribute"] == "year"]
    imported_claims = [claim for claim in claims if claim["standard"] == "croissant"]
    assert {(claim["value"], claim["status"]) for claim in imported_claims} == {
        (2023, "withdrawn"),
        (2024, "withdrawn"),
        (2025, "withdrawn"),
    }


@pytest.mark.parametrize("source_name", ["Signs", None])
async def test_a_number_that_its_owner_has_cleared_stays_unknown_after_a_version_without_it(
    curator: httpx2.AsyncClient, source_name: str | None
) -> None:
    """A document that drops the value and states it again does not overrule the owner, who alone can restore it."""
    without_year = {name: value for name, value in CROISSANT.items() if name != "datePublished"}
    silent_documents = [{**without_year, "description": f"Signs, part {part}."} for part in range(4)]
    source = {"source_name": source_name} if source_name else {}
    record = (await import_document(curator, as_bytes(CROISSANT), "signs.json", **source))["dataset"]

    async def year_after(edited_year: int | None, *documents: dict[str, Any]) -> int | None:
        """Change the year of the record, and return it after each of the documents has been imported."""
        path = f"/datasets/{record['id']}"
        assert (await curator.patch(path, json={"year": edited_year})).json()["year"] == edited_year
        for document in documents:
            result = await import_document(curator, as_bytes(document), "signs.json", **source)
            assert result["status"] == "updated"
        year: int | None = result["dataset"]["year"]
        return year

    assert await year_after(None, *silent_documents[:2], CROISSANT, silent_documents[2]) is None
    assert await year_after(2023, silent_documents[3]) == 2023


async def test_a_number_that_its_owner_has_left_as_it_was_follows_the_document(ada: httpx2.AsyncClient) -> None:
    """Sending the value of the document back with a PATCH is no edit."""
    assert await year_after_edit(ada, 2023, "2024-01-01", "2025-01-01") == [2024, 2025]


@pytest.mark.parametrize(
    ("edited_flag", "statement", "next_statement"),
    [
        (False, {}, {"license": "CC0-1.0"}),
        (
            True,
            {"conditionsOfAccess": "Available on request."},
            {"license": "CC0-1.0", "conditionsOfAccess": "Access must be requested."},
        ),
    ],
)
async def test_flags_lists_and_metadata_that_their_owner_has_changed_stay(
    ada: httpx2.AsyncClient, edited_flag: bool, statement: dict[str, str], next_statement: dict[str, str]
) -> None:
    """Every kind of value follows the same promise."""
    document = {**CROISSANT, "keywords": ["signs"], **statement}
    record = (await import_document(ada, as_bytes(document), "signs.json"))["dataset"]
    assert record["is_public"] is not edited_flag

    metadata = {**record["metadata"], "tags": ["mine"], "licence": "MIT"}
    edits = {"name": "Mine", "domain": ["traffic"], "is_public": edited_flag, "metadata": metadata}
    assert (await ada.patch(f"/datasets/{record['id']}", json=edits)).status_code == 200

    next_document = {**document, "name": "Other", "keywords": ["streets"], **next_statement}
    result = await import_document(ada, as_bytes(next_document), "signs.json")
    merged_record = result["dataset"]
    assert result["status"] == "updated"
    assert (merged_record["name"], merged_record["domain"]) == ("Mine", ["traffic"])
    assert merged_record["is_public"] is edited_flag
    assert (merged_record["metadata"]["tags"], merged_record["metadata"]["licence"]) == (["mine"], "MIT")


async def test_prose_is_proposed_until_somebody_accepts_it(ada: httpx2.AsyncClient) -> None:
    """Without `accept`, what the extractor finds changes nothing; with it, it counts, and the proposal is the claim."""
    proposed_result = await import_document(ada, PROSE, "voices/datasheet.md")
    [consent] = [claim for claim in proposed_result["proposals"] if claim["attribute"] == "informed_consent"]
    assert (consent["status"], consent["value"]) == ("proposed", True)
    assert consent["quote"] in PROSE
    assert proposed_result["dataset"]["informed_consent"] is None

    accepted_result = await import_document(ada, PROSE, "voices/datasheet.md", accept=True)
    assert (accepted_result["status"], accepted_result["dataset"]["informed_consent"]) == ("updated", True)
    assert consent["id"] in {claim["id"] for claim in accepted_result["evidence"]}
    repeated_result = await import_document(ada, PROSE, "voices/datasheet.md")
    assert (repeated_result["status"], repeated_result["dataset"]["informed_consent"]) == ("unchanged", True)


async def test_a_rejected_claim_stays_rejected(ada: httpx2.AsyncClient) -> None:
    """A proposal that was turned down does not come back with a later version, even if one in between lacks it."""
    proposed_result = await import_document(ada, PROSE, "voices/datasheet.md")
    [consent] = [claim for claim in proposed_result["proposals"] if claim["attribute"] == "informed_consent"]
    path = f"/datasets/{proposed_result['dataset']['id']}/evidence/{consent['id']}/review"
    assert (await ada.post(path, json={"decision": "reject"})).status_code == 200

    without_consent = PROSE.replace("All speakers signed a consent form before the recording.", "In a studio.")
    for document in (PROSE + "\nMore.\n", without_consent, PROSE):
        result = await import_document(ada, document, "voices/datasheet.md", accept=True)
        assert result["status"] == "updated"
        assert result["dataset"]["informed_consent"] is None
        assert not [claim for claim in result["evidence"] if claim["attribute"] == "informed_consent"]


async def test_a_rejected_claim_does_not_come_back_at_another_level(
    curator: httpx2.AsyncClient, selection: Selection
) -> None:
    """What was rejected as a declaration is not documented later, when the importer has become a curator."""
    first_result = await import_document(curator, as_bytes(CROISSANT), "signs.json")
    async with calling_as(selection, OTHER_CURATOR) as reviewer:
        for claim in first_result["evidence"]:
            path = f"/datasets/{first_result['dataset']['id']}/evidence/{claim['id']}/review"
            assert (await reviewer.post(path, json={"decision": "reject"})).status_code == 200

    newer_document = {**CROISSANT, "description": "Pictures of signs from four cities."}
    result = await import_document(curator, as_bytes(newer_document), "signs.json", accept=True)
    assert result["status"] == "updated"
    assert {claim["status"] for claim in await evidence_of(curator, result["dataset"])} == {"rejected"}


async def test_importing_an_export_again_keeps_reviews(curator: httpx2.AsyncClient, selection: Selection) -> None:
    """The claims of an export are mere declarations, which do not replace the claims that they were made from."""
    first_result = await import_document(curator, as_bytes(CROISSANT), "signs.json", source_name="Signs")
    dataset_id = first_result["dataset"]["id"]
    async with calling_as(selection, OTHER_CURATOR) as reviewer:
        for claim in first_result["evidence"]:
            path = f"/datasets/{dataset_id}/evidence/{claim['id']}/review"
            assert (await reviewer.post(path, json={"decision": "confirm"})).status_code == 200
    claims_before = await evidence_of(curator, first_result["dataset"])
    export_response = await curator.get(f"/datasets/{dataset_id}/export?format=croissant")

    result = await import_document(curator, export_response.content, "signs.json", source_name="Signs")
    assert result["dataset"]["id"] == dataset_id
    assert await evidence_of(curator, result["dataset"]) == claims_before
    assert {claim["level"] for claim in claims_before} == {"reviewed"}


async def test_a_claim_that_expires_also_does_so_after_a_round_trip(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """An exported claim keeps the time at which it ceases to count."""
    record = await create_record(ada, name="Voices")
    claim = {"attribute": "user_control", "value": True, "until": "2099-01-01T00:00:00Z"}
    assert (await ada.post(f"/datasets/{record['id']}/evidence", json=claim)).status_code == 201
    export_response = await ada.get(f"/datasets/{record['id']}/export?format=jsonld")

    result = await import_document(bob, export_response.content, "voices.json")
    assert [claim["until"] for claim in result["evidence"]] == ["2099-01-01T00:00:00Z"]


async def test_the_creator_replaces_a_documented_value(curator: httpx2.AsyncClient) -> None:
    """A curator who has imported a record can clear and change what its document says about flags and numbers."""
    result = await import_document(curator, as_bytes(CROISSANT), "signs.json", source_name="Signs")
    path = f"/datasets/{result['dataset']['id']}"
    assert result["dataset"]["year"] == 2023

    assert (await curator.patch(path, json={"year": None})).json()["year"] is None
    assert (await curator.patch(path, json={"year": 2020})).json()["year"] == 2020
    statuses = {
        (claim["value"], claim["status"])
        for claim in await evidence_of(curator, result["dataset"])
        if claim["attribute"] == "year"
    }
    assert statuses == {(2023, "withdrawn"), (2020, "active")}


async def test_only_a_curator_documents_from_a_named_source(
    ada: httpx2.AsyncClient, curator: httpx2.AsyncClient
) -> None:
    """Anyone can write a document, so the level depends on who imports it and on whether its source has a name."""
    ada_result = await import_document(ada, as_bytes(CROISSANT), "signs.json", source_name="Signs")
    curator_result = await import_document(curator, as_bytes(CROISSANT), "signs.json", source_name="Signs")
    unnamed_result = await import_document(curator, as_bytes(CROISSANT), "signs.json")
    assert {claim["level"] for claim in ada_result["evidence"]} == {"declared"}
    assert {claim["level"] for claim in curator_result["evidence"]} == {"documented"}
    assert {claim["level"] for claim in unnamed_result["evidence"]} == {"declared"}
    assert len({result["dataset"]["id"] for result in (ada_result, curator_result, unnamed_result)}) == 3


async def test_a_dry_run_changes_nothing(ada: httpx2.AsyncClient) -> None:
    """A dry run answers like an import, without ids of records that do not exist."""
    result = await import_document(ada, as_bytes(CROISSANT), "signs.json", dry_run=True)
    assert (result["status"], result["dataset"]["id"], result["dataset"]["year"]) == ("created", None, 2023)
    assert (await ada.get("/datasets/")).json() == []

    record = (await import_document(ada, as_bytes(CROISSANT), "signs.json"))["dataset"]
    newer_document = as_bytes({**CROISSANT, "datePublished": "2024-01-01"})
    result = await import_document(ada, newer_document, "signs.json", dry_run=True)
    assert (result["status"], result["dataset"]["id"], result["dataset"]["year"]) == ("updated", record["id"], 2024)
    assert (await ada.get(f"/datasets/{record['id']}")).json() == record


async def test_a_dry_run_names_the_standard(ada: httpx2.AsyncClient) -> None:
    """Before anything is imported, the report says which standard was detected and what identifies the dataset."""
    result = await import_document(ada, as_bytes(DATACITE), "rivers.json", dry_run=True)
    assert (result["status"], result["standard"], result["key"]) == ("created", "datacite", "10.1234/rivers.7")
    assert result["dataset"]["name"] == "Water levels of small rivers"
    assert {claim["attribute"] for claim in result["evidence"]} == {
        "is_public",
        "year",
        "accountability_defined",
        "external_documentation_available",
    }


async def test_the_export_of_a_repository_and_the_answer_of_datacite_update_one_record(ada: httpx2.AsyncClient) -> None:
    """Both identify the dataset by its DOI, which they write differently."""
    export = (await import_document(ada, as_bytes(DATACITE), "rivers.json"))["dataset"]
    attributes = {**DATACITE, "doi": "https://doi.org/10.1234/RIVERS.7", "identifiers": [], "publicationYear": 2022}
    answer = {"data": {"id": "10.1234/rivers.7", "type": "dois", "attributes": attributes}}

    result = await import_document(ada, as_bytes(answer), "dois.json")

    assert (result["status"], result["dataset"]["id"], result["dataset"]["year"]) == ("updated", export["id"], 2022)
    assert (await import_document(ada, as_bytes(answer), "dois.json"))["status"] == "unchanged"


async def test_many_subjects_and_descriptions_can_be_imported(ada: httpx2.AsyncClient) -> None:
    """No list of a document makes its record too large."""
    subjects = [{"subject": f"subject of some length {number}"} for number in range(5000)]
    descriptions = [{"description": f"Text {number}.", "descriptionType": "Other"} for number in range(500)]
    document = {**DATACITE, "subjects": subjects, "descriptions": descriptions}
    result = await import_document(ada, as_bytes(document), "rivers.json")
    assert (result["status"], len(result["dataset"]["metadata"]["tags"])) == ("created", 200)


async def test_files_of_a_form_complete_each_other(ada: httpx2.AsyncClient) -> None:
    """A companion is read with its document, and two documents about the same dataset become one record."""
    [card_result] = await import_form(
        ada, ("signs/README.md", CARD.encode()), ("signs/dataset_infos.json", as_bytes(INFOS))
    )
    assert (card_result["key"], card_result["dataset"]["instances_number"]) == ("signs", 1000)

    results = await import_form(
        ada, ("pmlb/signs/metadata.yaml", PMLB.encode()), ("pmlb/all_summary_stats.tsv", PMLB_COUNTS.encode())
    )
    assert [result["status"] for result in results] == ["created", "updated"]
    assert results[0]["dataset"]["id"] == results[1]["dataset"]["id"]
    record = results[1]["dataset"]
    assert (record["instances_number"], record["task"]) == (150, ["classification"])
    assert len(record["metadata"]["imported"]) == 2

    repeated_results = await import_form(
        ada, ("pmlb/signs/metadata.yaml", PMLB.encode()), ("pmlb/all_summary_stats.tsv", PMLB_COUNTS.encode())
    )
    assert [result["status"] for result in repeated_results] == ["unchanged", "unchanged"]


async def test_a_catalog_holds_many_datasets(ada: httpx2.AsyncClient) -> None:
    """Each dataset has a result of its own; one that cannot be used does not keep out the others."""
    answer = await ada.post("/datasets/import?name=data.json", content=as_bytes(DCAT_US))
    report = answer.json()
    assert (answer.status_code, report["total"]) == (201, 2)
    statuses = {result["status"]: result for result in report["results"]}
    assert statuses["created"]["dataset"]["name"] == "Street signs"
    assert statuses["rejected"]["error"]["code"] in ("no_identifier", "no_name")
    assert statuses["rejected"]["error"]["detail"]


@pytest.mark.parametrize(
    ("dataset_count", "sentence"),
    [
        (199, None),
        (200, "1 more dataset or document was rejected and is not in this list"),
        (229, "30 more datasets or documents were rejected and are not in this list"),
    ],
)
async def test_a_list_of_rejections_says_that_it_was_cut_off(
    ada: httpx2.AsyncClient, dataset_count: int, sentence: str | None
) -> None:
    """Whoever repairs the listed datasets learns that there are more, and how many."""
    datasets = [{"description": f"Dataset {number} without a title."} for number in range(dataset_count)]
    catalog = {**DCAT_US, "dataset": datasets}  # beside its datasets, the document is rejected as well
    headers = {"Accept-Language": "en"}
    answer = await ada.post("/datasets/import?name=data.json", content=as_bytes(catalog), headers=headers)
    errors = answer.json()["errors"]

    assert answer.json()["code"] == "unusable_documents"
    assert all(error["loc"] == ["body", "files", 0] for error in errors)
    more = [error["msg"] for error in errors if error["type"] == "more_rejections"]
    assert (len(errors) - len(more), more) == (200, [sentence] if sentence else [])


@pytest.mark.parametrize("key", [standard.key for standard in STANDARDS])
async def test_every_standard_can_be_imported_twice(ada: httpx2.AsyncClient, key: str) -> None:
    """The second import of a document of any standard creates nothing."""
    source = sources()[key]
    folder = source.path.parent
    files = [(source.name, source.content)]
    files += [(str(folder / name), content) for name, content in source.companions.items()]
    first_results = await import_form(ada, *files)
    assert {result["status"] for result in first_results} <= {"created", "rejected"}
    assert "created" in {result["status"] for result in first_results}
    second_results = await import_form(ada, *files)
    assert "created" not in {result["status"] for result in second_results}
    assert "updated" not in {result["status"] for result in second_results}


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        (b" ", "a.json", "empty_document"),
        (b'{"a": 1', "a.json", "truncated_document"),
        (b'{"hello": "world"}', "a.json", "unknown_standard"),
        (b"[" * 100_000, "a.json", "too_deep"),
        (b'{"a":' + b"[" + b"0," * 1_100_000 + b"0]}", "a.json", "too_many_values"),
        (b"dataset: &a [x]\nb: *a\n", "metadata.yaml", "yaml_anchor_refused"),
        (b"dataset: !!python/object:os.system x\n", "metadata.yaml", "yaml_tag_refused"),
        ("name: Pr\u00e9nom".encode("latin-1"), "a.yaml", "wrong_encoding"),
        (b"a\0b", "a.json", "binary_content"),
        (b'{"$schema": "x", "properties": {}}', "a.json", "schema_document"),
        (as_bytes({**DATACITE, "types": {"resourceTypeGeneral": "Software"}}), "a.json", "not_a_dataset"),
    ],
)
async def test_hostile_documents_are_rejected_with_a_reason(
    ada: httpx2.AsyncClient, content: bytes, name: str, code: str
) -> None:
    """A document of which nothing can be used is a 422 that says why, and leaves nothing behind."""
    answer = await ada.post(f"/datasets/import?name={name}", content=content, headers={"Accept-Language": "en"})
    body = answer.json()
    assert (answer.status_code, body["code"]) == (422, "unusable_documents"), body
    assert [error["type"] for error in body["errors"]] == [code]
    assert body["detail"].startswith("Nothing to import: ")
    assert (await ada.get("/datasets/")).json() == []


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Nothing to import: the catalog cannot hold the value of description: at most 100000 characters"),
        ("fr", "le catalogue ne peut pas enregistrer la valeur de description : 100000 caractères au plus"),
    ],
)
async def test_a_value_that_the_catalog_cannot_hold_is_named(
    ada: httpx2.AsyncClient, language: str, sentence: str
) -> None:
    """The reason says which value it is and what is accepted, also beside a document that can be imported."""
    long_document = as_bytes({**CROISSANT, "description": "x" * 100_001})
    headers = {"Accept-Language": language}
    answer = await ada.post("/datasets/import?name=long.json", content=long_document, headers=headers)
    assert (answer.status_code, answer.json()["errors"][0]["type"]) == (422, "invalid_record")
    detail = answer.json()["detail"].replace("\u00a0", " ").replace("\u202f", " ")
    assert detail.endswith(sentence)

    good_document = as_bytes({**CROISSANT, "url": "https://signs.example/other"})
    parts = [("files", ("long.json", long_document)), ("files", ("good/good.json", good_document))]
    results = (await ada.post("/datasets/import", files=parts, headers=headers)).json()["results"]
    [error] = [result["error"] for result in results if result["error"]]
    assert (error["code"], error["place"]) == ("invalid_record", "description")
    assert error["detail"] in answer.json()["detail"]


async def test_a_truncated_document_beside_a_good_one(ada: httpx2.AsyncClient) -> None:
    """The good document is imported, and the other one is listed with its reason."""
    results = await import_form(ada, ("b/bad.json", b'{"a": '), ("g/good.json", as_bytes(CROISSANT)))
    assert {result["document"]: result["status"] for result in results} == {
        "b/bad.json": "rejected",
        "g/good.json": "created",
    }


@pytest.mark.parametrize(
    ("query", "status"),
    [("format=croisant", 422), ("dry-run=true", 422), ("visibility=secret", 422), ("accept=maybe", 422)],
)
async def test_parameters_are_checked(ada: httpx2.AsyncClient, query: str, status: int) -> None:
    """A misspelt parameter or value is refused before anything is read."""
    answer = await ada.post(f"/datasets/import?{query}", content=as_bytes(CROISSANT))
    assert answer.status_code == status


async def test_bodies_that_are_no_documents(ada: httpx2.AsyncClient, selection: Selection) -> None:
    """An empty body and a form without documents are refused, and an anonymous caller imports nothing."""
    assert (await ada.post("/datasets/import")).json()["errors"][0]["type"] == "empty_document"
    form = {"other": ("a.json", as_bytes(CROISSANT), "application/json")}
    assert (await ada.post("/datasets/import", files=form)).status_code == 422
    async with client_of(selection, None) as guest:
        assert (await guest.post("/datasets/import", content=as_bytes(CROISSANT))).status_code == 401


class TestLimits:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"upload_max_bytes": 20_000, "record_quota_bytes": 9_000})

    async def test_a_large_body_is_refused(self, ada: httpx2.AsyncClient) -> None:
        answer = await ada.post("/datasets/import?name=a.json", content=b" " * 30_000)
        assert answer.status_code == 413

    async def test_the_quota_for_records_holds(self, ada: httpx2.AsyncClient) -> None:
        """What fits is imported, and a request of which nothing fits is refused like any other record."""
        statuses = []
        for number in range(6):
            document = {**CROISSANT, "url": f"https://signs.example/{number}"}
            answer = await ada.post("/datasets/import?name=a.json", content=as_bytes(document))
            statuses.append(answer.status_code)
        assert statuses[0] == 201
        assert (statuses[-1], answer.json()["code"]) == (413, "record_quota_exceeded")


class TestTime:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"document_seconds": 0.01})

    async def test_slow_reading_is_ended(self, ada: httpx2.AsyncClient) -> None:
        """A document that takes too long is rejected, and the service goes on."""
        answer = await ada.post("/datasets/import?name=a.json", content=as_bytes(CROISSANT))
        assert answer.status_code == 422
        assert [error["type"] for error in answer.json()["errors"]] == ["reading_too_slow"]


async def test_what_an_import_keeps_cannot_be_written(ada: httpx2.AsyncClient) -> None:
    """`metadata.imported` is the service's own: a caller cannot forge it, and changing the metadata keeps it."""
    forged_record = await create_record(ada, metadata={"imported": [{"standard": "croissant"}], "tags": ["t"]})
    assert forged_record["metadata"] == {"tags": ["t"]}

    record = (await import_document(ada, as_bytes(CROISSANT), "signs.json"))["dataset"]
    response = await ada.patch(f"/datasets/{record['id']}", json={"metadata": {"tags": ["mine"]}})
    assert response.json()["metadata"] == {"tags": ["mine"], "imported": record["metadata"]["imported"]}


async def test_a_deleted_record_can_be_imported_anew(ada: httpx2.AsyncClient) -> None:
    """Deleting a record forgets its source."""
    record = (await import_document(ada, as_bytes(CROISSANT), "signs.json"))["dataset"]
    assert (await ada.delete(f"/datasets/{record['id']}")).status_code == 204
    assert (await import_document(ada, as_bytes(CROISSANT), "signs.json"))["status"] == "created"


async def test_visibility_is_part_of_the_order(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """A private import is seen by its owner alone, and asking for another visibility is a change."""
    private_result = await import_document(ada, as_bytes(CROISSANT), "signs.json", visibility="private")
    assert private_result["dataset"]["visibility"] == "private"
    assert (await bob.get("/datasets/")).json() == []
    assert (await import_document(ada, as_bytes(CROISSANT), "signs.json"))["status"] == "unchanged"
    public_result = await import_document(ada, as_bytes(CROISSANT), "signs.json", visibility="public")
    assert (public_result["status"], public_result["dataset"]["visibility"]) == ("updated", "public")


@pytest.fixture
def canary() -> Iterator[tuple[int, list[bytes]]]:
    """Yield the port of a listener on this machine, and the connections that it records."""
    connections: list[bytes] = []
    has_heard = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connections.append(connection.recv(1000))
                has_heard.set()

        threading.Thread(target=accept, daemon=True).start()
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as canary_connection:
            canary_connection.sendall(b"canary")
        assert has_heard.wait(10)
        yield port, connections


async def test_addresses_in_documents_are_never_fetched(
    ada: httpx2.AsyncClient, canary: tuple[int, list[bytes]]
) -> None:
    """Remote contexts, downloads, pages and sources stay texts: the listener behind them hears nothing."""
    port, connections = canary
    address = f"http://127.0.0.1:{port}/document"
    document = {
        **CROISSANT,
        "@context": address,
        "url": address,
        "license": address,
        "distribution": [{"@type": "cr:FileObject", "contentUrl": address}, {"contentUrl": "file:///etc/passwd"}],
        "isLiveDataset": address,
    }
    result = await import_document(ada, as_bytes(document), "signs.json", source_url=address)
    assert result["status"] == "created"
    assert "remote_context_ignored" in {part["code"] for part in result["skipped"]}
    await import_document(ada, DATASHEET + f"\n![picture]({address})\n<{address}>\n", "voices/datasheet.md")
    turtle = f"<{address}> a <http://www.w3.org/ns/dcat#Dataset> ; <http://purl.org/dc/terms/title> 'Roads' ."
    imports = f"<{address}> <http://www.w3.org/2002/07/owl#imports> <{address}> ."
    assert (await import_document(ada, turtle + imports, "roads.ttl"))["status"] == "created"
    assert connections == [b"canary"]


async def test_an_exported_dataset_comes_back(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """What another catalog has exported is imported with all that it had imported, and its claims are declared only."""
    first_result = await import_document(ada, as_bytes(CROISSANT), "signs.json", source_name="Signs")
    export_response = await ada.get(f"/datasets/{first_result['dataset']['id']}/export?format=croissant")
    assert export_response.status_code == 200

    result = await import_document(bob, export_response.content, "signs.json")
    record = result["dataset"]
    assert (result["status"], record["name"], record["year"]) == ("created", "Street Signs", 2023)
    assert {claim["level"] for claim in result["evidence"]} == {"declared"}
    assert any("/x:own" in document["unmapped"] for document in record["metadata"]["imported"])
    assert (await import_document(bob, export_response.content, "signs.json"))["status"] == "unchanged"


async def test_an_exported_claim_keeps_its_first_source(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, selection: Selection
) -> None:
    """However often a claim is exported and imported again, its history names the document that it began with."""
    source = {"source_name": "Signs", "source_url": "https://signs.example"}
    first_result = await import_document(ada, as_bytes(CROISSANT), "signs.json", **source)
    [first_source] = {json.dumps(claim["source"]) for claim in first_result["evidence"]}
    assert "original" not in json.loads(first_source)

    client, dataset_id = ada, first_result["dataset"]["id"]
    async with calling_as(selection, OTHER_CURATOR) as other:
        for next_client, export_format, catalog in ((bob, "croissant", "Second"), (other, "card", "Third")):
            export = await client.get(f"/datasets/{dataset_id}/export?format={export_format}")
            name = "signs.json" if export_format == "croissant" else "signs/README.md"
            result = await import_document(next_client, export.content, name, source_name=catalog)
            sources = [claim["source"] for claim in result["evidence"]]
            assert {source["name"] for source in sources} == {catalog}
            assert {json.dumps(source["original"]) for source in sources} == {first_source}
            client, dataset_id = next_client, result["dataset"]["id"]


async def test_a_corrected_address_replaces_the_old_one(ada: httpx2.AsyncClient) -> None:
    """The same document from another address is a change, of the record and of the sources of its claims."""
    await import_document(ada, as_bytes(CROISSANT), "signs.json", source_url="https://old.example")
    result = await import_document(ada, as_bytes(CROISSANT), "signs.json", source_url="https://new.example")
    assert (result["status"], result["dataset"]["metadata"]["source"]["url"]) == ("updated", "https://new.example")
    assert {claim["source"]["url"] for claim in result["evidence"]} == {"https://new.example"}


async def test_imports_do_not_flood_the_queue(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """Proposals beyond the limit are skipped, and made as soon as there is room."""
    dry_run_result = await import_document(ada, PROSE, "voices/datasheet.md", dry_run=True)
    proposal_count = len(dry_run_result["proposals"])
    assert proposal_count > 1

    usual_limits = selection.services.imports.limits
    selection.services.imports.limits = usual_limits._replace(open_proposals=1)
    first_result = await import_document(ada, PROSE, "voices/datasheet.md")
    assert len(first_result["proposals"]) == 1
    assert [part["code"] for part in first_result["skipped"]].count("too_many_proposals") == proposal_count - 1
    second_result = await import_document(ada, PROSE.replace("Voices", "Others"), "others/datasheet.md")
    assert (second_result["status"], second_result["proposals"]) == ("created", [])
    assert (await ada.get("/evidence/proposals")).json()["total_count"] == 1

    selection.services.imports.limits = usual_limits
    repeated_result = await import_document(ada, PROSE, "voices/datasheet.md")
    assert (repeated_result["status"], len(repeated_result["proposals"])) == ("updated", proposal_count)
    assert (await import_document(ada, PROSE, "voices/datasheet.md"))["status"] == "unchanged"


async def test_imported_claims_leave_room_for_others(
    selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """What the owner imports does not count towards the claims about one record; what another user says does."""
    selection.services.evidence.limits = ClaimLimits(per_record=1)
    record = (await import_document(ada, as_bytes(CROISSANT), "signs.json"))["dataset"]
    path = f"/datasets/{record['id']}/evidence"
    source = {"standard": "croissant", "source": {"sha256": "0" * 64}}
    for client, details in ((ada, {}), (bob, source)):
        claim = {"attribute": "transparency", "value": True, **details}
        assert (await client.post(path, json=claim)).status_code == 201
        answer = await client.post(path, json={**claim, "attribute": "user_control"})
        assert (answer.status_code, answer.json()["code"]) == (413, "claim_quota_exceeded")


@pytest.mark.parametrize("malformed_value", ["x", 3, [{"standard": 4}]])
async def test_what_a_client_had_stored_as_imported_counts_as_nothing(
    ada: httpx2.AsyncClient, database: Database, malformed_value: Any
) -> None:
    """A record from the time before `metadata.imported` was reserved can be exported and imported again."""
    record = (await import_document(ada, as_bytes(CROISSANT), "signs.json"))["dataset"]
    metadata = {**record["metadata"], "imported": malformed_value}
    async with database.writing() as transaction:
        await transaction.execute(sa.update(datasets).where(datasets.c.id == record["id"]).values(metadata=metadata))

    assert (await ada.get(f"/datasets/{record['id']}/export?format=croissant")).status_code == 200
    result = await import_document(ada, as_bytes(CROISSANT), "signs.json")
    assert (result["status"], len(result["dataset"]["metadata"]["imported"])) == ("updated", 1)
