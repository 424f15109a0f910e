"""The log is one line an event, whatever the event says."""

import json

import pytest
import structlog

from touchstone.core import logs
from touchstone.core.settings import Settings

HOSTILE = "a\nlevel=error\x1b[31m\u202e"


@pytest.mark.parametrize("form", ["json", "console", "auto"])
def test_nothing_that_is_logged_starts_a_line(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters are escaped in every form, and fields keep their values apart."""
    logs.configure(Settings.load({"TOUCHSTONE_LOG_FORMAT": form}))
    structlog.get_logger("x").info("request", path=HOSTILE, number=3)
    structlog.get_logger("x").debug("not shown")
    lines = capsys.readouterr().err.splitlines()
    structlog.reset_defaults()
    assert len(lines) == 1
    assert "\x1b[31m\u202e" not in lines[0]
    if form != "console":
        found = json.loads(lines[0])
        assert (found["event"], found["level"], found["number"]) == ("request", "info", 3)
        assert found["path"] == HOSTILE.encode("unicode_escape").decode()
