"""Signing in with an external identity provider, which may misbehave."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import httpx2
import pytest
import sqlalchemy as sa
from joserfc import jws
from joserfc.jwk import RSAKey
from structlog.testing import capture_logs

from tests.gateway.harness import PASSWORD, GatewayHarness, in_process_upstreams, recording_backends
from tests.identity_provider import CLIENT_ID, CLIENT_SECRET, Misbehaviour, OpenIdProvider, identity_provider, new_key
from touchstone.core.errors import TooManyAttempts
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.tables import oauth_accounts, used_sign_in_states, users
from touchstone.services.gateway import accounts, login_throttle, user_store
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.oidc import account_links, provider_client, provider_requests
from touchstone.services.gateway.oidc.external_identity import ExternalIdentity
from touchstone.services.gateway.passwords import hash_password
from touchstone.services.gateway.user_store import UserRecord

LOGIN = "/api/v1/auth/oidc/company/login"
CALLBACK = "/api/v1/auth/oidc/company/callback"
DISCOVERY = "/.well-known/openid-configuration"
PUBLIC_URL = "https://data.example.org"
STATE_COOKIE = "touchstone_oidc"
LINK_COOKIE = "touchstone_link"


@pytest.fixture(scope="session")
def provider_key() -> RSAKey:
    """Return a key for signing ID tokens, which takes some time to generate."""
    return new_key("first")


@pytest.fixture
def provider(provider_key: RSAKey) -> Iterator[OpenIdProvider]:
    """Run a provider."""
    with identity_provider(provider_key) as running_provider:
        yield running_provider


@dataclass(slots=True)
class Browser:
    """A browser at the gateway, with its cookies."""

    client: httpx2.AsyncClient
    provider: OpenIdProvider

    async def begin(self, path: str = LOGIN) -> str:
        """Begin to sign in, and return the address to which the provider sends the browser back."""
        response = await self.client.get(path)
        assert response.status_code == 303, response.text
        return await asyncio.to_thread(self.provider.sign_in, response.headers["location"])

    async def come_back(self, address: str, **headers: str) -> httpx2.Response:
        """Return the response to the browser that the provider has sent back."""
        return await self.client.get(local_part(address), headers=headers)

    async def sign_in(self) -> httpx2.Response:
        """Return the response at the end of a sign-in."""
        return await self.come_back(await self.begin())


def local_part(address: str) -> str:
    """Return the path and the query of an address at the gateway."""
    assert address.startswith(f"{PUBLIC_URL}{CALLBACK}?"), address
    return address.removeprefix(PUBLIC_URL)


def with_providers(settings: Settings, *providers: OpenIdProvider, **changes: Any) -> Settings:
    """Return settings with these providers, which are called `company`, `other-1` and so on."""
    names = ["company", *(f"other-{number}" for number in range(1, len(providers)))]
    options = {name: provider.options() for name, provider in zip(names, providers, strict=True)}
    oidc_settings = Settings.load(
        {"TOUCHSTONE_PUBLIC_URL": PUBLIC_URL, "TOUCHSTONE_OIDC_PROVIDERS": json.dumps(options)}
    )
    oidc_changes = {"public_url": oidc_settings.public_url, "oidc_providers": oidc_settings.oidc_providers}
    return settings.model_copy(update=oidc_changes | changes)


async def open_harness(settings: Settings, database: Database) -> GatewayHarness:
    """Open a gateway with these settings."""
    backends = recording_backends()
    gateway = await Gateway.open(settings, database, None, in_process_upstreams(backends))
    return GatewayHarness(gateway, settings, database, backends)


@pytest.fixture
async def harness(settings: Settings, database: Database, provider: OpenIdProvider) -> AsyncIterator[GatewayHarness]:
    """Open a gateway with one provider."""
    opened_harness = await open_harness(with_providers(settings, provider), database)
    yield opened_harness
    await opened_harness.gateway.close()


@pytest.fixture
async def browser(harness: GatewayHarness, provider: OpenIdProvider) -> AsyncIterator[Browser]:
    """Return a browser without cookies."""
    async with harness.client() as client:
        yield Browser(client, provider)


async def me(harness: GatewayHarness, response: httpx2.Response) -> dict[str, Any]:
    """Return the account of the user who has signed in with this response."""
    assert response.status_code == 200, response.text
    async with harness.client(response.json()["access_token"]) as user:
        account: dict[str, Any] = (await user.get("/users/me")).json()
        return account


async def count_rows(database: Database, table: sa.Table) -> int:
    """Return the number of rows in a table."""
    async with database.reading() as connection:
        return int(await connection.scalar(sa.select(sa.func.count()).select_from(table)))


def refusal(response: httpx2.Response) -> tuple[int, str]:
    """Return the status and the code of an error response."""
    body = response.json()
    assert set(body) == {"detail", "code", "errors"}
    assert body["detail"]
    return response.status_code, body["code"]


async def test_the_browser_is_sent_to_the_provider(browser: Browser) -> None:
    """The request has a state, a nonce and a PKCE challenge, and its redirect URI does not depend on Host."""
    response = await browser.client.get(LOGIN, headers={"Host": "evil.example"})
    assert response.status_code == 303
    assert response.headers["cache-control"] == "no-store"
    url = urlsplit(response.headers["location"])
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    assert f"{url.scheme}://{url.netloc}{url.path}" == f"{browser.provider.issuer}/authorization"
    assert query["redirect_uri"] == f"{PUBLIC_URL}{CALLBACK}"
    assert query["scope"] == "openid email profile"
    assert query["code_challenge_method"] == "S256"
    assert len({query["state"], query["nonce"], query["code_challenge"]}) == 3
    assert all(len(query[name]) == 43 for name in ("state", "nonce", "code_challenge"))
    (cookie,) = response.headers.get_list("set-cookie")
    assert all(attribute in cookie for attribute in ("HttpOnly", "SameSite=lax", "Path=/", "Max-Age=600"))


async def test_the_first_sign_in_creates_an_account(browser: Browser, harness: GatewayHarness) -> None:
    """The answer is that of an ordinary sign-in, and the account has the verified address and the names."""
    response = await browser.sign_in()
    assert set(response.json()) == {"access_token", "token_type", "expires_in", "refresh_token"}
    assert response.headers["cache-control"] == "no-store"
    assert "touchstone_device" in "".join(response.headers.get_list("set-cookie"))
    assert STATE_COOKIE not in browser.client.cookies

    account = await me(harness, response)
    assert (account["email"], account["is_verified"]) == ("ada@example.org", True)
    assert (account["given_name"], account["family_name"], account["pseudo"]) == ("Ada", "Lovelace", None)
    (external,) = account["oauth_accounts"]
    assert (external["oauth_name"], external["account_id"]) == ("company", "248289761001")
    assert external["account_email"] == "ada@example.org"


async def test_the_second_sign_in_is_the_same_user(browser: Browser, harness: GatewayHarness) -> None:
    """The id at the provider identifies the user, even if the address has changed; and there are two sessions."""
    first_account = await me(harness, await browser.sign_in())
    browser.provider.user["email"] = "countess@example.org"
    response = await browser.sign_in()
    assert (await me(harness, response))["id"] == first_account["id"]
    assert await count_rows(harness.database, users) == 1
    async with harness.client(response.json()["access_token"]) as user:
        sessions = (await user.get("/users/me/sessions")).json()
        assert len(sessions) == 2
        (current,) = [session for session in sessions if session["current"]]
        assert (await user.delete(f"/users/me/sessions/{current['id']}")).status_code == 204
        assert (await user.get("/users/me")).status_code == 401


@pytest.mark.parametrize("second_email", ["ada@example.org", "new@example.org"])
async def test_two_first_sign_ins_at_once_create_one_account(
    harness: GatewayHarness, provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch, second_email: str
) -> None:
    """Both browsers are signed in as the same user, even if the address changes at the provider in between."""
    find_user = account_links.find_user
    both_have_looked = asyncio.Barrier(2)

    async def look_together(database: Database, identity: ExternalIdentity) -> UserRecord | None:
        """Wait for the other sign-in after neither of them has found an account."""
        user = await find_user(database, identity)
        if user is None:
            await both_have_looked.wait()
        return user

    monkeypatch.setattr(account_links, "find_user", look_together)
    async with asyncio.timeout(60), harness.client() as first_client, harness.client() as second_client:
        browsers = (Browser(first_client, provider), Browser(second_client, provider))
        addresses = [await browser.begin() for browser in browsers]
        first_sign_in = asyncio.ensure_future(browsers[0].come_back(addresses[0]))
        while not both_have_looked.n_waiting:
            await asyncio.sleep(0.01)
        provider.user["email"] = second_email
        responses = [await browsers[1].come_back(addresses[1]), await first_sign_in]

    users_signed_in = [(await me(harness, response))["id"] for response in responses]
    assert users_signed_in[0] == users_signed_in[1]
    assert (await count_rows(harness.database, users), await count_rows(harness.database, oauth_accounts)) == (1, 1)


async def test_a_first_sign_in_during_another_one_creates_the_account_of_both(
    harness: GatewayHarness, provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The account is not taken for one with a password, even if it is created between two queries of the other one."""
    async with harness.client() as fast_client, harness.client() as slow_client:
        fast_browser, slow_browser = Browser(fast_client, provider), Browser(slow_client, provider)
        fast_address, slow_address = await fast_browser.begin(), await slow_browser.begin()
        pending_sign_ins = iter([fast_browser.come_back(fast_address)])
        responses = []

        def complete_other_sign_in_after(query: Callable[..., Awaitable[UserRecord | None]]) -> Any:
            """Return the query, after the first of which the fast browser completes its sign-in."""

            async def query_and_wait(*arguments: Any) -> UserRecord | None:
                user = await query(*arguments)
                responses.extend([await sign_in for sign_in in pending_sign_ins])
                return user

            return query_and_wait

        for module, name in ((accounts, "find_user_record"), (account_links, "find_user")):
            monkeypatch.setattr(module, name, complete_other_sign_in_after(getattr(module, name)))
        responses.append(await slow_browser.come_back(slow_address))

    assert [response.status_code for response in responses] == [200, 200]
    assert await count_rows(harness.database, users) == 1


