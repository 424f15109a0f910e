"""Snapshots freeze the recommendations for a project, and a replay says what has changed since, and why."""

from hashlib import sha256
from typing import Any

import httpx2
import msgspec
import pytest

from tests.selection.conftest import ADA, client_of, create_record
from tests.selection.test_selection_choices import add_claim, create_project
from touchstone.core.canonical_json import canonical_json
from touchstone.core.errors import ProjectNotFound
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.services.selection.app import Selection
from touchstone.services.selection.projects.ranking_differences import (
    RankedDataset,
    ReplayReason,
    ReplayStatus,
    compare_rankings,
)

YEAR = [{"criterion_name": "year", "weight": 1.0}]
ETHICAL = [{"criterion_name": "ethical_score", "weight": 1.0}]
MISSING_ID = "00000000-0000-4000-8000-000000000000"


async def create_snapshot(client: httpx2.AsyncClient, project: dict[str, Any], **body: Any) -> dict[str, Any]:
    """Make a snapshot of a project and return it."""
    answer = await client.post(f"/projects/{project['id']}/snapshots", json=body)
    assert answer.status_code == 201, answer.text
    snapshot: dict[str, Any] = answer.json()
    assert answer.headers["Location"] == f"/projects/{project['id']}/snapshots/{snapshot['id']}"
    return snapshot


