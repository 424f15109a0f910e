"""Logging of one line per event on standard error, as JSON or as readable text."""

import contextlib
import logging
import sys
from typing import IO, Any, Final

import msgspec
import structlog

from touchstone.core.settings import Settings

LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
# Every request is logged, and the standard library's encoder would take a fifth of the time for a fast handler.
_JSON_ENCODER: Final = msgspec.json.Encoder(enc_hook=repr)


def configure_logging(settings: Settings) -> None:
    """Configure logging on standard error according to the settings `log_level` and `log_format`.

    For libraries, which use Python's `logging` module, only warnings and errors are logged.
    """
    level = LEVELS[settings.log_level]
    if _wants_text(settings):
        renderer, logger_factory = _text_output()
    else:
        renderer, logger_factory = _json_output()

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _escape_control_characters,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=logger_factory,
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=max(level, logging.WARNING), handlers=[_LibraryHandler()])


def log_to_error_stream() -> None:
    """Write warnings and errors to standard error as messages of a command, which has no log of its own.

    By default, structlog writes log lines to standard output, where commands print their results. A command that serves
    calls `configure_logging` afterwards.
    """
    structlog.configure(
        processors=[structlog.processors.format_exc_info, _escape_control_characters, _render_message],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS["warning"]),
        logger_factory=lambda *_names: structlog.PrintLogger(sys.stderr),
    )


def _render_message(_logger: Any, _method: str, event: structlog.typing.EventDict) -> str:
    """Return an event as a message of a command, such as `touchstone: disk full (problem: no space left)`."""
    facts = ", ".join(f"{name}: {value}" for name, value in event.items() if name != "event")
    return f"touchstone: {event['event']} ({facts})" if facts else f"touchstone: {event['event']}"


def _wants_text(settings: Settings) -> bool:
    """Return whether to log readable text.

    The format `auto` means text on a terminal and JSON otherwise.
    """
    if settings.log_format == "auto":
        return sys.stderr.isatty()
    return settings.log_format == "console"


def _text_output() -> tuple[structlog.typing.Processor, Any]:
    """Return the renderer for coloured text, and the factory for loggers that write it."""
    stream = _LossyStream(sys.stderr)
    renderer = structlog.dev.ConsoleRenderer(pad_event_to=0)
    return renderer, structlog.PrintLoggerFactory(stream)  # type: ignore[arg-type]


def _json_output() -> tuple[structlog.typing.Processor, Any]:
    """Return the renderer for JSON lines, and the factory for loggers that write them."""
    stream = _LossyStream(sys.stderr.buffer)
    renderer = structlog.processors.JSONRenderer(_encode_event)
    return renderer, structlog.BytesLoggerFactory(stream)  # type: ignore[arg-type]


class _LibraryHandler(logging.Handler):
    """A handler that logs the messages of libraries like our own events, without line breaks."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log a message of a library, with the name of its logger and the exception, if there is one."""
        library_log = structlog.get_logger()
        log_event = library_log.error if record.levelno >= logging.ERROR else library_log.warning
        exception = record.exc_info
        try:
            message = record.getMessage()
        except Exception:  # noqa: BLE001 - a library must not fail because its message cannot be formatted
            message = str(record.msg)
            exception = sys.exc_info()
        log_event(message.rstrip(), logger=record.name, exc_info=exception, **_stack_of(record))


def _stack_of(record: logging.LogRecord) -> dict[str, str]:
    """Return the stack of a message that a library has logged with its stack, as a field of the event."""
    return {"stack": record.stack_info} if record.stack_info else {}


class _LossyStream:
    """A stream that ignores write errors, so that a log on a full disk does not make requests fail."""

    def __init__(self, stream: IO[Any]) -> None:
        self._stream = stream

    def write(self, line: Any) -> None:
        """Write a line, or drop it on an error."""
        with contextlib.suppress(OSError):
            self._stream.write(line)

    def flush(self) -> None:
        """Flush the stream, or keep its buffer for the next attempt on an error."""
        with contextlib.suppress(OSError):
            self._stream.flush()


def _encode_event(event: structlog.typing.EventDict, **_options: Any) -> bytes:
    """Encode an event as JSON, ignoring the options for the standard library's encoder."""
    return _JSON_ENCODER.encode(event)


def _escape_control_characters(
    _logger: Any, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Escape the strings in an event, because control characters could forge log lines or colours."""
    return {name: _escape(value) if isinstance(value, str) else value for name, value in event.items()}


def _escape(text: str) -> str:
    r"""Return a printable string unchanged, and any other one with backslash escapes such as `\x1b`."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
