"""The client against the whole service: claims are added, reviewed and withdrawn, and rankings require evidence."""

import io
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from tests.serving import Service
from touchstone.client import AsyncTouchstone, Identity, InProcess, TouchstoneError, records_to_jsonl
from touchstone.client.fields import Gates
from touchstone.core.evidence import Assurance, EvidenceLevel
from touchstone.database.engine import Database
from touchstone.services.gateway.accounts import create_user

pytestmark = pytest.mark.anyio
PASSWORD = "correct horse battery"
QUOTE = "Every patient signed a consent form."


@pytest.fixture
async def guest(service: Service) -> AsyncIterator[AsyncTouchstone]:
    async with AsyncTouchstone("http://touchstone", transport=InProcess(service.app), locale="en") as client:
        yield client


@pytest.fixture
async def creator(guest: AsyncTouchstone) -> AsyncTouchstone:
    """Return a client of a user who creates records."""
    return await sign_up(guest, "Ada")


@pytest.fixture
async def administrator(guest: AsyncTouchstone, service: Service) -> AsyncTouchstone:
    """Return a client of an administrator."""
    database = Database(service.settings.effective_database_url)
    email = f"{uuid4().hex}@example.org"
    await create_user(database, email=email, password=PASSWORD, is_superuser=True)
    await database.close()
    client = guest.with_identity(Identity(locale="en"))
    await client.login(email, PASSWORD)
    return client


@pytest.fixture
async def curator(guest: AsyncTouchstone, administrator: AsyncTouchstone) -> AsyncTouchstone:
    """Return a client of a user whom an administrator has appointed as a curator."""
    client = await sign_up(guest, "Carla")
    account = await administrator.update_user((await client.get_me()).id, is_curator=True)
    assert account.is_curator
    return client


async def sign_up(guest: AsyncTouchstone, pseudo: str) -> AsyncTouchstone:
    """Return a client of a new user."""
    email = f"{uuid4().hex}@example.org"
    await guest.register(email, PASSWORD, pseudo=pseudo)
    client = guest.with_identity(Identity(locale="en"))
    await client.login(email, PASSWORD)
    return client


async def test_a_declaration_becomes_reviewed_and_is_withdrawn(
    creator: AsyncTouchstone, curator: AsyncTouchstone
) -> None:
    """A creator's claim is declared; a curator raises it to reviewed; withdrawn it no longer counts, but stays."""
    dataset = await creator.create_dataset("Ward visits", objective=uuid4().hex)
    claim = await creator.add_claim(
        dataset.id, "informed_consent", True, quote=QUOTE, place="section 2", source={"name": "Protocol"}
    )
    assert (claim.status, claim.level, claim.quote) == ("active", EvidenceLevel.DECLARED, QUOTE)
    assert claim.by is not None
    assert claim.by.pseudo == "Ada"

    proposals = (await curator.page_proposals(awaiting="confirmation", page_size=100)).proposals
    assert claim.id in [proposal.id for proposal in proposals]
    confirmed_claim = await curator.review_claim(dataset.id, claim.id, "confirm", note="Read it.")
    assert confirmed_claim.level is EvidenceLevel.REVIEWED
    assert confirmed_claim.review is not None
    assert (confirmed_claim.review.decision, confirmed_claim.review.note) == ("confirm", "Read it.")
    state = (await creator.get_evidence(dataset.id)).attributes["informed_consent"]
    assert (state.value, state.level, state.reviewed) == (True, EvidenceLevel.REVIEWED, True)

    await creator.withdraw_claim(dataset.id, claim.id)
    evidence = await creator.get_evidence(dataset.id)
    assert evidence.attributes["informed_consent"].value is None
    assert [stored_claim.status for stored_claim in evidence.claims if stored_claim.id == claim.id] == ["withdrawn"]


async def test_a_proposal_waits_for_a_decision(creator: AsyncTouchstone, guest: AsyncTouchstone) -> None:
    """A claim by anybody else changes nothing until the creator accepts it; then it is closed for further decisions."""
    reader = await sign_up(guest, "Grace")
    dataset = await creator.create_dataset("Lab values")
    proposal = await reader.add_claim(dataset.id, "transparency", False, quote="The origin is not known.")
    assert proposal.status == "proposed"
    assert (await creator.get_dataset(dataset.id)).transparency is None

    page = await creator.page_proposals()
    assert [(item.id, item.dataset_name) for item in page.proposals] == [(proposal.id, "Lab values")]
    await creator.review_claim(dataset.id, proposal.id, "accept")
    assert (await creator.get_dataset(dataset.id)).transparency is False
    assert (await creator.page_proposals()).total_count == 0

    second_proposal = await reader.add_claim(dataset.id, "user_control", None, not_applicable=True)
    await creator.review_claim(dataset.id, second_proposal.id, "reject")
    with pytest.raises(TouchstoneError) as problem:
        await creator.review_claim(dataset.id, second_proposal.id, "accept")
    assert (problem.value.status, problem.value.code) == (409, "claim_closed")


