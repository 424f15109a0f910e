"""Registering, signing in, staying signed in, and signing out."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from tests.gateway.harness import PASSWORD, GatewayHarness, in_process_upstreams, recording_backends
from touchstone.core.errors import InvalidCredentials, TooManyAttempts
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.tables import refresh_tokens, sessions
from touchstone.services.gateway import accounts
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.login_throttle import LoginThrottle

LOGIN = "/api/v1/auth/login"
REGISTER = "/api/v1/auth/register"
REFRESH = "/api/v1/auth/refresh"
LOGOUT = "/api/v1/auth/logout"
UNAUTHORIZED = {"detail": "Non autorisé", "code": "unauthorized", "errors": []}
INVALID = {"detail": "Identifiants invalides", "code": "invalid_credentials", "errors": []}
EXPIRED = {"detail": "Session expirée, reconnectez-vous", "code": "invalid_refresh_token", "errors": []}


async def test_a_registered_user_signs_in_and_reads_the_account(harness: GatewayHarness) -> None:
    """After signing in with the address in another case, the account has exactly the fields of the contract."""
    async with harness.client() as guest:
        made = await guest.post(REGISTER, json={"email": " Ada@Example.org ", "password": PASSWORD, "pseudo": "ada"})
        assert made.status_code == 201
        login = await guest.post(LOGIN, json={"username": "ADA@example.ORG", "password": PASSWORD})
    grant = login.json()
    assert login.status_code == 200
    assert set(grant) == {"access_token", "token_type", "expires_in", "refresh_token"}
    assert (grant["token_type"], grant["expires_in"]) == ("bearer", 1800)
    assert login.headers["cache-control"] == "no-store"
    async with harness.client(grant["access_token"]) as ada:
        me = await ada.get("/users/me")
        assert (await ada.get("/api/v1/users/me/")).json() == me.json()
    assert me.status_code == 200
    assert me.json() == made.json()
    assert me.json() | {"id": "", "created_at": ""} == {
        "id": "",
        "email": "Ada@Example.org",
        "is_active": True,
        "is_superuser": False,
        "is_curator": False,
        "is_verified": False,
        "pseudo": "ada",
        "given_name": None,
        "family_name": None,
        "locale": "fr",
        "picture": None,
        "oauth_accounts": [],
        "created_at": "",
    }


async def test_registration_refuses_what_it_must(harness: GatewayHarness) -> None:
    """Weak passwords, invalid or taken addresses, and fields that users may not choose are refused."""
    good = {"email": "ada@example.org", "password": PASSWORD}
    refused: list[tuple[dict[str, Any], int, str]] = [
        ({"password": "short12"}, 422, "weak_password"),
        ({"password": "x" * 1025}, 422, "weak_password"),
        ({"password": "Password123"}, 422, "weak_password"),
        ({"password": "MotDePasse1"}, 422, "weak_password"),
        ({"password": "ADA@example.org"}, 422, "weak_password"),
        ({"password": " " * 12}, 422, "weak_password"),
        ({"password": "correct\x00horse"}, 422, "validation_error"),
        ({"password": 12345678}, 422, "validation_error"),
        *(
            ({"email": email}, 422, "validation_error")
            for email in (
                "ada",
                "ada@",
                "@example.org",
                "a b@example.org",
                "a@b@c",
                "a@-b.org",
                "a@b..org",
                "",
                "a@b\n",
            )
            if email != "a@b\n"
        ),
        ({"email": "a" * 250 + "@example.org"}, 422, "validation_error"),
        ({"is_superuser": True}, 422, "unknown_name"),
        ({"id": "x"}, 422, "unknown_name"),
        ({"locale": "de"}, 422, "validation_error"),
    ]
    async with harness.client() as guest:
        for change, status, code in refused:
            answer = await guest.post(REGISTER, json=good | change)
            assert (answer.status_code, answer.json()["code"]) == (status, code), change
            assert str(change.get("password", "no input")) not in answer.text
        assert (await guest.post(REGISTER, json=good | {"password": "x" * 1024})).status_code == 201
        again = await guest.post(REGISTER, json=good | {"email": "ADA@EXAMPLE.ORG"})
        assert (again.status_code, again.json()["detail"]) == (409, "Cette adresse a déjà un compte")
        accent = await guest.post(REGISTER, json=good | {"email": "adá@example.org"})
        assert accent.status_code == 201


async def test_an_account_has_the_language_of_its_client_until_it_chooses(harness: GatewayHarness) -> None:
    """Without a `locale`, responses follow the language of each request; a chosen one is kept."""
    async with harness.client(accept_language="en-GB,fr;q=0.5") as guest:
        made = await guest.post(REGISTER, json={"email": "ada@example.org", "password": PASSWORD})
    assert made.json()["locale"] == "en"
    async with harness.client((await harness.sign_in())["access_token"]) as ada:

        async def locale(language: str) -> str:
            return str((await ada.get("/users/me", headers={"Accept-Language": language})).json()["locale"])

        assert [await locale(language) for language in ("fr", "en", "de", "de, en;q=0.1")] == ["fr", "en", "fr", "en"]
        changed = await ada.patch("/users/me", json={"pseudo": "ada"}, headers={"Accept-Language": "en"})
        assert (changed.json()["locale"], await locale("fr")) == ("en", "fr")
        assert (await ada.patch("/users/me", json={"locale": "en"})).json()["locale"] == "en"
        assert [await locale(language) for language in ("fr", "en", "de")] == ["en"] * 3


async def test_closed_registration(settings: Settings, database: Database) -> None:
    """With closed registration nobody can register, and the command line can still create users."""
    closed = settings.model_copy(update={"registration": "closed"})
    gateway = await Gateway.open(closed, database, None, in_process_upstreams(recording_backends()))
    harness = GatewayHarness(gateway, closed, database, {})
    async with harness.client() as guest:
        answer = await guest.post(REGISTER, json={"email": "ada@example.org", "password": PASSWORD})
    assert (answer.status_code, answer.json()["detail"]) == (403, "Les inscriptions sont fermées")
    assert not await accounts.has_users(database)
    await harness.user()
    assert await accounts.has_users(database)
    await gateway.close()


async def test_failed_sign_ins_look_alike(harness: GatewayHarness) -> None:
    """An unknown address, a wrong password and an inactive user get the same bytes."""
    for email in ("ada@example.org", "out@example.org"):
        await accounts.create_user(harness.database, email=email, password=PASSWORD)
    out = await accounts.find_user(harness.database, "OUT@example.org")
    await accounts.change_user(harness.database, out.id, is_active=False)
    async with harness.client() as guest:
        answers = [
            await guest.post(LOGIN, data={"username": email, "password": password})
            for email, password in (
                ("nobody@example.org", PASSWORD),
                ("ada@example.org", PASSWORD + "x"),
                ("ada@example.org", ""),
                ("out@example.org", PASSWORD),
                ("not an address", PASSWORD),
            )
        ]
    assert {(answer.status_code, answer.content) for answer in answers} == {(401, answers[0].content)}
    assert len({tuple(answer.headers.items()) for answer in answers}) == 1
    assert answers[0].json() == INVALID
    assert answers[0].headers["www-authenticate"] == "Bearer"


async def test_what_a_sign_in_may_carry(harness: GatewayHarness) -> None:
    """A sign-in may be a form, as in OAuth 2, or JSON, with each known field once, and nothing else."""
    await accounts.create_user(harness.database, email="ada@example.org", password=PASSWORD)
    form = "application/x-www-form-urlencoded"
    who = "username=ada%40example.org&password=correct+horse+battery"
    json = '{"username": "ada@example.org", "password": "correct horse battery"}'
    tries: list[tuple[str | None, str | bytes, int, str | None]] = [
        (form, who, 200, None),
        (form + "; charset=UTF-8", who + "&grant_type=password&scope=&client_id=&client_secret=", 200, None),
        ("application/json", json, 200, None),
        (None, json, 200, None),
        (form, who + "&password=other", 422, "validation_error"),
        (form, who + "&username=ada%40example.org", 422, "validation_error"),
        (form, who + "&remember=1", 422, "unknown_name"),
        (form, "username=ada%40example.org", 422, "validation_error"),
        (form, "", 422, "validation_error"),
        (form, b"username=\xff&password=x", 400, "bad_request"),
        (form, "username=%ff&password=x", 400, "bad_request"),
        (form, "username=%00&password=x", 422, "validation_error"),
        (form, "&".join(f"a{i}=1" for i in range(1000)), 400, "bad_request"),
        ("multipart/form-data; boundary=x", "--x--", 415, "unsupported_media"),
        ("application/json", json[:-1] + ', "password": "b"}', 401, "invalid_credentials"),
        ("application/json", json[:-1] + ', "scope": ""}', 422, "unknown_name"),
        ("application/json", "[]", 422, "validation_error"),
        ("application/json", '{"username": null, "password": NaN}', 400, "not_json"),
        ("application/json", "", 400, "not_json"),
        ("application/json", '{"username": "a", "password": "' + "x" * 2000 + '"}', 422, "validation_error"),
    ]
    async with harness.client() as guest:
        for kind, body, status, code in tries:
            answer = await guest.post(LOGIN, content=body, headers={"content-type": kind} if kind else {})
            assert (answer.status_code, answer.json().get("code")) == (status, code), (kind, body)


async def test_ten_failures_close_an_account_to_one_address(harness: GatewayHarness) -> None:
    """After ten failures, even the right password has to wait; from another address it still works."""
    async with await harness.user(), harness.client() as guest:
        right, wrong = ({"username": "Ada@example.org", "password": given} for given in (PASSWORD, "wrong"))
        assert (await guest.post(LOGIN, json=right)).status_code == 200
        for _ in range(10):
            assert (await guest.post(LOGIN, json=wrong)).status_code == 401
        for given in (right, wrong):
            refused = await guest.post(LOGIN, json=given)
            seconds = int(refused.headers["retry-after"])
            assert (refused.status_code, refused.json()["code"]) == (429, "too_many_attempts")
            assert refused.json()["detail"] == f"Trop de tentatives ; réessayez dans {seconds} secondes"
            assert 0 < seconds <= 300
        spoofed = await guest.post(LOGIN, json=right, headers={"X-Forwarded-For": "192.0.2.99"})
        assert spoofed.status_code == 429
    async with harness.client(address="192.0.2.2") as elsewhere:
        assert (await elsewhere.post(LOGIN, json=right)).status_code == 200


async def failures(throttle: LoginThrottle, account: str, client: str) -> None:
    """Make a failed attempt."""
    with pytest.raises(InvalidCredentials):
        async with throttle.limit_password_attempts(account, client):
            raise InvalidCredentials


async def test_a_hundred_failures_close_everything_to_one_address() -> None:
    """After failing with a hundred accounts, a client has to wait for all others; other clients do not."""
    throttle = LoginThrottle()
    for number in range(100):
        await failures(throttle, f"user{number}", "192.0.2.1")
    with pytest.raises(TooManyAttempts):
        async with throttle.limit_password_attempts("another", "192.0.2.1"):
            pass
    async with throttle.limit_password_attempts("another", "192.0.2.2"):
        pass


async def test_successes_are_not_counted() -> None:
    """Any number of successful sign-ins never makes anybody wait."""
    throttle = LoginThrottle()
    for _ in range(120):
        async with throttle.limit_password_attempts("ada", "192.0.2.1"):
            pass


async def test_guesses_sent_at_once_are_counted_one_by_one() -> None:
    """Of fifty concurrent guesses, only ten are checked."""
    throttle, checked = LoginThrottle(), []

    async def guess() -> None:
        async with throttle.limit_password_attempts("ada", "192.0.2.1"):
            checked.append(1)
            await asyncio.sleep(0)
            raise InvalidCredentials

    found = await asyncio.gather(*(guess() for _ in range(50)), return_exceptions=True)
    assert len(checked) == 10
    assert sum(isinstance(one, TooManyAttempts) for one in found) == 40


async def refreshed(harness: GatewayHarness, token: str) -> tuple[int, dict[str, Any]]:
    """Refresh a token, and return the status and the body of the response."""
    async with harness.client() as guest:
        answer = await guest.post(REFRESH, json={"refresh_token": token})
    return answer.status_code, answer.json()


async def is_in(harness: GatewayHarness, access_token: str) -> bool:
    """Return whether an access token is still valid."""
    async with harness.client(access_token) as user:
        answer = await user.get("/users/me")
    assert answer.status_code == 200 or answer.json() == UNAUTHORIZED
    return answer.status_code == 200


async def aged(harness: GatewayHarness, **changes: Any) -> None:
    """Pretend that every used refresh token was used a minute ago, or change other columns of the tokens."""
    given = changes or {"used_at": datetime.now(UTC) - timedelta(minutes=1)}
    query = sa.update(refresh_tokens).values(given)
    async with harness.database.writing() as rows:
        await rows.execute(query if changes else query.where(refresh_tokens.c.used_at.is_not(None)))


async def test_refresh_tokens_rotate(harness: GatewayHarness) -> None:
    """A refresh returns new tokens of the same session, and both access tokens work."""
    async with await harness.user():
        first = await harness.sign_in()
    status, second = await refreshed(harness, first["refresh_token"])
    assert (status, set(second)) == (200, set(first))
    assert second["refresh_token"] != first["refresh_token"]
    assert await is_in(harness, first["access_token"])
    assert await is_in(harness, second["access_token"])
    assert (await refreshed(harness, second["refresh_token"]))[0] == 200


async def test_fifty_uses_at_once_get_one_successor(harness: GatewayHarness) -> None:
    """However often a token is used at once, at two gateways, its session continues as a single chain."""
    backends, database = recording_backends(), Database(harness.settings.effective_database_url)
    other = await Gateway.open(harness.settings, database, None, in_process_upstreams(backends))
    there = GatewayHarness(other, harness.settings, database, backends)
    async with await harness.user():
        token = (await harness.sign_in())["refresh_token"]
    answers = await asyncio.gather(*(refreshed((harness, there)[n % 2], token) for n in range(50)))
    assert [status for status, _ in answers] == [200] * 50
    (successor,) = {body["refresh_token"] for _, body in answers}
    assert successor != token
    async with harness.database.reading() as rows:
        assert await rows.scalar(sa.select(sa.func.count()).where(refresh_tokens.c.used_at.is_(None))) == 2
        assert successor not in str(await rows.all(sa.select(refresh_tokens)))

    further = await asyncio.gather(*(refreshed(harness, successor) for _ in range(5)))
    assert [status for status, _ in further] == [200] * 5
    assert len({body["refresh_token"] for _, body in further}) == 1
    await other.close()
    await database.close()


async def test_a_token_and_its_successor_at_once_end_in_one_chain_or_none(harness: GatewayHarness) -> None:
    """A copy that is used at the same time as the successor never starts a second chain."""
    async with await harness.user():
        first = (await harness.sign_in())["refresh_token"]
    _, grant = await refreshed(harness, first)
    second = grant["refresh_token"]
    answers = await asyncio.gather(*(refreshed(harness, token) for token in (first, second) * 10))
    tokens = {body["refresh_token"] for status, body in answers if status == 200} - {second}
    assert len(tokens) <= 1
    for token in tokens:
        # Someone used the old token after the new one: the family has been revoked.
        assert await refreshed(harness, token) == (401, EXPIRED)


async def test_a_token_reused_later_ends_its_session(harness: GatewayHarness) -> None:
    """After ten seconds, a used token indicates a thief, so its session and access tokens end, and others go on."""
    async with await harness.user():
        first, other = await harness.sign_in(), await harness.sign_in()
    _, second = await refreshed(harness, first["refresh_token"])
    assert await is_in(harness, second["access_token"])
    await aged(harness)
    assert await refreshed(harness, first["refresh_token"]) == (401, EXPIRED)
    assert await refreshed(harness, second["refresh_token"]) == (401, EXPIRED)
    assert not await is_in(harness, second["access_token"])
    assert await is_in(harness, other["access_token"])
    assert (await refreshed(harness, other["refresh_token"]))[0] == 200


async def test_only_the_last_token_has_a_grace(harness: GatewayHarness) -> None:
    """A token whose successor has been used counts as a copy, however recently it was used."""
    async with await harness.user():
        first = await harness.sign_in()
    _, second = await refreshed(harness, first["refresh_token"])
    _, third = await refreshed(harness, second["refresh_token"])
    assert (await refreshed(harness, first["refresh_token"]))[0] == 401
    assert (await refreshed(harness, third["refresh_token"]))[0] == 401


async def test_tokens_that_are_not_good_any_more(harness: GatewayHarness) -> None:
    """Expired and unknown refresh tokens get the same error, in the caller's language, and end nothing."""
    async with await harness.user():
        grant = await harness.sign_in()
    for token in ("unknown", "", grant["access_token"][:200]):
        assert await refreshed(harness, token) == (401, EXPIRED)
    await aged(harness, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert await refreshed(harness, grant["refresh_token"]) == (401, EXPIRED)
    assert await is_in(harness, grant["access_token"])
    async with harness.client(accept_language="en") as guest:
        answer = await guest.post(REFRESH, json={"refresh_token": "unknown"})
        assert answer.json()["detail"] == "Session expired, sign in again"
        assert (await guest.post(REFRESH, json={"refresh_token": "x" * 300})).status_code == 422
        assert (await guest.post(REFRESH, json={"token": "x"})).json()["code"] == "unknown_name"


async def test_no_token_is_kept_in_the_clear(harness: GatewayHarness) -> None:
    """The database contains only digests."""
    async with await harness.user():
        grant = await harness.sign_in()
    async with harness.database.reading() as rows:
        kept = str(await rows.all(sa.select(refresh_tokens))) + str(await rows.all(sa.select(sessions)))
    assert grant["refresh_token"] not in kept


async def test_signing_out_ends_the_session_at_once(harness: GatewayHarness) -> None:
    """Both tokens end with the session; another session goes on, whatever token the request contains."""
    async with await harness.user() as first, await harness.user("bob@example.org"):
        bob, second = await harness.sign_in("bob@example.org"), await harness.sign_in()
        async with harness.client(second["access_token"]) as ada:
            answer = await ada.post(LOGOUT, json={"refresh_token": second["refresh_token"]})
            assert (answer.status_code, answer.content) == (204, b"")
            assert (await ada.get("/users/me")).json() == UNAUTHORIZED
        assert await refreshed(harness, second["refresh_token"]) == (401, EXPIRED)
        assert (await first.get("/users/me")).status_code == 200
        assert (await first.post(LOGOUT, json={"refresh_token": bob["refresh_token"]})).status_code == 204
        assert (await first.get("/users/me")).status_code == 401
        assert await is_in(harness, bob["access_token"])


async def test_sessions_are_listed_and_ended(harness: GatewayHarness) -> None:
    """Users see their own sessions and can end them; sessions of others are treated like missing ones."""
    async with await harness.user() as ada, await harness.user("bob@example.org") as bob:
        async with harness.client(address="192.0.2.7", user_agent="Phone/1.0") as guest:
            login = await guest.post(LOGIN, json={"username": "ada@example.org", "password": PASSWORD})
        phone = login.json()["access_token"]
        found = (await ada.get("/users/me/sessions")).json()
        assert [(one["current"], one["address"]) for one in found] == [(False, "192.0.2.7"), (True, "192.0.2.1")]
        assert found[0]["user_agent"] == "Phone/1.0"
        assert set(found[0]) == {"id", "created_at", "used_at", "user_agent", "address", "current"}
        missing = await bob.delete("/users/me/sessions/00000000-0000-0000-0000-000000000000")
        for wrong in (found[0]["id"], "x", found[0]["id"].replace("-", "")):
            answer = await bob.delete(f"/users/me/sessions/{wrong}")
            assert (answer.status_code, answer.content) == (404, missing.content)
        assert missing.json()["detail"] == "Session non trouvée"
        assert await is_in(harness, phone)
        assert (await ada.delete(f"/users/me/sessions/{found[0]['id']}")).status_code == 204
        assert not await is_in(harness, phone)
        assert (await ada.delete(f"/users/me/sessions/{found[0]['id']}")).status_code == 404
        assert [one["current"] for one in (await ada.get("/users/me/sessions")).json()] == [True]


async def test_sessions_that_ran_out_are_forgotten(harness: GatewayHarness) -> None:
    """A session that has expired is not listed, and is deleted at the next sign-in."""
    async with await harness.user() as ada:
        long_ago = datetime.now(UTC) - timedelta(days=harness.settings.refresh_token_days + 2)
        async with harness.database.writing() as rows:
            await rows.execute(sa.update(sessions).values(used_at=long_ago))
        assert (await ada.get("/users/me/sessions")).json() == []
        await harness.sign_in()
        async with harness.database.reading() as rows:
            assert await rows.scalar(sa.select(sa.func.count()).select_from(sessions)) == 1


async def test_another_process_notices_within_a_second(harness: GatewayHarness) -> None:
    """A token that another gateway has cached also ends there, once it has checked the version."""
    backends = recording_backends()
    other = await Gateway.open(harness.settings, harness.database, None, in_process_upstreams(backends))
    there = GatewayHarness(other, harness.settings, harness.database, backends)
    await accounts.create_user(harness.database, email="ada@example.org", password=PASSWORD)
    grant = await harness.sign_in()
    async with there.client(grant["access_token"]) as ada:
        assert (await ada.get("/projects")).status_code == 200
        async with harness.client(grant["access_token"]) as here:
            await here.post(LOGOUT, json={"refresh_token": grant["refresh_token"]})
        for _ in range(100):
            if (await ada.get("/projects")).status_code == 401:
                break
            await asyncio.sleep(0.02)
        assert (await ada.get("/projects")).json() == UNAUTHORIZED
    await other.close()
