"""Registering, signing in, staying signed in, and signing out."""

import asyncio
import threading
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from tests.gateway.harness import PASSWORD, GatewayHarness, in_process_upstreams, recording_backends
from touchstone.core.errors import InvalidCredentials, TooManyAttempts
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.tables import refresh_tokens, sessions
from touchstone.services.gateway import accounts, passwords, user_store
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.first_administrator import FIRST_ADMIN, create_first_administrator
from touchstone.services.gateway.login_throttle import LoginThrottle

LOGIN = "/api/v1/auth/login"
REGISTER = "/api/v1/auth/register"
REFRESH = "/api/v1/auth/refresh"
LOGOUT = "/api/v1/auth/logout"
UNAUTHORIZED = {"detail": "Non autorisé", "code": "unauthorized", "errors": []}
INVALID_CREDENTIALS = {"detail": "Identifiants invalides", "code": "invalid_credentials", "errors": []}
EXPIRED_SESSION = {"detail": "Session expirée, reconnectez-vous", "code": "invalid_refresh_token", "errors": []}


async def test_a_registered_user_signs_in_and_reads_the_account(harness: GatewayHarness) -> None:
    """After signing in with the address in another case, the account has exactly the fields of the contract."""
    async with harness.client() as guest:
        registration = await guest.post(
            REGISTER, json={"email": " Ada@Example.org ", "password": PASSWORD, "pseudo": "ada"}
        )
        assert registration.status_code == 201
        login = await guest.post(LOGIN, json={"username": "ADA@example.ORG", "password": PASSWORD})
    grant = login.json()
    assert login.status_code == 200
    assert set(grant) == {"access_token", "token_type", "expires_in", "refresh_token"}
    assert (grant["token_type"], grant["expires_in"]) == ("bearer", 1800)
    assert login.headers["cache-control"] == "no-store"
    async with harness.client(grant["access_token"]) as ada:
        profile_response = await ada.get("/users/me")
        assert (await ada.get("/api/v1/users/me/")).json() == profile_response.json()
    assert profile_response.status_code == 200
    assert profile_response.json() == registration.json()
    assert profile_response.json() | {"id": "", "created_at": ""} == {
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
        "has_password": True,
        "oauth_accounts": [],
        "created_at": "",
    }