async def test_a_link_that_the_database_refuses_is_an_error(database: Database) -> None:
    """Only a link that exists already is left as it is: here the user has been deleted, so there is no link."""
    user = accounts.new_user("ada@example.org", accounts.UserProfile())
    claims = {"user": str(user.id), "provider": "company", "subject": "1", "email": user.email}
    with pytest.raises(user_store.OAuthAccountTaken):
        await account_links.link_account(database, user, claims)


async def test_another_user_with_the_same_address_is_not_the_same_user(
    browser: Browser, harness: GatewayHarness
) -> None:
    """An address that the provider has given to somebody else does not give access to the account."""
    await browser.sign_in()
    browser.provider.user["sub"] = "somebody else"
    assert refusal(await browser.sign_in()) == (409, "account_not_linked")
    assert await count_rows(harness.database, oauth_accounts) == 1


async def test_a_sign_in_continues_in_another_process(
    browser: Browser, settings: Settings, database: Database, provider: OpenIdProvider
) -> None:
    """Another process of the gateway, with the same key, completes the sign-in, but does so only once."""
    address = await browser.begin()
    other_harness = await open_harness(with_providers(settings, provider), database)
    async with other_harness.client() as client:
        client.cookies = httpx2.Cookies(browser.client.cookies)
        other_browser = Browser(client, provider)
        assert (await other_browser.come_back(address)).status_code == 200
        assert refusal(await browser.come_back(address)) == (400, "invalid_sign_in_state")
    await other_harness.gateway.close()


