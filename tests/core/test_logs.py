"""The log has exactly one line for each event, whatever the event contains."""

import json
import logging

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


def test_libraries_log_one_line_for_each_event(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their messages and tracebacks are escaped like our own events."""
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # pytest has handlers of its own
    logs.configure_logging(Settings.load({"TOUCHSTONE_LOG_FORMAT": "json"}))
    library_log = logging.getLogger("library")
    try:
        raise ValueError(HOSTILE_PATH)
    except ValueError:
        library_log.exception("failed for %s\n", HOSTILE_PATH)
    library_log.warning("slow")
    library_log.info("not shown")
    lines = capsys.readouterr().err.splitlines()
    structlog.reset_defaults()

    failure, warning = map(json.loads, lines)
    escaped_path = HOSTILE_PATH.encode("unicode_escape").decode()
    assert (failure["level"], failure["logger"], failure["event"]) == ("error", "library", f"failed for {escaped_path}")
    assert failure["exception"].endswith(escaped_path)
    assert (warning["level"], warning["event"]) == ("warning", "slow")
