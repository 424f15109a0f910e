"""A setting with an unknown name or an invalid value stops the start with one line."""

from pathlib import Path

import pytest

from touchstone.core.settings import Settings, SettingsError


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
        ({"TOUCHSTONE_SELECTION_URL": "127.0.0.1:8101"}, "TOUCHSTONE_SELECTION_URL: an address is http://"),
        ({"TOUCHSTONE_REGISTRATION": "maybe"}, "TOUCHSTONE_REGISTRATION: "),
    ],
)
def test_an_invalid_setting_is_reported_in_one_line(variables: dict[str, str], line: str) -> None:
    """The line begins with the name of the variable, says what is wrong, and does not contain the value of a key."""
    with pytest.raises(SettingsError) as failure:
        Settings.load(variables)
    assert str(failure.value).startswith(line)
    assert "\n" not in str(failure.value)


def test_lists_are_split_and_other_variables_are_ignored() -> None:
    """Data roots are separated by colons and origins by commas, and variables without our prefix are ignored."""
    settings = Settings.load(
        {
            "TOUCHSTONE_DATA_ROOTS": "/a:/b",
            "TOUCHSTONE_CORS_ORIGINS": "https://a.example, http://localhost:3000",
            "PATH": "/bin",
        }
    )
    assert settings.data_roots == (Path("/a"), Path("/b"))
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