async def test_registration_refuses_what_it_must(harness: GatewayHarness) -> None:
    """Weak passwords, invalid or taken addresses, and fields that users may not choose are refused."""
    valid_body = {"email": "ada@example.org", "password": PASSWORD}
    invalid_changes: list[tuple[dict[str, Any], int, str]] = [
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
        for change, status, code in invalid_changes:
            answer = await guest.post(REGISTER, json=valid_body | change)
            assert (answer.status_code, answer.json()["code"]) == (status, code), change
            assert str(change.get("password", "no input")) not in answer.text
        assert (await guest.post(REGISTER, json=valid_body | {"password": "x" * 1024})).status_code == 201
        duplicate_response = await guest.post(REGISTER, json=valid_body | {"email": "ADA@EXAMPLE.ORG"})
        assert (duplicate_response.status_code, duplicate_response.json()["detail"]) == (
            409,
            "Cette adresse a déjà un compte",
        )
        accented_response = await guest.post(REGISTER, json=valid_body | {"email": "adá@example.org"})
        assert accented_response.status_code == 201
        decomposed_email = unicodedata.normalize("NFD", "adá@example.org")
        assert (await guest.post(REGISTER, json=valid_body | {"email": decomposed_email})).status_code == 409


async def test_an_account_has_the_language_of_its_client_until_it_chooses(harness: GatewayHarness) -> None:
    """Without a `locale`, responses follow the language of each request; a chosen one is kept."""
    async with harness.client(accept_language="en-GB,fr;q=0.5") as guest:
        registration = await guest.post(REGISTER, json={"email": "ada@example.org", "password": PASSWORD})
    assert registration.json()["locale"] == "en"
    async with harness.client((await harness.sign_in())["access_token"]) as ada:

        async def locale(language: str) -> str:
            return str((await ada.get("/users/me", headers={"Accept-Language": language})).json()["locale"])

        assert [await locale(language) for language in ("fr", "en", "de", "de, en;q=0.1")] == ["fr", "en", "fr", "en"]
        update = await ada.patch("/users/me", json={"pseudo": "ada"}, headers={"Accept-Language": "en"})
        assert (update.json()["locale"], await locale("fr")) == ("en", "fr")
        assert (await ada.patch("/users/me", json={"locale": "en"})).json()["locale"] == "en"
        assert [await locale(language) for language in ("fr", "en", "de")] == ["en"] * 3


async def test_closed_registration(settings: Settings, database: Database) -> None:
    """With closed registration nobody can register, and the command line can still create users."""
    closed_settings = settings.model_copy(update={"registration": "closed"})
    gateway = await Gateway.open(closed_settings, database, None, in_process_upstreams(recording_backends()))
    harness = GatewayHarness(gateway, closed_settings, database, {})
    async with harness.client() as guest:
        answer = await guest.post(REGISTER, json={"email": "ada@example.org", "password": PASSWORD})
    assert (answer.status_code, answer.json()["detail"]) == (403, "Les inscriptions sont fermées")
    await harness.user()
    users, _total_count = await accounts.list_users(database)
    assert [user.email for user in users] == ["ada@example.org"]
    await gateway.close()


@pytest.mark.parametrize("email", ["early@example.org", FIRST_ADMIN])
async def test_the_first_administrator_does_not_depend_on_other_accounts(database: Database, email: str) -> None:
    """Whoever has an account before the first start, somebody can administer the installation."""
    await accounts.create_user(database, email=email, password=PASSWORD)
    credentials = await create_first_administrator(database)
    assert credentials is not None
    assert (await accounts.find_user(database, credentials.email)).is_superuser
    assert await create_first_administrator(database) is None


async def test_an_unknown_stored_locale_is_not_chosen(harness: GatewayHarness) -> None:
    """An account that an earlier version has stored with a language that does not exist can be read."""
    await accounts.create_user(
        harness.database, email="de@example.org", password=PASSWORD, profile=accounts.UserProfile(locale="de")
    )
    assert (await accounts.find_user(harness.database, "de@example.org")).locale == "fr"


async def test_failed_sign_ins_look_alike(harness: GatewayHarness) -> None:
    """An unknown address, a wrong password and an inactive user get the same bytes."""
    for email in ("ada@example.org", "out@example.org"):
        await accounts.create_user(harness.database, email=email, password=PASSWORD)
    inactive_user = await accounts.find_user(harness.database, "OUT@example.org")
    await accounts.change_user(harness.database, inactive_user.id, is_active=False)
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
    assert answers[0].json() == INVALID_CREDENTIALS
    assert answers[0].headers["www-authenticate"] == "Bearer"


class RecordingHash(PasswordHash):
    """A password hasher that records the thread of each verification."""

    def __init__(self) -> None:
        super().__init__((Argon2Hasher(),))
        self.thread_names: list[str] = []

    def verify(self, password: str | bytes, hash: str | bytes) -> bool:  # noqa: A002 - the name in the library
        self.thread_names.append(threading.current_thread().name)
        return super().verify(password, hash)


async def test_every_failed_sign_in_takes_the_same_work_beside_the_event_loop(
    harness: GatewayHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One hash is verified even for an unknown user, so that the time of the response does not reveal accounts."""
    await accounts.create_user(harness.database, email="ada@example.org", password=PASSWORD)
    async with harness.database.writing() as transaction:
        user_without_password = accounts.new_user("out@example.org", accounts.UserProfile())
        await user_store.insert_user(transaction, user_without_password)
    async with harness.client() as guest:
        for email in ("ada@example.org", "out@example.org", "nobody@example.org", "not an address"):
            recorder = RecordingHash()
            monkeypatch.setattr(passwords, "_HASHER", recorder)
            answer = await guest.post(LOGIN, data={"username": email, "password": "wrong"})
            assert answer.json() == INVALID_CREDENTIALS
            assert len(recorder.thread_names) == 1, email
            assert recorder.thread_names[0].startswith("password"), email


async def test_what_a_sign_in_may_carry(harness: GatewayHarness) -> None:
    """A sign-in may be a form, as in OAuth 2, or JSON, with each known field once, and nothing else."""
    await accounts.create_user(harness.database, email="ada@example.org", password=PASSWORD)
    form_type = "application/x-www-form-urlencoded"
    credentials = "username=ada%40example.org&password=correct+horse+battery"
    json_body = '{"username": "ada@example.org", "password": "correct horse battery"}'
    attempts: list[tuple[str | None, str | bytes, int, str | None]] = [
        (form_type, credentials, 200, None),
        (
            form_type + "; charset=UTF-8",
            credentials + "&grant_type=password&scope=&client_id=&client_secret=",
            200,
            None,
        ),
        ("application/json", json_body, 200, None),
        (None, json_body, 200, None),
        (form_type, json_body, 200, None),
        (form_type, credentials + "&password=other", 422, "validation_error"),
        (form_type, credentials + "&username=ada%40example.org", 422, "validation_error"),
        (form_type, credentials + "&remember=1", 422, "unknown_name"),
        (form_type, "username=ada%40example.org", 422, "validation_error"),
        (form_type, "", 422, "validation_error"),
        (form_type, b"username=\xff&password=x", 400, "bad_request"),
        (form_type, "username=%ff&password=x", 400, "bad_request"),
        (form_type, "username=%00&password=x", 422, "validation_error"),
        (form_type, "&".join(f"a{i}=1" for i in range(1000)), 400, "bad_request"),
        ("multipart/form-data; boundary=x", "--x--", 415, "unsupported_media"),
        ("application/json", json_body[:-1] + ', "password": "b"}', 422, "validation_error"),
        ("application/json", json_body[:-1] + ', "scope": ""}', 422, "unknown_name"),
        ("application/json", "[]", 422, "validation_error"),
        ("application/json", '{"username": null, "password": NaN}', 400, "not_json"),
        ("application/json", "", 400, "not_json"),
        ("application/json", '{"username": "a", "password": "' + "x" * 2000 + '"}', 422, "validation_error"),
    ]
    async with harness.client() as guest:
        for content_type, body, status, code in attempts:
            answer = await guest.post(
                LOGIN, content=body, headers={"content-type": content_type} if content_type else {}
            )
            assert (answer.status_code, answer.json().get("code")) == (status, code), (content_type, body)


async def test_the_document_describes_oauth_forms(harness: GatewayHarness) -> None:
    """The other fields of an OAuth 2 password form are optional, and further ones are refused."""
    async with harness.client() as guest:
        document = (await guest.get("/openapi.json")).json()
    content = document["paths"][LOGIN]["post"]["requestBody"]["content"]
    form = content["application/x-www-form-urlencoded"]["schema"]
    assert set(form["properties"]) == {
        "username",
        "password",
        "grant_type",
        "scope",
        "client_id",
        "client_secret",
    }
    assert (form["required"], form["additionalProperties"]) == (["username", "password"], False)


async def test_a_refused_form_does_not_quote_its_password(harness: GatewayHarness) -> None:
    """The part of an unencoded password after "&" looks like the name of a field."""
    form_type = "application/x-www-form-urlencoded"
    async with harness.client(accept_language="en") as guest:
        for body in ("hunter2", "username=a&password=x&hunter2", "password=x&hunter2=&hunter2=", '"hunter2"'):
            answer = await guest.post(LOGIN, content=body, headers={"content-type": form_type})
            assert (answer.status_code, answer.json()["code"]) == (422, "unknown_name"), body
            assert answer.json()["detail"].startswith("The form has an unknown field; accepted: username, password.")
            assert "hunter2" not in answer.text


async def test_ten_failures_close_an_account_to_one_address(harness: GatewayHarness) -> None:
    """After ten failures, even the right password has to wait; from another address it still works."""
    async with await harness.user(), harness.client() as guest:
        right_login, wrong_login = (
            {"username": "Ada@example.org", "password": password} for password in (PASSWORD, "wrong")
        )
        assert (await guest.post(LOGIN, json=right_login)).status_code == 200
        for _ in range(10):
            assert (await guest.post(LOGIN, json=wrong_login)).status_code == 401
        for login in (right_login, wrong_login):
            refusal = await guest.post(LOGIN, json=login)
            seconds = int(refusal.headers["retry-after"])
            assert (refusal.status_code, refusal.json()["code"]) == (429, "too_many_attempts")
            assert refusal.json()["detail"] == f"Trop de tentatives ; réessayez dans {seconds} secondes"
            assert 0 < seconds <= 300
        spoofed_response = await guest.post(LOGIN, json=right_login, headers={"X-Forwarded-For": "192.0.2.99"})
        assert spoofed_response.status_code == 429
    async with harness.client(address="192.0.2.2") as other_client:
        assert (await other_client.post(LOGIN, json=right_login)).status_code == 200


async def fail_attempt(throttle: LoginThrottle, account: str, client: str) -> None:
    """Attempt to sign in with a wrong password."""
    with pytest.raises(InvalidCredentials):
        async with throttle.limit_password_attempts(account, client):
            raise InvalidCredentials


async def test_a_hundred_failures_close_everything_to_one_address() -> None:
    """After failing with a hundred accounts, a client has to wait for all others; other clients do not."""
    throttle = LoginThrottle()
    for number in range(100):
        await fail_attempt(throttle, f"user{number}", "192.0.2.1")
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
    throttle, checked_guesses = LoginThrottle(), []

    async def guess() -> None:
        async with throttle.limit_password_attempts("ada", "192.0.2.1"):
            checked_guesses.append(1)
            await asyncio.sleep(0)
            raise InvalidCredentials

    outcomes = await asyncio.gather(*(guess() for _ in range(50)), return_exceptions=True)
    assert len(checked_guesses) == 10
    assert sum(isinstance(outcome, TooManyAttempts) for outcome in outcomes) == 40


async def refresh_session(harness: GatewayHarness, token: str) -> tuple[int, dict[str, Any]]:
    """Refresh a token, and return the status and the body of the response."""
    async with harness.client() as guest:
        answer = await guest.post(REFRESH, json={"refresh_token": token})
    return answer.status_code, answer.json()


async def is_signed_in(harness: GatewayHarness, access_token: str) -> bool:
    """Return whether an access token is still valid."""
    async with harness.client(access_token) as user:
        answer = await user.get("/users/me")
    assert answer.status_code == 200 or answer.json() == UNAUTHORIZED
    return answer.status_code == 200


async def age_refresh_tokens(harness: GatewayHarness, **changes: Any) -> None:
    """Pretend that every used refresh token was used a minute ago, or change other columns of the tokens."""
    column_values = changes or {"used_at": datetime.now(UTC) - timedelta(minutes=1)}
    statement = sa.update(refresh_tokens).values(column_values)
    async with harness.database.writing() as rows:
        await rows.execute(statement if changes else statement.where(refresh_tokens.c.used_at.is_not(None)))


async def test_refresh_tokens_rotate(harness: GatewayHarness) -> None:
    """A refresh returns new tokens of the same session, and both access tokens work."""
    async with await harness.user():
        first_grant = await harness.sign_in()
    status, second_grant = await refresh_session(harness, first_grant["refresh_token"])
    assert (status, set(second_grant)) == (200, set(first_grant))
    assert second_grant["refresh_token"] != first_grant["refresh_token"]
    assert await is_signed_in(harness, first_grant["access_token"])
    assert await is_signed_in(harness, second_grant["access_token"])
    assert (await refresh_session(harness, second_grant["refresh_token"]))[0] == 200


async def test_fifty_uses_at_once_get_one_successor(harness: GatewayHarness) -> None:
    """However often a token is used at once, at two gateways, its session continues as a single chain."""
    backends, database = recording_backends(), Database(harness.settings.effective_database_url)
    other_gateway = await Gateway.open(harness.settings, database, None, in_process_upstreams(backends))
    other_harness = GatewayHarness(other_gateway, harness.settings, database, backends)
    async with await harness.user():
        token = (await harness.sign_in())["refresh_token"]
    answers = await asyncio.gather(*(refresh_session((harness, other_harness)[n % 2], token) for n in range(50)))
    assert [status for status, _ in answers] == [200] * 50
    (successor,) = {body["refresh_token"] for _, body in answers}
    assert successor != token
    async with harness.database.reading() as rows:
        assert await rows.scalar(sa.select(sa.func.count()).where(refresh_tokens.c.used_at.is_(None))) == 2
        assert successor not in str(await rows.all(sa.select(refresh_tokens)))

    later_answers = await asyncio.gather(*(refresh_session(harness, successor) for _ in range(5)))
    assert [status for status, _ in later_answers] == [200] * 5
    assert len({body["refresh_token"] for _, body in later_answers}) == 1
    await other_gateway.close()
    await database.close()


async def test_a_token_and_its_successor_at_once_end_in_one_chain_or_none(harness: GatewayHarness) -> None:
    """A copy that is used at the same time as the successor never starts a second chain."""
    async with await harness.user():
        first_token = (await harness.sign_in())["refresh_token"]
    _, grant = await refresh_session(harness, first_token)
    second_token = grant["refresh_token"]
    answers = await asyncio.gather(*(refresh_session(harness, token) for token in (first_token, second_token) * 10))
    tokens = {body["refresh_token"] for status, body in answers if status == 200} - {second_token}
    assert len(tokens) <= 1
    for token in tokens:
        # Someone used the old token after the new one: the family has been revoked.
        assert await refresh_session(harness, token) == (401, EXPIRED_SESSION)


async def test_a_token_reused_later_ends_its_session(harness: GatewayHarness) -> None:
    """After ten seconds, a used token indicates a thief, so its session and access tokens end, and others go on."""
    async with await harness.user():
        first_grant, other_grant = await harness.sign_in(), await harness.sign_in()
    _, second_grant = await refresh_session(harness, first_grant["refresh_token"])
    assert await is_signed_in(harness, second_grant["access_token"])
    await age_refresh_tokens(harness)
    assert await refresh_session(harness, first_grant["refresh_token"]) == (401, EXPIRED_SESSION)
    assert await refresh_session(harness, second_grant["refresh_token"]) == (401, EXPIRED_SESSION)
    assert not await is_signed_in(harness, second_grant["access_token"])
    assert await is_signed_in(harness, other_grant["access_token"])
    assert (await refresh_session(harness, other_grant["refresh_token"]))[0] == 200


async def test_only_the_last_token_has_a_grace(harness: GatewayHarness) -> None:
    """A token whose successor has been used counts as a copy, however recently it was used."""
    async with await harness.user():
        first_grant = await harness.sign_in()
    _, second_grant = await refresh_session(harness, first_grant["refresh_token"])
    _, third_grant = await refresh_session(harness, second_grant["refresh_token"])
    assert (await refresh_session(harness, first_grant["refresh_token"]))[0] == 401
    assert (await refresh_session(harness, third_grant["refresh_token"]))[0] == 401


async def test_tokens_that_are_not_good_any_more(harness: GatewayHarness) -> None:
    """Expired and unknown refresh tokens get the same error, in the caller's language, and end nothing."""
    async with await harness.user():
        grant = await harness.sign_in()
    for token in ("unknown", "", grant["access_token"][:200]):
        assert await refresh_session(harness, token) == (401, EXPIRED_SESSION)
    await age_refresh_tokens(harness, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert await refresh_session(harness, grant["refresh_token"]) == (401, EXPIRED_SESSION)
    assert await is_signed_in(harness, grant["access_token"])
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
        stored_rows = str(await rows.all(sa.select(refresh_tokens))) + str(await rows.all(sa.select(sessions)))
    assert grant["refresh_token"] not in stored_rows


async def test_signing_out_ends_the_session_at_once(harness: GatewayHarness) -> None:
    """Both tokens end with the session; another session goes on, whatever token the request contains."""
    async with await harness.user() as first_client, await harness.user("bob@example.org"):
        bob_grant, second_grant = await harness.sign_in("bob@example.org"), await harness.sign_in()
        async with harness.client(second_grant["access_token"]) as ada:
            answer = await ada.post(LOGOUT, json={"refresh_token": second_grant["refresh_token"]})
            assert (answer.status_code, answer.content) == (204, b"")
            assert (await ada.get("/users/me")).json() == UNAUTHORIZED
        assert await refresh_session(harness, second_grant["refresh_token"]) == (401, EXPIRED_SESSION)
        assert (await first_client.get("/users/me")).status_code == 200
        assert (await first_client.post(LOGOUT, json={"refresh_token": bob_grant["refresh_token"]})).status_code == 204
        assert (await first_client.get("/users/me")).status_code == 401
        assert await is_signed_in(harness, bob_grant["access_token"])


async def test_sessions_are_listed_and_ended(harness: GatewayHarness) -> None:
    """Users see their own sessions and can end them; sessions of others are treated like missing ones."""
    async with await harness.user() as ada, await harness.user("bob@example.org") as bob:
        async with harness.client(address="192.0.2.7", user_agent="Phone/1.0") as guest:
            login = await guest.post(LOGIN, json={"username": "ada@example.org", "password": PASSWORD})
        phone_token = login.json()["access_token"]
        ada_sessions = (await ada.get("/users/me/sessions")).json()
        assert [(session["current"], session["address"]) for session in ada_sessions] == [
            (False, "192.0.2.7"),
            (True, "192.0.2.1"),
        ]
        assert ada_sessions[0]["user_agent"] == "Phone/1.0"
        assert set(ada_sessions[0]) == {"id", "created_at", "used_at", "user_agent", "address", "current"}
        missing_response = await bob.delete("/users/me/sessions/00000000-0000-0000-0000-000000000000")
        for session_id in (ada_sessions[0]["id"], "x", ada_sessions[0]["id"].replace("-", "")):
            answer = await bob.delete(f"/users/me/sessions/{session_id}")
            assert (answer.status_code, answer.content) == (404, missing_response.content)
        assert missing_response.json()["detail"] == "Session non trouvée"
        assert await is_signed_in(harness, phone_token)
        assert (await ada.delete(f"/users/me/sessions/{ada_sessions[0]['id']}")).status_code == 204
        assert not await is_signed_in(harness, phone_token)
        assert (await ada.delete(f"/users/me/sessions/{ada_sessions[0]['id']}")).status_code == 404
        assert [session["current"] for session in (await ada.get("/users/me/sessions")).json()] == [True]


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
    other_gateway = await Gateway.open(harness.settings, harness.database, None, in_process_upstreams(backends))
    other_harness = GatewayHarness(other_gateway, harness.settings, harness.database, backends)
    await accounts.create_user(harness.database, email="ada@example.org", password=PASSWORD)
    grant = await harness.sign_in()
    async with other_harness.client(grant["access_token"]) as ada:
        assert (await ada.get("/projects")).status_code == 200
        async with harness.client(grant["access_token"]) as local_client:
            await local_client.post(LOGOUT, json={"refresh_token": grant["refresh_token"]})
        for _ in range(100):
            if (await ada.get("/projects")).status_code == 401:
                break
            await asyncio.sleep(0.02)
        assert (await ada.get("/projects")).json() == UNAUTHORIZED
    await other_gateway.close()
