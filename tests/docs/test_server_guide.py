"""The page about running on a server configures what the service reads, and a clone keeps its secrets to itself."""

import configparser
import re
import subprocess
from pathlib import Path

import pytest

from touchstone.core.settings import Settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "run-on-a-server.md").read_text()
SETTINGS_FILE, UNIT_FILE = re.findall(r"```ini\n(.*?)```", PAGE, re.DOTALL)


def test_the_settings_of_the_page_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server starts with them: their names and values are valid."""
    for line in SETTINGS_FILE.splitlines():
        name, _, value = line.partition("=")
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert (str(settings.data_dir), settings.registration, settings.demo) == ("/srv/touchstone/data", "closed", False)


def test_the_unit_starts_what_the_page_has_installed() -> None:
    """Systemd starts the program of the environment that `make install` creates, with the settings of the page."""
    unit = configparser.ConfigParser()
    unit.read_string(UNIT_FILE)
    assert unit["Service"]["ExecStart"] == "/srv/touchstone/code/.venv/bin/touchstone serve"
    assert f"`{unit['Service']['EnvironmentFile']}`" in PAGE
    commands = subprocess.run(
        ["make", "--dry-run", "--always-make", "install"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert re.search(r"pip install .*--python \.venv/bin/python .*-e \.$", commands, re.MULTILINE)


def test_the_data_of_a_server_in_a_clone_is_ignored_by_git() -> None:
    """Its data folder contains keys; tools that follow `.gitignore` leave the scripts of its jobs alone, too."""
    default_folder = Settings.model_fields["data_dir"].default
    assert f"/{default_folder}/" in (ROOT / ".gitignore").read_text().splitlines()
