"""Claims about datasets: who may make, decide and withdraw them, and what they do to a record."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.selection.claims import (
    ADMINISTRATOR,
    CURATOR,
    OTHER_CURATOR,
    QUOTED_CLAIM,
    calling_as,
    evidence,
    insert_user,
    post_claim,
    review_claim,
    state,
    withdraw_claim,
)
from tests.selection.conftest import ADA, BOB, FOUR, client_of, create_record
from tests.selection.test_selection_bulk import import_all
from tests.selection.test_selection_following import second_backend, wait_for_response
from touchstone.core.settings import Settings
from touchstone.database import change_counters
from touchstone.database.engine import Database
from touchstone.services.gateway import user_store
from touchstone.services.selection.app import Selection
from touchstone.services.selection.evidence.claim_editor import ClaimLimits

CLAIM_MEMBERS = {
    *("id", "dataset_id", "attribute", "value", "not_applicable", "level", "status", "scope", "quote", "place"),
    *("source", "standard", "field", "note", "by", "at", "until", "withdrawn_at", "review"),
}


async def test_what_a_creator_declares_is_presented_as_claims(database: Database, ada: httpx2.AsyncClient) -> None:
    """Values in the row are claims at `declared` with ids that stay, and names instead of e-mail addresses."""
    await insert_user(database, ADA, "Ada L.")
    record = await create_record(ada, informed_consent=True, year=2001)
    content = await evidence(ada, record["id"])
    assert content["declared_by"] == record["declared_by"] == {"id": str(ADA), "pseudo": "Ada L."}
    claims = {claim["attribute"]: claim for claim in content["claims"]}
    assert set(claims) == {"informed_consent", "year"}
    consent = claims["informed_consent"]
    assert set(consent) == CLAIM_MEMBERS
    assert (consent["value"], consent["level"], consent["status"]) == (True, "declared", "active")
    assert consent["by"] == {"id": str(ADA), "pseudo": "Ada L."}
    assert (consent["quote"], consent["source"], consent["review"]) == (None, None, None)
    assert len(content["attributes"]) == 21
    consent_state = {"value": True, "level": "declared", "declared": True, "documented": None, "reviewed": None}
    assert content["attributes"]["informed_consent"] == consent_state | {"not_applicable": False, "conflicting": False}
    assert content["attributes"]["transparency"]["level"] is None

    second_content = await evidence(ada, record["id"])
    assert second_content == content
    await ada.patch(f"/datasets/{record['id']}", json={"description": "other"})
    assert {claim["id"] for claim in (await evidence(ada, record["id"]))["claims"]} == {
        claim["id"] for claim in content["claims"]
    }


@pytest.mark.parametrize("is_bulk", [False, True])
async def test_a_declaration_has_the_time_at_which_it_was_made(ada: httpx2.AsyncClient, is_bulk: bool) -> None:
    """Changing one value of a record does not make the others newer, whether by a PATCH or by a bulk import."""
    source = {"source": {"name": "hub", "key": "1"}}
    record = await create_record(ada, year=2001, transparency=True, metadata=source)

    async def change(**fields: Any) -> dict[str, str]:
        """Change the record, and return when each attribute was declared."""
        body = {**FOUR, "metadata": source, **fields}
        if is_bulk:
            assert (await import_all(ada, [body]))["updated"] == 1
        else:
            assert (await ada.patch(f"/datasets/{record['id']}", json=body)).status_code == 200
        return {claim["attribute"]: claim["at"] for claim in (await evidence(ada, record["id"]))["claims"]}

    times = await change(year=2002, transparency=True, description="other")
    changed_record = (await ada.get(f"/datasets/{record['id']}")).json()
    assert times == {"year": changed_record["updated_at"], "transparency": record["created_at"]}
    assert await change(year=2002, transparency=True, description="yet another") == times
    assert (await change(year=2002, transparency=False))["year"] == times["year"]


async def test_a_creator_adds_a_claim_that_counts(ada: httpx2.AsyncClient) -> None:
    """A quoted claim of the creator fills the record at once; the same one is not added twice."""
    record = await create_record(ada)
    claim = await post_claim(ada, record["id"], source={"kind": "datasheet", "name": "Sheet", "url": "https://x.org/y"})
    assert (claim["status"], claim["level"], claim["quote"]) == ("active", "declared", QUOTED_CLAIM["quote"])
    assert claim["source"] == {"kind": "datasheet", "name": "Sheet", "url": "https://x.org/y", "sha256": None}
    assert (await ada.get(f"/datasets/{record['id']}")).json()["informed_consent"] is True
    assert (await ada.get("/datasets?informed_consent=true")).json()[0]["id"] == record["id"]
    assert (await post_claim(ada, record["id"], source=claim["source"]))["id"] == claim["id"]
    assert len((await evidence(ada, record["id"]))["claims"]) == 1


async def test_anybody_else_proposes(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """A proposal changes nothing until the creator or a curator accepts it."""
    record = await create_record(ada)
    proposal = await post_claim(bob, record["id"])
    assert proposal["status"] == "proposed"
    assert (await bob.get(f"/datasets/{record['id']}")).json() == record
    assert (await state(bob, record["id"]))["value"] is None
    refusal = await review_claim(bob, proposal, "accept")
    assert (refusal.status_code, refusal.json()["code"]) == (403, "review_forbidden")

    acceptance = await review_claim(ada, proposal, "accept")
    assert (acceptance.status_code, acceptance.json()["status"], acceptance.json()["level"]) == (
        200,
        "active",
        "declared",
    )
    assert acceptance.json()["review"] == {
        "by": {"id": str(ADA), "pseudo": None},
        "at": acceptance.json()["review"]["at"],
        "decision": "accept",
        "note": "read",
    }
    assert (await state(ada, record["id"]))["value"] is True
    assert (await ada.get("/datasets?informed_consent=true")).json()[0]["id"] == record["id"]
    second_acceptance = await review_claim(ada, proposal, "accept")
    assert (second_acceptance.status_code, second_acceptance.json()["code"]) == (409, "claim_closed")

    second_proposal = await post_claim(bob, record["id"], attribute="transparency")
    async with calling_as(selection, CURATOR) as curator:
        assert (await review_claim(curator, second_proposal, "accept")).json()["status"] == "active"
    assert (await ada.get(f"/datasets/{record['id']}")).json()["transparency"] is True


async def test_a_curator_confirms(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """Confirming makes a claim `reviewed`, once, and never by its author, nor by a creator who is no curator."""
    record = await create_record(ada, informed_consent=True)
    declaration = (await evidence(ada, record["id"]))["claims"][0]
    assert (await review_claim(ada, declaration, "confirm")).json()["code"] == "review_forbidden"
    assert (await review_claim(bob, declaration, "confirm")).json()["code"] == "review_forbidden"

    async with calling_as(selection, CURATOR) as curator, calling_as(selection, OTHER_CURATOR) as other_curator:
        confirmed_claim = (await review_claim(curator, declaration, "confirm")).json()
        assert (confirmed_claim["id"], confirmed_claim["level"], confirmed_claim["status"]) == (
            declaration["id"],
            "reviewed",
            "active",
        )
        assert (await review_claim(other_curator, declaration, "confirm")).status_code == 409
        consent_state = await state(ada, record["id"])
        assert (consent_state["level"], consent_state["documented"], consent_state["reviewed"]) == (
            "reviewed",
            True,
            True,
        )
        assert len((await evidence(ada, record["id"]))["claims"]) == 1

        own_claim = await post_claim(curator, record["id"], attribute="transparency")
        refusal = await review_claim(curator, own_claim, "confirm")
        assert (refusal.status_code, refusal.json()["code"]) == (403, "own_claim")
        assert refusal.json()["detail"] == "Personne ne peut confirmer sa propre affirmation"
        assert (await review_claim(other_curator, own_claim, "confirm")).json()["level"] == "reviewed"
    assert (await ada.get(f"/datasets/{record['id']}")).json()["transparency"] is True


async def test_a_stronger_claim_overrides_a_declaration(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """A reviewed false beats the creator's true, which stays beside it and returns when the other is withdrawn."""
    record = await create_record(ada, informed_consent=True)
    async with calling_as(selection, CURATOR) as curator, calling_as(selection, OTHER_CURATOR) as other_curator:
        doubt = await post_claim(curator, record["id"], value=False, quote="No one was asked.")
        await review_claim(other_curator, doubt, "confirm")
        assert (await ada.get(f"/datasets/{record['id']}")).json()["informed_consent"] is False
        consent_state = await state(ada, record["id"])
        assert (consent_state["value"], consent_state["declared"], consent_state["conflicting"]) == (False, True, True)
        assert len((await evidence(ada, record["id"]))["claims"]) == 2
        assert (await withdraw_claim(other_curator, doubt)).json()["status"] == "withdrawn"
    assert (await ada.get(f"/datasets/{record['id']}")).json()["informed_consent"] is True
    history = await evidence(ada, record["id"])
    assert [claim["status"] for claim in history["claims"]] == ["withdrawn", "active"]


