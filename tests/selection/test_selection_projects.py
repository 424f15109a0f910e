"""Projects belong to their owner, are checked when stored, have entity tags, and get recommendations."""

import asyncio
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.selection.conftest import ADA, client_of, create_record
from touchstone.services.selection.app import Selection

MISSING_ID = "00000000-0000-4000-8000-000000000000"
WEIGHTS = [{"criterion_name": "year", "weight": 1.0}]


async def create_project(client: httpx2.AsyncClient, **fields: Any) -> dict[str, Any]:
    """Create a project and return it."""
    answer = await client.post("/projects", json={"name": "Study", **fields})
    assert answer.status_code == 201, answer.text
    project: dict[str, Any] = answer.json()
    return project


async def test_a_project_keeps_what_it_is_given(ada: httpx2.AsyncClient) -> None:
    """Criteria, weights, the choice and its reason are returned as stored, and the owner is the caller."""
    dataset = await create_record(ada)
    fields = {
        "description": "d",
        "criteria": {"domain": ["health"], "split": True},
        "weights": WEIGHTS,
        "chosen_dataset_id": dataset["id"],
        "choice_reason": "r",
    }
    answer = await ada.post("/projects", json={"name": "  Étude ", "id": 5, "user_id": "x", "created_at": 0, **fields})
    project = answer.json()
    assert answer.headers["Location"] == f"/projects/{project['id']}"
    assert {key: project[key] for key in fields} == fields
    assert (project["name"], UUID(project["user_id"])) == ("Étude", ADA)
    read_response = await ada.get(f"/projects/{project['id']}")
    assert (read_response.json(), read_response.headers["ETag"]) == (project, answer.headers["ETag"])
    assert (
        await ada.get(f"/projects/{project['id']}/", headers={"If-None-Match": read_response.headers["ETag"]})
    ).status_code == 304


async def test_put_replaces_what_it_is_given(ada: httpx2.AsyncClient) -> None:
    """A missing field stays the same, null clears it, and the name cannot be null."""
    dataset = await create_record(ada)
    project = await create_project(
        ada, description="d", criteria={"year_min": 1}, weights=WEIGHTS, chosen_dataset_id=dataset["id"]
    )
    path = f"/projects/{project['id']}"
    changed_project = (await ada.put(path, json={**project, "name": "New"})).json()
    assert changed_project == {**project, "name": "New", "updated_at": changed_project["updated_at"]}
    null_fields = {"description": None, "criteria": None, "weights": None, "chosen_dataset_id": None}
    cleared_project = (await ada.put(path, json=null_fields)).json()
    assert (
        cleared_project["description"],
        cleared_project["criteria"],
        cleared_project["weights"],
        cleared_project["chosen_dataset_id"],
    ) == (
        None,
        {},
        [],
        None,
    )
    assert cleared_project["name"] == "New"
    assert (await ada.put(path, json={})).status_code == 200
    bodies: tuple[Any, ...] = (
        {"name": None},
        {"name": " "},
        {"name": "x" * 256},
        {"nmae": "x"},
        [],
        {"chosen_dataset_id": 999},
    )
    for body in bodies:
        assert (await ada.put(path, json=body)).status_code == 422, body


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": None},
        {"chosen_dataset_id": 999_999},
        {"chosen_dataset_id": 0},
        {"chosen_dataset_id": 2**63},
        {"chosen_dataset_id": "1"},
        {"description": "\x00"},
        {"weights": 5},
        {"criteria": []},
        {"criteria": {"dataset_name": {"a": [[]]}}},
        {"owner": "x"},
    ],
)
async def test_what_does_not_fit_a_project_is_refused(ada: httpx2.AsyncClient, fields: dict[str, Any]) -> None:
    """Criteria and weights that could not be scored later are refused when they are stored."""
    refusal = await ada.post("/projects", json={"name": "p", **fields})
    assert refusal.status_code == 422, refusal.text
    assert (await ada.get("/projects")).json() == []


