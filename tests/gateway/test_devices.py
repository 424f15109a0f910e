"""A device that has signed in before is not locked out by others at its address; and other rate limits."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import httpx2
import pytest

from tests.gateway.harness import PASSWORD, GatewayHarness, in_process_upstreams, recording_backends
from touchstone.core.client_address import TrustedProxies
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.http.middleware import EdgeMiddleware
from touchstone.services.gateway import accounts, password_resets_and_changes
from touchstone.services.gateway.app import Gateway

LOGIN = "/api/v1/auth/login"
REGISTER = "/api/v1/auth/register"
RESET = "/api/v1/auth/reset-password"
COOKIE = "touchstone_device"


async def sign_in(
    harness: GatewayHarness,
    password: str = PASSWORD,
    *,
    email: str = "ada@example.org",
    device: str | None = None,
    address: str = "192.0.2.1",
) -> httpx2.Response:
    """Return the response to a sign-in from a device that sends this cookie."""
    headers = {b"Cookie": f"{COOKIE}={device}".encode()} if device is not None else {}
    async with harness.client(address=address) as guest:
        return await guest.post(LOGIN, json={"username": email, "password": password}, headers=headers)


async def device_of(harness: GatewayHarness, *, email: str = "ada@example.org", device: str | None = None) -> str:
    """Sign in and return the device cookie."""
    answer = await sign_in(harness, email=email, device=device, address="192.0.2.200")
    assert answer.status_code == 200, answer.text
    return str(answer.cookies[COOKIE])


async def attack(harness: GatewayHarness, *emails: str, times: int = 10, device: str | None = None) -> Sequence[int]:
    """Try a wrong password for each of these accounts, and return the statuses."""
    attempts = [sign_in(harness, "wrong", email=email, device=device) for email in emails for _ in range(times)]
    return [answer.status_code for answer in await asyncio.gather(*attempts)]


@pytest.mark.slow
async def test_a_hundred_wrong_passwords_do_not_lock_out_a_known_device(harness: GatewayHarness) -> None:
    """The address is locked out for everybody else, but the device can still sign in repeatedly."""
    await accounts.create_user(harness.database, email="ada@example.org", password=PASSWORD)
    device = await device_of(harness)
    guesses = await attack(harness, "ada@example.org", *(f"user{n}@example.org" for n in range(9)))
    assert guesses == [401] * 100

    stranger_response = await sign_in(harness)
    assert (stranger_response.status_code, stranger_response.json()["code"]) == (429, "too_many_attempts")
    assert 0 < int(stranger_response.headers["retry-after"]) <= 300
    for _ in range(3):
        response = await sign_in(harness, device=device)
        assert response.status_code == 200
        device = str(response.cookies[COOKIE])
    assert (await sign_in(harness, "wrong", device=device)).status_code == 401


async def test_a_cookie_that_is_not_the_device_s_own_is_worth_nothing(harness: GatewayHarness) -> None:
    """Forged, changed, foreign and malformed cookies are treated like no cookie at all."""
    for email in ("ada@example.org", "bob@example.org"):
        await accounts.create_user(harness.database, email=email, password=PASSWORD)
    own_cookie, foreign_cookie = await device_of(harness), await device_of(harness, email="bob@example.org")
    nonce, issued_at, signature = own_cookie.split(".")
    assert await attack(harness, "ada@example.org") == [401] * 10
    forged_cookies = (
        foreign_cookie,
        f"{secrets.token_urlsafe(16)}.{issued_at}.{signature}",
        f"{nonce}.{int(issued_at) + 1}.{signature}",
        f"{nonce}.{issued_at}.{foreign_cookie.split('.')[2]}",
        f"{nonce}.{issued_at}.{signature[:-1]}",
        f"{nonce}.{issued_at}.",
        own_cookie.swapcase(),
        "~".join([foreign_cookie] * 5 + [own_cookie]),
        "",
        "~" * 5000,
        "é" * 22 + f".{issued_at}.{signature}",
    )
    for device in forged_cookies:
        assert (await sign_in(harness, device=device)).status_code == 429, device
    assert (await sign_in(harness, device=own_cookie)).status_code == 200


async def test_a_stolen_cookie_gives_ten_guesses(harness: GatewayHarness) -> None:
    """A device that fails too often is treated like any other, and does not lock out the next one."""
    await accounts.create_user(harness.database, email="ada@example.org", password=PASSWORD)
    stolen_cookie = await device_of(harness)
    guesses = await attack(harness, "ada@example.org", times=25, device=stolen_cookie)
    assert sorted(guesses) == [401] * 10 + [429] * 15
    assert await attack(harness, "ada@example.org", device=stolen_cookie) == [429] * 10
    # Its owner goes on from another address, and gets a new cookie there that the thief does not have.
    owner_response = await sign_in(harness, device=stolen_cookie, address="192.0.2.7")
    assert owner_response.status_code == 200
    renewed_cookie = str(owner_response.cookies[COOKIE])
    assert (await sign_in(harness, device=stolen_cookie)).status_code == 429
    assert (await sign_in(harness, device=renewed_cookie)).status_code == 200


async def test_a_new_password_makes_old_cookies_worthless(harness: GatewayHarness) -> None:
    """Somebody who knew the old password has no advantage."""
    user = await accounts.create_user(harness.database, email="ada@example.org", password=PASSWORD)
    device = await device_of(harness)
    await password_resets_and_changes.change_password(harness.database, user.id, PASSWORD, "another good phrase")
    assert await attack(harness, "ada@example.org") == [401] * 10
    assert (await sign_in(harness, "another good phrase", device=device)).status_code == 429


async def test_people_share_a_browser(harness: GatewayHarness) -> None:
    """The cookie contains the accounts that have signed in last, each of them once."""
    emails = [f"user{n}@example.org" for n in range(6)]
    for email in emails:
        await accounts.create_user(harness.database, email=email, password=PASSWORD)
    device = None
    for email in (*emails, emails[-1], emails[-1]):
        device = await device_of(harness, email=email, device=device)
    assert device is not None
    assert len(device.split("~")) == 5
    await attack(harness, emails[0], emails[1], emails[5])
    answers = [await sign_in(harness, email=emails[n], device=device) for n in (0, 1, 5)]
    assert [answer.status_code for answer in answers] == [429, 200, 200]


async def test_the_cookie_is_out_of_reach(harness: GatewayHarness) -> None:
    """Scripts cannot read the cookie, it is sent only when signing in, and it contains no personal data."""
    await accounts.create_user(harness.database, email="ada@example.org", password=PASSWORD)
    (cookie,) = (await sign_in(harness)).headers.get_list("set-cookie")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/api/v1/auth/login" in cookie
    assert "Secure" not in cookie
    assert "ada" not in cookie.lower().replace(cookie.split(";")[0].lower(), "")


@pytest.fixture
async def strict_harness(settings: Settings, database: Database) -> AsyncIterator[GatewayHarness]:
    """Open a gateway behind a trusted proxy, which allows three registrations per hour."""
    strict_settings = settings.model_copy(update={"registrations_per_hour": 3, "trusted_proxies": ("192.0.2.1",)})
    assert strict_settings.proxies == TrustedProxies.parse(["192.0.2.1"])
    gateway = await Gateway.open(strict_settings, database, None, in_process_upstreams(recording_backends()))
    gateway.app = EdgeMiddleware(gateway.app, strict_settings)
    yield GatewayHarness(gateway, strict_settings, database, {})
    await gateway.close()


async def test_registration_is_throttled_by_address(strict_harness: GatewayHarness) -> None:
    """After the allowed number of attempts, successful or not, a client has to wait, and other clients do not."""

    async def register(number: int, address: str) -> httpx2.Response:
        async with strict_harness.client(x_forwarded_for=address) as guest:
            return await guest.post(REGISTER, json={"email": f"user{number}@example.org", "password": PASSWORD})

    home = "2001:db8:0:1::1"
    assert [(await register(number, home)).status_code for number in (1, 2, 1)] == [201, 201, 409]
    for number in (1, 3):
        refusal = await register(number, "2001:db8:0:1:ffff::2")
        assert (refusal.status_code, refusal.json()["code"]) == (429, "too_many_attempts")
        assert 3500 < int(refusal.headers["retry-after"]) <= 3600
    assert (await register(3, "2001:db8:0:2::1")).status_code == 201


async def test_reset_tokens_cannot_be_guessed_at_leisure(harness: GatewayHarness) -> None:
    """After twenty wrong tokens a client has to wait, while another address can use a valid one."""
    user = await accounts.create_user(harness.database, email="ada@example.org", password=PASSWORD)
    token = await password_resets_and_changes.issue_reset_token(harness.database, user.id, lifetime=timedelta(hours=1))
    async with harness.client() as guest:
        guesses = [await guest.post(RESET, json={"token": f"t{n}", "password": PASSWORD}) for n in range(22)]
        assert [guess.status_code for guess in guesses] == [422] * 20 + [429] * 2
        assert int(guesses[-1].headers["retry-after"]) > 0
        valid_reset = {"token": token.token, "password": "another good phrase"}
        assert (await guest.post(RESET, json=valid_reset)).status_code == 429
    async with harness.client(address="192.0.2.2") as other_client:
        assert (await other_client.post(RESET, json=valid_reset)).status_code == 204


async def test_clients_behind_a_proxy_are_told_apart(strict_harness: GatewayHarness) -> None:
    """Wrong passwords of one client do not lock out another behind the same proxy, and sessions show the client."""
    await accounts.create_user(strict_harness.database, email="ada@example.org", password=PASSWORD)
    wrong_login, right_login = (
        {"username": "ada@example.org", "password": password} for password in ("wrong", PASSWORD)
    )

    async def post(body: dict[str, str], forwarded_for: str) -> httpx2.Response:
        async with strict_harness.client(x_forwarded_for=forwarded_for, x_forwarded_proto="https") as guest:
            return await guest.post(LOGIN, json=body)

    for number in range(10):
        # What stands before the proxy's own entry was written by the client: it gains nothing by changing it.
        assert (await post(wrong_login, f"198.51.100.{number}, 203.0.113.66")).status_code == 401
    assert (await post(right_login, "203.0.113.5, 203.0.113.66")).status_code == 429
    answer = await post(right_login, "203.0.113.5")
    assert answer.status_code == 200
    assert "Secure" in answer.headers["set-cookie"]
    async with strict_harness.client(answer.json()["access_token"]) as ada:
        assert [session["address"] for session in (await ada.get("/users/me/sessions")).json()] == ["203.0.113.5"]
