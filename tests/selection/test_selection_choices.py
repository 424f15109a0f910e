"""Every choice for a project is kept with what its dataset said, and the project says what has become of it since."""

import asyncio
from hashlib import sha256
from typing import Any

import httpx2
import msgspec
import pytest

from tests.selection.conftest import ADA, client_of, create_record
from touchstone.core.canonical_json import canonical_json
from touchstone.core.errors import PreconditionFailed
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.services.selection.app import Selection
from touchstone.services.selection.projects.schemas import ProjectChange

YEAR = [{"criterion_name": "year", "weight": 2.0}]
SOURCE = {"kind": "datasheet", "name": "Datasheet", "url": "https://example.org/sheet.md", "sha256": "0" * 64}


async def create_project(client: httpx2.AsyncClient, **fields: Any) -> dict[str, Any]:
    """Create a project and return it."""
    answer = await client.post("/projects", json={"name": "Study", **fields})
    assert answer.status_code == 201, answer.text
    project: dict[str, Any] = answer.json()
    return project


async def change_project(client: httpx2.AsyncClient, project: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Change a project and return it."""
    answer = await client.put(f"/projects/{project['id']}", json=fields)
    assert answer.status_code == 200, answer.text
    changed_project: dict[str, Any] = answer.json()
    return changed_project


async def choices_of(client: httpx2.AsyncClient, project: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the history of a project."""
    answer = await client.get(f"/projects/{project['id']}/choices")
    assert answer.status_code == 200, answer.text
    choices: list[dict[str, Any]] = answer.json()
    assert answer.headers["X-Total-Count"] == str(len(choices))
    return choices


async def add_claim(client: httpx2.AsyncClient, dataset: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Add a claim about a dataset and return it."""
    body = {"attribute": "informed_consent", "value": True, "quote": "All consented.", "source": SOURCE, **fields}
    answer = await client.post(f"/datasets/{dataset['id']}/evidence", json=body)
    assert answer.status_code == 201, answer.text
    claim: dict[str, Any] = answer.json()
    return claim


async def test_two_successive_choices_are_two_entries(ada: httpx2.AsyncClient) -> None:
    """Each entry has author, reason, digest and ranking, and the earlier one says when it was superseded."""
    older_dataset, newer_dataset = (
        await create_record(ada, name="A", year=2010),
        await create_record(ada, name="B", year=2020),
    )
    project = await create_project(ada, weights=YEAR, assurance="declared")
    assert await choices_of(ada, project) == []
    await change_project(ada, project, chosen_dataset_id=older_dataset["id"], choice_reason="It is the older one.")
    last_project = await change_project(
        ada, project, chosen_dataset_id=newer_dataset["id"], choice_reason="It is the newer one."
    )

    newest_choice, oldest_choice = await choices_of(ada, project)
    assert (oldest_choice["dataset"]["name"], oldest_choice["reason"]) == ("A", "It is the older one.")
    assert (newest_choice["dataset"]["name"], newest_choice["reason"]) == ("B", "It is the newer one.")
    assert newest_choice["by"] == {"id": str(ADA), "pseudo": None}
    assert (newest_choice["at"], newest_choice["superseded_at"]) == (last_project["updated_at"], None)
    assert oldest_choice["superseded_at"] == newest_choice["at"] > oldest_choice["at"]
    ranking = newest_choice["ranking"]
    assert (ranking["rank"], oldest_choice["ranking"]["rank"], ranking["total_count"]) == (1, 2, 2)
    assert (ranking["score"], oldest_choice["ranking"]["score"]) == (20 / 24, 10 / 24)
    assert (ranking["weights"], ranking["filters"], ranking["assurance"]) == (YEAR, {}, "declared")
    assert ranking["formula_version"] == "1"
    assert ranking["catalog_version"] == oldest_choice["ranking"]["catalog_version"]


async def test_the_digest_can_be_checked_from_the_choice(ada: httpx2.AsyncClient) -> None:
    """It is SHA-256 over the canonical JSON of the id, the record and the claims that the choice contains."""
    dataset = await create_record(
        ada, name="A", transparency=True, metadata={"licence": "CC-BY-4.0", "long": "x" * 2000}
    )
    await add_claim(ada, dataset)
    project = await create_project(ada, chosen_dataset_id=dataset["id"])
    chosen_dataset = (await choices_of(ada, project))[0]["dataset"]
    content = {name: chosen_dataset[name] for name in ("dataset_id", "record", "claims")}
    assert (
        chosen_dataset["digest"] == sha256(canonical_json(content)).hexdigest() == project["chosen_dataset"]["digest"]
    )
    assert chosen_dataset["dataset_id"] == dataset["dataset_id"]
    assert chosen_dataset["record"]["metadata"]["licence"] == "CC-BY-4.0"
    assert set(chosen_dataset["record"]["metadata"]["long"]) == {"sha256", "bytes"}
    assert [(claim["attribute"], claim["quote"], claim["level"]) for claim in chosen_dataset["claims"]] == [
        ("informed_consent", "All consented.", "declared"),
        ("transparency", None, "declared"),
    ]
    assert not {"id", "by", "at"} & set(chosen_dataset["claims"][0])


async def test_equal_datasets_have_equal_digests_except_for_their_identity(ada: httpx2.AsyncClient) -> None:
    """Numbers and times that a catalog gives do not enter the digest, and neither do proposals of others."""
    digests = []
    for _ in range(2):
        dataset = await create_record(ada, name="A", instances_number=5)
        await add_claim(ada, dataset)
        project = await create_project(ada, chosen_dataset_id=dataset["id"])
        chosen_dataset = (await choices_of(ada, project))[0]["dataset"]
        content = {**{name: chosen_dataset[name] for name in ("record", "claims")}, "dataset_id": None}
        digests.append(sha256(canonical_json(content)).hexdigest())
    assert digests[0] == digests[1]


async def test_what_does_not_change_the_choice_appends_nothing(ada: httpx2.AsyncClient) -> None:
    """Only another dataset or another reason is a choice; taking it back is one, too."""
    dataset = await create_record(ada)
    project = await create_project(ada, chosen_dataset_id=dataset["id"], choice_reason="r")
    same_choice = {"chosen_dataset_id": dataset["id"], "choice_reason": "r", "name": "Other", "weights": YEAR}
    saved_project = await change_project(ada, project, **same_choice)
    await change_project(ada, project, **saved_project)
    assert len(await choices_of(ada, project)) == 1
    await change_project(ada, project, choice_reason="better")
    await change_project(ada, project, chosen_dataset_id=None, choice_reason=None)
    history = await choices_of(ada, project)
    assert [(choice["dataset"] is None, choice["reason"]) for choice in history] == [
        (True, None),
        (False, "better"),
        (False, "r"),
    ]
    assert (history[0]["ranking"], history[1]["superseded_at"]) == (None, history[0]["at"])


async def test_the_history_has_pages(ada: httpx2.AsyncClient) -> None:
    """Slices and pages are those of all lists, and the time of the next choice does not depend on them."""
    project = await create_project(ada)
    for number in range(5):
        await change_project(ada, project, choice_reason=f"r{number}")
    path = f"/projects/{project['id']}/choices"
    choices = (await ada.get(path)).json()
    assert [choice["reason"] for choice in choices] == ["r4", "r3", "r2", "r1", "r0"]
    assert (await ada.get(f"{path}?skip=1&limit=2")).json() == choices[1:3]
    page = (await ada.get(f"{path}?page=2&page_size=2")).json()
    assert page == {"choices": choices[2:4], "total_count": 5, "page": 2, "page_size": 2, "total_pages": 3}
    assert (await ada.get(f"{path}?page=9007199254740991&page_size=1000")).json()["choices"] == []
    assert (await ada.get(f"{path}?sort_by=at")).status_code == 422


async def test_a_changed_dataset_is_named_with_what_has_changed(ada: httpx2.AsyncClient) -> None:
    """The project says which attributes, metadata and claims differ, and its entity tag changes with them."""
    dataset = await create_record(ada, name="A", year=2010, metadata={"licence": "CC-BY-4.0", "a": 1})
    project = await create_project(ada, chosen_dataset_id=dataset["id"])
    path = f"/projects/{project['id']}"
    first_response = await ada.get(path)
    assert (project["chosen_dataset"]["state"], project["chosen_dataset"]["changes"]) == ("unchanged", [])
    assert first_response.headers["ETag"] == '"1"'

    metadata = {"licence": "CC-BY-NC-4.0", "a": 1}
    await ada.patch(f"/datasets/{dataset['id']}", json={"year": 2020, "metadata": metadata})
    await add_claim(ada, dataset)
    answer = await ada.get(path, headers={"If-None-Match": first_response.headers["ETag"]})
    assert answer.status_code == 200
    chosen_dataset = answer.json()["chosen_dataset"]
    assert (chosen_dataset["state"], chosen_dataset["digest"]) == ("changed", project["chosen_dataset"]["digest"])
    changes = {change["field"]: (change["before"], change["after"]) for change in chosen_dataset["changes"]}
    assert changes["year"] == (2010, 2020)
    assert changes["metadata.licence"] == ("CC-BY-4.0", "CC-BY-NC-4.0")
    assert changes["informed_consent"] == (None, True)
    assert (changes["claims.informed_consent"][0], len(changes["claims.informed_consent"][1])) == ([], 1)
    assert "metadata.a" not in changes

    assert (await ada.get(path, headers={"If-None-Match": answer.headers["ETag"]})).status_code == 304
    rename_response = await ada.put(path, json={"name": "N"}, headers={"If-Match": answer.headers["ETag"]})
    assert (rename_response.status_code, rename_response.json()["chosen_dataset"]["state"]) == (200, "changed")
    assert (await ada.get("/projects")).json() == [rename_response.json()]
    recommendations = (await ada.get(f"{path}/recommendations")).json()
    assert recommendations["project"] == rename_response.json()


async def test_a_change_that_is_undone_is_no_change(ada: httpx2.AsyncClient) -> None:
    """What counts is what the dataset says, and not how often it was written."""
    dataset = await create_record(ada, name="A", missing_values_percentage=1)
    project = await create_project(ada, chosen_dataset_id=dataset["id"])
    for value in (7.5, 1.0):
        await ada.patch(f"/datasets/{dataset['id']}", json={"missing_values_percentage": value})
    claim = await add_claim(ada, dataset)
    await ada.post(f"/datasets/{dataset['id']}/evidence/{claim['id']}/withdraw")
    project = (await ada.get(f"/projects/{project['id']}")).json()
    assert (project["chosen_dataset"]["state"], project["chosen_dataset"]["changes"]) == ("unchanged", [])


async def test_proposals_of_others_change_nothing(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """A proposal that nobody has accepted does not count, and so the chosen dataset stays the same."""
    dataset = await create_record(ada)
    project = await create_project(bob, chosen_dataset_id=dataset["id"])
    proposal = await add_claim(bob, dataset)
    assert proposal["status"] == "proposed"
    assert (await bob.get(f"/projects/{project['id']}")).json()["chosen_dataset"]["state"] == "unchanged"
    await ada.post(f"/datasets/{dataset['id']}/evidence/{proposal['id']}/review", json={"decision": "accept"})
    assert (await bob.get(f"/projects/{project['id']}")).json()["chosen_dataset"]["state"] == "changed"


async def test_a_deleted_dataset_leaves_its_name_digest_and_claims(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """They stay in the projects that chose it, marked as withdrawn, and a new reason keeps them."""
    dataset = await create_record(ada, name="Cohort")
    await add_claim(ada, dataset)
    projects = {client: await create_project(client, chosen_dataset_id=dataset["id"]) for client in (ada, bob)}
    histories_before = {client: await choices_of(client, project) for client, project in projects.items()}
    assert (await ada.delete(f"/datasets/{dataset['id']}")).status_code == 204

    for client, project in projects.items():
        chosen_dataset = (await client.get(f"/projects/{project['id']}")).json()["chosen_dataset"]
        assert (chosen_dataset["state"], chosen_dataset["name"], chosen_dataset["changes"]) == (
            "withdrawn",
            "Cohort",
            [],
        )
        assert (chosen_dataset["digest"], chosen_dataset["dataset_id"]) == (
            project["chosen_dataset"]["digest"],
            dataset["dataset_id"],
        )
        history = await choices_of(client, project)
        assert history[0]["dataset"] == {**histories_before[client][0]["dataset"], "withdrawn": True}
        assert history[0]["dataset"]["claims"][0]["quote"] == "All consented."

    await change_project(bob, projects[bob], choice_reason="It was the best one.")
    newest_choice, oldest_choice = await choices_of(bob, projects[bob])
    assert newest_choice["dataset"] == oldest_choice["dataset"]
    assert (newest_choice["ranking"]["rank"], newest_choice["ranking"]["score"]) == (None, None)


async def test_a_dataset_that_becomes_private_is_withdrawn_for_others(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """Another user's project keeps what was public when it was chosen, and learns nothing about what follows."""
    dataset = await create_record(ada, name="Cohort", year=2010)
    projects = {client: await create_project(client, chosen_dataset_id=dataset["id"]) for client in (ada, bob)}
    await ada.patch(f"/datasets/{dataset['id']}", json={"visibility": "private"})
    later_projects = [(await client.get(f"/projects/{projects[client]['id']}")).json() for client in (ada, bob)]
    assert [project["chosen_dataset"]["state"] for project in later_projects] == ["unchanged", "withdrawn"]
    etag = (await bob.get(f"/projects/{projects[bob]['id']}")).headers["ETag"]

    await ada.patch(f"/datasets/{dataset['id']}", json={"year": 2020, "name": "Secret"})
    later_response = await bob.get(f"/projects/{projects[bob]['id']}")
    assert (later_response.json(), later_response.headers["ETag"]) == (later_projects[1], etag)
    assert "Secret" not in later_response.text + (await bob.get(f"/projects/{projects[bob]['id']}/choices")).text


async def test_a_choice_outside_the_filters_has_no_rank(ada: httpx2.AsyncClient) -> None:
    """The dataset has a score all the same, and the ranking says what was asked for."""
    dataset = await create_record(ada, year=2012)
    project = await create_project(ada, criteria={"year_min": 2020}, weights=YEAR, chosen_dataset_id=dataset["id"])
    ranking = (await choices_of(ada, project))[0]["ranking"]
    assert (ranking["rank"], ranking["score"], ranking["total_count"]) == (None, 0.5, 0)
    assert ranking["filters"] == {"year_min": 2020}


async def test_a_choice_keeps_what_the_gates_said(ada: httpx2.AsyncClient) -> None:
    """The ranking of a choice has the gates of the project, and which of them the dataset passed."""
    dataset = await create_record(ada, year=2012, transparency=True)
    gates = {"transparency": "declared", "informed_consent": "reviewed", "year_min": 2020}
    project = await create_project(ada, gates=gates, chosen_dataset_id=dataset["id"])
    ranking = (await choices_of(ada, project))[0]["ranking"]
    assert (ranking["gates"], ranking["rank"]) == (gates, 1)
    assert ranking["gate_outcomes"] == {"transparency": "passed", "informed_consent": "unknown", "year_min": "failed"}


async def test_the_catalog_token_stands_for_the_state_of_the_catalog(ada: httpx2.AsyncClient) -> None:
    """It stays the same until something is written, and does not show how much was."""
    dataset = await create_record(ada)
    project = await create_project(ada, chosen_dataset_id=dataset["id"], choice_reason="1")
    await change_project(ada, project, choice_reason="2")
    await create_record(ada)
    await change_project(ada, project, choice_reason="3")
    tokens = [choice["ranking"]["catalog_version"] for choice in await choices_of(ada, project)]
    assert (len(set(tokens)), tokens[1]) == (2, tokens[2])
    assert all(len(token) == 32 for token in tokens)


async def test_racing_choices_are_all_kept_in_order(ada: httpx2.AsyncClient) -> None:
    """Of concurrent changes none is lost: the history ends with what the project says."""
    project = await create_project(ada)
    puts = [change_project(ada, project, choice_reason=f"r{number}") for number in range(12)]
    await asyncio.gather(*puts)
    history = await choices_of(ada, project)
    assert sorted(choice["reason"] for choice in history) == sorted(f"r{number}" for number in range(12))
    assert history[0]["reason"] == (await ada.get(f"/projects/{project['id']}")).json()["choice_reason"]
    assert [choice["superseded_at"] for choice in history[1:]] == [choice["at"] for choice in history[:-1]]


async def test_a_rank_belongs_to_the_choice_that_it_is_stored_with(
    ada: httpx2.AsyncClient, selection: Selection
) -> None:
    """If the choice changes between the reading and the writing of a project, the rank is computed again."""
    first, second = (await create_record(ada, name="A", year=2020), await create_record(ada, name="B", year=2010))
    project = await create_project(ada, weights=YEAR, chosen_dataset_id=second["id"], choice_reason="r")
    projects = selection.services.projects
    outdated_record = await projects.load(project["id"], ADA)
    await change_project(ada, project, chosen_dataset_id=first["id"])

    await projects.change(outdated_record, ProjectChange(choice_reason="corrected"), versions=None)
    await projects.change(outdated_record, ProjectChange(chosen_dataset_id=second["id"]), versions=None)

    history = await choices_of(ada, project)
    assert [(choice["dataset"]["name"], choice["ranking"]["rank"]) for choice in history] == [
        ("B", 2),
        ("A", 1),
        ("A", 1),
        ("B", 2),
    ]
    with pytest.raises(PreconditionFailed):
        await projects.change(outdated_record, ProjectChange(choice_reason="x"), versions=[1])


@pytest.mark.parametrize("blank", ["", " \n\t", "\u200b", " \u200b\ufeff ", "\u3164 \u2800"])
async def test_a_blank_reason_is_none(ada: httpx2.AsyncClient, blank: str) -> None:
    """A reason that shows nothing is stored as null, and is no evidence in the report; others are trimmed."""
    dataset = await create_record(ada)
    project = await create_project(ada, chosen_dataset_id=dataset["id"], choice_reason=blank)
    assert project["choice_reason"] is None

    report = (await ada.get(f"/projects/{project['id']}/report?format=json")).json()["report"]
    assert "no_reason" in report["limitations"]
    [accountability] = [point for point in report["evidence"]["gdpr"] if point["point"] == "gdpr_5_2"]
    assert not accountability["has_evidence"]

    project = await change_project(ada, project, choice_reason="  It is the only one. \n")
    assert project["choice_reason"] == "It is the only one."
    project = await change_project(ada, project, choice_reason=blank)
    assert [choice["reason"] for choice in await choices_of(ada, project)] == [None, "It is the only one.", None]


async def test_a_refused_change_appends_nothing(ada: httpx2.AsyncClient) -> None:
    """A change for another version, or one that does not fit, leaves the history as it was."""
    dataset = await create_record(ada)
    project = await create_project(ada, chosen_dataset_id=dataset["id"])
    path = f"/projects/{project['id']}"
    refusal = await ada.put(path, json={"choice_reason": "x"}, headers={"If-Match": '"7"'})
    assert refusal.status_code == 412
    assert (await ada.put(path, json={"choice_reason": "x", "chosen_dataset_id": 999})).status_code == 422
    assert len(await choices_of(ada, project)) == 1


async def test_the_history_counts_towards_the_quota_and_goes_with_the_project(
    settings: Settings, database: Database
) -> None:
    """Choices fill the quota of their owner, and deleting the project makes room again."""
    limited_settings = settings.model_copy(update={"project_quota_bytes": 20_000})
    selection = await Selection.open(limited_settings, database, None)
    try:
        async with client_of(selection) as client:
            project = await create_project(client)
            statuses = []
            for number in range(8):
                body = {"choice_reason": f"{number}" * 4000}
                statuses.append((await client.put(f"/projects/{project['id']}", json=body)).status_code)
            assert statuses[:3] == [200] * 3
            assert statuses[-1] == 413
            assert len(await choices_of(client, project)) == statuses.count(200)
            assert (await client.delete(f"/projects/{project['id']}")).status_code == 204
            await create_project(client, choice_reason="x" * 8000)
    finally:
        await selection.close()


@pytest.mark.parametrize("suffix", ["/choices", "/choices?page=0", "/snapshots", "/snapshots/x", "/snapshots/x/replay"])
async def test_foreign_projects_have_no_history(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, selection: Selection, suffix: str
) -> None:
    """Foreign, missing and malformed ids are answered alike, byte for byte; without an identity, the answer is 401."""
    project = await create_project(ada, choice_reason="r")
    refusal = '{"detail":"Projet non trouvé","code":"project_not_found","errors":[]}'.encode()
    for id_ in (project["id"], "00000000-0000-4000-8000-000000000000", "x", "1"):
        answer = await bob.get(f"/projects/{id_}{suffix}")
        assert (answer.status_code, answer.content) == (404, refusal)
    async with client_of(selection, None) as anonymous:
        assert (await anonymous.get(f"/projects/{project['id']}{suffix}")).status_code == 401


async def test_a_dataset_of_many_claims_is_compared_exactly(ada: httpx2.AsyncClient) -> None:
    """Numbers are compared as JSON numbers, so that what a database returns as 1 or 1.0 is the same."""
    dataset = await create_record(ada, name="A", missing_values_percentage=0, instances_number=10, features_number=3)
    await add_claim(ada, dataset, attribute="missing_values_percentage", value=2)
    await add_claim(ada, dataset, attribute="instances_number", value=12)
    project = await create_project(ada, chosen_dataset_id=dataset["id"])
    project = (await ada.get(f"/projects/{project['id']}")).json()
    assert project["chosen_dataset"]["state"] == "unchanged"
    assert msgspec.json.encode(project["chosen_dataset"]["changes"]) == b"[]"
