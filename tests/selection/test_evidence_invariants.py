"""Whatever is done to claims and records, a record shows what its claims amount to, in every process."""

import math
from datetime import UTC, datetime
from random import Random
from typing import Any

import httpx2
import numpy as np
import pytest

from tests.ranking.catalogs import position_of
from tests.selection.claims import ADMINISTRATOR, CURATOR, calling_as, evidence
from tests.selection.conftest import BOB, client_of, create_record
from touchstone.core.evidence import CLAIMED_ATTRIBUTES, Assurance, EvidenceLevel
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.services.selection.app import Selection
from touchstone.services.selection.datasets import store as dataset_store
from touchstone.services.selection.evidence import store
from touchstone.services.selection.evidence.record_claims import with_resolved_attributes

ATTRIBUTES = ("informed_consent", "has_missing_values", "instances_number")
STEPS = 60


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_records_always_fit_their_claims(
    selection: Selection, settings: Settings, database: Database, ada: httpx2.AsyncClient, seed: int
) -> None:
    """Random changes by the creator, a stranger, a curator and an administrator; one restart at the end."""
    random = Random(seed)
    record_id = (await create_record(ada, informed_consent=True))["id"]
    async with (
        client_of(selection, BOB) as bob,
        calling_as(selection, CURATOR) as curator,
        calling_as(selection, ADMINISTRATOR) as administrator,
    ):
        for _ in range(STEPS):
            client = random.choice((ada, ada, bob, curator, administrator))
            response = await change(random, client, record_id)
            assert response.status_code in (200, 201, 403, 404, 409), response.text
            await check_record(selection, database, record_id)

    restarted_selection = await Selection.open(settings, database, None)
    await check_record(restarted_selection, database, record_id)
    await restarted_selection.close()


async def change(random: Random, client: httpx2.AsyncClient, record_id: int) -> httpx2.Response:
    """Make a random change on behalf of a caller, who may lack the permission."""
    path = f"/datasets/{record_id}"
    attribute = random.choice(ATTRIBUTES)
    value: Any = random.choice((True, False))
    if attribute == "instances_number":
        value = random.choice((5, 10, 20))

    kind = random.choice(("patch", "claim", "claim", "review", "review", "withdraw", "hide"))
    if kind == "patch":
        return await client.patch(path, json={attribute: random.choice((value, None))})
    if kind == "claim":
        scope = random.choice((None, None, "annotators"))
        statement: dict[str, Any] = {"attribute": attribute, "value": value, "scope": scope}
        if random.random() < 0.2:
            statement |= {"value": None, "not_applicable": True}
        return await client.post(f"{path}/evidence", json=statement)
    if kind == "hide":
        return await client.put(f"/admin{path}/hidden", json={"hidden": random.random() < 0.3})

    response = await client.get(f"{path}/evidence")
    if response.status_code != 200 or not response.json()["claims"]:
        return response
    claim = random.choice(response.json()["claims"])
    if kind == "withdraw":
        return await client.post(f"{path}/evidence/{claim['id']}/withdraw")
    decision = random.choice(("accept", "confirm", "reject"))
    return await client.post(f"{path}/evidence/{claim['id']}/review", json={"decision": decision})


async def check_record(selection: Selection, database: Database, record_id: int) -> None:
    """Compare the row of a record, the columns in memory and the states of its attributes with its claims."""
    async with database.reading() as connection:
        record = await dataset_store.read_dataset(connection, record_id)
        claims = await store.read_claims(connection, record_id)
    assert record is not None
    assert with_resolved_attributes(record, claims, datetime.now(UTC)) == record

    view = selection.services.catalog.view
    position = position_of(view, record_id)
    async with client_of(selection) as owner:
        states = (await evidence(owner, record_id))["attributes"]
    for name in CLAIMED_ATTRIBUTES:
        state = states[name]
        assert state["value"] == record.attributes[name]
        declarations = [
            claim
            for claim in claims
            if claim.attribute == name
            and claim.author == record.owner
            and claim.level is EvidenceLevel.DECLARED
            and claim.is_effective(datetime.now(UTC))
        ]
        newest_declaration = max(declarations, key=lambda claim: claim.created_at, default=None)
        expected_value = newest_declaration.value if newest_declaration else record.declared_value(name)
        assert state["declared"] == expected_value
        for assurance in (Assurance.DOCUMENTED, Assurance.REVIEWED):
            facts = view.at(assurance).facts(np.array([position]))
            assert shown_value(facts[name][0]) == state[assurance.value], (name, assurance)


def shown_value(fact: Any) -> Any:
    """Return a fact of the columns as the API shows it: -1 and NaN are not known."""
    number = float(fact)
    return None if number == -1 or math.isnan(number) else number
