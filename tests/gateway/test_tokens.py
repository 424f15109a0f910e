"""Which tokens are accepted, and where the key that signs them comes from."""

import re
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from tests.gateway.harness import GatewayHarness, send_raw_request
from touchstone.core.errors import Unauthorized
from touchstone.core.settings import Settings, SettingsError
from touchstone.services.gateway.access_tokens import AccessTokens, parse_bearer_token, read_authorization
from touchstone.services.gateway.signing_key import load_signing_key

KEY = b"0123456789abcdef0123456789abcdef"
# Written out, so that every worker of a parallel run collects the same names.
LONG_AGO, FAR_AHEAD = 1_600_000_000, 4_000_000_000
UNAUTHORIZED = {"detail": "Non autorisé", "code": "unauthorized", "errors": []}


def claims(**changes: Any) -> dict[str, Any]:
    """Return the claims as the service writes them, with changes; None leaves a claim out."""
    now = int(time.time())
    default_claims = {"iss": "touchstone", "aud": "touchstone", "sub": str(uuid4()), "iat": now, "exp": now + 60}
    merged_claims = {**default_claims, "jti": f"{uuid4().hex}.x", **changes}
    return {name: value for name, value in merged_claims.items() if value is not None}


def sign_token(values: dict[str, Any], *, algorithm: str = "HS256", key: bytes = KEY) -> str:
    """Return a token with these claims."""
    return jwt.encode({"alg": algorithm}, values, OctKey.import_key(key), algorithms=[algorithm])


def test_a_token_comes_back_as_it_was_issued() -> None:
    """A token that is issued for a session names its user, its session and its expiry."""
    tokens, user, session = AccessTokens(KEY, 60), uuid4(), uuid4()
    token_claims = tokens.verify(tokens.create_token(user, session))
    assert (token_claims.user_id, token_claims.session_id) == (user, session)
    assert tokens.create_token(user, session) != tokens.create_token(user, session)


@pytest.mark.parametrize(
    "changes",
    [
        *({name: None} for name in ("iss", "aud", "sub", "iat", "exp", "jti")),
        {"iss": "someone"},
        {"aud": "touchstone-backend"},
        {"sub": "urn:uuid:12345678-1234-1234-1234-123456789012"},
        {"sub": 7},
        {"sub": ""},
        {"jti": "x"},
        {"jti": 7},
        {"exp": LONG_AGO},
        {"exp": "tomorrow"},
        {"iat": FAR_AHEAD, "exp": FAR_AHEAD + 60},
        {"iat": "yesterday"},
    ],
    ids=str,
)
def test_every_claim_is_required_and_checked(changes: dict[str, Any]) -> None:
    """A token that lacks a claim, has another type, or is out of date is not accepted."""
    tokens = AccessTokens(KEY, 60)
    tokens.verify(sign_token(claims()))
    with pytest.raises(Unauthorized):
        tokens.verify(sign_token(claims(**changes)))


def test_one_algorithm_and_one_key() -> None:
    """No other algorithm, no unsigned token and no other key is accepted."""
    tokens = AccessTokens(KEY, 60)
    valid_token = sign_token(claims())
    header, payload, signature = valid_token.split(".")
    unsigned_header = "eyJhbGciOiJub25lIn0"
    for forged_token in (
        sign_token(claims(), key=KEY[::-1]),
        sign_token(claims(), algorithm="HS512", key=KEY * 2),
        f"{unsigned_header}.{payload}.",
        f"{unsigned_header}.{payload}.{signature}",
        f"{header}.{payload}.",
        f"{header}.{payload}.{signature[::-1]}",
        "a.b.c",
        "",
    ):
        with pytest.raises(Unauthorized):
            tokens.verify(forged_token)


