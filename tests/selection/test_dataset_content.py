"""What a dataset says has the same digest in every database and in every version of the service."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from msgspec.structs import replace

from touchstone.core.evidence import EvidenceLevel
from touchstone.database.engine import Database
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.dataset_record import ATTRIBUTE_NAMES, DatasetDraft
from touchstone.services.selection.evidence.claim_records import ClaimDraft, ClaimSource, ClaimStatus
from touchstone.services.selection.evidence.ledger import insert_records
from touchstone.services.selection.projects.dataset_content import DatasetContent, content_changes, read_contents

KNOWN_DIGEST = "219794473145b2ae4680601b4ab660aa2473cc56d15a26778c4fd8228ea0255a"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
OWNER = UUID(int=7)
ATTRIBUTES: dict[str, Any] = {
    "dataset_name": "Étude",
    "objective": "Predict \u20ac",
    "domain": ["health"],
    "task": [],
    "year": 2020,
    "instances_number": 1000,
    "missing_values_percentage": 2.0,
    "transparency": True,
    "equity_non_discrimination": False,
}
METADATA = {
    "licence": "CC-BY-4.0",
    "size": 2**60,
    "share": 0.1,
    "notes": ["x" * 3000],
    "measured": {"rows": 3, "sha256": "0" * 64, "column_profiles": [{"name": "a"}]},
    "imported": [{"standard": "hf_card", "claims": [str(uuid4())]}],
    "unmeasured": "too_slow",
}
SOURCE = ClaimSource(kind="paper", name="Paper", url="https://example.org/p", sha256="1" * 64)
CLAIMS = (
    ClaimDraft(attribute="features_number", value=12.0, level=EvidenceLevel.MEASURED),
    ClaimDraft(
        attribute="informed_consent",
        value=True,
        level=EvidenceLevel.DOCUMENTED,
        quote="All participants gave consent.",
        place="Ethics",
        source=SOURCE,
        standard="hf_card",
        field="consent",
        until=datetime(2099, 1, 1, tzinfo=UTC),
    ),
    ClaimDraft(attribute="informed_consent", value=False, status=ClaimStatus.PROPOSED, author=UUID(int=9)),
    ClaimDraft(attribute="user_control", is_not_applicable=True, author=OWNER),
)


async def stored_content(database: Database, id_: int, **changes: Any) -> DatasetContent:
    """Insert a record with claims under an id, and return what it says."""
    draft = DatasetDraft(
        id=id_,
        dataset_id=UUID(int=1),
        owner=OWNER,
        visibility="private",
        description="d",
        file_path="a.csv",
        file_type="csv",
        attributes={**dict.fromkeys(ATTRIBUTE_NAMES), **ATTRIBUTES},
        metadata=METADATA,
        measured_attributes=None,
        created_at=NOW,
        updated_at=NOW,
    )
    async with database.writing() as transaction:
        await insert_records(transaction, [(replace(draft, **changes), CLAIMS)], version=1)
    async with database.reading() as connection:
        contents = await read_contents(connection, [id_], OWNER)
        assert await read_contents(connection, [id_], None) == {}
    return contents[id_]


async def test_the_digest_is_the_same_in_every_database(database: Database) -> None:
    """It depends neither on the database nor on the numbers and times that it gives."""
    content = await stored_content(database, 41)
    assert content.digest == KNOWN_DIGEST
    assert [(claim.attribute, claim.value, claim.level) for claim in content.claims if claim.quote is None] == [
        ("equity_non_discrimination", False, "declared"),
        ("features_number", 12, "measured"),
        ("instances_number", 1000, "declared"),
        ("missing_values_percentage", 2, "declared"),
        ("transparency", True, "declared"),
        ("user_control", None, "declared"),
        ("year", 2020, "declared"),
    ]
    assert content.record["metadata"]["measured"] == {"rows": 3, "sha256": "0" * 64}
    assert content.record["evidence"]["informed_consent"]["level"] == "documented"
    assert not {"imported", "unmeasured"} & set(content.record["metadata"])


async def test_what_is_no_content_does_not_change_the_digest(database: Database) -> None:
    """Owner, visibility, times, ids of claims and reasons for hiding say nothing about the dataset."""
    content = await stored_content(database, 1)
    async with database.writing() as transaction:
        await store.delete_dataset(transaction, 1, version=2)
    other_content = await stored_content(
        database,
        2,
        visibility="public",
        is_hidden=True,
        hidden_reason="r",
        created_at=datetime(2020, 1, 1, tzinfo=UTC),
        updated_at=datetime(2020, 1, 1, tzinfo=UTC),
        metadata=METADATA | {"imported": [], "unmeasured": "unreadable"},
    )
    assert other_content.digest == content.digest == KNOWN_DIGEST
    assert content_changes(content, other_content) == []


async def test_a_large_member_is_compared_by_its_digest(database: Database) -> None:
    """A change inside a large member of the metadata is a change of its digest."""
    content = await stored_content(database, 1)
    async with database.writing() as transaction:
        await store.delete_dataset(transaction, 1, version=2)
    other_content = await stored_content(database, 2, metadata=METADATA | {"notes": ["y" * 3000]})
    (change,) = content_changes(content, other_content)
    assert (change.field, change.before["bytes"]) == ("metadata.notes", change.after["bytes"])
    assert other_content.digest != content.digest
