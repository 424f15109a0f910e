"""The documents of the backends and the table of public routes agree on Location headers."""

from pathlib import Path

from touchstone.core.settings import Settings
from touchstone.services.gateway.public_routes import PUBLIC_ROUTES
from touchstone.startup.whole_product import openapi


async def test_every_route_that_tells_an_address_is_marked(tmp_path: Path) -> None:
    """The address in a response of an unmarked route would reach clients in the form of the backend."""
    document = await openapi(Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path)}))
    telling = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if any("Location" in answer.get("headers", {}) for answer in operation.get("responses", {}).values())
    }
    assert telling
    assert telling == {(route.method, route.path) for route in PUBLIC_ROUTES if route.returns_location}
