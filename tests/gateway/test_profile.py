"""Users manage their own profile, password and picture, and administrators manage other users."""

import asyncio
import contextlib
import io
import struct
import zlib
from typing import Any
from uuid import UUID

import pytest
from PIL import Image

from tests.gateway.harness import PASSWORD, GatewayHarness
from touchstone.core.errors import UserNotFound
from touchstone.database.engine import Reader
from touchstone.http.backend_auth import CALLER
from touchstone.services.gateway import (
    accounts,
    password_resets_and_changes,
    passwords,
    profile_pictures,
    user_store,
)

ME = "/api/v1/users/me"
NEW_PASSWORD = "another good phrase"


async def test_the_profile_changes_what_is_given(harness: GatewayHarness) -> None:
    """A missing field stays the same, null clears it, and the response is the updated user, at both paths."""
    async with await harness.user() as ada:
        profile_before = (await ada.get("/users/me")).json()
        response = await ada.patch("/users/me", json={"pseudo": " ada ", "given_name": "Ada", "locale": "en"})
        assert response.status_code == 200
        assert response.json() == profile_before | {"pseudo": "ada", "given_name": "Ada", "locale": "en"}
        assert (await ada.patch(ME, json={"pseudo": None})).json()["pseudo"] is None
        assert (await ada.patch(ME, json={})).json() == response.json() | {"pseudo": None}
        assert (await ada.get(ME)).json()["given_name"] == "Ada"


async def test_nothing_else_of_the_account_can_be_changed(harness: GatewayHarness) -> None:
    """Any other field is refused, and then the allowed fields do not change either."""
    async with await harness.user() as ada:
        profile_before = (await ada.get(ME)).json()
        for name in (
            "email",
            "is_superuser",
            "is_curator",
            "is_active",
            "is_verified",
            "id",
            "picture",
            "password",
            "has_password",
            "oauth_accounts",
        ):
            answer = await ada.patch(ME, json={"pseudo": "changed", name: profile_before.get(name)})
            assert (answer.status_code, answer.json()["code"]) == (422, "unknown_name"), name
            assert answer.json()["errors"][0]["loc"] == ["body", name]
        changes: tuple[Any, ...] = (
            {"locale": "de"},
            {"locale": None},
            {"pseudo": ""},
            {"pseudo": "x" * 256},
            {"pseudo": 1},
            [],
        )
        for change in changes:
            answer = await ada.patch(ME, json=change)
            assert (answer.status_code, answer.json()["code"]) == (422, "validation_error"), change
        assert (await ada.patch(ME, content=b'{"pseudo": "\\ud800"}')).status_code == 400
        assert (await ada.patch(ME, content=b"{")).json()["code"] == "not_json"
        assert (await ada.get(ME)).json() == profile_before


async def test_a_new_password_signs_everybody_out(harness: GatewayHarness) -> None:
    """After the password is changed, all sessions have ended, and only the new password works."""
    async with await harness.user() as ada:
        other_tokens = await harness.sign_in()
        wrong_password_response = await ada.patch(
            f"{ME}/password", json={"current_password": "wrong", "new_password": NEW_PASSWORD}
        )
        assert (wrong_password_response.status_code, wrong_password_response.json()["code"]) == (422, "wrong_password")
        weak_password_response = await ada.patch(
            f"{ME}/password", json={"current_password": PASSWORD, "new_password": "password1"}
        )
        assert (weak_password_response.status_code, weak_password_response.json()["code"]) == (422, "weak_password")
        change_response = await ada.patch(
            f"{ME}/password", json={"current_password": PASSWORD, "new_password": NEW_PASSWORD}
        )
        assert (change_response.status_code, change_response.content) == (204, b"")
        assert (await ada.get(ME)).status_code == 401
    async with harness.client(other_tokens["access_token"]) as other_client, harness.client() as guest:
        assert (await other_client.get(ME)).status_code == 401
        refusal = await guest.post("/api/v1/auth/refresh", json={"refresh_token": other_tokens["refresh_token"]})
        assert refusal.status_code == 401
        old_password_response = await guest.post(
            "/api/v1/auth/login", json={"username": "ada@example.org", "password": PASSWORD}
        )
        assert old_password_response.status_code == 401
    await harness.sign_in(password=NEW_PASSWORD)


