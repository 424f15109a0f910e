"""A project of another user is answered like one that does not exist: with the same status, headers and body."""

from typing import Any

import httpx2
import pytest

from tests.serving import Service

MISSING = "11111111-2222-4333-8444-555555555555"
VARYING_HEADERS = {"date", "x-request-id"}
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


def comparable_answer(answer: httpx2.Response, project_id: str) -> tuple[int, dict[str, str], bytes]:
    """Return what a caller can compare: everything except the time, the request id and the requested id."""
    headers = {name: value for name, value in answer.headers.items() if name.lower() not in VARYING_HEADERS}
    return answer.status_code, headers, answer.content.replace(project_id.encode(), b"?")


async def test_a_foreign_project_is_a_missing_project(service: Service) -> None:
    """With every method, header and form of id, a foreign and a missing project give the same bytes."""
    owner = await service.register("owner@example.org")
    stranger = await service.register("other@example.org")
    owner_id = (await owner.get("/users/me")).json()["id"]
    foreign_id = (await owner.post("/projects", json={"name": "secret"})).json()["id"]
    for prefix in ("/projects/", "/api/v1/projects/"):
        for method, suffix, body in CALLS:
            for header_templates in HEADERS:
                headers = {name: value.format(owner=owner_id) for name, value in header_templates.items()}
                answers = [
                    comparable_answer(
                        await stranger.request(method, f"{prefix}{project_id}{suffix}", json=body, headers=headers),
                        project_id,
                    )
                    for project_id in (foreign_id, MISSING)
                ]
                assert answers[0] == answers[1], (method, suffix, headers)
                assert answers[0][0] in (404, 405), (method, suffix, headers, answers[0])
        for spelling in SPELLINGS:
            answers = [
                comparable_answer(await stranger.get(prefix + spelling.format(project_id)), project_id)
                for project_id in (foreign_id, MISSING)
            ]
            assert answers[0] == answers[1], spelling
    assert (await owner.get(f"/projects/{foreign_id}")).json()["name"] == "secret"


@pytest.mark.parametrize("malformed_id", ["abc", "1", "-1", MISSING + "0", "null", "00000000"])
async def test_a_malformed_project_id_answers_as_a_missing_one(service: Service, malformed_id: str) -> None:
    """The response does not distinguish a malformed id from one that has never existed."""
    user = await service.register("someone@example.org")
    malformed_answer = await user.get(f"/projects/{malformed_id}")
    missing_answer = await user.get(f"/projects/{MISSING}")
    assert malformed_answer.status_code == 404
    assert malformed_answer.json()["detail"] == "Projet non trouvé"
    assert comparable_answer(malformed_answer, malformed_id) == comparable_answer(missing_answer, MISSING)
