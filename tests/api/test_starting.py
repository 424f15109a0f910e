"""A service that cannot start says why in one line."""

import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.listening import listening
from touchstone.core.settings import Settings, SettingsError
from touchstone.startup.separate_services import open_backend, open_gateway
from touchstone.startup.server_start import open_service
from touchstone.startup.startup_message import command_line


@pytest.mark.parametrize(
    ("variables", "line"),
    [
        ({"TOUCHSTONE_DATA_DIR": "{folder}/file"}, "TOUCHSTONE_DATA_DIR: {folder}/file cannot be used: "),
        ({"TOUCHSTONE_DATA_DIR": "{folder}/file/below"}, "TOUCHSTONE_DATA_DIR: {folder}/file/below cannot be used: "),
        (
            {"TOUCHSTONE_DATA_DIR": "{folder}", "TOUCHSTONE_DATABASE_URL": "sqlite:///{folder}/missing/a.db"},
            "TOUCHSTONE_DATABASE_URL: the database cannot be opened: ",
        ),
    ],
)
async def test_what_cannot_be_opened_is_named_in_one_line(tmp_path: Path, variables: dict[str, str], line: str) -> None:
    """For an unusable folder or database, the line names the variable, and there is no traceback."""
    (tmp_path / "file").touch()
    settings = Settings.load({name: value.format(folder=tmp_path) for name, value in variables.items()})
    with pytest.raises(SettingsError) as error:
        async with open_backend("selection", settings):
            pass
    assert str(error.value).startswith(line.format(folder=tmp_path))
    assert "\n" not in str(error.value)


def test_the_command_line_that_a_start_names_can_be_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is shown with its whole path if the terminal does not find it by its name."""
    folder = Path(sys.executable).parent
    monkeypatch.setenv("PATH", str(folder))
    assert command_line() == "touchstone"
    monkeypatch.setenv("PATH", "/nowhere")
    assert Path(command_line()) == folder / "touchstone"
    assert Path(command_line()).exists()


@pytest.mark.parametrize("name", ["gateway", "training", "explanation"])
def test_a_part_that_is_not_told_where_selection_is_does_not_start(name: str, tmp_path: Path) -> None:
    """All other services depend on the selection service."""
    with pytest.raises(SettingsError, match=f"^TOUCHSTONE_SELECTION_URL: {name} needs the address"):
        open_service(name, Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path)}))


def test_the_whole_product_warns_of_the_addresses_that_it_ignores(tmp_path: Path) -> None:
    """Only separate services use the addresses of other services."""
    addresses = {"TOUCHSTONE_SELECTION_URL": "http://127.0.0.1:9", "TOUCHSTONE_TRAINING_URL": "unix:/run/training"}
    with capture_logs() as entries:
        open_service(None, Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path), **addresses}))
    assert [(entry["log_level"], entry["variable"]) for entry in entries] == [("warning", name) for name in addresses]


KEY, OTHER_KEY = "k" * 40, "o" * 40


@pytest.mark.parametrize(
    ("selection_variables", "training_variables", "line"),
    [
        ({"KEY": KEY, "DIR": "a"}, {"KEY": OTHER_KEY, "DIR": "a"}, "TOUCHSTONE_INTERNAL_KEY: selection at .* another"),
        ({"KEY": KEY, "DIR": "a"}, {"DIR": "a"}, "TOUCHSTONE_INTERNAL_KEY: selection at .* has another key"),
        ({"DIR": "a"}, {"KEY": KEY, "DIR": "a"}, "TOUCHSTONE_INTERNAL_KEY: selection at .* has no key"),
        ({"KEY": KEY, "DIR": "a"}, {"KEY": KEY, "DIR": "b"}, "TOUCHSTONE_DATA_DIR: selection at .* another folder"),
    ],
)
async def test_parts_that_do_not_belong_together_do_not_start(
    selection_variables: dict[str, str], training_variables: dict[str, str], line: str, tmp_path: Path
) -> None:
    """A service compares its key and data folder with those of the service that it depends on."""

    def settings(values: dict[str, str], **other_variables: str) -> Settings:
        names = {"KEY": "TOUCHSTONE_INTERNAL_KEY", "DIR": "TOUCHSTONE_DATA_DIR"}
        variables = {names[name]: str(tmp_path / value) if name == "DIR" else value for name, value in values.items()}
        return Settings.load(
            {**variables, "TOUCHSTONE_DEMO": "false", "TOUCHSTONE_JOB_WORKERS": "0", **other_variables}
        )

    async with open_backend("selection", settings(selection_variables)) as app, listening(app) as address:
        with pytest.raises(SettingsError, match=f"^{line}"):
            async with open_backend("training", settings(training_variables, TOUCHSTONE_SELECTION_URL=address)):
                pass
        swapped_addresses = {"TOUCHSTONE_SELECTION_URL": address, "TOUCHSTONE_TRAINING_URL": address}
        with pytest.raises(SettingsError, match=r"^TOUCHSTONE_TRAINING_URL: .* is the selection part, not training"):
            async with open_gateway(settings(selection_variables, **swapped_addresses)):
                pass
