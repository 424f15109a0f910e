"""A setting with an unknown name or an invalid value stops the start with one line."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa

from touchstone.core.settings import Settings, SettingsError

PROVIDER = {"issuer": "https://id.example.org", "client_id": "touchstone", "client_secret": "not to be shown"}


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        ({"TOUCHSTONE_PROT": "1"}, "TOUCHSTONE_PROT is not a setting; did you mean TOUCHSTONE_PORT?"),
        ({"TOUCHSTONE_QQQQ": "1"}, "TOUCHSTONE_QQQQ is not a setting."),
        ({"TOUCHSTONE_PORT": "x"}, "TOUCHSTONE_PORT: "),
        ({"TOUCHSTONE_PORT": "70000"}, "TOUCHSTONE_PORT: "),
        ({"TOUCHSTONE_CORS_ORIGINS": "*"}, "TOUCHSTONE_CORS_ORIGINS: '*' is not an origin"),
        ({"TOUCHSTONE_CORS_ORIGINS": "https://*.example.org"}, "TOUCHSTONE_CORS_ORIGINS: "),
        ({"TOUCHSTONE_INTERNAL_KEY": "short"}, "TOUCHSTONE_INTERNAL_KEY: a key has at least 32 bytes"),
        ({"TOUCHSTONE_SIGNING_KEY": "é" * 15}, "TOUCHSTONE_SIGNING_KEY: a key has at least 32 bytes"),
        ({"TOUCHSTONE_DATABASE_URL": "mysql://x"}, "TOUCHSTONE_DATABASE_URL: a database URL begins with"),
        ({"TOUCHSTONE_DATABASE_URL": "sqlite:///a.db?timeout=9"}, "TOUCHSTONE_DATABASE_URL: the URL of an SQLite"),
        ({"TOUCHSTONE_DATABASE_URL": "sqlite://"}, "TOUCHSTONE_DATABASE_URL: the URL of an SQLite"),
        ({"TOUCHSTONE_DATABASE_URL": "sqlite:///:memory:"}, "TOUCHSTONE_DATABASE_URL: the URL of an SQLite"),
        ({"TOUCHSTONE_DATABASE_URL": "postgresql:name"}, "TOUCHSTONE_DATABASE_URL: the URL of a PostgreSQL"),
        ({"TOUCHSTONE_DATABASE_URL": "postgresql://u:p@h:1x/name"}, "TOUCHSTONE_DATABASE_URL: the port of the"),
        ({"TOUCHSTONE_SELECTION_URL": "127.0.0.1:8101"}, "TOUCHSTONE_SELECTION_URL: an address is http://"),
        ({"TOUCHSTONE_REGISTRATION": "maybe"}, "TOUCHSTONE_REGISTRATION: "),
        ({"TOUCHSTONE_PUBLIC_URL": "data.example.org"}, "TOUCHSTONE_PUBLIC_URL: 'data.example.org' is not an origin"),
        ({"TOUCHSTONE_PUBLIC_URL": "https://example.org/data"}, "TOUCHSTONE_PUBLIC_URL: "),
    ],
)
def test_an_invalid_setting_is_reported_in_one_line(variables: dict[str, str], line: str) -> None:
    """The line begins with the name of the variable, says what is wrong, and does not contain the value of a key."""
    with pytest.raises(SettingsError) as failure:
        Settings.load(variables)
    assert str(failure.value).startswith(line)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:///touchstone?host=/var/run/postgresql",
        "postgresql://db.example.org/touchstone",
        "postgresql://ada:p/w:1@db.example.org:5432/touchstone",
        "postgresql://ada@company:pw@db.example.org:5432/touchstone?sslmode=require",
        "postgresql://[::1]:5432/touchstone",
    ],
)
def test_a_database_url_that_the_driver_can_read_is_accepted(url: str) -> None:
    """Names of users may contain `@`, as those of some providers do, and hosts may be left out."""
    settings = Settings.load({"TOUCHSTONE_DATABASE_URL": url})
    assert settings.effective_database_url == url
    assert sa.make_url(url).database == "touchstone"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("not to be shown", "the value is not JSON"),
        ("[]", "the value is a JSON object"),
        ("", "the value is empty"),
        ({"company": "not to be shown"}, "company: the options are a JSON object"),
        ({"My company": PROVIDER}, "My company.name: "),
        ({"company": {**PROVIDER, "issuer": "http://id.example.org"}}, "company.issuer: an issuer is https://host"),
        ({"company": {**PROVIDER, "issuer": "https://id.example.org?x"}}, "company.issuer: "),
        ({"company": {**PROVIDER, "issuer": "https://me@id.example.org"}}, "company.issuer: "),
        ({"company": {**PROVIDER, "issuer": "https://[id"}}, "company.issuer: "),
        ({"company": {**PROVIDER, "issuer": "id.example.org"}}, "company.issuer: "),
        ({"company": {**PROVIDER, "client_secret": ""}}, "company.client_secret: "),
        ({"company": {**PROVIDER, "client_secret": ["not to be shown"]}}, "company.client_secret: "),
        ({"company": {**PROVIDER, "secret": "not to be shown"}}, "company.secret: "),
        ({"company": {**PROVIDER, "scopes": "email"}}, "company.scopes: the scopes must include openid"),
        ({"company": {"issuer": "https://id.example.org"}}, "company.client_id: Field required"),
    ],
)
def test_an_invalid_identity_provider_is_reported_without_its_secret(value: object, reason: str) -> None:
    """The line names the provider and the option, but quotes no value, which may be a secret in the wrong place."""
    text = value if isinstance(value, str) else json.dumps(value)
    with pytest.raises(SettingsError) as failure:
        Settings.load({"TOUCHSTONE_PUBLIC_URL": "https://data.example.org", "TOUCHSTONE_OIDC_PROVIDERS": text})
    assert str(failure.value).startswith(f"TOUCHSTONE_OIDC_PROVIDERS: {reason}")
    assert "not to be shown" not in str(failure.value)
    assert "\n" not in str(failure.value)


def test_identity_providers_need_the_public_address() -> None:
    """Without it, providers would not know where to send users back to."""
    with pytest.raises(SettingsError, match="TOUCHSTONE_OIDC_PROVIDERS: providers need TOUCHSTONE_PUBLIC_URL"):
        Settings.load({"TOUCHSTONE_OIDC_PROVIDERS": json.dumps({"company": PROVIDER})})


def test_the_secrets_of_identity_providers_are_hidden() -> None:
    """Settings can be printed and copied; a provider on this machine does not need https."""
    options = {"company": PROVIDER, "test": {**PROVIDER, "issuer": "http://127.0.0.1:9", "label": "Test"}}
    settings = Settings.load(
        {"TOUCHSTONE_PUBLIC_URL": "https://Data.example.org:443/", "TOUCHSTONE_OIDC_PROVIDERS": json.dumps(options)}
    )
    assert settings.public_url == "https://data.example.org"
    assert [(provider.name, provider.label) for provider in settings.oidc_providers] == [
        ("company", "company"),
        ("test", "Test"),
    ]
    assert "not to be shown" not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    assert Settings.model_validate(settings.model_dump()) == settings


def test_lists_are_split_and_other_variables_are_ignored(tmp_path: Path) -> None:
    """Data roots are separated by colons and origins by commas, and variables without our prefix are ignored."""
    folders = (tmp_path / "a", tmp_path / "b")
    for folder in folders:
        folder.mkdir()
    settings = Settings.load(
        {
            "TOUCHSTONE_DATA_ROOTS": f"{folders[0]}:{folders[1]}",
            "TOUCHSTONE_CORS_ORIGINS": "https://a.example, http://localhost:3000",
            "PATH": "/bin",
        }
    )
    assert settings.data_roots == folders
    assert settings.cors_origins == ("https://a.example", "http://localhost:3000")


def test_the_environment_is_read_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a mapping, the variables of the process are read."""
    monkeypatch.setenv("TOUCHSTONE_DATA_DIR", str(tmp_path))
    assert Settings.load().effective_database_url == f"sqlite:///{tmp_path}/touchstone.db"


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("unix:/run/x", True),
        ("0.0.0.0", False),
    ],
)
def test_a_listener_that_only_this_machine_reaches_is_local(host: str, is_local: bool) -> None:
    """Loopback addresses and unix sockets are local, all other addresses are not."""
    assert Settings.load({"TOUCHSTONE_HOST": host}).listens_locally is is_local


