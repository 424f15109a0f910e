"""Claims about datasets: who may make, decide and withdraw them, and what they do to a record."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.selection.claims import (
    ADMINISTRATOR,
    CURATOR,
    OTHER_CURATOR,
    QUOTED,
    calling_as,
    evidence,
    insert_user,
    posted,
    reviewed,
    state,
    withdrawn,
)
from tests.selection.conftest import ADA, BOB, client_of, created
from tests.selection.test_selection_following import another, until
from touchstone.core.settings import Settings
from touchstone.database import change_counters
from touchstone.database.engine import Database
from touchstone.services.gateway import user_store
from touchstone.services.selection.app import Selection
from touchstone.services.selection.evidence.claim_editor import ClaimLimits

MEMBERS = {
    *("id", "dataset_id", "attribute", "value", "not_applicable", "level", "status", "scope", "quote", "place"),
    *("source", "standard", "field", "note", "by", "at", "until", "withdrawn_at", "review"),
}


async def test_what_a_creator_declares_is_presented_as_claims(database: Database, ada: httpx2.AsyncClient) -> None:
    """Values in the row are claims at `declared` with ids that stay, and names instead of e-mail addresses."""
    await insert_user(database, ADA, "Ada L.")
    made = await created(ada, informed_consent=True, year=2001)
    content = await evidence(ada, made["id"])
    assert content["declared_by"] == made["declared_by"] == {"id": str(ADA), "pseudo": "Ada L."}
    claims = {claim["attribute"]: claim for claim in content["claims"]}
    assert set(claims) == {"informed_consent", "year"}
    consent = claims["informed_consent"]
    assert set(consent) == MEMBERS
    assert (consent["value"], consent["level"], consent["status"]) == (True, "declared", "active")
    assert consent["by"] == {"id": str(ADA), "pseudo": "Ada L."}
    assert (consent["quote"], consent["source"], consent["review"]) == (None, None, None)
    assert len(content["attributes"]) == 21
    known = {"value": True, "level": "declared", "declared": True, "documented": None, "reviewed": None}
    assert content["attributes"]["informed_consent"] == known | {"not_applicable": False, "conflicting": False}
    assert content["attributes"]["transparency"]["level"] is None

    again = await evidence(ada, made["id"])
    assert again == content
    await ada.patch(f"/datasets/{made['id']}", json={"description": "other"})
    assert {claim["id"] for claim in (await evidence(ada, made["id"]))["claims"]} == {
        claim["id"] for claim in content["claims"]
    }


async def test_a_creator_adds_a_claim_that_counts(ada: httpx2.AsyncClient) -> None:
    """A quoted claim of the creator fills the record at once; the same one is not added twice."""
    made = await created(ada)
    claim = await posted(ada, made["id"], source={"kind": "datasheet", "name": "Sheet", "url": "https://x.org/y"})
    assert (claim["status"], claim["level"], claim["quote"]) == ("active", "declared", QUOTED["quote"])
    assert claim["source"] == {"kind": "datasheet", "name": "Sheet", "url": "https://x.org/y", "sha256": None}
    assert (await ada.get(f"/datasets/{made['id']}")).json()["informed_consent"] is True
    assert (await ada.get("/datasets?informed_consent=true")).json()[0]["id"] == made["id"]
    assert (await posted(ada, made["id"], source=claim["source"]))["id"] == claim["id"]
    assert len((await evidence(ada, made["id"]))["claims"]) == 1


async def test_anybody_else_proposes(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """A proposal changes nothing until the creator or a curator accepts it."""
    made = await created(ada)
    proposal = await posted(bob, made["id"])
    assert proposal["status"] == "proposed"
    assert (await bob.get(f"/datasets/{made['id']}")).json() == made
    assert (await state(bob, made["id"]))["value"] is None
    refused = await reviewed(bob, proposal, "accept")
    assert (refused.status_code, refused.json()["code"]) == (403, "review_forbidden")

    accepted = await reviewed(ada, proposal, "accept")
    assert (accepted.status_code, accepted.json()["status"], accepted.json()["level"]) == (200, "active", "declared")
    assert accepted.json()["review"] == {
        "by": {"id": str(ADA), "pseudo": None},
        "at": accepted.json()["review"]["at"],
        "decision": "accept",
        "note": "read",
    }
    assert (await state(ada, made["id"]))["value"] is True
    assert (await ada.get("/datasets?informed_consent=true")).json()[0]["id"] == made["id"]
    again = await reviewed(ada, proposal, "accept")
    assert (again.status_code, again.json()["code"]) == (409, "claim_closed")

    second = await posted(bob, made["id"], attribute="transparency")
    async with calling_as(selection, CURATOR) as curator:
        assert (await reviewed(curator, second, "accept")).json()["status"] == "active"
    assert (await ada.get(f"/datasets/{made['id']}")).json()["transparency"] is True


async def test_a_curator_confirms(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """Confirming makes a claim `reviewed`, once, and never by its author, nor by a creator who is no curator."""
    made = await created(ada, informed_consent=True)
    declaration = (await evidence(ada, made["id"]))["claims"][0]
    assert (await reviewed(ada, declaration, "confirm")).json()["code"] == "review_forbidden"
    assert (await reviewed(bob, declaration, "confirm")).json()["code"] == "review_forbidden"

    async with calling_as(selection, CURATOR) as curator, calling_as(selection, OTHER_CURATOR) as other:
        confirmed = (await reviewed(curator, declaration, "confirm")).json()
        assert (confirmed["id"], confirmed["level"], confirmed["status"]) == (declaration["id"], "reviewed", "active")
        assert (await reviewed(other, declaration, "confirm")).status_code == 409
        known = await state(ada, made["id"])
        assert (known["level"], known["documented"], known["reviewed"]) == ("reviewed", True, True)
        assert len((await evidence(ada, made["id"]))["claims"]) == 1

        own = await posted(curator, made["id"], attribute="transparency")
        refused = await reviewed(curator, own, "confirm")
        assert (refused.status_code, refused.json()["code"]) == (403, "own_claim")
        assert refused.json()["detail"] == "Personne ne peut confirmer sa propre affirmation"
        assert (await reviewed(other, own, "confirm")).json()["level"] == "reviewed"
    assert (await ada.get(f"/datasets/{made['id']}")).json()["transparency"] is True


async def test_a_stronger_claim_overrides_a_declaration(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """A reviewed false beats the creator's true, which stays beside it and returns when the other is withdrawn."""
    made = await created(ada, informed_consent=True)
    async with calling_as(selection, CURATOR) as curator, calling_as(selection, OTHER_CURATOR) as other:
        doubt = await posted(curator, made["id"], value=False, quote="No one was asked.")
        await reviewed(other, doubt, "confirm")
        assert (await ada.get(f"/datasets/{made['id']}")).json()["informed_consent"] is False
        known = await state(ada, made["id"])
        assert (known["value"], known["declared"], known["conflicting"]) == (False, True, True)
        assert len((await evidence(ada, made["id"]))["claims"]) == 2
        assert (await withdrawn(other, doubt)).json()["status"] == "withdrawn"
    assert (await ada.get(f"/datasets/{made['id']}")).json()["informed_consent"] is True
    history = await evidence(ada, made["id"])
    assert [claim["status"] for claim in history["claims"]] == ["withdrawn", "active"]