async def test_of_two_simultaneous_changes_of_a_password_one_is_refused(harness: GatewayHarness) -> None:
    """Who knows only the old password cannot replace one that has just been set."""
    user = await accounts.create_user(harness.database, email="ada@example.org", password=PASSWORD)
    new_passwords = [f"{NEW_PASSWORD} {number}" for number in range(3)]
    results = await asyncio.gather(
        *(
            password_resets_and_changes.change_password(harness.database, user.id, PASSWORD, new_password)
            for new_password in new_passwords
        ),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in results) == ["NoneType", "WrongPassword", "WrongPassword"]
    await harness.sign_in(password=new_passwords[results.index(None)])


async def test_a_stolen_token_cannot_guess_the_password(harness: GatewayHarness) -> None:
    """Wrong current passwords count like failed sign-ins."""
    async with await harness.user() as ada:
        for _ in range(10):
            await ada.patch(f"{ME}/password", json={"current_password": "wrong", "new_password": NEW_PASSWORD})
        answer = await ada.patch(f"{ME}/password", json={"current_password": PASSWORD, "new_password": NEW_PASSWORD})
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many_attempts")


async def test_two_spellings_of_one_password_are_the_same() -> None:
    """A letter of one code point and the same letter of two are equal."""
    password_hash = await passwords.hash_password("caf\u00e9 crème brûlée")
    assert await passwords.verify_password("cafe\u0301 crème brûlée", password_hash)
    assert not await passwords.verify_password("cafe crème brûlée", password_hash)
    assert password_hash.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


async def test_without_a_hash_nothing_matches() -> None:
    """For a missing user, or a user without a password, no password matches, not even an empty one."""
    for password in ("", "password", PASSWORD):
        assert not await passwords.verify_password(password, None)


def image(kind: str, size: tuple[int, int] = (900, 600), mode: str = "RGB", **options: object) -> bytes:
    """Return the bytes of a picture in this format."""
    buffer = io.BytesIO()
    Image.new(mode, size, "teal").save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("if_none_match", "status"),
    [("{etag}", 304), ("W/{etag}", 304), ('"other", {etag}', 304), ("*", 304), ('"x{digest}"', 200), ("{digest}", 200)],
)
async def test_entity_tags_of_a_picture_are_compared_as_a_whole(
    harness: GatewayHarness, if_none_match: str, status: int
) -> None:
    """A picture matches its tag in a list, weak or strong, but not as a part of another tag."""
    async with await harness.user() as ada:
        etag = (await ada.put(f"{ME}/picture", content=image("PNG"))).headers["etag"]
        header = if_none_match.format(etag=etag, digest=etag.strip('"'))
        response = await ada.get(f"{ME}/picture", headers={"If-None-Match": header})
        assert response.status_code == status


async def test_a_picture_is_kept_small_and_bare(harness: GatewayHarness) -> None:
    """PNG, JPEG and WebP become WebP of at most 512 pixels per side, without the metadata of the camera."""
    exif = Image.Exif()
    exif[0x010F] = "SecretCamera"
    exif[0x0112] = 6  # lies on its side
    async with await harness.user() as ada:
        assert (await ada.get(f"{ME}/picture")).json()["detail"] == "Pas de photo de profil"
        no_options: dict[str, Any] = {}
        with_metadata = {"exif": exif, "comment": b"SecretPlace"}
        for kind, options in (("PNG", no_options), ("WEBP", no_options), ("JPEG", with_metadata)):
            put_response = await ada.put(f"{ME}/picture", content=image(kind, **options))
            assert put_response.status_code == 204
            get_response = await ada.get(f"{ME}/picture")
            assert (get_response.headers["content-type"], get_response.headers["etag"]) == (
                "image/webp",
                put_response.headers["etag"],
            )
            with Image.open(io.BytesIO(get_response.content)) as stored_image:
                assert (stored_image.format, max(stored_image.size)) == ("WEBP", 512)
                assert (stored_image.width < stored_image.height) is (kind == "JPEG")
            assert b"Secret" not in get_response.content
        assert (await ada.get(ME)).json()["picture"] == f"{ME}/picture"
        conditional_response = await ada.get(f"{ME}/picture", headers={"If-None-Match": get_response.headers["etag"]})
        assert (conditional_response.status_code, conditional_response.content) == (304, b"")
        assert (await ada.delete(f"{ME}/picture")).status_code == 204
        assert (await ada.get(f"{ME}/picture")).status_code == 404
        assert (await ada.get(ME)).json()["picture"] is None