@pytest.mark.parametrize("variable", ["HOST", "METRICS_HOST", "DATA_DIR", "DEMO", "RAY_ADDRESS", "SIGNING_KEY"])
def test_an_empty_value_is_refused(variable: str) -> None:
    """Otherwise an empty host would stand for all addresses, and an empty folder for the working directory."""
    for value in ("", " "):
        with pytest.raises(SettingsError, match=f"^TOUCHSTONE_{variable}: the value is empty"):
            Settings.load({f"TOUCHSTONE_{variable}": value})


def test_the_address_of_a_cluster_needs_the_executor_that_uses_it() -> None:
    """Otherwise all jobs would run on this machine, although the operator has named a cluster."""
    address = {"TOUCHSTONE_RAY_ADDRESS": "ray.example.org:6379"}
    with pytest.raises(SettingsError, match=r"^TOUCHSTONE_RAY_ADDRESS: .* TOUCHSTONE_EXECUTOR=ray$"):
        Settings.load(address)
    with pytest.raises(SettingsError, match=r"^TOUCHSTONE_EXECUTOR: "):
        Settings.load({**address, "TOUCHSTONE_EXECUTOR": "cluster"})
    assert Settings.load({**address, "TOUCHSTONE_EXECUTOR": "ray"}).ray_address == "ray.example.org:6379"


