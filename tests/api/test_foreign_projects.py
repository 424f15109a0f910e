"""A project of another user is answered like one that does not exist: with the same status, headers and body."""

from typing import Any

import httpx2
import pytest

from tests.serving import Service

MISSING = "11111111-2222-4333-8444-555555555555"
VARYING = {"date", "x-request-id"}
SPELLINGS = ("{}", "{} ", "urn:uuid:{}", "{{{}}}", "{}%00", "{}%2F..", "0x{}", "{}.0")
CALLS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "", None),
    ("HEAD", "", None),
    ("PUT", "", {"name": "mine now"}),
    ("PUT", "", {"name": None}),
    ("PUT", "", {"nome": "x"}),
    ("PUT", "", [1, 2]),
    ("DELETE", "", None),
    ("GET", "/recommendations", None),
    ("GET", "/recommendations?limit=x", None),
    ("GET", "/choices", None),
    ("GET", "/choices?page=x", None),
    ("GET", "/snapshots", None),
    ("POST", "/snapshots", None),
    ("POST", "/snapshots", {"limit": 0}),
    ("GET", f"/snapshots/{MISSING}", None),
    ("DELETE", f"/snapshots/{MISSING}", None),
    ("GET", "/snapshots/x/replay", None),
    ("GET", "/report", None),
    ("GET", "/report?format=x", None),
    ("POST", "", {"name": "x"}),
    ("PATCH", "", {"name": "x"}),
)
HEADERS: tuple[dict[str, str], ...] = (
    {},
    {"If-Match": "*"},
    {"If-Match": '"1"'},
    {"If-None-Match": '"1"'},
    {"X-User-ID": "{owner}"},
    {"X_User_ID": "{owner}"},
    {"X-User-Id": "{owner}", "X-User-Email": "owner@example.org"},
    {"Accept-Language": "en"},
)


def seen(answer: httpx2.Response, project: str) -> tuple[int, dict[str, str], bytes]:
    """Return what a caller can compare: everything except the time, the request id and the requested id."""
    headers = {name: value for name, value in answer.headers.items() if name.lower() not in VARYING}
    return answer.status_code, headers, answer.content.replace(project.encode(), b"?")


async def test_a_foreign_project_is_a_missing_project(service: Service) -> None:
    """With every method, header and form of id, a foreign and a missing project give the same bytes."""
    owner = await service.register("owner@example.org")
    other = await service.register("other@example.org")
    owner_id = (await owner.get("/users/me")).json()["id"]
    foreign = (await owner.post("/projects", json={"name": "secret"})).json()["id"]
    for prefix in ("/projects/", "/api/v1/projects/"):
        for method, suffix, body in CALLS:
            for wanted in HEADERS:
                headers = {name: value.format(owner=owner_id) for name, value in wanted.items()}
                answers = [
                    seen(await other.request(method, f"{prefix}{project}{suffix}", json=body, headers=headers), project)
                    for project in (foreign, MISSING)
                ]
                assert answers[0] == answers[1], (method, suffix, headers)
                assert answers[0][0] in (404, 405), (method, suffix, headers, answers[0])
        for spelling in SPELLINGS:
            answers = [
                seen(await other.get(prefix + spelling.format(project)), project) for project in (foreign, MISSING)
            ]
            assert answers[0] == answers[1], spelling
    assert (await owner.get(f"/projects/{foreign}")).json()["name"] == "secret"


@pytest.mark.parametrize("shape", ["abc", "1", "-1", MISSING + "0", "null", "00000000"])
async def test_a_malformed_project_id_answers_as_a_missing_one(service: Service, shape: str) -> None:
    """The response does not distinguish a malformed id from one that has never existed."""
    user = await service.register("someone@example.org")
    malformed, missing = await user.get(f"/projects/{shape}"), await user.get(f"/projects/{MISSING}")
    assert malformed.status_code == 404
    assert malformed.json()["detail"] == "Projet non trouvé"
    assert seen(malformed, shape) == seen(missing, MISSING)
