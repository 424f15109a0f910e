"""A backend that is called directly answers a wrong method with 405 and the allowed methods."""

from pathlib import Path

import httpx2
import pytest

from touchstone.core.settings import Settings
from touchstone.services.gateway.public_routes import BACKENDS
from touchstone.startup.separate_services import open_backend

METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
CALLER = {"X-User-ID": "11111111-2222-4333-8444-555555555555"}


@pytest.mark.parametrize("name", BACKENDS)
async def test_a_wrong_method_is_a_405_with_every_right_one(name: str, tmp_path: Path) -> None:
    """The cases are all documented paths, with and without a trailing slash, even if they resemble another path."""
    settings = Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path), "TOUCHSTONE_DEMO": "false"})
    # No request reaches the selection backend here; its address only lets the other two backends start.
    separate_settings = settings.model_copy(update={"selection_url": "http://127.0.0.1:9"})
    request_count = 0
    async with open_backend(name, separate_settings) as app:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://backend.test", headers=CALLER) as client:
            paths = (await client.get("/openapi.json")).json()["paths"]
            for path, operations in paths.items():
                documented_methods = {method.upper() for method in operations}
                address = path.replace("{dataset_id}", "1").replace("{", "").replace("}", "").rstrip("/")
                for method in sorted(METHODS - documented_methods):
                    for spelling in (address, address + "/"):
                        answer = await client.request(method, spelling)
                        assert answer.status_code == 405, (method, spelling, answer.text)
                        assert answer.json()["code"] == "method_not_allowed"
                        allowed_methods = set(answer.headers["Allow"].split(", "))
                        assert allowed_methods - {"HEAD", "OPTIONS"} == documented_methods, (method, spelling)
                        request_count += 1
    assert request_count > 30
