"""The log has exactly one line for each event, whatever the event contains."""

import json
import logging
from collections.abc import Callable, Iterator

import pytest
import structlog

from touchstone.core import logs
from touchstone.core.settings import Settings

HOSTILE_PATH = "a\nlevel=error\x1b[31m\u202e"


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Return a function that configures logging in a format until the end of the test."""
    root_logger = logging.getLogger()
    level = root_logger.level

    def configure_format(log_format: str) -> None:
        monkeypatch.setattr(root_logger, "handlers", [])  # pytest has handlers of its own
        logs.configure_logging(Settings.load({"TOUCHSTONE_LOG_FORMAT": log_format}))

    yield configure_format
    root_logger.setLevel(level)
    structlog.reset_defaults()


def test_commands_show_warnings_as_messages(capsys: pytest.CaptureFixture[str]) -> None:
    """A person reads neither times nor levels nor JSON, and nothing begins a line of its own."""
    logs.log_to_error_stream()
    try:
        log = structlog.get_logger("x")
        log.info("not shown")
        log.warning("readable by other users", path=HOSTILE_PATH, problem="Operation not permitted")
        log.error("disk full")
    finally:
        structlog.reset_defaults()
    assert capsys.readouterr().err.splitlines() == [
        r"touchstone: readable by other users (path: a\nlevel=error\x1b[31m\u202e, problem: Operation not permitted)",
        "touchstone: disk full",
    ]


@pytest.mark.parametrize("log_format", ["json", "console", "auto"])
def test_no_logged_value_can_begin_a_new_line(
    log_format: str, configure: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Control characters are escaped in every format, and JSON keeps the values of fields apart."""
    configure(log_format)
    structlog.get_logger("x").info("request", path=HOSTILE_PATH, number=3)
    structlog.get_logger("x").debug("not shown")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "\x1b[31m\u202e" not in lines[0]
    if log_format != "console":
        event = json.loads(lines[0])
        assert (event["event"], event["level"], event["number"]) == ("request", "info", 3)
        assert event["path"] == HOSTILE_PATH.encode("unicode_escape").decode()


def test_libraries_log_one_line_for_each_event(
    configure: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Their messages and tracebacks are escaped like our own events."""
    configure("json")
    library_log = logging.getLogger("library")
    try:
        raise ValueError(HOSTILE_PATH)
    except ValueError:
        library_log.exception("failed for %s\n", HOSTILE_PATH)
    library_log.warning("slow", stack_info=True)
    library_log.info("not shown")
    lines = capsys.readouterr().err.splitlines()

    failure, warning = map(json.loads, lines)
    escaped_path = HOSTILE_PATH.encode("unicode_escape").decode()
    assert (failure["level"], failure["logger"], failure["event"]) == ("error", "library", f"failed for {escaped_path}")
    assert failure["exception"].endswith(escaped_path)
    assert (warning["level"], warning["event"]) == ("warning", "slow")
    assert warning["stack"].startswith("Stack (most recent call last)")


def test_libraries_log_readable_text(configure: Callable[[str], None], capsys: pytest.CaptureFixture[str]) -> None:
    """In the format for terminals, the traceback has a line of its own, in which nothing else begins a new line."""
    configure("console")
    try:
        raise ValueError(HOSTILE_PATH)
    except ValueError:
        logging.getLogger("library").exception("failed for %s\n", HOSTILE_PATH)
    line, traceback = capsys.readouterr().err.splitlines()
    assert "failed for a\\nlevel=error" in line
    assert traceback.startswith("Traceback (most recent call last)")


def test_a_message_that_cannot_be_formatted_is_logged_in_one_line(
    configure: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """The line has the format of the message, and the mistake of the library in it."""
    configure("json")
    logging.getLogger("library").error("failed for %d", "x")
    (line,) = capsys.readouterr().err.splitlines()
    event = json.loads(line)
    assert (event["level"], event["logger"], event["event"]) == ("error", "library", "failed for %d")
    assert "TypeError" in event["exception"]
