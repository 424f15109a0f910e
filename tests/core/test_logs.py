"""The log has exactly one line for each event, whatever the event contains."""

import json

import pytest
import structlog

from touchstone.core import logs
from touchstone.core.settings import Settings

HOSTILE_PATH = "a\nlevel=error\x1b[31m\u202e"


@pytest.mark.parametrize("log_format", ["json", "console", "auto"])
def test_no_logged_value_can_begin_a_new_line(log_format: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters are escaped in every format, and JSON keeps the values of fields apart."""
    logs.configure_logging(Settings.load({"TOUCHSTONE_LOG_FORMAT": log_format}))
    structlog.get_logger("x").info("request", path=HOSTILE_PATH, number=3)
    structlog.get_logger("x").debug("not shown")
    lines = capsys.readouterr().err.splitlines()
    structlog.reset_defaults()
    assert len(lines) == 1
    assert "\x1b[31m\u202e" not in lines[0]
    if log_format != "console":
        event = json.loads(lines[0])
        assert (event["event"], event["level"], event["number"]) == ("request", "info", 3)
        assert event["path"] == HOSTILE_PATH.encode("unicode_escape").decode()
