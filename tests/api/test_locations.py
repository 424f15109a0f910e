"""The documents of the backends and the table of public routes agree on Location headers."""

from pathlib import Path

from touchstone.core.settings import Settings
from touchstone.services.gateway.public_routes import PUBLIC_ROUTES
from touchstone.startup.whole_product import openapi


async def test_every_route_that_returns_a_location_is_marked(tmp_path: Path) -> None:
    """If a route were not marked, its Location header would reach clients with an address of the backend."""
    document = await openapi(Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path)}))
    # The gateway itself answers the other routes, such as those for signing in with an identity provider.
    backend_routes = {(route.method, route.path) for route in PUBLIC_ROUTES if route.backend is not None}
    routes_with_location = {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if any("Location" in response.get("headers", {}) for response in operation.get("responses", {}).values())
    }
    assert routes_with_location & backend_routes == {
        (route.method, route.path) for route in PUBLIC_ROUTES if route.returns_location
    }