def test_a_token_has_one_spelling() -> None:
    """The scheme may be in any case, followed by one space and the token; everything else is refused."""
    token = sign_token(claims())
    for valid_header in (f"Bearer {token}", f"bearer {token}", f"BEARER {token}"):
        assert parse_bearer_token(valid_header.encode()) == token
    last_letter = token[-1]
    equivalent_letter = chr(ord(last_letter) + 1)  # the same 256 bits, decoded leniently
    for invalid_header in (
        token,
        f"Bearer  {token}",
        f"Bearer\t{token}",
        f" Bearer {token}",
        f"Bearer {token} ",
        f"Bearer {token}=",
        f"Bearer {token}\n",
        f"Bearer {token[:-1]}{equivalent_letter}",
        f"Bearer {token}, Bearer {token}",
        f"Bearer {token}.x",
        f"Basic {token}",
        f'Bearer "{token}"',
        f"Bearer {token[:-1]}é",
        "Bearer",
        "Bearer ",
        "Bearer " + "a" * 5000,
    ):
        with pytest.raises(Unauthorized):
            parse_bearer_token(invalid_header.encode("utf-8"))


def test_there_is_one_authorization_header() -> None:
    """Two headers are refused even if they are equal, because proxies and backends might read different ones."""
    header = (b"authorization", b"Bearer x")
    assert read_authorization([(b"accept", b"*/*"), header]) == b"Bearer x"
    for headers in ([], [header, header], [(b"proxy-authorization", b"Bearer x")]):
        with pytest.raises(Unauthorized):
            read_authorization(headers)


async def test_a_good_token_of_nobody_is_refused(harness: GatewayHarness) -> None:
    """A valid signature is not enough: the user and the session must exist, belong together, and be active."""
    async with await harness.user() as ada:
        profile = (await ada.get("/users/me")).json()
        session = (await ada.get("/users/me/sessions")).json()[0]
    key = load_signing_key(harness.settings)
    for changes, status in (
        ({"sub": profile["id"], "jti": f"{session['id'].replace('-', '')}.x"}, 200),
        ({"sub": profile["id"]}, 401),
        ({"jti": f"{session['id'].replace('-', '')}.x"}, 401),
        ({}, 401),
    ):
        authorization = b"Bearer " + sign_token(claims(**changes), key=key).encode()
        answer = await send_raw_request(harness.app, "GET", b"/users/me", [(b"authorization", authorization)])
        assert answer.status == status
        if status != 200:
            assert answer.json() == UNAUTHORIZED


def load_settings(folder: Path, **values: str) -> Settings:
    """Return settings with this data folder."""
    return Settings.load({"TOUCHSTONE_DATA_DIR": str(folder), **values})


def test_the_key_is_made_once_and_kept_from_others(tmp_path: Path) -> None:
    """The first start creates a key that only its owner can read, and later starts use it."""
    settings = load_settings(tmp_path / "new" / "data")
    key = load_signing_key(settings)
    key_file = settings.data_dir / "signing.key"
    assert len(key) == 32
    assert key != load_signing_key(load_settings(tmp_path / "other"))
    assert key_file.stat().st_mode & 0o777 == 0o600
    assert load_signing_key(settings) == key
    assert [path.name for path in settings.data_dir.iterdir()] == ["signing.key"]


def test_a_key_from_the_settings_makes_no_file(tmp_path: Path) -> None:
    """A configured key is used, and no file is created."""
    settings = load_settings(tmp_path / "data", TOUCHSTONE_SIGNING_KEY="k" * 40)
    assert load_signing_key(settings) == b"k" * 40
    assert not settings.data_dir.exists()


def test_a_key_that_cannot_be_trusted_stops_the_start(tmp_path: Path) -> None:
    """If others can read the key file, or it is too short, one line says why the service does not start."""
    settings = load_settings(tmp_path)
    key_file = tmp_path / "signing.key"
    key_file.write_bytes(b"x" * 32)
    key_file.chmod(0o640)
    with pytest.raises(SettingsError, match="read by others"):
        load_signing_key(settings)
    key_file.chmod(0o600)
    assert load_signing_key(settings) == b"x" * 32
    key_file.write_bytes(b"x" * 31)
    with pytest.raises(SettingsError, match="shorter than 32"):
        load_signing_key(settings)


def test_a_key_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    """A folder stands for a file of another user, because tests may run with the rights of an administrator."""
    key_folder = tmp_path / "signing.key"
    key_folder.mkdir(mode=0o700)

    with pytest.raises(SettingsError, match=re.escape(f"{key_folder} cannot be read: Is a directory")):
        load_signing_key(load_settings(tmp_path))