def test_an_empty_list_is_the_default() -> None:
    """Lists may be empty, and they are by default."""
    variables = ("TOUCHSTONE_DATA_ROOTS", "TOUCHSTONE_CORS_ORIGINS", "TOUCHSTONE_TRUSTED_PROXIES")
    settings = Settings.load(dict.fromkeys(variables, ""))
    assert (settings.data_roots, settings.cors_origins, settings.trusted_proxies) == ((), (), ())


def test_origins_are_written_as_browsers_send_them() -> None:
    """An origin has no final slash and no default port, and its scheme and host are in lower case."""
    given_and_sent = {
        "https://App.example.org/": "https://app.example.org",
        "http://localhost:3000": "http://localhost:3000",
        "https://app.example.org:443": "https://app.example.org",
        "http://[::1]:80/": "http://[::1]",
        "http://app.example.org:443": "http://app.example.org:443",
        "http://[fe80::80]": "http://[fe80::80]",
    }
    settings = Settings.load({"TOUCHSTONE_CORS_ORIGINS": ",".join(given_and_sent)})
    assert settings.cors_origins == tuple(given_and_sent.values())


@pytest.mark.parametrize(
    "origin",
    [
        "https://app.example.org/path",
        "https://app.example.org//",
        "https://app.example.org?query",
        "https://app.example.org#fragment",
        "https://user@app.example.org",
        "https://",
        "app.example.org",
    ],
)
def test_what_is_more_than_an_origin_is_refused(origin: str) -> None:
    """Browsers send only the scheme, the host and the port, so nothing else can ever match."""
    with pytest.raises(SettingsError, match=r"^TOUCHSTONE_CORS_ORIGINS: .* is not an origin"):
        Settings.load({"TOUCHSTONE_CORS_ORIGINS": origin})


@pytest.mark.parametrize("variable", ["JOB_MEMORY_BYTES", "PROFILE_MEMORY_BYTES", "UPLOAD_QUOTA_BYTES", "JOB_SECONDS"])
def test_limits_that_cannot_be_applied_are_refused(variable: str) -> None:
    """Neither the limits of a process nor the integers of the database go beyond 64 bits."""
    with pytest.raises(SettingsError, match=f"^TOUCHSTONE_{variable}: "):
        Settings.load({f"TOUCHSTONE_{variable}": str(2**63)})


def test_data_roots_are_absolute_paths_of_existing_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing folder, a relative path and a file are refused, even beside a valid folder."""
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path / "missing", tmp_path / "file", Path("folder")):
        with pytest.raises(SettingsError, match=f"^TOUCHSTONE_DATA_ROOTS: '{folder}' is not the absolute path"):
            Settings.load({"TOUCHSTONE_DATA_ROOTS": f"{tmp_path}:{folder}"})
