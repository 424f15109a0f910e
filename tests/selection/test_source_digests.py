"""What identifies imported records, in the present form and in the one that earlier versions have stored."""

import hashlib
import json
from collections.abc import Sequence
from uuid import UUID

import httpx2
import sqlalchemy as sa
from hypothesis import given, strategies

from tests.metadata.examples import CROISSANT, as_bytes
from tests.selection.conftest import ADA
from tests.selection.test_selection_bulk import import_all, record_with_key
from tests.selection.test_selection_import import import_document
from touchstone.database.engine import Database
from touchstone.database.tables import datasets
from touchstone.services.selection.datasets.source_digests import (
    is_old_source_digest,
    old_source_digest,
    source_digest,
)

_names = strategies.one_of(strategies.sampled_from(["a", "a:b", "#", ":"]), strategies.text(min_size=1, max_size=80))
_identities = strategies.tuples(
    strategies.sampled_from([None, UUID(int=1), UUID(int=2)]),
    strategies.sampled_from([None, "dcat", "croissant"]),
    _names,
    _names,
)


@given(identities=strategies.lists(_identities, unique=True, min_size=2, max_size=10))
def test_digests_differ(identities: Sequence[tuple[UUID | None, str | None, str, str]]) -> None:
    """Records that differ in owner, standard, source or key have different digests, in both forms and between them."""
    digests = [source_digest(*identity) for identity in identities]
    old_digests = [old_source_digest(*identity) for identity in identities]
    assert len({*digests, *old_digests}) == 2 * len(identities)
    assert not any(map(is_old_source_digest, digests))
    assert all(map(is_old_source_digest, old_digests))
    # PostgreSQL takes up to 2704 bytes into an index.
    assert max(len(digest.encode()) for digest in digests) < 400


def test_the_records_of_a_source_are_neighbours() -> None:
    """In the order of their digests, records of a source stand together, in the order of their keys."""
    keys = [f"{number:04}" for number in range(100)]
    digests = {
        (name, key): source_digest(ADA, None, name, key) for name in ("Archive", "Library", "Census") for key in keys
    }
    sorted_identities = sorted(digests, key=lambda identity: digests[identity])
    for start in (0, 100, 200):
        names, sorted_keys = zip(*sorted_identities[start : start + 100], strict=True)
        assert len(set(names)) == 1
        assert list(sorted_keys) == keys


async def test_records_under_old_digests_are_updated(ada: httpx2.AsyncClient, database: Database) -> None:
    """An import changes the records that an earlier version has stored, instead of creating them once more."""
    await import_all(ada, [record_with_key("a", year=2001), record_with_key("b")])
    first_result = await import_document(ada, as_bytes(CROISSANT), "signs.json", source_name="Signs")
    await _store_old_digests(database)

    # Beside a record under a digest in the present form, the others are still found.
    totals = await import_all(ada, [record_with_key("c"), record_with_key("a", year=2002), record_with_key("b")])
    assert (totals["made"], totals["updated"], totals["unchanged"]) == (1, 1, 1)
    second_result = await import_document(ada, as_bytes(CROISSANT), "signs.json", source_name="Signs")
    assert (second_result["status"], second_result["dataset"]) == ("unchanged", first_result["dataset"])
    changed_result = await import_document(
        ada, as_bytes({**CROISSANT, "description": "New"}), "signs.json", source_name="Signs"
    )
    assert (changed_result["status"], changed_result["dataset"]["id"]) == ("updated", first_result["dataset"]["id"])

    records = (await ada.get("/datasets/", params={"sort_by": "id"})).json()
    assert [record["year"] for record in records[:2]] == [2002, None]
    assert len(records) == 4


async def _store_old_digests(database: Database) -> None:
    """Give all records the digests that earlier versions have stored."""
    async with database.writing() as transaction:
        rows = await transaction.all(sa.select(datasets.c.id, datasets.c.metadata))
        for row in rows:
            source = row["metadata"]["source"]
            identity = [str(ADA), source.get("kind"), source["name"], source["key"]]
            digest = hashlib.sha256(json.dumps(identity, separators=(",", ":")).encode()).hexdigest()
            update = sa.update(datasets).where(datasets.c.id == row["id"])
            await transaction.execute(update.values(source_digest=digest))


async def test_a_key_belongs_to_one_record_however_it_was_made(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """Imports recognise records that were created or changed one by one, and a second record with a key is refused."""
    created = await ada.post("/datasets/", json=record_with_key("a"))
    assert created.status_code == 201
    assert (await import_all(ada, [record_with_key("a")]))["unchanged"] == 1

    second = await ada.post("/datasets/", json=record_with_key("a"), headers={"accept-language": "en"})
    assert (second.status_code, second.json()["code"]) == (409, "source_taken")
    assert f"no. {created.json()['id']}" in second.json()["detail"]
    assert (await bob.post("/datasets/", json=record_with_key("a"))).status_code == 201

    other = (await ada.post("/datasets/", json=record_with_key("b"))).json()
    address = f"/datasets/{other['id']}"
    taken = await ada.patch(address, json={"metadata": record_with_key("a")["metadata"]})
    assert (taken.status_code, taken.json()["code"]) == (409, "source_taken")
    assert (await ada.patch(address, json={"metadata": record_with_key("c")["metadata"]})).status_code == 200
    assert (await import_all(ada, [record_with_key("c")]))["updated"] == 1
    assert (await import_all(ada, [record_with_key("b")]))["made"] == 1
    assert (await ada.patch(address, json={"year": 2001})).status_code == 200


async def test_a_record_of_a_document_keeps_its_identity(ada: httpx2.AsyncClient) -> None:
    """A record that was imported from a document can be changed, and the document still changes this record."""
    dataset = (await import_document(ada, as_bytes(CROISSANT), "croissant.json"))["dataset"]
    change = {"metadata": dataset["metadata"] | {"note": "mine"}}
    assert (await ada.patch(f"/datasets/{dataset['id']}", json=change)).status_code == 200
    again = await import_document(ada, as_bytes(CROISSANT), "croissant.json")
    assert again["dataset"]["id"] == dataset["id"]