async def test_rankings_require_evidence(creator: AsyncTouchstone, curator: AsyncTouchstone) -> None:
    """What is merely declared counts at `declared` alone, and an item says how much is known."""
    marker = uuid4().hex
    dataset = await creator.create_dataset("Declared", objective=marker, informed_consent=True, transparency=True)
    weights = {"ethical_score": 1.0}

    declared_item = (await creator.score_datasets({"objective": marker}, weights=weights)).datasets[0]
    assert (declared_item.score, declared_item.known, declared_item.ethical_interval) == (0.2, 2, (0.2, 1.0))
    assert dataset.declared_by is not None
    assert dataset.declared_by.pseudo == "Ada"

    ranking = await creator.score_datasets(
        {"objective": marker}, weights=weights, explain=True, assurance=Assurance.DOCUMENTED
    )
    documented_item = ranking.datasets[0]
    assert (ranking.assurance, documented_item.score, documented_item.known) == (Assurance.DOCUMENTED, 0.0, 0)
    assert documented_item.declared is not None
    assert (documented_item.declared.score, documented_item.declared.known) == (0.2, 2)

    await curator.add_claim(dataset.id, "transparency", True, quote="x")
    claims = (await curator.get_evidence(dataset.id)).claims
    declaration = next(claim for claim in claims if claim.attribute == "transparency" and claim.status == "active")
    await curator.review_claim(dataset.id, declaration.id, "confirm")
    page = await creator.page_datasets(objective=marker, transparency=True, assurance="reviewed")
    assert [item.id for item in page.datasets] == [dataset.id]

    project = await creator.create_project("Need", criteria={"objective": marker}, assurance="documented")
    recommendations = await creator.get_recommendations(project.id)
    assert (recommendations.project.assurance, recommendations.datasets[0].known) == (Assurance.DOCUMENTED, 1)


async def test_gates_are_kept_apart_from_the_score(creator: AsyncTouchstone) -> None:
    """Rankings say what passes each gate, who is tied and what does not distinguish; projects keep their gates."""
    marker = uuid4().hex
    licensed_dataset = await creator.create_dataset("Licensed", objective=marker, metadata={"licence": "MIT"})
    await creator.create_dataset("Unlicensed", objective=marker)
    gates: Gates = {"license": ["MIT"], "informed_consent": "declared"}

    ranking = await creator.score_datasets({"objective": marker}, weights={"year": 1.0}, gates=gates)
    assert [(item.rank, item.place, item.tied_with) for item in ranking.datasets] == [(1, 1, 1), (2, 1, 1)]
    assert ranking.datasets[0].gates == {"license": "passed", "informed_consent": "unknown"}
    assert [(note.code, note.criterion_name, note.value) for note in ranking.notes] == [
        ("criterion_unknown", "year", None)
    ]
    passing_ranking = await creator.score_datasets({"objective": marker}, gates={"license": ["MIT"]}, gate="pass")
    assert [item.id for item in passing_ranking.datasets] == [licensed_dataset.id]

    project = await creator.create_project("Need", criteria={"objective": marker}, gates=gates)
    assert project.gates == gates
    assert (await creator.get_recommendations(project.id, gate="pass")).datasets == []
    project = await creator.update_project(project.id, gates={"license": ["MIT"]})
    recommendations = await creator.get_recommendations(project.id, gate="pass")
    assert [item.id for item in recommendations.datasets] == [licensed_dataset.id]


async def test_a_hidden_record_is_seen_by_its_creator_alone(
    creator: AsyncTouchstone, guest: AsyncTouchstone, administrator: AsyncTouchstone
) -> None:
    """Administrators hide a record, find it again among the hidden ones, and show it again."""
    reader = await sign_up(guest, "Grace")
    dataset = await creator.create_dataset("Spam")

    hidden_dataset = await administrator.hide_dataset(dataset.id, hidden=True, reason="Spam.")
    assert (hidden_dataset.hidden, hidden_dataset.hidden_reason) == (True, "Spam.")
    assert dataset.id in [item.id for item in (await administrator.page_hidden_datasets(page_size=100)).datasets]
    with pytest.raises(TouchstoneError, match="404"):
        await reader.get_dataset(dataset.id)
    assert (await creator.get_dataset(dataset.id)).hidden

    await administrator.hide_dataset(dataset.id, hidden=False)
    assert (await reader.get_dataset(dataset.id)).name == "Spam"


async def test_a_hidden_record_that_is_exported_and_imported_stays_public(
    creator: AsyncTouchstone, guest: AsyncTouchstone, administrator: AsyncTouchstone
) -> None:
    """It looks private in the file, but keeps the visibility that its creator has set for the day when it is shown."""
    metadata = {"source": {"name": "A source", "key": uuid4().hex}}
    dataset = await creator.create_dataset("Moderated", metadata=metadata)
    await administrator.hide_dataset(dataset.id, hidden=True)

    hidden_dataset = await creator.get_dataset(dataset.id)
    file = io.StringIO()
    records_to_jsonl([hidden_dataset], file)
    for source in ([hidden_dataset], file.getvalue().splitlines()):
        [batch] = [batch async for batch in creator.import_bulk(source)]
        assert (batch.created, batch.updated, batch.unchanged) == (0, 0, 1)

    await administrator.hide_dataset(dataset.id, hidden=False)
    assert (await creator.get_dataset(dataset.id)).visibility == "public"