async def replay_snapshot(
    client: httpx2.AsyncClient, project: dict[str, Any], snapshot: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the replay of a snapshot, and its items by the name of the dataset."""
    answer = await client.get(f"/projects/{project['id']}/snapshots/{snapshot['id']}/replay")
    assert answer.status_code == 200, answer.text
    replay: dict[str, Any] = answer.json()
    return replay, {item["dataset_name"]: item for item in replay["items"]}


async def test_a_snapshot_freezes_the_recommendations(ada: httpx2.AsyncClient) -> None:
    """It has the recommended items with what the datasets say, and its digest is that of the bytes of the content."""
    for index in range(5):
        await create_record(ada, name=f"d{index}", year=2000 + index)
    chosen_dataset = (await ada.get("/datasets/")).json()[4]
    project = await create_project(
        ada, weights=YEAR, criteria={"year_min": 2001}, chosen_dataset_id=chosen_dataset["id"]
    )
    recommendations = (await ada.get(f"/projects/{project['id']}/recommendations?limit=3")).json()

    answer = await ada.post(f"/projects/{project['id']}/snapshots", json={"note": "For the board", "limit": 3})
    snapshot = answer.json()
    raw_content = answer.content.split(b'"content":', 1)[1][:-1]
    assert snapshot["sha256"] == sha256(raw_content).hexdigest()
    assert raw_content == canonical_json(snapshot["content"])

    content = snapshot["content"]
    own_keys = {"digest", "record", "claims"}
    items = [{key: item[key] for key in item if key not in own_keys} for item in content["items"]]
    assert items == [{key: item[key] for key in item if key != "sentence"} for item in recommendations["datasets"]]
    assert [item["record"]["year"] for item in content["items"]] == [2004, 2003, 2002]
    assert (content["total_count"], content["effective_weights"]) == (4, recommendations["effective_weights"])
    assert content["choice"]["digest"] == content["items"][0]["digest"] == project["chosen_dataset"]["digest"]
    assert {key: content["project"][key] for key in ("name", "criteria", "weights", "assurance")} == {
        key: project[key] for key in ("name", "criteria", "weights", "assurance")
    }
    assert (snapshot["note"], snapshot["by"]["id"], snapshot["item_count"]) == ("For the board", str(ADA), 3)


async def test_the_same_state_has_the_same_digest(ada: httpx2.AsyncClient) -> None:
    """Two snapshots of the same state differ in their ids and times, and not in what they freeze."""
    await create_record(ada, year=2010)
    project = await create_project(ada, weights=YEAR)
    first_snapshot, second_snapshot = (
        await create_snapshot(ada, project),
        await create_snapshot(ada, project, note="again"),
    )
    assert (first_snapshot["sha256"], first_snapshot["catalog_version"]) == (
        second_snapshot["sha256"],
        second_snapshot["catalog_version"],
    )
    await create_record(ada, year=2011)
    assert (await create_snapshot(ada, project))["sha256"] != first_snapshot["sha256"]


async def test_snapshots_are_listed_without_their_contents(ada: httpx2.AsyncClient) -> None:
    """The newest one comes first, as an array or as pages, and each can be read by its id."""
    project, other_project = await create_project(ada), await create_project(ada)
    snapshots = [await create_snapshot(ada, project, note=f"n{index}") for index in range(3)]
    path = f"/projects/{project['id']}/snapshots"
    list_response = await ada.get(path)
    assert list_response.headers["X-Total-Count"] == "3"
    summaries = [{key: snapshot[key] for key in snapshot if key != "content"} for snapshot in reversed(snapshots)]
    assert list_response.json() == summaries
    page = (await ada.get(f"{path}?page=2&page_size=2")).json()
    assert page == {"snapshots": summaries[2:], "total_count": 3, "page": 2, "page_size": 2, "total_pages": 2}
    assert (await ada.get(f"{path}/{snapshots[0]['id']}")).json() == snapshots[0]
    for project_id, snapshot_id in (
        (other_project["id"], snapshots[0]["id"]),
        (project["id"], MISSING_ID),
        (project["id"], "x"),
    ):
        for suffix in ("", "/replay"):
            refusal = await ada.get(f"/projects/{project_id}/snapshots/{snapshot_id}{suffix}")
            assert (refusal.status_code, refusal.json()["code"]) == (404, "snapshot_not_found")


async def test_a_snapshot_is_deleted_alone(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """The other snapshots and the choices stay; a deleted snapshot cannot be deleted again, nor by anybody else."""
    dataset = await create_record(ada)
    project = await create_project(ada, chosen_dataset_id=dataset["id"], choice_reason="It fits.")
    first_snapshot, second_snapshot = (
        await create_snapshot(ada, project, note="first"),
        await create_snapshot(ada, project, note="second"),
    )
    path = f"/projects/{project['id']}/snapshots"
    assert (await bob.delete(f"{path}/{first_snapshot['id']}")).status_code == 404

    assert (await ada.delete(f"{path}/{first_snapshot['id']}")).status_code == 204
    assert [snapshot["id"] for snapshot in (await ada.get(path)).json()] == [second_snapshot["id"]]
    assert len((await ada.get(f"/projects/{project['id']}/choices")).json()) == 1
    for snapshot_id in (first_snapshot["id"], MISSING_ID, "x"):
        refusal = await ada.delete(f"{path}/{snapshot_id}")
        assert (refusal.status_code, refusal.json()["code"]) == (404, "snapshot_not_found")


@pytest.mark.parametrize("body", [b'{"limit": 0}', b'{"limit": 101}', b'{"nte": "x"}', b"[]", b'{"note": 1}'])
async def test_what_does_not_fit_a_snapshot_is_refused(ada: httpx2.AsyncClient, body: bytes) -> None:
    """The body is optional, and otherwise as strict as all bodies."""
    project = await create_project(ada)
    assert (await ada.post(f"/projects/{project['id']}/snapshots", content=body)).status_code == 422
    assert (await ada.post(f"/projects/{project['id']}/snapshots")).status_code == 201


async def test_foreign_projects_cannot_be_frozen(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """A foreign, a missing and a malformed project give the same bytes, whatever the body and the snapshot."""
    project = await create_project(ada)
    snapshot = await create_snapshot(ada, project)
    refusal = '{"detail":"Projet non trouvé","code":"project_not_found","errors":[]}'.encode()
    for id_ in (project["id"], MISSING_ID, "x"):
        for body in (b"", b"{broken", b'{"limit": 0}'):
            answer = await bob.post(f"/projects/{id_}/snapshots", content=body)
            assert (answer.status_code, answer.content) == (404, refusal)
        for suffix in ("", "/replay"):
            answer = await bob.get(f"/projects/{id_}/snapshots/{snapshot['id']}{suffix}")
            assert (answer.status_code, answer.content) == (404, refusal)


async def test_a_replay_without_changes_is_identical(ada: httpx2.AsyncClient) -> None:
    """Nothing differs as long as nothing has changed, and later changes of the project are listed separately."""
    for index in range(3):
        await add_claim(
            ada, await create_record(ada, name=f"d{index}", year=2000 + index, missing_values_percentage=0.0)
        )
    project = await create_project(ada, weights=YEAR)
    snapshot = await create_snapshot(ada, project)
    replay, items = await replay_snapshot(ada, project, snapshot)
    assert replay["identical"] is True
    assert replay["catalog_version"]["before"] == replay["catalog_version"]["after"] == snapshot["catalog_version"]
    assert {(item["status"], item["reason"]) for item in items.values()} == {("unchanged", None)}

    await ada.put(f"/projects/{project['id']}", json={"criteria": {"year_min": 2001}, "weights": ETHICAL})
    replay, _ = await replay_snapshot(ada, project, snapshot)
    assert replay["identical"] is True
    assert [(change["field"], change["after"]) for change in replay["project_changes"]] == [
        ("criteria", {"year_min": 2001}),
        ("weights", ETHICAL),
    ]


async def test_a_snapshot_of_nothing_can_be_replayed(ada: httpx2.AsyncClient) -> None:
    """A ranking without datasets is identical until a dataset matches, also one beyond the frozen ones."""
    project = await create_project(ada, weights=YEAR)
    empty_snapshot = await create_snapshot(ada, project)
    replay, items = await replay_snapshot(ada, project, empty_snapshot)
    assert (replay["identical"], items, empty_snapshot["item_count"]) == (True, {}, 0)
    await create_record(ada, name="a", year=2020)
    first_snapshot = await create_snapshot(ada, project, limit=1)
    _, items = await replay_snapshot(ada, project, empty_snapshot)
    assert (items["a"]["status"], items["a"]["rank"]) == ("new", {"before": None, "after": 1})
    await create_record(ada, name="b", year=2010)
    replay, items = await replay_snapshot(ada, project, first_snapshot)
    assert (replay["identical"], [item["status"] for item in items.values()]) == (False, ["unchanged"])


async def test_a_replay_says_what_has_changed_and_why(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """Datasets are new, gone, moved or changed because of themselves or of others."""
    years = {"a": 2020, "b": 2018, "c": 2016, "d": 2014, "e": 2012, "f": 2010, "g": 2006}
    datasets = {name: await create_record(ada, name=name, year=year, domain=["x"]) for name, year in years.items()}
    project = await create_project(bob, weights=YEAR, criteria={"domain": ["x"]})
    snapshot = await create_snapshot(bob, project, limit=6)

    await ada.delete(f"/datasets/{datasets['a']['id']}")
    await ada.patch(f"/datasets/{datasets['b']['id']}", json={"visibility": "private"})
    await ada.patch(f"/datasets/{datasets['c']['id']}", json={"domain": ["y"]})
    await ada.patch(f"/datasets/{datasets['d']['id']}", json={"year": 2000, "description": "worse"})
    await create_record(ada, name="h", year=2024, domain=["x"])
    for index in range(3):
        await create_record(ada, name=f"i{index}", year=2008, domain=["x"])
    replay, items = await replay_snapshot(bob, project, snapshot)

    assert replay["identical"] is False
    assert replay["total_count"] == {"before": 7, "after": 8}
    assert list(items) == ["h", "e", "f", "i0", "i1", "i2", "a", "b", "c", "d"]
    assert {name: (item["status"], item["reason"]) for name, item in items.items()} == {
        "h": ("new", "added"),
        "e": ("moved", "others"),
        "f": ("moved", "others"),
        "i0": ("new", "added"),
        "i1": ("new", "added"),
        "i2": ("new", "added"),
        "a": ("gone", "withdrawn"),
        "b": ("gone", "withdrawn"),
        "c": ("gone", "filters"),
        "d": ("gone", "record"),
    }
    assert (items["e"]["rank"], items["e"]["score"]) == ({"before": 5, "after": 2}, {"before": 0.5, "after": 0.5})
    assert (items["a"]["rank"], items["a"]["score"]["after"]) == ({"before": 1, "after": None}, None)
    assert items["d"]["rank"] == {"before": 4, "after": 8}
    assert items["d"]["place"] == {"before": 4, "after": 8}
    assert (items["i1"]["place"], items["i1"]["tied_with"]) == (
        {"before": None, "after": 4},
        {"before": None, "after": 2},
    )
    assert items["d"]["points"] == [{"criterion_name": "year", "before": 14 / 24, "after": 0.0}]
    assert {(change["field"], change["after"]) for change in items["d"]["changes"]} == {
        ("year", 2000),
        ("description", "worse"),
    }
    assert [(change["field"], change["after"]) for change in items["c"]["changes"]] == [("domain", ["y"])]


async def test_a_change_without_influence_is_no_reason_to_be_new(ada: httpx2.AsyncClient) -> None:
    """A dataset that takes the place of a deleted one has risen because of others, even if its text was edited."""
    years = {"a": 2020, "b": 2018, "c": 2016, "d": 2014}
    datasets = {name: await create_record(ada, name=name, year=year) for name, year in years.items()}
    project = await create_project(ada, weights=YEAR)
    snapshot = await create_snapshot(ada, project, limit=2)

    await ada.patch(f"/datasets/{datasets['c']['id']}", json={"description": "another"})
    await ada.delete(f"/datasets/{datasets['a']['id']}")
    _, items = await replay_snapshot(ada, project, snapshot)
    assert (items["c"]["status"], items["c"]["reason"]) == ("new", "others")

    await ada.patch(f"/datasets/{datasets['d']['id']}", json={"year": 2019})
    _, items = await replay_snapshot(ada, project, snapshot)
    assert (items["d"]["status"], items["d"]["reason"]) == ("new", "record")


async def test_a_null_member_of_the_metadata_is_a_change(ada: httpx2.AsyncClient) -> None:
    """Null is in the digest, unlike a member that is missing, so neither the replay nor the project calls it equal."""
    dataset = await create_record(ada, name="a", metadata={"kept": 1})
    project = await create_project(ada, weights=YEAR, chosen_dataset_id=dataset["id"])
    snapshot = await create_snapshot(ada, project)

    await ada.patch(f"/datasets/{dataset['id']}", json={"metadata": {"kept": 1, "added": None}})
    replay, items = await replay_snapshot(ada, project, snapshot)

    change = {"field": "metadata.added", "before": None, "after": None}
    assert (replay["identical"], items["a"]["changes"]) == (False, [change])
    chosen_dataset = (await ada.get(f"/projects/{project['id']}")).json()["chosen_dataset"]
    assert (chosen_dataset["state"], chosen_dataset["changes"]) == ("changed", [change])


async def test_a_replay_names_the_claims_behind_a_score(ada: httpx2.AsyncClient) -> None:
    """A score that rose because of a claim says which attribute and which claim; records may enter by it, too."""
    datasets = [await create_record(ada, name=name) for name in ("a", "b", "c")]
    project = await create_project(ada, weights=ETHICAL)
    snapshot = await create_snapshot(ada, project, limit=2)
    await add_claim(ada, datasets[2])
    await ada.patch(f"/datasets/{datasets[0]['id']}", json={"description": "another"})
    _, items = await replay_snapshot(ada, project, snapshot)
    assert (items["c"]["status"], items["c"]["reason"]) == ("new", "record")
    assert (items["a"]["status"], items["a"]["reason"], items["b"]["reason"]) == ("moved", "others", "others")
    assert [change["field"] for change in items["a"]["changes"]] == ["description"]

    snapshot = await create_snapshot(ada, project, limit=2)
    await add_claim(ada, datasets[2], attribute="transparency")
    _, items = await replay_snapshot(ada, project, snapshot)
    changed_item = items["c"]
    assert (changed_item["status"], changed_item["reason"], changed_item["score"]) == (
        "changed",
        "record",
        {"before": 0.1, "after": 0.2},
    )
    fields = [change["field"] for change in changed_item["changes"]]
    assert fields == ["transparency", "evidence.transparency", "claims.transparency"]


async def test_a_large_catalog_finds_those_that_are_gone(ada: httpx2.AsyncClient) -> None:
    """The present rank of a dataset that has fallen behind all others is exact."""
    first_record = await create_record(ada, name="first", year=2020)
    for index in range(30):
        await create_record(ada, name=f"d{index:02}", year=2010)
    project = await create_project(ada, weights=YEAR)
    snapshot = await create_snapshot(ada, project, limit=1)
    await ada.patch(f"/datasets/{first_record['id']}", json={"year": 2001})
    _, items = await replay_snapshot(ada, project, snapshot)
    assert items["first"]["rank"] == items["first"]["place"] == {"before": 1, "after": 31}
    assert items["d00"]["tied_with"]["after"] == 29  # datasets after the snapshot's own count, too


async def test_a_project_that_is_deleted_meanwhile_has_no_snapshot(
    ada: httpx2.AsyncClient, selection: Selection
) -> None:
    """A snapshot that was being made when its project was deleted is answered as for a missing project."""
    project = await create_project(ada)
    record = await selection.services.projects.load(project["id"], ADA)
    assert (await ada.delete(f"/projects/{project['id']}")).status_code == 204
    with pytest.raises(ProjectNotFound):
        await selection.services.snapshots.create(record, note=None, limit=5)


def test_a_change_of_the_formulas_is_told_from_a_change_of_the_data() -> None:
    """If the formulas have changed and the record has not, the formulas are the reason."""
    dataset_before = RankedDataset(
        id=1, dataset_id=ADA, name="a", rank=1, place=1, tied_with=0, score=0.5, points={}, content=None
    )
    dataset_after = msgspec.structs.replace(dataset_before, score=0.6)
    (item,) = compare_rankings([dataset_before], [dataset_after], [], total_count_before=1, is_formula_changed=True)
    assert (item.status, item.reason) == (ReplayStatus.CHANGED, ReplayReason.FORMULA)
    (item,) = compare_rankings([dataset_before], [dataset_after], [], total_count_before=1, is_formula_changed=False)
    assert item.reason is ReplayReason.RECORD


async def test_snapshots_count_towards_the_quota(settings: Settings, database: Database) -> None:
    """A snapshot that does not fit is refused, and leaves nothing behind."""
    limited_settings = settings.model_copy(update={"project_quota_bytes": 12_000})
    selection = await Selection.open(limited_settings, database, None)
    try:
        async with client_of(selection) as client:
            for index in range(3):
                await create_record(client, name=f"d{index}", objective="x" * 500)
            project = await create_project(client)
            path = f"/projects/{project['id']}/snapshots"
            statuses = [(await client.post(path)).status_code for _ in range(4)]
            assert (statuses[0], statuses[-1]) == (201, 413)
            assert len((await client.get(path)).json()) == statuses.count(201)
    finally:
        await selection.close()
