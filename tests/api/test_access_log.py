"""The access log says who has sent a request."""

from typing import Any

from structlog.testing import capture_logs

from tests.serving import Service

PASSWORD = "correct horse battery"


async def test_requests_are_logged_with_the_id_of_their_user(service: Service) -> None:
    """The user is named for the API, for pages, for sign-ins and for the request that ends the session."""
    async with service.client() as guest, await service.register("someone@example.org") as user:
        user_id = (await user.get("/users/me")).json()["id"]
        [session] = (await user.get("/users/me/sessions")).json()
        access_token = user.headers["authorization"].removeprefix("Bearer ")
        cookies = f"touchstone_access={access_token}; touchstone_refresh=none"

        with capture_logs() as entries:
            await guest.get("/health/live")
            await guest.post("/api/v1/auth/login", data={"username": "someone@example.org", "password": "wrong"})
            await guest.post("/api/v1/auth/login", data={"username": "someone@example.org", "password": PASSWORD})
            await guest.get("/app/projects", headers={"cookie": cookies})
            await user.get("/api/v1/datasets/")
            await user.delete(f"/api/v1/users/me/sessions/{session['id']}")

    assert users_by_path(entries) == [
        ("/health/live", 200, None),
        ("/api/v1/auth/login", 401, None),
        ("/api/v1/auth/login", 200, user_id),
        ("/app/projects", 200, user_id),
        ("/api/v1/datasets/", 200, user_id),
        (f"/api/v1/users/me/sessions/{session['id']}", 204, user_id),
    ]


def users_by_path(entries: list[Any]) -> list[tuple[str, int, str | None]]:
    """Return the path, the status and the user of each request to the public address."""
    requests = [
        entry
        for entry in entries
        if entry["event"] == "request" and entry["path"].startswith(("/api", "/app", "/health"))
    ]
    return [(entry["path"], entry["status"], entry["user"]) for entry in requests]
