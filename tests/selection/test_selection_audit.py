"""`touchstone doctor --catalog`: claims whose evidence does not hold are found, on both databases."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import anyio.to_thread
import httpx2
import pytest

from tests.cli.running import run
from touchstone.cli.doctor_command import audit_lines
from touchstone.core.evidence import EvidenceLevel
from touchstone.core.settings import Settings
from touchstone.database import change_counters
from touchstone.database.engine import Database
from touchstone.services.selection.datasets.dataset_record import ATTRIBUTE_NAMES, DatasetDraft
from touchstone.services.selection.demo_loader import load_demo
from touchstone.services.selection.evidence import store
from touchstone.services.selection.evidence.catalog_audit import EvidenceAudit, audit_catalog
from touchstone.services.selection.evidence.claim_records import ClaimDraft, ClaimSource, ClaimStatus
from touchstone.services.selection.evidence.evidence_faults import EvidenceFault
from touchstone.services.selection.evidence.ledger import insert_records

CARD = """# Discussion of Biases

The speakers were balanced by gender: half of them are women.
All names were removed by the editors.
**Contact:** [email](desk@example.org)
"""
DIGEST = hashlib.sha256(CARD.encode()).hexdigest()
SOURCE = ClaimSource(kind="hf_card", name="cards", url="https://example.org/README.md", sha256=DIGEST)

GOOD_CLAIMS = (
    {"attribute": "equity_non_discrimination", "quote": "The speakers were balanced by gender"},
    {"attribute": "anonymization_applied", "quote": "All names were removed by the editors."},
    {"attribute": "accountability_defined", "quote": "**Contact:** [email](desk@example.org)"},
)
FAULTY_CLAIMS: Mapping[EvidenceFault, tuple[dict[str, Any], ...]] = {
    EvidenceFault.PLACEHOLDER: (
        {"attribute": "accountability_defined", "quote": "**Point of Contact:** [More Information Needed]"},
        {"attribute": "informed_consent", "quote": "N/A"},
        {"attribute": "transparency", "quote": "Describe how the data was collected."},
        {"attribute": "is_public", "quote": "[Needs More Information]"},
    ),
    EvidenceFault.BARE_HEADING: (
        {"attribute": "equity_non_discrimination", "quote": "# Discussion of Biases"},
        {"attribute": "equity_non_discrimination", "quote": "Social Impact of Dataset"},
        {"attribute": "equity_non_discrimination", "quote": "Groups", "place": "Dataset Card > Groups"},
    ),
    EvidenceFault.LICENCE: (
        {"attribute": "purpose_limitation_respected", "quote": "CC BY-NC 4.0"},
        {"attribute": "purpose_limitation_respected", "quote": "Released under a licence for research only."},
        {"attribute": "purpose_limitation_respected", "quote": "Only for study.", "place": "Licensing Information"},
    ),
    EvidenceFault.NO_QUOTE: ({"attribute": "user_control", "quote": None},),
    EvidenceFault.NO_SOURCE: ({"attribute": "user_control", "quote": "Write to us.", "source": None},),
}


def documented_claim(**members: Any) -> ClaimDraft:
    """Return a claim of the service from the card, with these members."""
    values = {"value": True, "level": EvidenceLevel.DOCUMENTED, "source": SOURCE, "standard": "hf_card", **members}
    return ClaimDraft(**values)


async def insert_record(database: Database, *claims: ClaimDraft, metadata: dict[str, Any] | None = None) -> None:
    """Insert a record with these claims."""
    now = datetime.now(UTC)
    draft = DatasetDraft(
        dataset_id=uuid4(),
        owner=UUID(int=1),
        visibility="public",
        description="",
        file_path="",
        file_type="",
        attributes={**dict.fromkeys(ATTRIBUTE_NAMES), "dataset_name": "Voices"},
        metadata=metadata,
        measured_attributes=None,
        created_at=now,
        updated_at=now,
    )
    async with database.writing() as transaction:
        version = await change_counters.increment_version(transaction, change_counters.CATALOG)
        await insert_records(transaction, [(draft, claims)], version)


async def audit(database: Database, documents: Path | None = None) -> EvidenceAudit:
    async with database.streaming() as connection:
        return await audit_catalog(connection, documents)


@pytest.fixture
def card_folder(tmp_path: Path) -> Path:
    """Return a folder that contains the card under a name that does not matter."""
    folder = tmp_path / "documents" / "deep"
    folder.mkdir(parents=True)
    (folder / "any-name.md").write_text(CARD)
    return tmp_path / "documents"


@pytest.mark.parametrize("fault", FAULTY_CLAIMS)
async def test_planted_claims_are_found(database: Database, fault: EvidenceFault) -> None:
    """Every planted claim is reported with its fault, its record and its quote; good claims are not."""
    await insert_record(database, *(documented_claim(**claim) for claim in GOOD_CLAIMS))
    await insert_record(database, *(documented_claim(**claim) for claim in FAULTY_CLAIMS[fault]))

    report = await audit(database)
    assert report.count_of(fault) == len(FAULTY_CLAIMS[fault])
    assert {claim.dataset_id for claim in report.faulty} == {2}
    assert {claim.quote for claim in report.faulty} == {claim["quote"] or "" for claim in FAULTY_CLAIMS[fault]}
    assert any("record 2 (Voices)" in line for line in audit_lines(report, limit=10))


async def test_quotes_are_looked_for_in_the_documents(database: Database, card_folder: Path) -> None:
    """With the documents at hand a quote is found or reported; without them it is merely counted."""
    await insert_record(database, *(documented_claim(**claim) for claim in GOOD_CLAIMS))
    await insert_record(
        database, documented_claim(attribute="anonymization_applied", quote="All names were removed by nobody.")
    )

    report = await audit(database)
    assert (report.verified, report.unverified, report.faulty) == (0, 4, [])

    report = await audit(database, card_folder)
    assert (report.verified, report.unverified) == (3, 0)
    assert [(claim.fault, claim.dataset_id) for claim in report.faulty] == [(EvidenceFault.QUOTE_NOT_IN_SOURCE, 2)]


async def test_quotes_are_looked_for_in_what_a_record_keeps(database: Database) -> None:
    """An imported record keeps its documents, so that its quotes can be checked without them."""
    imported_documents = [{"document": "README.md", "standard": "hf_card", "sha256": DIGEST, "fields": {"/body": CARD}}]
    await insert_record(
        database, *(documented_claim(**claim) for claim in GOOD_CLAIMS), metadata={"imported": imported_documents}
    )
    report = await audit(database)
    assert (report.verified, report.unverified, report.faulty) == (3, 0, [])


async def test_quotes_are_found_in_a_later_version_of_their_document(
    ada: httpx2.AsyncClient, database: Database
) -> None:
    """A claim that a new version still makes keeps the digest of the first one, which the record keeps no more."""
    for card in (CARD, f"{CARD}\nThe recordings are in English.\n"):
        params = {"name": "README.md", "format": "hf_card", "accept": "true"}
        answer = await ada.post("/datasets/import", params=params, content=card)
        assert answer.json()["results"][0]["status"] in {"created", "updated"}

    report = await audit(database)
    assert report.verified >= len(GOOD_CLAIMS) - 1
    assert (report.unverified, report.faulty) == (0, [])


@pytest.mark.parametrize("malformed_value", ["x", 3, {"sha256": DIGEST}])
async def test_what_a_client_had_stored_as_imported_shows_nothing(database: Database, malformed_value: Any) -> None:
    """A record can be from the time before `metadata.imported` was reserved."""
    await insert_record(
        database, *(documented_claim(**claim) for claim in GOOD_CLAIMS), metadata={"imported": malformed_value}
    )
    report = await audit(database)
    assert (report.verified, report.unverified, report.faulty) == (0, 3, [])


async def test_claims_that_do_not_count_are_left_out(database: Database) -> None:
    """A proposal is no evidence yet, and what its author withdrew or somebody declares without a quote is none."""
    placeholder = FAULTY_CLAIMS[EvidenceFault.PLACEHOLDER][0]
    await insert_record(
        database,
        documented_claim(**placeholder, status=ClaimStatus.PROPOSED),
        documented_claim(**placeholder, status=ClaimStatus.WITHDRAWN),
        ClaimDraft(attribute="transparency", value=True, author=UUID(int=1)),
    )
    report = await audit(database)
    assert report.faulty == []
    assert report.claims == {EvidenceLevel.DECLARED: 1}


@pytest.mark.slow
async def test_a_forged_quote_from_a_packaged_source_is_found(database: Database) -> None:
    """A quote that claims to come from a document of the demo catalog is held against its packaged passages."""
    await load_demo(database)
    async with database.streaming() as connection:
        clean_report = await audit_catalog(connection, None)
    assert clean_report.records >= 2000
    assert clean_report.verified == clean_report.claims[EvidenceLevel.DOCUMENTED] > 9_000
    assert (clean_report.unverified, clean_report.faulty) == (0, [])

    async with database.streaming() as connection:
        claims = [claim async for chunk in store.stream_active_claims(connection, 10) for claim in chunk][:1]
    forged_claim = documented_claim(
        attribute="informed_consent", quote="Everybody signed a form.", source=claims[0].source
    )
    await insert_record(database, forged_claim)
    assert [claim.fault for claim in (await audit(database)).faulty] == [EvidenceFault.QUOTE_NOT_IN_SOURCE]


async def test_the_command_prints_counts_and_faulty_claims(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exit status is 1 with a faulty claim; each is one line with its record, attribute and quote."""
    await insert_record(database, documented_claim(**FAULTY_CLAIMS[EvidenceFault.BARE_HEADING][0]))
    await database.close()
    monkeypatch.setenv("TOUCHSTONE_DATABASE_URL", settings.effective_database_url)
    monkeypatch.setenv("TOUCHSTONE_DATA_DIR", str(settings.data_dir))

    result = await anyio.to_thread.run_sync(run, "doctor", "--catalog")
    assert result.exit_code == 1, result.output
    assert "1 equity claims from a bare heading" in result.stdout
    assert "0 placeholders used as evidence" in result.stdout
    assert "record 1 (Voices), equity_non_discrimination: '# Discussion of Biases'" in result.stdout