async def test_states_are_bound_to_a_browser_and_used_once(browser: Browser, harness: GatewayHarness) -> None:
    """A missing, foreign, forged, expired or repeated state is refused, without a request to the provider."""
    address = await browser.begin()
    cookie = str(browser.client.cookies[STATE_COOKIE])
    async with harness.client() as client:
        victim = Browser(client, browser.provider)
        assert refusal(await victim.come_back(address)) == (400, "invalid_sign_in_state")
        await victim.begin()
        assert refusal(await victim.come_back(address)) == (400, "invalid_sign_in_state")
        for forged_cookie in ("x", cookie[:-2] + "AA", cookie.rpartition(".")[0] + ".", "a.b.c"):
            client.cookies.clear()
            response = await victim.come_back(address, Cookie=f"{STATE_COOKIE}={forged_cookie}")
            assert refusal(response) == (400, "invalid_sign_in_state")
        for state in ("", "é", "\udcff".encode(errors="replace").decode(), "x" * 43):
            query = httpx2.QueryParams({"code": "x", "state": state})
            response = await client.get(f"{CALLBACK}?{query}", headers={"Cookie": f"{STATE_COOKIE}={cookie}"})
            assert refusal(response) == (400, "invalid_sign_in_state")
    assert "/token" not in browser.provider.request_paths
    assert (await browser.come_back(address)).status_code == 200
    response = await browser.come_back(address, Cookie=f"{STATE_COOKIE}={cookie}")
    assert refusal(response) == (400, "invalid_sign_in_state")