async def test_withdrawing(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """The author and curators withdraw a claim, nobody else; a closed claim stays closed."""
    made = await created(ada)
    proposal = await posted(bob, made["id"])
    refused = await withdrawn(ada, proposal)
    assert (refused.status_code, refused.json()["code"]) == (403, "withdrawal_forbidden")
    assert (await withdrawn(bob, proposal)).json()["withdrawn_at"] is not None
    for answer in (
        await withdrawn(bob, proposal),
        await reviewed(ada, proposal, "accept"),
        await reviewed(ada, proposal, "reject"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "claim_closed")
    assert (await posted(bob, made["id"]))["id"] != proposal["id"]


async def test_a_declaration_can_be_withdrawn_and_rejected(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """A closed declaration leaves the record; declaring the same again is a new claim."""
    made = await created(ada, informed_consent=True, year=2001)
    path = f"/datasets/{made['id']}"
    declarations = {claim["attribute"]: claim for claim in (await evidence(ada, made["id"]))["claims"]}
    assert (await withdrawn(ada, declarations["year"])).status_code == 200
    async with calling_as(selection, CURATOR) as curator:
        rejected = await reviewed(curator, declarations["informed_consent"], "reject")
        assert (rejected.status_code, rejected.json()["status"]) == (200, "rejected")
    record = (await ada.get(path)).json()
    assert (record["informed_consent"], record["year"]) == (None, None)
    assert (await ada.get("/datasets?informed_consent=true")).json() == []

    assert (await ada.patch(path, json={"informed_consent": True})).json()["informed_consent"] is True
    claims = (await evidence(ada, made["id"]))["claims"]
    assert sorted(claim["status"] for claim in claims) == ["active", "rejected", "withdrawn"]
    assert len({claim["id"] for claim in claims}) == 3


async def test_a_patch_replaces_the_creators_own_declaration(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """Another value withdraws what the creator said before, confirmed or not; the same value changes nothing."""
    made = await created(ada, informed_consent=True)
    path = f"/datasets/{made['id']}"
    declaration = (await evidence(ada, made["id"]))["claims"][0]
    await posted(ada, made["id"])
    async with calling_as(selection, CURATOR) as curator:
        await reviewed(curator, declaration, "confirm")
    await ada.patch(path, json={"informed_consent": True})
    assert (await state(ada, made["id"]))["reviewed"] is True
    for value in (False, None, True):
        assert (await ada.patch(path, json={"informed_consent": value})).json()["informed_consent"] is value
        assert (await state(ada, made["id"]))["reviewed"] is None
    history = (await evidence(ada, made["id"]))["claims"]
    assert sorted(claim["status"] for claim in history) == ["active", "withdrawn", "withdrawn"]


async def test_an_administrator_declares_nothing_for_the_creator(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """What an administrator changes is a claim of the administrator, which only another curator may confirm."""
    made = await created(ada, informed_consent=False, year=2001, instances_number=5)
    path = f"/datasets/{made['id']}"
    changes = {"informed_consent": True, "year": 1999, "instances_number": 5, "transparency": None}
    async with calling_as(selection, ADMINISTRATOR) as administrator, calling_as(selection, CURATOR) as curator:
        changed = (await administrator.patch(path, json=changes)).json()
        assert (changed["informed_consent"], changed["year"], changed["instances_number"]) == (True, 1999, 5)
        assert (await administrator.patch(path, json=changes)).status_code == 200

        claims = (await evidence(ada, made["id"]))["claims"]
        authors = {(claim["attribute"], claim["value"]): (claim["by"]["id"], claim["status"]) for claim in claims}
        assert authors == {
            ("informed_consent", False): (str(ADA), "withdrawn"),
            ("informed_consent", True): (str(ADMINISTRATOR.id), "active"),
            ("year", 2001): (str(ADA), "withdrawn"),
            ("year", 1999): (str(ADMINISTRATOR.id), "active"),
            ("instances_number", 5): (str(ADA), "active"),
        }
        consent = next(claim for claim in claims if (claim["attribute"], claim["value"]) == ("informed_consent", True))
        refused = await reviewed(administrator, consent, "confirm")
        assert (refused.status_code, refused.json()["code"]) == (403, "own_claim")
        assert (await reviewed(curator, consent, "confirm")).json()["level"] == "reviewed"

        emptied = (await administrator.patch(path, json={"year": None, "instances_number": None})).json()
        assert (emptied["year"], emptied["instances_number"]) == (None, None)


async def test_numbers(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """The record shows the creator's number; without one it shows the newest that was accepted."""
    made = await created(ada)
    path = f"/datasets/{made['id']}"
    for number in (10, 20):
        await reviewed(ada, await posted(bob, made["id"], attribute="instances_number", value=number), "accept")
        assert (await ada.get(path)).json()["instances_number"] == number
    assert (await ada.patch(path, json={"instances_number": 5})).json()["instances_number"] == 5
    async with calling_as(selection, CURATOR) as curator:
        claims = (await evidence(ada, made["id"]))["claims"]
        await reviewed(curator, next(claim for claim in claims if claim["value"] == 20), "confirm")
    known = await state(ada, made["id"], "instances_number")
    assert (known["value"], known["declared"], known["reviewed"]) == (5, 5, 20)
    assert (await ada.get("/datasets?instances_max=5")).json()[0]["id"] == made["id"]


async def test_not_applicable_and_annotators(ada: httpx2.AsyncClient) -> None:
    """A claim that an attribute does not apply is told apart from silence; one about annotators never counts."""
    made = await created(ada)
    claim = await posted(ada, made["id"], attribute="anonymization_applied", value=None, not_applicable=True)
    assert (claim["value"], claim["not_applicable"]) == (None, True)
    known = await state(ada, made["id"], "anonymization_applied")
    assert (known["value"], known["not_applicable"], known["level"]) == (None, True, "declared")
    await posted(ada, made["id"], scope="annotators")
    assert (await state(ada, made["id"]))["value"] is None
    assert (await ada.get(f"/datasets/{made['id']}")).json()["informed_consent"] is None


async def test_a_claim_past_its_date_counts_as_withdrawn(settings: Settings, ada: httpx2.AsyncClient) -> None:
    """The record follows the time in every process, without anybody asking."""
    made = await created(ada)
    path = f"/datasets/{made['id']}"
    past = await posted(ada, made["id"], until="2020-01-01T00:00:00Z")
    assert (past["status"], past["withdrawn_at"]) == ("withdrawn", "2020-01-01T00:00:00Z")
    soon = datetime.now(UTC) + timedelta(seconds=1.5)
    claim = await posted(ada, made["id"], attribute="transparency", until=soon.isoformat())
    async with another(settings) as (_, other):
        assert (await other.get(path)).json()["transparency"] is True
        await until(other, "/datasets?transparency=true", [])
        assert (await other.get(path)).json()["transparency"] is None
    await until(ada, "/datasets?transparency=true", [])
    stored = next(item for item in (await evidence(ada, made["id"]))["claims"] if item["id"] == claim["id"])
    assert (stored["status"], stored["withdrawn_at"]) == ("withdrawn", stored["until"])


async def test_private_records_are_missing(
    selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """The claims of somebody else's private record answer as those of a missing one, to curators too."""
    made = await created(ada, visibility="private", informed_consent=True)
    claim = (await evidence(ada, made["id"]))["claims"][0]
    async with calling_as(selection, CURATOR) as curator:
        for client in (bob, curator):
            for id_ in (made["id"], made["dataset_id"], 99999, str(uuid4()), "x"):
                for answer in (
                    await client.get(f"/datasets/{id_}/evidence"),
                    await client.post(f"/datasets/{id_}/evidence", json=QUOTED),
                    await client.post(f"/datasets/{id_}/evidence/{claim['id']}/review", json={"decision": "accept"}),
                    await client.post(f"/datasets/{id_}/evidence/{claim['id']}/withdraw"),
                ):
                    assert (answer.status_code, answer.json()["detail"]) == (404, "Jeu de données non trouvé")


async def test_a_missing_claim(ada: httpx2.AsyncClient) -> None:
    """A claim about another record, a missing and a malformed id are one answer."""
    made, other = await created(ada), await created(ada, year=2000)
    foreign = (await evidence(ada, other["id"]))["claims"][0]["id"]
    for id_ in (foreign, str(uuid4()), "x"):
        for action in ("withdraw", "review"):
            answer = await ada.post(f"/datasets/{made['id']}/evidence/{id_}/{action}", json={"decision": "accept"})
            assert (answer.status_code, answer.json()["code"]) == (404, "claim_not_found")


async def test_callers_without_an_identity_read_only(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """Whoever is nobody sees the claims of public records and makes none."""
    made = await created(ada, year=2000)
    async with client_of(selection, None) as nobody:
        assert (await evidence(nobody, made["id"]))["claims"]
        answer = await nobody.post(f"/datasets/{made['id']}/evidence", json=QUOTED)
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
        ({"level": "reviewed"}, "unknown_name", ["body"]),
        ({"by": str(BOB)}, "unknown_name", ["body"]),
        ({"scope": "people"}, "validation_error", ["body", "scope"]),
        ({"quote": "x" * 4001}, "validation_error", ["body", "quote"]),
        ({"quote": "\x00"}, "validation_error", ["body", "quote"]),
        ({"until": "tomorrow"}, "validation_error", ["body", "until"]),
        ({"until": 5}, "validation_error", ["body", "until"]),
        ({"until": "2030-01-01T00:00:00"}, "validation_error", ["body", "until"]),
        ({"source": {"sha256": "x"}}, "validation_error", ["body", "source", "sha256"]),
        ({"source": {"address": "x"}}, "unknown_name", ["body", "source"]),
    ],
)
async def test_claims_are_checked(ada: httpx2.AsyncClient, change: dict[str, Any], code: str, place: list[str]) -> None:
    """A claim that does not fit is refused with its place, and nothing changes."""
    made = await created(ada)
    answer = await ada.post(f"/datasets/{made['id']}/evidence", json=QUOTED | change)
    assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    assert answer.json()["errors"][0]["loc"][: len(place)] == place
    assert (await evidence(ada, made["id"]))["claims"] == []


async def test_reviews_are_checked(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """An unknown decision is refused."""
    made = await created(ada)
    proposal = await posted(bob, made["id"])
    path = f"/datasets/{made['id']}/evidence/{proposal['id']}/review"
    for body in ({}, {"decision": "maybe"}, {"decision": "accept", "level": "reviewed"}):
        assert (await ada.post(path, json=body)).status_code == 422, body


async def test_the_queue(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """Curators see every open proposal about records they may see, the oldest first; others those on their own."""
    made, private = await created(ada, name="One"), await created(ada, visibility="private")
    first = await posted(bob, made["id"])
    second = await posted(bob, made["id"], attribute="transparency")
    await posted(bob, made["id"], attribute="user_control", until="2020-01-01T00:00:00Z")
    async with calling_as(selection, CURATOR) as curator:
        page = (await curator.get("/evidence/proposals?page_size=1")).json()
        counts = {"total_count": 2, "page": 1, "page_size": 1, "total_pages": 2}
        assert page == {"proposals": [first | {"dataset_name": "One"}], **counts}
        page = (await curator.get("/evidence/proposals?page=2&page_size=1")).json()
        assert page["proposals"] == [second | {"dataset_name": "One"}]
        await ada.patch(f"/datasets/{made['id']}", json={"visibility": "private"})
        assert (await curator.get("/evidence/proposals")).json()["total_count"] == 0
        assert (await curator.get("/evidence/proposals?limit=1")).status_code == 422
    assert (await ada.get("/evidence/proposals")).json()["total_count"] == 2
    assert (await bob.get("/evidence/proposals")).json()["proposals"] == []
    await reviewed(ada, first, "reject")
    assert (await ada.get("/evidence/proposals")).json()["total_count"] == 1
    assert private["id"]


async def test_claims_wait_for_confirmation(
    selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """Curators find the quoted claims that count already and that nobody has confirmed; others may not ask."""
    made = await created(ada, year=2000)
    await posted(bob, made["id"], attribute="transparency")
    quoted = await posted(ada, made["id"])
    await posted(ada, made["id"], attribute="user_control", quote=None)
    path = "/evidence/proposals?awaiting=confirmation"
    async with calling_as(selection, CURATOR) as curator, calling_as(selection, OTHER_CURATOR) as other:
        own = await posted(curator, made["id"], attribute="accountability_defined")
        await reviewed(ada, own, "accept")
        assert [item["id"] for item in (await curator.get(path)).json()["proposals"]] == [quoted["id"]]
        assert [item["id"] for item in (await other.get(path)).json()["proposals"]] == [quoted["id"], own["id"]]
        await reviewed(other, quoted, "confirm")
        assert (await curator.get(path)).json()["total_count"] == 0
        assert (await curator.get("/evidence/proposals?awaiting=nothing")).status_code == 422
    assert (await ada.get(path)).json()["code"] == "review_forbidden"


async def test_the_claims_go_with_the_record(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """Deleting a record deletes its claims, and they leave the queue."""
    made = await created(ada)
    await posted(bob, made["id"])
    assert (await ada.delete(f"/datasets/{made['id']}")).status_code == 204
    assert (await ada.get("/evidence/proposals")).json()["total_count"] == 0


async def test_nobody_floods_the_queue(selection: Selection, bob: httpx2.AsyncClient, ada: httpx2.AsyncClient) -> None:
    """An author has a limited number of claims about one record, and of open proposals."""
    selection.services.evidence.limits = ClaimLimits(per_record=2, open_proposals=3)
    first, second = await created(ada), await created(ada)
    for record, attribute in ((first, "transparency"), (first, "user_control"), (second, "transparency")):
        await posted(bob, record["id"], attribute=attribute)
    for record, limit in ((first, 2), (second, 3)):
        answer = await bob.post(f"/datasets/{record['id']}/evidence", json=QUOTED)
        assert (answer.status_code, answer.json()["code"]) == (413, "claim_quota_exceeded")
        assert str(limit) in answer.json()["detail"]


async def test_another_process_sees_claims(settings: Settings, ada: httpx2.AsyncClient) -> None:
    """A claim changes what other processes list, and what a process knows after a restart."""
    made = await created(ada)
    async with another(settings) as (_, other):
        await posted(ada, made["id"])
        record = (await ada.get(f"/datasets/{made['id']}")).json()
        await until(other, "/datasets?informed_consent=true", [record])
    async with another(settings) as (selection, other):
        assert (await other.get("/datasets?informed_consent=true")).json() == [record]
        assert selection.services.catalog.view.size == 1


async def test_a_new_name_reaches_the_records(database: Database, ada: httpx2.AsyncClient) -> None:
    """Records that are cached show the name that their owner has chosen since."""
    await insert_user(database, ADA, "Ada")
    made = await created(ada)
    async with database.writing() as transaction:
        await user_store.update_profile(transaction, ADA, {"pseudo": "Countess"})
        await change_counters.increment_version(transaction, change_counters.NAMES)
    renamed = made | {"declared_by": {"id": str(ADA), "pseudo": "Countess"}}
    await until(ada, f"/datasets/{made['id']}", renamed)


async def test_hidden_records(selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """A hidden record is seen by its owner alone, in lists, counts, scores and claims, until it is shown again."""
    made, other = await created(ada, name="Hidden"), await created(ada, name="Shown")
    path = f"/datasets/{made['id']}"
    hide = f"/admin/datasets/{made['id']}/hidden"
    assert (await ada.put(hide, json={"hidden": True})).json()["code"] == "administrators_only"
    async with calling_as(selection, ADMINISTRATOR) as administrator:
        answer = await administrator.put(hide, json={"hidden": True, "reason": "Spam"})
        assert answer.json() == {
            "id": made["id"],
            "dataset_id": made["dataset_id"],
            "name": "Hidden",
            "declared_by": {"id": str(ADA), "pseudo": None},
            "hidden": True,
            "hidden_reason": "Spam",
        }
        listed = (await administrator.get("/admin/datasets/hidden")).json()
        assert (listed["datasets"], listed["total_count"]) == ([answer.json()], 1)

        for client in (bob, administrator):
            assert [item["id"] for item in (await client.get("/datasets")).json()] == [other["id"]]
            assert (await client.get("/datasets?page_size=1")).json()["total_count"] == 1
            assert [item["id"] for item in (await client.post("/datasets/score", json={})).json()] == [other["id"]]
            assert (await client.get("/datasets/facets")).json()["total_count"] == 1
            for hidden in (path, f"{path}/evidence", f"{path}/source", f"/datasets/{made['dataset_id']}"):
                assert (await client.get(hidden)).status_code == 404

        own = (await ada.get(path)).json()
        assert (own["visibility"], own["hidden"], own["hidden_reason"]) == ("private", True, "Spam")
        assert len((await ada.get("/datasets")).json()) == 2
        assert len((await ada.get("/datasets?visibility=private")).json()) == 1
        await ada.patch(path, json={"visibility": "public"})
        assert (await bob.get(path)).status_code == 404

        by_uuid = f"/admin/datasets/{made['dataset_id']}/hidden"
        assert (await administrator.put(by_uuid, json={"hidden": False})).json()["hidden_reason"] is None
        assert (await bob.get(path)).json() == made | {"updated_at": (await bob.get(path)).json()["updated_at"]}

        private = await created(ada, visibility="private")
        for missing in (private["id"], 99999, "x", str(uuid4())):
            answer = await administrator.put(f"/admin/datasets/{missing}/hidden", json={"hidden": True})
            assert (answer.status_code, answer.json()["code"]) == (404, "dataset_not_found")
        assert (await administrator.put(hide, json={})).status_code == 422