def bomb() -> bytes:
    """Return a PNG of a few bytes that claims 65 000 by 65 000 pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", 65_000, 65_000, 8, 2, 0, 0, 0)
    data = b"IDAT" + zlib.compress(b"\x00" * 1000)
    chunks = [
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
        for chunk in (header, data, b"IEND")
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def metadata_with_wrong_type() -> bytes:
    """Return Exif metadata of a rotated picture, with a resolution of a type that Pillow reads but cannot write."""
    orientation = struct.pack("<HHII", 0x0112, 3, 1, 6)
    resolution = struct.pack("<HHI4s", 0x011A, 7, 4, b"abcd")
    directory = struct.pack("<H", 2) + orientation + resolution + struct.pack("<I", 0)
    return b"Exif\0\0II*\0" + struct.pack("<I", 8) + directory


async def test_too_little_memory_is_not_the_fault_of_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user need not look for a mistake in a good picture."""

    def run_out_of_memory(*_arguments: Any, **_options: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(Image, "open", run_out_of_memory)
    with pytest.raises(MemoryError):
        await profile_pictures.reencode_picture(b"")


async def test_what_is_no_picture_is_refused(harness: GatewayHarness) -> None:
    """Other formats, damaged and empty files, bombs and too large bodies are refused, and the old picture stays."""
    async with await harness.user() as ada:
        await ada.put(f"{ME}/picture", content=image("PNG", (10, 10), "RGBA"))
        old_picture = (await ada.get(f"{ME}/picture")).content
        truncated_image = image("JPEG")[:300]
        huge_image = image("PNG", (6000, 5000))
        for body in (
            b"",
            b"text",
            b"<svg/>",
            image("GIF"),
            image("BMP"),
            truncated_image,
            bomb(),
            huge_image,
            image("PNG")[:40],
            image("JPEG", exif=metadata_with_wrong_type()),
        ):
            answer = await ada.put(f"{ME}/picture", content=body, headers={"content-type": "image/png"})
            assert (answer.status_code, answer.json()["code"]) == (422, "invalid_picture"), body[:20]
        large_response = await ada.put(f"{ME}/picture", content=b"x" * (2 * 1024 * 1024 + 1))
        assert (large_response.status_code, large_response.json()["code"]) == (413, "too_large")
        assert (await ada.get(f"{ME}/picture")).content == old_picture


async def test_administration_is_for_administrators(harness: GatewayHarness) -> None:
    """All others get 403, whether or not the user exists, and whatever the body or the query."""
    async with await harness.user() as ada:
        own_id = (await ada.get(ME)).json()["id"]
        for method, path in (
            ("GET", ""),
            ("PATCH", f"/{own_id}"),
            ("PATCH", "/nobody"),
            ("POST", f"/{own_id}/reset-token"),
        ):
            answer = await ada.request(method, f"/api/v1/admin/users{path}", json={"is_active": True})
            assert (answer.status_code, answer.json()["code"]) == (403, "administrators_only")
        for method, path in (("GET", "?page=0"), ("PATCH", f"/{own_id}")):
            answer = await ada.request(method, f"/api/v1/admin/users{path}", json={"is_active": "maybe"})
            assert (answer.status_code, answer.json()["code"]) == (403, "administrators_only")


async def test_a_deactivated_user_is_out_at_once(harness: GatewayHarness) -> None:
    """Deactivation ends tokens and sessions before the response; reactivation does not restore them."""
    async with await harness.user("root@example.org", is_superuser=True) as root, await harness.user() as ada:
        user = (await ada.get(ME)).json()
        refresh_token = (await harness.sign_in())["refresh_token"]
        deactivation = await root.patch(f"/api/v1/admin/users/{user['id']}", json={"is_active": False})
        assert (deactivation.status_code, deactivation.json()) == (200, user | {"is_active": False})
        assert (await ada.get(ME)).status_code == 401
        assert (await ada.get("/projects")).status_code == 401
        async with harness.client() as guest:
            assert (await guest.post("/api/v1/auth/refresh", json={"refresh_token": refresh_token})).status_code == 401
            login = {"username": "ada@example.org", "password": PASSWORD}
            assert (await guest.post("/api/v1/auth/login", json=login)).json()["detail"] == "Identifiants invalides"
        await root.patch(f"/api/v1/admin/users/{user['id']}", json={"is_active": True})
        assert (await ada.get(ME)).status_code == 401
    await harness.sign_in()


async def test_administrators_appoint_curators(harness: GatewayHarness) -> None:
    """The role applies to the next request once it is given or taken away; administrators are curators in any case."""
    async with await harness.user("root@example.org", is_superuser=True) as root, await harness.user() as ada:
        user = (await ada.get(ME)).json()
        path = f"/api/v1/admin/users/{user['id']}"
        assert not user["is_curator"]
        for is_curator in (True, False):
            appointment = await root.patch(path, json={"is_curator": is_curator})
            assert (appointment.status_code, appointment.json()) == (200, user | {"is_curator": is_curator})
            assert (await ada.get(ME)).json()["is_curator"] is is_curator
            await ada.get("/projects")
            assert harness.backends["selection"].last()[CALLER].is_curator is is_curator
        assert (await root.patch(path, json={})).json() == user
        assert (await root.patch(path, json={"is_curator": None})).status_code == 422
        administrator = (await root.get(ME)).json()
        assert administrator["is_curator"]
        own_path = f"/api/v1/admin/users/{administrator['id']}"
        assert (await root.patch(own_path, json={"is_curator": False})).json()["is_curator"]


async def test_the_last_administrator_stays(harness: GatewayHarness) -> None:
    """An administrator can be deactivated only if another active one remains."""
    async with await harness.user("root@example.org", is_superuser=True) as root:
        own_path = f"/api/v1/admin/users/{(await root.get(ME)).json()['id']}"
        refusal = await root.patch(own_path, json={"is_active": False})
        assert (refusal.status_code, refusal.json()["code"]) == (409, "last_administrator")
        assert (await root.get(ME)).json()["is_active"]
        async with await harness.user("second@example.org", is_superuser=True) as second_administrator:
            assert (await root.patch(own_path, json={"is_active": False})).status_code == 200
            assert (await root.get(ME)).status_code == 401
            assert (await second_administrator.get("/api/v1/admin/users")).json()["total_count"] == 2


async def test_two_administrators_cannot_deactivate_each_other(
    harness: GatewayHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two simultaneous requests is refused, although each of them leaves an administrator on its own."""
    is_last_administrator = user_store.is_last_administrator
    both_have_checked = asyncio.Barrier(2)

    async def check_together(connection: Reader, user_id: UUID) -> bool:
        """Wait after the check for the other request, which can only come this far if it is not locked out."""
        is_last = await is_last_administrator(connection, user_id)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(both_have_checked.wait(), timeout=1)
        return is_last

    monkeypatch.setattr(user_store, "is_last_administrator", check_together)
    emails = ("root@example.org", "second@example.org")
    users = [
        await accounts.create_user(harness.database, email=email, password=PASSWORD, is_superuser=True)
        for email in emails
    ]
    requests = [accounts.change_user(harness.database, user.id, is_active=False) for user in users]
    results = await asyncio.gather(*requests, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["LastAdministrator", "UserView"]


async def test_administrators_see_all_users(harness: GatewayHarness) -> None:
    """The list has pages, with the oldest account first, and a missing user is not found."""
    async with await harness.user("root@example.org", is_superuser=True) as root:
        for number in range(3):
            await accounts.create_user(harness.database, email=f"u{number}@example.org", password=PASSWORD)
        for query in ("foo=1", "limit=1", "email=a"):
            assert (await root.get(f"/api/v1/admin/users?{query}")).json()["code"] == "unknown_name", query
        page = (await root.get("/api/v1/admin/users/?page=2&page_size=3")).json()
        assert {key: page[key] for key in ("total_count", "page", "page_size", "total_pages")} == {
            "total_count": 4,
            "page": 2,
            "page_size": 3,
            "total_pages": 2,
        }
        assert [user["email"] for user in page["users"]] == ["u2@example.org"]
        assert (await root.get("/api/v1/admin/users?page=9")).json()["users"] == []
        invalid_pages = ("page=0", "page=x", "page=1_0", "page=%2B1", "page=1&page=1", "page=99999999999999999999")
        for query in (*invalid_pages, "page_size=0", "page_size=1001", "page_size=1_0"):
            assert (await root.get(f"/api/v1/admin/users?{query}")).status_code == 422, query
        for missing_id in ("00000000-0000-0000-0000-000000000000", "x"):
            answer = await root.patch(f"/api/v1/admin/users/{missing_id}", json={"is_active": True})
            assert (answer.status_code, answer.json()["detail"]) == (404, "Utilisateur non trouvé")
        await root.patch(f"/api/v1/admin/users/{page['users'][0]['id']}", json={"is_active": False})
        refusal = await root.patch(f"/api/v1/admin/users/{page['users'][0]['id']}", json={"is_superuser": True})
        assert refusal.status_code == 422


async def test_administrators_find_users_by_a_part_of_their_address(harness: GatewayHarness) -> None:
    """Case does not matter, and no sign is a wildcard."""
    async with await harness.user("root@example.org", is_superuser=True) as root:
        for email in ("Zoé.Martin@example.org", "zo_e@example.org", "zo-e@example.net"):
            await accounts.create_user(harness.database, email=email, password=PASSWORD)

        for part, emails in {
            "ZOÉ": ["Zoé.Martin@example.org"],
            "o_e": ["zo_e@example.org"],
            "%": [],
            " example.net ": ["zo-e@example.net"],
            "": ["root@example.org", "Zoé.Martin@example.org", "zo_e@example.org", "zo-e@example.net"],
        }.items():
            page = (await root.get("/api/v1/admin/users", params={"q": part})).json()
            assert [user["email"] for user in page["users"]] == emails, part
            assert page["total_count"] == len(emails)

        page = (await root.get("/api/v1/admin/users?q=zo&page=2&page_size=2")).json()
        assert ([user["email"] for user in page["users"]], page["total_pages"]) == (["zo-e@example.net"], 2)
        assert (await root.get(f"/api/v1/admin/users?q={'a' * 321}")).status_code == 422


async def test_a_reset_token_works_once(harness: GatewayHarness) -> None:
    """A token sets a new password once and ends all sessions; a newer token replaces it; weak passwords fail."""
    async with await harness.user("root@example.org", is_superuser=True) as root, await harness.user() as ada:
        user = (await ada.get(ME)).json()
        path = f"/api/v1/admin/users/{user['id']}/reset-token"
        first_token, response = (await root.post(path)).json()["token"], await root.post(path)
        assert (response.status_code, set(response.json())) == (201, {"token", "expires_at"})
        assert (await ada.get(ME)).status_code == 200
        token = response.json()["token"]
        async with harness.client() as guest:
            attempts = (
                (first_token, NEW_PASSWORD, 422),
                (token, "password1", 422),
                (token, NEW_PASSWORD, 204),
                (token, NEW_PASSWORD, 422),
                ("x", NEW_PASSWORD, 422),
            )
            answers = [
                await guest.post("/api/v1/auth/reset-password", json={"token": attempted_token, "password": password})
                for attempted_token, password, _ in attempts
            ]
        assert [answer.status_code for answer in answers] == [status for _, _, status in attempts]
        assert answers[1].json()["code"] == "weak_password"
        assert answers[3].json()["detail"] == "Ce jeton de réinitialisation n’est plus valable"
        assert (await ada.get(ME)).status_code == 401
    await harness.sign_in(password=NEW_PASSWORD)


async def test_the_command_line_finds_users_by_address(harness: GatewayHarness) -> None:
    """The command line finds a user by the email address, in any case."""
    user = await accounts.create_user(harness.database, email="Ada@example.org", password=PASSWORD, is_superuser=True)
    assert user.is_superuser
    assert await accounts.find_user(harness.database, " ADA@EXAMPLE.ORG ") == user
    assert await accounts.list_users(harness.database) == ([user], 1)
    with pytest.raises(UserNotFound):
        await accounts.find_user(harness.database, "nobody@example.org")