async def test_a_creator_takes_back_an_acceptance(
    selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """The claim of somebody else is rejected and leaves the record, unless a curator has decided about it."""
    record = await create_record(ada)
    proposal = await post_claim(bob, record["id"])
    await review_claim(ada, proposal, "accept")
    assert (await state(ada, record["id"]))["value"] is True
    rejection = await review_claim(ada, proposal, "reject")
    assert (rejection.status_code, rejection.json()["status"]) == (200, "rejected")
    assert (await state(ada, record["id"]))["value"] is None

    async with calling_as(selection, CURATOR) as curator:
        for decisions in ([(ada, "accept"), (curator, "confirm")], [(curator, "accept")]):
            proposal = await post_claim(bob, record["id"])
            for reviewer, decision in decisions:
                assert (await review_claim(reviewer, proposal, decision)).status_code == 200
            assert (await review_claim(ada, proposal, "reject")).json()["code"] == "review_forbidden"
            await withdraw_claim(bob, proposal)


async def test_withdrawing(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """The author and curators withdraw a claim, nobody else; a closed claim stays closed."""
    record = await create_record(ada)
    proposal = await post_claim(bob, record["id"])
    refusal = await withdraw_claim(ada, proposal)
    assert (refusal.status_code, refusal.json()["code"]) == (403, "withdrawal_forbidden")
    assert (await withdraw_claim(bob, proposal)).json()["withdrawn_at"] is not None
    for answer in (
        await withdraw_claim(bob, proposal),
        await review_claim(ada, proposal, "accept"),
        await review_claim(ada, proposal, "reject"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "claim_closed")
    assert (await post_claim(bob, record["id"]))["id"] != proposal["id"]


async def test_a_declaration_can_be_withdrawn_and_rejected(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """A closed declaration leaves the record; declaring the same again is a new claim."""
    record = await create_record(ada, informed_consent=True, year=2001)
    path = f"/datasets/{record['id']}"
    declarations = {claim["attribute"]: claim for claim in (await evidence(ada, record["id"]))["claims"]}
    assert (await withdraw_claim(ada, declarations["year"])).status_code == 200
    async with calling_as(selection, CURATOR) as curator:
        rejection = await review_claim(curator, declarations["informed_consent"], "reject")
        assert (rejection.status_code, rejection.json()["status"]) == (200, "rejected")
    changed_record = (await ada.get(path)).json()
    assert (changed_record["informed_consent"], changed_record["year"]) == (None, None)
    assert (await ada.get("/datasets?informed_consent=true")).json() == []

    assert (await ada.patch(path, json={"informed_consent": True})).json()["informed_consent"] is True
    claims = (await evidence(ada, record["id"]))["claims"]
    assert sorted(claim["status"] for claim in claims) == ["active", "rejected", "withdrawn"]
    assert len({claim["id"] for claim in claims}) == 3


async def test_a_patch_replaces_the_creators_own_declaration(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """Another value withdraws what the creator said before, confirmed or not; the same value changes nothing."""
    record = await create_record(ada, informed_consent=True)
    path = f"/datasets/{record['id']}"
    declaration = (await evidence(ada, record["id"]))["claims"][0]
    await post_claim(ada, record["id"])
    async with calling_as(selection, CURATOR) as curator:
        await review_claim(curator, declaration, "confirm")
    await ada.patch(path, json={"informed_consent": True})
    assert (await state(ada, record["id"]))["reviewed"] is True
    for value in (False, None, True):
        assert (await ada.patch(path, json={"informed_consent": value})).json()["informed_consent"] is value
        assert (await state(ada, record["id"]))["reviewed"] is None
    history = (await evidence(ada, record["id"]))["claims"]
    assert sorted(claim["status"] for claim in history) == ["active", "withdrawn", "withdrawn"]


async def test_an_administrator_declares_nothing_for_the_creator(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """What an administrator changes is a claim of the administrator, which only another curator may confirm."""
    record = await create_record(ada, informed_consent=False, year=2001, instances_number=5)
    path = f"/datasets/{record['id']}"
    changes = {"informed_consent": True, "year": 1999, "instances_number": 5, "transparency": None}
    async with calling_as(selection, ADMINISTRATOR) as administrator, calling_as(selection, CURATOR) as curator:
        changed_record = (await administrator.patch(path, json=changes)).json()
        assert (changed_record["informed_consent"], changed_record["year"], changed_record["instances_number"]) == (
            True,
            1999,
            5,
        )
        assert (await administrator.patch(path, json=changes)).status_code == 200

        claims = (await evidence(ada, record["id"]))["claims"]
        authors = {(claim["attribute"], claim["value"]): (claim["by"]["id"], claim["status"]) for claim in claims}
        assert authors == {
            ("informed_consent", False): (str(ADA), "withdrawn"),
            ("informed_consent", True): (str(ADMINISTRATOR.id), "active"),
            ("year", 2001): (str(ADA), "withdrawn"),
            ("year", 1999): (str(ADMINISTRATOR.id), "active"),
            ("instances_number", 5): (str(ADA), "active"),
        }
        consent = next(claim for claim in claims if (claim["attribute"], claim["value"]) == ("informed_consent", True))
        refusal = await review_claim(administrator, consent, "confirm")
        assert (refusal.status_code, refusal.json()["code"]) == (403, "own_claim")
        assert (await review_claim(curator, consent, "confirm")).json()["level"] == "reviewed"

        emptied_record = (await administrator.patch(path, json={"year": None, "instances_number": None})).json()
        assert (emptied_record["year"], emptied_record["instances_number"]) == (None, None)


async def test_the_state_names_the_creators_newest_declaration(
    selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """A creator may declare by a claim as well; what others claim is not declared by the creator."""
    record = await create_record(ada, year=2000)
    await post_claim(ada, record["id"], attribute="year", value=2010)
    await post_claim(ada, record["id"], attribute="citations", value=20)
    foreign_claim = await post_claim(bob, record["id"], attribute="features_number", value=9)
    await review_claim(ada, foreign_claim, "accept")

    states = (await evidence(ada, record["id"]))["attributes"]
    shown_and_declared = {
        name: (states[name]["value"], states[name]["declared"]) for name in ("year", "citations", "features_number")
    }
    assert shown_and_declared == {"year": (2010, 2010), "citations": (20, 20), "features_number": (9, None)}


async def test_numbers(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """The record shows the creator's number; without one it shows the newest that was accepted."""
    record = await create_record(ada)
    path = f"/datasets/{record['id']}"
    for number in (10, 20):
        await review_claim(
            ada, await post_claim(bob, record["id"], attribute="instances_number", value=number), "accept"
        )
        assert (await ada.get(path)).json()["instances_number"] == number
    assert (await ada.patch(path, json={"instances_number": 5})).json()["instances_number"] == 5
    async with calling_as(selection, CURATOR) as curator:
        claims = (await evidence(ada, record["id"]))["claims"]
        await review_claim(curator, next(claim for claim in claims if claim["value"] == 20), "confirm")
    number_state = await state(ada, record["id"], "instances_number")
    assert (number_state["value"], number_state["declared"], number_state["reviewed"]) == (5, 5, 20)
    assert (await ada.get("/datasets?instances_max=5")).json()[0]["id"] == record["id"]


async def test_not_applicable_and_annotators(ada: httpx2.AsyncClient) -> None:
    """A claim that an attribute does not apply is told apart from silence; one about annotators never counts."""
    record = await create_record(ada)
    claim = await post_claim(ada, record["id"], attribute="anonymization_applied", value=None, not_applicable=True)
    assert (claim["value"], claim["not_applicable"]) == (None, True)
    attribute_state = await state(ada, record["id"], "anonymization_applied")
    assert (attribute_state["value"], attribute_state["not_applicable"], attribute_state["level"]) == (
        None,
        True,
        "declared",
    )
    await post_claim(ada, record["id"], scope="annotators")
    assert (await state(ada, record["id"]))["value"] is None
    assert (await ada.get(f"/datasets/{record['id']}")).json()["informed_consent"] is None


async def test_a_claim_past_its_date_counts_as_withdrawn(settings: Settings, ada: httpx2.AsyncClient) -> None:
    """The record follows the time in every process, without anybody asking."""
    record = await create_record(ada)
    path = f"/datasets/{record['id']}"
    past_claim = await post_claim(ada, record["id"], until="2020-01-01T00:00:00Z")
    assert (past_claim["status"], past_claim["withdrawn_at"]) == ("withdrawn", "2020-01-01T00:00:00Z")
    expiry = datetime.now(UTC) + timedelta(seconds=1.5)
    claim = await post_claim(ada, record["id"], attribute="transparency", until=expiry.isoformat())
    async with second_backend(settings) as (_, second_client):
        assert (await second_client.get(path)).json()["transparency"] is True
        await wait_for_response(second_client, "/datasets?transparency=true", [])
        assert (await second_client.get(path)).json()["transparency"] is None
    await wait_for_response(ada, "/datasets?transparency=true", [])
    stored_claim = next(item for item in (await evidence(ada, record["id"]))["claims"] if item["id"] == claim["id"])
    assert (stored_claim["status"], stored_claim["withdrawn_at"]) == ("withdrawn", stored_claim["until"])


async def test_private_records_are_missing(
    selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """The claims of somebody else's private record are as missing as those of a missing record, also for curators."""
    record = await create_record(ada, visibility="private", informed_consent=True)
    claim = (await evidence(ada, record["id"]))["claims"][0]
    async with calling_as(selection, CURATOR) as curator:
        for client in (bob, curator):
            for id_ in (record["id"], record["dataset_id"], 99999, str(uuid4()), "x"):
                for answer in (
                    await client.get(f"/datasets/{id_}/evidence"),
                    await client.post(f"/datasets/{id_}/evidence", json=QUOTED_CLAIM),
                    await client.post(f"/datasets/{id_}/evidence/{claim['id']}/review", json={"decision": "accept"}),
                    await client.post(f"/datasets/{id_}/evidence/{claim['id']}/withdraw"),
                ):
                    assert (answer.status_code, answer.json()["detail"]) == (404, "Jeu de données non trouvé")


async def test_a_missing_claim(ada: httpx2.AsyncClient) -> None:
    """A claim about another record, a missing id and a malformed id are answered alike."""
    record, other_record = await create_record(ada), await create_record(ada, year=2000)
    foreign_claim_id = (await evidence(ada, other_record["id"]))["claims"][0]["id"]
    for id_ in (foreign_claim_id, str(uuid4()), "x"):
        for action in ("withdraw", "review"):
            answer = await ada.post(f"/datasets/{record['id']}/evidence/{id_}/{action}", json={"decision": "accept"})
            assert (answer.status_code, answer.json()["code"]) == (404, "claim_not_found")


async def test_callers_without_an_identity_read_only(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """Callers without an identity see the claims of public records and cannot make any."""
    record = await create_record(ada, year=2000)
    async with client_of(selection, None) as nobody:
        assert (await evidence(nobody, record["id"]))["claims"]
        answer = await nobody.post(f"/datasets/{record['id']}/evidence", json=QUOTED_CLAIM)
        assert (answer.status_code, answer.json()["detail"]) == (401, "ID utilisateur invalide")
        assert (await nobody.get("/evidence/proposals")).status_code == 401


@pytest.mark.parametrize(
    ("change", "code", "place"),
    [
        ({"attribute": "informed_consnet"}, "unknown_name", ["body", "attribute"]),
        ({"attribute": "dataset_name"}, "unknown_name", ["body", "attribute"]),
        ({"value": "true"}, "validation_error", ["body", "value"]),
        ({"value": 1}, "validation_error", ["body", "value"]),
        ({"value": None}, "invalid_value", ["body", "value"]),
        ({"not_applicable": True}, "invalid_value", ["body", "value"]),
        ({"attribute": "year", "value": 3000}, "validation_error", ["body", "value"]),
        ({"attribute": "instances_number", "value": -1}, "validation_error", ["body", "value"]),
        ({"attribute": "instances_number", "value": True}, "validation_error", ["body", "value"]),
        ({"attribute": "missing_values_percentage", "value": 101}, "validation_error", ["body", "value"]),
        ({"level": "reviewed"}, "unknown_name", ["body", "level"]),
        ({"by": str(BOB)}, "unknown_name", ["body", "by"]),
        ({"scope": "people"}, "validation_error", ["body", "scope"]),
        ({"quote": "x" * 4001}, "validation_error", ["body", "quote"]),
        ({"quote": "\x00"}, "validation_error", ["body", "quote"]),
        ({"until": "tomorrow"}, "validation_error", ["body", "until"]),
        ({"until": 5}, "validation_error", ["body", "until"]),
        ({"until": "2030-01-01T00:00:00"}, "validation_error", ["body", "until"]),
        ({"source": {"sha256": "x"}}, "validation_error", ["body", "source", "sha256"]),
        ({"source": {"address": "x"}}, "unknown_name", ["body", "source", "address"]),
    ],
)
async def test_claims_are_checked(ada: httpx2.AsyncClient, change: dict[str, Any], code: str, place: list[str]) -> None:
    """A claim that does not fit is refused with its place, and nothing changes."""
    record = await create_record(ada)
    answer = await ada.post(f"/datasets/{record['id']}/evidence", json=QUOTED_CLAIM | change)
    assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    assert answer.json()["errors"][0]["loc"][: len(place)] == place
    assert (await evidence(ada, record["id"]))["claims"] == []


async def test_of_decisions_at_the_same_time_one_counts(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """All of them find the claim open at first, but each is checked again before it is stored."""
    record = await create_record(ada)
    for decision in ("accept", "reject", "withdraw"):
        claim = await post_claim(bob, record["id"], attribute="transparency", value=True)
        requests = [
            withdraw_claim(bob, claim) if decision == "withdraw" else review_claim(ada, claim, decision)
            for _ in range(8)
        ]
        answers = await asyncio.gather(*requests)
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7

        decided_claim = next(answer.json() for answer in answers if answer.status_code == 200)
        claims = (await evidence(ada, record["id"]))["claims"]
        assert next(claim for claim in claims if claim["id"] == decided_claim["id"]) == decided_claim
        await withdraw_claim(bob, claim)


async def test_reviews_are_checked(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """An unknown decision is refused."""
    record = await create_record(ada)
    proposal = await post_claim(bob, record["id"])
    path = f"/datasets/{record['id']}/evidence/{proposal['id']}/review"
    for body in ({}, {"decision": "maybe"}, {"decision": "accept", "level": "reviewed"}):
        assert (await ada.post(path, json=body)).status_code == 422, body


async def test_the_queue(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """Curators see every open proposal about records they may see, the oldest first; others those on their own."""
    record, private_record = await create_record(ada, name="One"), await create_record(ada, visibility="private")
    first_proposal = await post_claim(bob, record["id"])
    second_proposal = await post_claim(bob, record["id"], attribute="transparency")
    await post_claim(bob, record["id"], attribute="user_control", until="2020-01-01T00:00:00Z")
    async with calling_as(selection, CURATOR) as curator:
        page = (await curator.get("/evidence/proposals?page_size=1")).json()
        counts = {"total_count": 2, "page": 1, "page_size": 1, "total_pages": 2}
        assert page == {"proposals": [first_proposal | {"dataset_name": "One"}], **counts}
        page = (await curator.get("/evidence/proposals?page=2&page_size=1")).json()
        assert page["proposals"] == [second_proposal | {"dataset_name": "One"}]
        await ada.patch(f"/datasets/{record['id']}", json={"visibility": "private"})
        assert (await curator.get("/evidence/proposals")).json()["total_count"] == 0
        assert (await curator.get("/evidence/proposals?limit=1")).status_code == 422
    assert (await ada.get("/evidence/proposals")).json()["total_count"] == 2
    assert (await bob.get("/evidence/proposals")).json()["proposals"] == []
    await review_claim(ada, first_proposal, "reject")
    assert (await ada.get("/evidence/proposals")).json()["total_count"] == 1
    assert private_record["id"]


async def test_claims_wait_for_confirmation(
    selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """Curators find the quoted claims that count already and that nobody has confirmed; others may not ask."""
    record = await create_record(ada, year=2000)
    await post_claim(bob, record["id"], attribute="transparency")
    quoted_claim = await post_claim(ada, record["id"])
    await post_claim(ada, record["id"], attribute="user_control", quote=None)
    blank_quote = await post_claim(ada, record["id"], attribute="transparency", quote=" \n", place="\u00a0")
    assert (blank_quote["quote"], blank_quote["place"]) == (None, None)
    await post_claim(ada, record["id"], attribute="security_measures_in_place", scope="annotators")
    path = "/evidence/proposals?awaiting=confirmation"
    async with calling_as(selection, CURATOR) as curator, calling_as(selection, OTHER_CURATOR) as other_curator:
        own_claim = await post_claim(curator, record["id"], attribute="accountability_defined")
        await review_claim(ada, own_claim, "accept")
        assert [item["id"] for item in (await curator.get(path)).json()["proposals"]] == [quoted_claim["id"]]
        assert [item["id"] for item in (await other_curator.get(path)).json()["proposals"]] == [
            quoted_claim["id"],
            own_claim["id"],
        ]
        await review_claim(other_curator, quoted_claim, "confirm")
        assert (await curator.get(path)).json()["total_count"] == 0
        assert (await curator.get("/evidence/proposals?awaiting=nothing")).status_code == 422
    assert (await ada.get(path)).json()["code"] == "review_forbidden"


async def test_the_claims_go_with_the_record(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """Deleting a record deletes its claims, and they leave the queue."""
    record = await create_record(ada)
    await post_claim(bob, record["id"])
    assert (await ada.delete(f"/datasets/{record['id']}")).status_code == 204
    assert (await ada.get("/evidence/proposals")).json()["total_count"] == 0


async def test_nobody_floods_the_queue(selection: Selection, bob: httpx2.AsyncClient, ada: httpx2.AsyncClient) -> None:
    """An author has a limited number of claims about one record, and of open proposals."""
    selection.services.evidence.limits = ClaimLimits(per_record=2, open_proposals=3)
    first_record, second_record = await create_record(ada), await create_record(ada)
    for record, attribute in (
        (first_record, "transparency"),
        (first_record, "user_control"),
        (second_record, "transparency"),
    ):
        await post_claim(bob, record["id"], attribute=attribute)
    for record, limit in ((first_record, 2), (second_record, 3)):
        answer = await bob.post(f"/datasets/{record['id']}/evidence", json=QUOTED_CLAIM)
        assert (answer.status_code, answer.json()["code"]) == (413, "claim_quota_exceeded")
        assert str(limit) in answer.json()["detail"]


async def test_another_process_sees_claims(settings: Settings, ada: httpx2.AsyncClient) -> None:
    """A claim changes what other processes list, and what a process knows after a restart."""
    record = await create_record(ada)
    async with second_backend(settings) as (_, second_client):
        await post_claim(ada, record["id"])
        changed_record = (await ada.get(f"/datasets/{record['id']}")).json()
        await wait_for_response(second_client, "/datasets?informed_consent=true", [changed_record])
    async with second_backend(settings) as (selection, second_client):
        assert (await second_client.get("/datasets?informed_consent=true")).json() == [changed_record]
        assert selection.services.catalog.view.size == 1


async def test_a_new_name_reaches_the_records(database: Database, ada: httpx2.AsyncClient) -> None:
    """Records that are cached show the name that their owner has chosen since."""
    await insert_user(database, ADA, "Ada")
    record = await create_record(ada)
    async with database.writing() as transaction:
        await user_store.update_user(transaction, ADA, pseudo="Countess")
        await change_counters.increment_version(transaction, change_counters.NAMES)
    renamed_record = record | {"declared_by": {"id": str(ADA), "pseudo": "Countess"}}
    await wait_for_response(ada, f"/datasets/{record['id']}", renamed_record)


async def test_hidden_records(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """A hidden record is seen by its owner alone, in lists, counts, scores and claims, until it is shown again."""
    hidden_record, shown_record = await create_record(ada, name="Hidden"), await create_record(ada, name="Shown")
    path = f"/datasets/{hidden_record['id']}"
    hiding_path = f"/admin/datasets/{hidden_record['id']}/hidden"
    assert (await ada.put(hiding_path, json={"hidden": True})).json()["code"] == "administrators_only"
    async with calling_as(selection, ADMINISTRATOR) as administrator:
        answer = await administrator.put(hiding_path, json={"hidden": True, "reason": "Spam"})
        assert answer.json() == {
            "id": hidden_record["id"],
            "dataset_id": hidden_record["dataset_id"],
            "name": "Hidden",
            "declared_by": {"id": str(ADA), "pseudo": None},
            "hidden": True,
            "hidden_reason": "Spam",
        }
        hidden_list = (await administrator.get("/admin/datasets/hidden")).json()
        assert (hidden_list["datasets"], hidden_list["total_count"]) == ([answer.json()], 1)

        for client in (bob, administrator):
            assert [item["id"] for item in (await client.get("/datasets")).json()] == [shown_record["id"]]
            assert (await client.get("/datasets?page_size=1")).json()["total_count"] == 1
            assert [item["id"] for item in (await client.post("/datasets/score", json={})).json()] == [
                shown_record["id"]
            ]
            assert (await client.get("/datasets/facets")).json()["total_count"] == 1
            for record_path in (path, f"{path}/evidence", f"{path}/source", f"/datasets/{hidden_record['dataset_id']}"):
                assert (await client.get(record_path)).status_code == 404

        owner_view = (await ada.get(path)).json()
        assert (owner_view["visibility"], owner_view["hidden"], owner_view["hidden_reason"]) == (
            "private",
            True,
            "Spam",
        )
        assert len((await ada.get("/datasets")).json()) == 2
        assert len((await ada.get("/datasets?visibility=private")).json()) == 1
        await ada.patch(path, json={"visibility": "public"})
        assert (await bob.get(path)).status_code == 404

        by_uuid = f"/admin/datasets/{hidden_record['dataset_id']}/hidden"
        assert (await administrator.put(by_uuid, json={"hidden": False})).json()["hidden_reason"] is None
        assert (await bob.get(path)).json() == hidden_record | {
            "updated_at": (await bob.get(path)).json()["updated_at"]
        }

        private_record = await create_record(ada, visibility="private")
        for missing_id in (private_record["id"], 99999, "x", str(uuid4())):
            answer = await administrator.put(f"/admin/datasets/{missing_id}/hidden", json={"hidden": True})
            assert (answer.status_code, answer.json()["code"]) == (404, "dataset_not_found")
        assert (await administrator.put(hiding_path, json={})).status_code == 422