async def test_a_sign_in_that_took_too_long_is_refused(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cookie expires after ten minutes, even if the browser keeps it."""
    address = await browser.begin()
    cookie = str(browser.client.cookies[STATE_COOKIE])
    late = time.time() + 601
    monkeypatch.setattr(time, "time", lambda: late)
    response = await browser.come_back(address, Cookie=f"{STATE_COOKIE}={cookie}")
    assert refusal(response) == (400, "invalid_sign_in_state")


async def test_expired_states_are_forgotten(browser: Browser, harness: GatewayHarness) -> None:
    """The list of used states does not grow for ever."""
    async with harness.database.writing() as transaction:
        row = {"digest": "x", "expires_at": datetime.now(UTC) - timedelta(seconds=1)}
        await transaction.execute(sa.insert(used_sign_in_states).values(row))
    await browser.sign_in()
    assert await count_rows(harness.database, used_sign_in_states) == 1


async def test_providers_are_not_mixed_up(
    settings: Settings, database: Database, provider: OpenIdProvider, provider_key: RSAKey
) -> None:
    """The answer to a sign-in at one provider is refused at the address of another one."""
    with identity_provider(provider_key) as other_provider:
        harness = await open_harness(with_providers(settings, provider, other_provider), database)
        async with harness.client() as client:
            address = await Browser(client, provider).begin()
            mixed_up_address = local_part(address).replace("/company/", "/other-1/")
            assert refusal(await client.get(mixed_up_address)) == (400, "invalid_sign_in_state")
            assert other_provider.request_paths == []

            # The same id at another provider is another user.
            assert (await Browser(client, provider).sign_in()).status_code == 200
            other_provider.user["email"] = "other@example.org"
            response = await client.get("/api/v1/auth/oidc/other-1/login")
            other_address = await asyncio.to_thread(other_provider.sign_in, response.headers["location"])
            response = await client.get(other_address.removeprefix(PUBLIC_URL))
            assert (await me(harness, response))["email"] == "other@example.org"
        await harness.gateway.close()


@pytest.mark.parametrize(
    ("misbehaviour", "expected"),
    [
        (Misbehaviour(claims={"nonce": "another"}), "invalid_identity"),
        (Misbehaviour(claims={"nonce": None}), "invalid_identity"),
        (Misbehaviour(claims={"aud": "another service"}), "invalid_identity"),
        (Misbehaviour(claims={"aud": [CLIENT_ID, "another service"]}), "invalid_identity"),
        (Misbehaviour(claims={"azp": "another service"}), "invalid_identity"),
        (Misbehaviour(claims={"iss": "https://evil.example"}), "invalid_identity"),
        (Misbehaviour(expires_in_seconds=-120), "invalid_identity"),
        (Misbehaviour(claims={"exp": None}), "invalid_identity"),
        (Misbehaviour(claims={"iat": None}), "invalid_identity"),
        (Misbehaviour(claims={"iat": int(time.time()) + 86_400}), "invalid_identity"),
        (Misbehaviour(claims={"sub": None}), "invalid_identity"),
        (Misbehaviour(claims={"sub": ""}), "invalid_identity"),
        (Misbehaviour(claims={"sub": 7}), "invalid_identity"),
        (Misbehaviour(claims={"sub": "x" * 256}), "invalid_identity"),
        (Misbehaviour(claims={"email": "not an address"}), "invalid_identity"),
        (Misbehaviour(algorithm="none"), "invalid_identity"),
        (Misbehaviour(algorithm="HS256"), "invalid_identity"),
        (Misbehaviour(claims={"email_verified": False}), "email_not_verified"),
        (Misbehaviour(claims={"email_verified": "false"}), "email_not_verified"),
        (Misbehaviour(claims={"email_verified": None}), "email_not_verified"),
        (Misbehaviour(claims={"email": None}), "email_not_verified"),
        (Misbehaviour(answer={"iss": "https://evil.example"}), "invalid_identity"),
        (Misbehaviour(answer={"code": "another"}), "invalid_identity"),
        (Misbehaviour(answer={"code": None}), "invalid_identity"),
        (Misbehaviour(answer={"code": None, "error": "access_denied"}), "sign_in_refused"),
        (Misbehaviour(answer={"code": None, "error": "server_error"}), "identity_provider_unavailable"),
        (Misbehaviour(raw={"/token": (500, b"oops")}), "identity_provider_unavailable"),
        (Misbehaviour(raw={"/token": (200, b"<html>")}), "identity_provider_unavailable"),
        (Misbehaviour(raw={"/token": (200, b'{"access_token": "x"}')}), "identity_provider_unavailable"),
        (Misbehaviour(raw={"/token": (200, b'{"id_token": "x"}')}), "invalid_identity"),
        (Misbehaviour(raw={"/token": (401, b'{"error": "invalid_client"}')}), "identity_provider_unavailable"),
        (Misbehaviour(raw={"/token": (302, b"")}), "identity_provider_unavailable"),
        (Misbehaviour(raw={"/token": (200, b" " * 1_100_000 + b"{}")}), "identity_provider_unavailable"),
        (Misbehaviour(raw={"/jwks": (200, b'{"keys": []}')}), "identity_provider_unavailable"),
        (Misbehaviour(raw={"/jwks": (200, b'{"keys": [{"kty": "oct", "k": "eA"}]}')}), "identity_provider_unavailable"),
        (Misbehaviour(raw={"/jwks": (200, b'{"keys": [{"kty": "RSA"}, {"kty": "EC", "crv": "x"}]}')}),
         "identity_provider_unavailable"),
        (Misbehaviour(raw={"/jwks": (404, b"\xff")}), "identity_provider_unavailable"),
        (Misbehaviour(raw={"/token": (200, b'{"more": ' + b"[" * 5000)}), "identity_provider_unavailable"),
        (Misbehaviour(raw={"/userinfo": (200, b'{"more": ' + b"[" * 5000)}, claims={"email": None}),
         "identity_provider_unavailable"),
    ],
)  # fmt: skip
async def test_an_unacceptable_answer_of_the_provider_signs_nobody_in(
    browser: Browser, harness: GatewayHarness, misbehaviour: Misbehaviour, expected: str
) -> None:
    """Nothing but a valid token about a verified address creates an account or a session."""
    browser.provider.misbehaviour = misbehaviour
    response = await browser.sign_in()
    status, code = refusal(response)
    assert (code, status) == (expected, STATUSES[expected])
    assert ("retry-after" in response.headers) == (status == 503)
    assert CLIENT_SECRET not in response.text
    assert await count_rows(harness.database, users) == 0


async def test_a_token_with_too_many_levels_signs_nobody_in(browser: Browser) -> None:
    """The signature is that of the provider, but the claims cannot be decoded."""
    key = browser.provider.key
    token = jws.serialize_compact({"alg": "RS256", "kid": str(key.kid)}, b"[" * 5000, key)
    browser.provider.misbehaviour.raw["/token"] = (200, json.dumps({"id_token": token}).encode())
    assert refusal(await browser.sign_in()) == (401, "invalid_identity")


STATUSES = {
    "invalid_identity": 401,
    "email_not_verified": 403,
    "sign_in_refused": 403,
    "identity_provider_unavailable": 503,
}


@pytest.mark.parametrize(
    "misbehaviour",
    [
        Misbehaviour(claims={"aud": [CLIENT_ID]}),
        Misbehaviour(claims={"aud": [CLIENT_ID, "another service"], "azp": CLIENT_ID}),
        Misbehaviour(claims={"email_verified": "true"}),
        Misbehaviour(claims={"given_name": 7, "family_name": "\x00"}),
        Misbehaviour(claims={"given_name": "x" * 300, "family_name": ""}),
        Misbehaviour(expires_in_seconds=-30),
        Misbehaviour(omits_key_id=True),
        Misbehaviour(algorithm="PS512"),
    ],
)
async def test_unusual_but_acceptable_tokens_sign_in(browser: Browser, misbehaviour: Misbehaviour) -> None:
    """Providers differ in the form of audiences and flags, clocks differ, and names may be unusable."""
    browser.provider.misbehaviour = misbehaviour
    assert (await browser.sign_in()).status_code == 200


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"jwks_uri": None},
    ],
)
async def test_an_unacceptable_discovery_document_is_refused(browser: Browser, document: dict[str, Any]) -> None:
    """The document must be the one of the issuer, and secrets are only sent over https."""
    browser.provider.metadata = document
    response = await browser.client.get(LOGIN, headers={"Accept-Language": "en"})
    assert refusal(response) == (503, "identity_provider_unavailable")
    assert "Example Company" in response.json()["detail"]
    assert int(response.headers["retry-after"]) > 0


@pytest.mark.parametrize("raw", [(500, b""), (404, b"{}"), (200, b"{"), (200, b"[]"), (200, b"x" * 1_100_000)])
async def test_a_provider_without_a_discovery_document_is_left_alone_for_a_while(
    browser: Browser, raw: tuple[int, bytes]
) -> None:
    """A second request fails without asking the provider again."""
    browser.provider.misbehaviour.raw[DISCOVERY] = raw
    for _ in range(2):
        assert refusal(await browser.client.get(LOGIN)) == (503, "identity_provider_unavailable")
    assert browser.provider.request_paths == [DISCOVERY]


async def test_a_provider_that_works_again_is_used_again(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure is forgotten after a while."""
    monkeypatch.setattr(provider_client, "FAILURE_CACHE_SECONDS", 0.0)
    browser.provider.misbehaviour.raw[DISCOVERY] = (500, b"")
    assert refusal(await browser.client.get(LOGIN)) == (503, "identity_provider_unavailable")
    browser.provider.misbehaviour.raw.clear()
    assert (await browser.sign_in()).status_code == 200


async def until_requested(provider: OpenIdProvider, path: str) -> None:
    """Wait until the provider has received a request."""
    while path not in provider.request_paths:
        await asyncio.sleep(0.01)


async def test_a_slow_provider_does_not_block_others(
    browser: Browser, harness: GatewayHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other requests are answered while one waits for the provider, which it does not do for ever."""
    monkeypatch.setattr(provider_requests, "REQUEST_SECONDS", 0.5)
    with browser.provider.blocked():
        slow_request = asyncio.create_task(browser.client.get(LOGIN))
        await until_requested(browser.provider, DISCOVERY)
        async with harness.client() as guest:
            assert (await guest.get("/health/live")).status_code == 200
        assert refusal(await slow_request) == (503, "identity_provider_unavailable")


async def test_few_requests_wait_for_a_slow_provider(
    browser: Browser, harness: GatewayHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Further sign-ins are refused at once, so that they do not occupy the whole service."""
    monkeypatch.setattr(provider_requests, "MAX_CONCURRENT", 1)
    address = await browser.begin()
    async with harness.client() as client:
        other_browser = Browser(client, browser.provider)
        other_address = await other_browser.begin()
        with browser.provider.blocked():
            first_request = asyncio.create_task(browser.come_back(address))
            await until_requested(browser.provider, "/token")
            assert refusal(await other_browser.come_back(other_address)) == (503, "identity_provider_unavailable")
    assert (await first_request).status_code == 200


async def test_a_provider_that_is_down_is_reported(
    settings: Settings, database: Database, provider_key: RSAKey
) -> None:
    """Nobody listens at the address of the provider."""
    with identity_provider(provider_key) as provider:
        stopped_provider = provider
    harness = await open_harness(with_providers(settings, stopped_provider), database)
    async with harness.client() as client:
        assert refusal(await client.get(LOGIN)) == (503, "identity_provider_unavailable")
    await harness.gateway.close()


async def test_new_keys_are_fetched_when_a_key_is_unknown(browser: Browser) -> None:
    """Keys and metadata are cached, and the keys are fetched again after the provider has changed them."""
    for _ in range(2):
        assert (await browser.sign_in()).status_code == 200
    paths = browser.provider.request_paths
    assert (paths.count("/jwks"), paths.count(DISCOVERY)) == (1, 1)

    browser.provider.key = await asyncio.to_thread(new_key, "second")
    assert (await browser.sign_in()).status_code == 200
    assert paths.count("/jwks") == 2

    # A token with another key than the one that it names is refused.
    browser.provider.key = await asyncio.to_thread(new_key, "second")
    assert refusal(await browser.sign_in()) == (401, "invalid_identity")

    # A key that does not even exist is refused after one attempt to fetch it.
    browser.provider.misbehaviour.raw["/jwks"] = (200, json.dumps({"keys": [new_key("third").as_dict()]}).encode())
    browser.provider.key = await asyncio.to_thread(new_key, "fourth")
    count = paths.count("/jwks")
    assert refusal(await browser.sign_in()) == (401, "invalid_identity")
    assert paths.count("/jwks") == count + 1


async def test_credentials_are_sent_in_the_body_if_the_provider_wants_that(browser: Browser) -> None:
    """Some providers only support `client_secret_post`."""
    browser.provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"]}
    assert (await browser.sign_in()).status_code == 200


async def test_an_issuer_must_be_named_if_the_provider_says_that_it_does(browser: Browser) -> None:
    """A provider that supports RFC 9207 always names itself in its answer."""
    browser.provider.metadata = {"authorization_response_iss_parameter_supported": True}
    assert refusal(await browser.sign_in()) == (401, "invalid_identity")
    browser.provider.misbehaviour.answer = {"iss": browser.provider.issuer}
    assert (await browser.sign_in()).status_code == 200


async def test_the_address_may_come_from_the_user_info_endpoint(browser: Browser, harness: GatewayHarness) -> None:
    """Some ID tokens contain no address; then the claims must be about the same user."""
    browser.provider.misbehaviour.claims = {"email": None, "email_verified": None}
    browser.provider.user_info = {"sub": "somebody else", "email": "ada@example.org", "email_verified": True}
    assert refusal(await browser.sign_in()) == (401, "invalid_identity")
    browser.provider.user_info["sub"] = "248289761001"
    assert (await me(harness, await browser.sign_in()))["email"] == "ada@example.org"


async def test_an_unusable_user_info_endpoint_signs_nobody_in(
    browser: Browser, settings: Settings, database: Database
) -> None:
    """It may not exist, refuse the token, or respond with something else."""
    browser.provider.misbehaviour.claims = {"email": None}
    for raw in ((200, b"<html>"), (401, b"{}"), (404, b"")):
        browser.provider.misbehaviour.raw["/userinfo"] = raw
        assert refusal(await browser.sign_in()) == (503, "identity_provider_unavailable")

    browser.provider.metadata = {"userinfo_endpoint": None}
    harness = await open_harness(with_providers(settings, browser.provider), database)
    async with harness.client() as client:
        assert refusal(await Browser(client, browser.provider).sign_in()) == (403, "email_not_verified")
    await harness.gateway.close()


@pytest.mark.parametrize("path", [LOGIN, CALLBACK])
@pytest.mark.parametrize("name", ["unknown", "%00", "Company", "x" * 300])
async def test_an_unknown_provider_is_not_found(browser: Browser, path: str, name: str) -> None:
    """The answer is the same for all names that are not configured."""
    response = await browser.client.get(path.replace("company", name))
    assert refusal(response) == (404, "identity_provider_not_found")


async def test_a_repeated_parameter_is_refused(browser: Browser) -> None:
    """Different programs could use different ones of two codes."""
    address = await browser.begin()
    assert refusal(await browser.come_back(f"{address}&code=x")) == (422, "invalid_value")


async def test_closed_registration_creates_no_account(
    settings: Settings, database: Database, provider: OpenIdProvider
) -> None:
    """Whoever has no account yet is refused, and others sign in as before."""
    for registration, expected in (("closed", 403), ("open", 200), ("closed", 200)):
        harness = await open_harness(with_providers(settings, provider, registration=registration), database)
        async with harness.client() as client:
            response = await Browser(client, provider).sign_in()
            assert response.status_code == expected, response.text
            if expected == 403:
                assert refusal(response) == (403, "registration_closed")
        await harness.gateway.close()


async def test_accounts_are_created_at_a_limited_rate(
    settings: Settings, database: Database, provider: OpenIdProvider
) -> None:
    """Accounts of a provider count like other registrations from an address."""
    harness = await open_harness(with_providers(settings, provider, registrations_per_hour=1), database)
    async with harness.client() as client:
        browser = Browser(client, provider)
        assert (await browser.sign_in()).status_code == 200
        provider.user.update(sub="another", email="another@example.org")
        assert refusal(await browser.sign_in()) == (429, "too_many_attempts")
    await harness.gateway.close()


async def test_an_existing_account_is_linked_with_its_password(browser: Browser, harness: GatewayHarness) -> None:
    """Neither the owner of the address nor whoever knows the password can do so alone (decision 68)."""
    await accounts.create_user(harness.database, email="Ada@example.org", password=PASSWORD)
    response = await browser.sign_in()
    assert refusal(response) == (409, "account_not_linked")
    assert "Example Company" in response.json()["detail"]
    assert await count_rows(harness.database, oauth_accounts) == 0

    # Somebody who has registered the address before its owner links nothing by signing in.
    await harness.sign_in("ada@example.org")
    assert await count_rows(harness.database, oauth_accounts) == 0

    login = {"username": "ada@example.org", "password": "wrong"}
    assert (await browser.client.post("/api/v1/auth/login", json=login)).status_code == 401
    assert await count_rows(harness.database, oauth_accounts) == 0
    response = await browser.client.post("/api/v1/auth/login", json=login | {"password": PASSWORD})
    account = await me(harness, response)
    assert account["is_verified"]
    assert [external["account_id"] for external in account["oauth_accounts"]] == ["248289761001"]
    assert LINK_COOKIE not in browser.client.cookies
    assert (await me(harness, await browser.sign_in()))["id"] == account["id"]


async def test_the_token_for_linking_is_only_for_one_account(browser: Browser, harness: GatewayHarness) -> None:
    """Signing in to another account, or with a forged token, links nothing and still works."""
    for email in ("ada@example.org", "bob@example.org"):
        await accounts.create_user(harness.database, email=email, password=PASSWORD)
    assert (await browser.sign_in()).status_code == 409
    link = str(browser.client.cookies[LINK_COOKIE])
    state = str((await browser.client.get(LOGIN)).cookies[STATE_COOKIE])
    async with harness.client() as client:
        for email, token in (("bob@example.org", link), ("ada@example.org", "x"), ("ada@example.org", state)):
            response = await client.post(
                "/api/v1/auth/login",
                json={"username": email, "password": PASSWORD},
                headers={"Cookie": f"{LINK_COOKIE}={token}"},
            )
            assert response.status_code == 200
        assert await count_rows(harness.database, oauth_accounts) == 0

        # A token that is used twice at the same time links the account once.
        logins = [
            client.post(
                "/api/v1/auth/login",
                json={"username": "ada@example.org", "password": PASSWORD},
                headers={"Cookie": f"{LINK_COOKIE}={link}"},
            )
            for _ in range(3)
        ]
        assert [response.status_code for response in await asyncio.gather(*logins)] == [200] * 3
    assert await count_rows(harness.database, oauth_accounts) == 1


async def test_a_deactivated_user_is_refused_as_at_any_sign_in(browser: Browser, harness: GatewayHarness) -> None:
    """The answer is that to a wrong password, and an account that is not linked is no way around it."""
    account = await me(harness, await browser.sign_in())
    async with await harness.user("admin@example.org", is_superuser=True) as administrator:
        change = {"is_active": False}
        assert (await administrator.patch(f"/api/v1/admin/users/{account['id']}", json=change)).status_code == 200
    response = await browser.sign_in()
    assert refusal(response) == (401, "invalid_credentials")
    assert "set-cookie" not in response.headers


async def test_an_account_without_a_password_has_no_password_to_guess_or_change(
    browser: Browser, harness: GatewayHarness
) -> None:
    """A reset token of an administrator gives it one, and both ways of signing in work afterwards."""
    response = await browser.sign_in()
    account = await me(harness, response)
    assert not account["has_password"]
    async with harness.client() as guest:
        for password in ("", "None", "x"):
            login = await guest.post("/api/v1/auth/login", json={"username": account["email"], "password": password})
            assert refusal(login) == (401, "invalid_credentials")
    async with harness.client(response.json()["access_token"]) as user:
        change = {"current_password": "", "new_password": PASSWORD}
        assert refusal(await user.patch("/users/me/password", json=change)) == (422, "no_password")

    async with await harness.user("admin@example.org", is_superuser=True) as administrator:
        reset = await administrator.post(f"/api/v1/admin/users/{account['id']}/reset-token")
    async with harness.client() as guest:
        body = {"token": reset.json()["token"], "password": PASSWORD}
        assert (await guest.post("/api/v1/auth/reset-password", json=body)).status_code == 204
    assert (await harness.sign_in(account["email"]))["access_token"]
    account_afterwards = await me(harness, await browser.sign_in())
    assert (account_afterwards["id"], account_afterwards["has_password"]) == (account["id"], True)


async def test_an_account_is_unlinked_unless_nobody_could_sign_in_to_it(
    browser: Browser, harness: GatewayHarness
) -> None:
    """Without a password, the last link stays; another user cannot remove it."""
    response = await browser.sign_in()
    (external,) = (await me(harness, response))["oauth_accounts"]
    path = f"/users/me/oauth-accounts/{external['id']}"
    async with await harness.user("bob@example.org") as bob:
        for unknown_path in (path, "/users/me/oauth-accounts/x", "/users/me/oauth-accounts/%00"):
            assert refusal(await bob.delete(unknown_path)) == (404, "oauth_account_not_found")
    async with harness.client() as guest:
        assert (await guest.delete(path)).status_code == 401

    async with harness.client(response.json()["access_token"]) as user:
        assert refusal(await user.delete(path)) == (409, "last_way_to_sign_in")
        user_id = UUID((await user.get("/users/me")).json()["id"])
        async with harness.database.writing() as transaction:
            await user_store.update_user(transaction, user_id, password_hash=await hash_password(PASSWORD))
        assert (await user.delete(path)).status_code == 204
        assert (await user.get("/users/me")).json()["oauth_accounts"] == []
        assert refusal(await user.delete(path)) == (404, "oauth_account_not_found")
    assert refusal(await browser.sign_in()) == (409, "account_not_linked")


async def test_refused_sign_ins_are_limited(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can make this service send the provider any number of wrong codes."""
    monkeypatch.setattr(
        login_throttle, "PROVIDER_LIMIT", type(login_throttle.PROVIDER_LIMIT)(2, 5, namespace="provider")
    )
    browser.provider.misbehaviour.answer = {"code": "wrong"}
    assert [(await browser.sign_in()).status_code for _ in range(3)] == [401, 401, TooManyAttempts.status]
    assert browser.provider.request_paths.count("/token") == 2


async def test_browsers_of_the_pages_are_sent_to_them(browser: Browser) -> None:
    """The pages, which ask for JSON, get the tokens; and a lost state does not lose a reader."""
    address = await browser.begin(f"{LOGIN}?next=/app/projects")
    response = await browser.come_back(address, Accept="text/html,*/*;q=0.8")
    assert response.status_code == 303
    page = urlsplit(response.headers["location"])
    assert (page.netloc, page.path) == ("", "/app/sign-in/company/callback")
    query = parse_qs(page.query)
    assert query["next"] == ["/app/projects"]
    assert query["code"] == parse_qs(urlsplit(address).query)["code"]
    assert (await browser.come_back(address, Accept="application/json")).status_code == 200

    browser.client.cookies.clear()
    response = await browser.come_back(f"{address}&next=https://evil.example", Accept="text/html")
    assert response.status_code == 303
    assert "evil" not in response.headers["location"]


async def test_a_browser_that_did_not_come_from_the_pages_gets_json(browser: Browser) -> None:
    """Without a page to continue with, the answer is that to any other client."""
    address = await browser.begin()
    assert (await browser.come_back(address, Accept="text/html")).json()["token_type"] == "bearer"


async def test_a_next_page_that_does_not_fit_into_a_cookie_is_refused(browser: Browser) -> None:
    """Browsers do not store cookies of more than 4,096 bytes."""
    response = await browser.client.get(f"{LOGIN}?next=/app/{'x' * 1995}")
    assert response.status_code == 303
    assert len(response.headers["set-cookie"]) < 4096
    for page in ("x" * 2001, "/app/é", "/app/ "):
        response = await browser.client.get(LOGIN, params={"next": page})
        assert refusal(response) == (422, "validation_error")


async def test_a_failure_is_logged_without_what_the_provider_has_sent(
    browser: Browser, harness: GatewayHarness
) -> None:
    """The log names the provider and the problem, but a response could quote a secret."""
    browser.provider.misbehaviour.raw["/token"] = (400, json.dumps({"error": CLIENT_SECRET}).encode())
    with capture_logs() as log:
        assert (await browser.sign_in()).status_code == 503
    assert [entry["event"] for entry in log] == ["identity provider unavailable"]
    assert (log[0]["provider"], log[0]["problem"]) == ("company", "status 400 at the token endpoint")
    assert CLIENT_SECRET not in repr(log)
    assert CLIENT_SECRET not in repr(harness.settings)