async def test_a_choice_must_be_visible(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """A private record of another user cannot be chosen, and the error is that for a missing record."""
    dataset = await create_record(ada, visibility="private")
    foreign_response = await bob.post("/projects", json={"name": "p", "chosen_dataset_id": dataset["id"]})
    missing_response = await bob.post("/projects", json={"name": "p", "chosen_dataset_id": 999_999})
    assert (
        (foreign_response.status_code, foreign_response.content)
        == (missing_response.status_code, missing_response.content)
        == (422, foreign_response.content)
    )
    assert foreign_response.json()["code"] == "chosen_dataset_not_found"
    assert (await ada.post("/projects", json={"name": "p", "chosen_dataset_id": dataset["id"]})).status_code == 201


async def test_a_choice_that_has_gone_since_can_be_saved_again(ada: httpx2.AsyncClient) -> None:
    """A project can be saved as it was read, even if the chosen dataset has been deleted meanwhile."""
    dataset = await create_record(ada)
    project = await create_project(ada, chosen_dataset_id=dataset["id"])
    await ada.delete(f"/datasets/{dataset['id']}")
    response = await ada.put(f"/projects/{project['id']}", json={"name": "q", "chosen_dataset_id": dataset["id"]})
    assert (response.status_code, response.json()["chosen_dataset_id"]) == (200, dataset["id"])
    refusal = await ada.put(f"/projects/{project['id']}", json={"chosen_dataset_id": dataset["id"] + 1})
    assert refusal.json()["code"] == "chosen_dataset_not_found"


async def test_a_foreign_project_answers_exactly_as_a_missing_one(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """With every method, body and header, foreign, missing and malformed ids are answered alike, byte for byte."""
    project = await create_project(ada)
    ids = (project["id"], project["id"].upper(), MISSING_ID, "x", "1", "%00", f"urn:uuid:{MISSING_ID}", "0" * 32, "é")
    requests: list[tuple[str, str, bytes, dict[str, str]]] = [
        ("GET", "", b"", {}),
        ("GET", "", b"", {"If-None-Match": "*"}),
        ("PUT", "", b'{"name": "mine"}', {}),
        ("PUT", "", b'{"name": "mine"}', {"If-Match": '"1"'}),
        ("PUT", "", b'{"name": null}', {}),
        ("PUT", "", b"{broken", {}),
        ("DELETE", "", b"", {}),
        ("DELETE", "", b"", {"If-Match": '"7"'}),
        ("GET", "/recommendations", b"", {}),
        ("GET", "/recommendations?limit=0", b"", {}),
    ]
    for method, suffix, body, headers in requests:
        for id_ in ids:
            answer = await bob.request(method, f"/projects/{id_}{suffix}", content=body, headers=headers)
            assert answer.status_code == 404, (method, id_)
            assert answer.content == '{"detail":"Projet non trouvé","code":"project_not_found","errors":[]}'.encode()
    assert (await ada.get(f"/projects/{project['id']}")).json() == project


@pytest.mark.parametrize(
    "spelling", [None, "", "x", f"{{{ADA}}}", f"urn:uuid:{ADA}", ADA.hex, f" {ADA}", f"{ADA},{ADA}"]
)
async def test_without_an_identity_every_project_route_is_refused(selection: Selection, spelling: str | None) -> None:
    """If `X-User-ID` is missing or malformed, the response is 401 with the fixed sentence, whatever else is wrong."""
    headers = {} if spelling is None else {"X-User-ID": spelling}
    async with client_of(selection, None, **headers) as client:
        for method, path, body in (
            ("GET", "/projects", b""),
            ("GET", "/projects?page=0", b""),
            ("POST", "/projects", b"{broken"),
            ("GET", "/projects/x", b""),
            ("PUT", f"/projects/{MISSING_ID}", b"{}"),
            ("DELETE", f"/projects/{MISSING_ID}", b""),
            ("GET", f"/projects/{MISSING_ID}/recommendations", b""),
            ("POST", "/files?name=a.csv", b"a"),
        ):
            refusal = await client.request(method, path, content=body)
            assert (refusal.status_code, refusal.json()["detail"]) == (401, "ID utilisateur invalide")
    async with client_of(selection, None) as client:
        response = await client.get("/projects", headers=[("X-User-ID", str(ADA)), ("X-User-ID", str(ADA))])
        assert response.status_code == 401


async def test_lists_show_the_newest_change_first(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient) -> None:
    """Users see only their own projects, sorted by the last change, as an array or as pages."""
    await create_project(bob)
    projects = [await create_project(ada, name=f"p{index}") for index in range(5)]
    await ada.put(f"/projects/{projects[1]['id']}", json={"description": "x"})
    names = ["p1", "p4", "p3", "p2", "p0"]
    list_response = await ada.get("/projects")
    assert [project["name"] for project in list_response.json()] == names
    assert list_response.headers["X-Total-Count"] == "5"
    assert [project["name"] for project in (await ada.get("/projects/?skip=1&limit=2")).json()] == names[1:3]
    page = (await ada.get("/projects?page=2&page_size=3")).json()
    assert [project["name"] for project in page.pop("projects")] == names[3:]
    assert page == {"total_count": 5, "page": 2, "page_size": 3, "total_pages": 2}
    assert (await ada.get("/projects?page=9007199254740991&page_size=1000")).json()["projects"] == []
    assert (await ada.get("/projects?sort_by=name")).status_code == 422


async def test_of_racing_changes_one_wins(ada: httpx2.AsyncClient) -> None:
    """Of many changes for the same version, exactly one succeeds; the others are refused with 412."""
    creation = await ada.post("/projects", json={"name": "p"})
    path, etag = f"/projects/{creation.json()['id']}", creation.headers["ETag"]
    puts = [ada.put(path, json={"name": f"n{i}"}, headers={"If-Match": etag}) for i in range(12)]
    statuses = sorted(answer.status_code for answer in await asyncio.gather(*puts))
    assert statuses == [200] + [412] * 11
    assert (await ada.delete(path, headers={"If-Match": etag})).status_code == 412
    assert (await ada.delete(path, headers={"If-Match": '"1", "2"'})).status_code == 204
    assert (await ada.get(path)).status_code == 404


async def test_recommendations_are_the_ranking_of_the_project(ada: httpx2.AsyncClient) -> None:
    """They are the explained ranking by the criteria and weights of the project, 20 datasets by default."""
    for index in range(25):
        await create_record(ada, name=f"d{index:02}", year=2000 + index % 24, domain=["health" if index else "other"])
    project = await create_project(ada, criteria={"domain": "health"}, weights=WEIGHTS)
    path = f"/projects/{project['id']}/recommendations"
    recommendations = (await ada.get(path)).json()
    assert list(recommendations) == ["project", "datasets", "total_count", "effective_weights", "assurance", "notes"]
    assert (recommendations["project"], recommendations["total_count"], len(recommendations["datasets"])) == (
        project,
        24,
        20,
    )
    body = {"criteria": project["criteria"], "weights": project["weights"]}
    ranking = await ada.post("/datasets/score?explain=true&limit=20", json=body)
    assert recommendations["datasets"] == ranking.json()
    assert recommendations["effective_weights"] == WEIGHTS
    assert (await ada.get(f"{path}?limit=3")).json()["datasets"] == ranking.json()[:3]
    assert (await ada.get(f"{path}?limit=0")).status_code == 422
