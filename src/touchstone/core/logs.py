"""Logging: one line per event on standard error, as JSON or in a form for people."""

import contextlib
import logging
import sys
from typing import IO, Any, Final

import msgspec
import structlog

from touchstone.core.settings import Settings

LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
# Every request logs a line, and the encoder of the standard library would cost a fifth of a hot response.
_ENCODER: Final = msgspec.json.Encoder(enc_hook=repr)


def configure(settings: Settings) -> None:
    """Configure structlog; the format `auto` is for people on a terminal and JSON elsewhere."""
    level = LEVELS[settings.log_level]
    is_for_people = settings.log_format == "console" or (settings.log_format == "auto" and sys.stderr.isatty())

    renderer: structlog.typing.Processor
    logger_factory: Any
    if is_for_people:
        renderer = structlog.dev.ConsoleRenderer(pad_event_to=0)
        logger_factory = structlog.PrintLoggerFactory(_LossyStream(sys.stderr))  # type: ignore[arg-type]
    else:
        renderer = structlog.processors.JSONRenderer(_encode_event)
        logger_factory = structlog.BytesLoggerFactory(_LossyStream(sys.stderr.buffer))  # type: ignore[arg-type]

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
    logging.basicConfig(level=max(level, logging.WARNING), format="%(levelname)s %(name)s %(message)s")


class _LossyStream:
    """A stream that drops what it cannot write, so that a log on a full disk does not make requests fail."""

    def __init__(self, stream: IO[Any]) -> None:
        self._stream = stream

    def write(self, line: Any) -> None:
        """Write a line, or drop it if the system refuses."""
        with contextlib.suppress(OSError):
            self._stream.write(line)

    def flush(self) -> None:
        """Flush the stream, or leave its buffer for a later attempt if the system refuses."""
        with contextlib.suppress(OSError):
            self._stream.flush()


def _encode_event(event: structlog.typing.EventDict, **_options: Any) -> bytes:
    return _ENCODER.encode(event)


def _escape_control_characters(
    _logger: Any, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Escape values that contain control characters, which could forge lines or colours of the log."""
    return {name: _escape(value) if isinstance(value, str) else value for name, value in event.items()}


def _escape(value: str) -> str:
    return value if value.isprintable() else value.encode("unicode_escape").decode("ascii")
