"""A part that cannot start says why in one line."""

import sys
from pathlib import Path

import pytest

from touchstone import compose
from touchstone.core.settings import Settings, SettingsError


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
    """A folder that is none and a database that cannot be opened name their variable instead of showing a trace."""
    (tmp_path / "file").touch()
    settings = Settings.load({name: value.format(folder=tmp_path) for name, value in variables.items()})
    with pytest.raises(SettingsError) as refused:
        async with compose.backend("selection", settings):
            pass
    assert str(refused.value).startswith(line.format(folder=tmp_path))
    assert "\n" not in str(refused.value)


def test_the_command_line_that_a_start_names_can_be_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal that does not find the command the whole path is shown; the bare name where it does."""
    folder = Path(sys.executable).parent
    monkeypatch.setenv("PATH", str(folder))
    assert compose.command_line() == "touchstone"
    monkeypatch.setenv("PATH", "/nowhere")
    assert Path(compose.command_line()) == folder / "touchstone"
    assert Path(compose.command_line()).exists()
