"""Requests are attributed to users without any further work, so that admission can be fair between them."""

import asyncio

from tests.gateway.harness import GatewayHarness
from touchstone.http.admission import SameTicketMiddleware
from touchstone.startup.public_site import PublicSite
from touchstone.web.app import WebApp


async def test_a_user_is_known_once_a_request_was_answered(harness: GatewayHarness) -> None:
    """A known token or cookie identifies the user; otherwise the address of the client counts."""
    web_app = await WebApp.open(harness.settings, SameTicketMiddleware(harness.app))
    site = PublicSite(web_app, harness.gateway)
    async with await harness.user() as client:
        token = client.headers["Authorization"].encode()
        api_scope = {"path": "/api/v1/datasets/", "client": ("192.0.2.1", 1), "headers": [(b"authorization", token)]}
        cookies = b"touchstone_theme=dark; touchstone_access=" + token.removeprefix(b"Bearer ")
        page_scope = {"path": "/app/", "client": ("192.0.2.2", 1), "headers": [(b"cookie", cookies)]}
        assert (site.caller_of(api_scope), site.caller_of(page_scope)) == ("192.0.2.1", "192.0.2.2")

        # The process forgets what it knows once it learns that an account was registered.
        profile = (await client.get("/api/v1/users/me")).json()
        async with asyncio.timeout(10):
            while site.caller_of(api_scope) == "192.0.2.1":
                profile = (await client.get("/api/v1/users/me")).json()
        assert str(site.caller_of(api_scope)) == str(site.caller_of(page_scope)) == profile["id"]
        no_headers: list[tuple[bytes, bytes]] = []
        for headers in (no_headers, [(b"authorization", token[:-1] + b"x")]):
            assert site.caller_of(api_scope | {"headers": headers}) == "192.0.2.1"
    await web_app.close()
