"""The log of a process: one line an event, on standard error, as JSON or for people."""

import contextlib
import logging
import sys
from typing import IO, Any, Final

import msgspec
import structlog

from touchstone.core.settings import Settings

_ENCODER: Final = msgspec.json.Encoder(enc_hook=repr)
LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def configure(settings: Settings) -> None:
    """Log what the settings ask for; `auto` writes for people on a terminal, and JSON elsewhere."""
    for_people = settings.log_format == "console" or (settings.log_format == "auto" and sys.stderr.isatty())
    level = LEVELS[settings.log_level]
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _on_one_line,
            structlog.dev.ConsoleRenderer(pad_event_to=0) if for_people else structlog.processors.JSONRenderer(_json),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(_Lossy(sys.stderr))  # type: ignore[arg-type]
        if for_people
        else structlog.BytesLoggerFactory(_Lossy(sys.stderr.buffer)),  # type: ignore[arg-type]
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=max(level, logging.WARNING), format="%(levelname)s %(name)s %(message)s")


class _Lossy:
    """A stream that drops what it cannot write: a log on a full disk must not fail the requests it is about."""

    def __init__(self, stream: IO[Any]) -> None:
        self._stream = stream

    def write(self, line: Any) -> None:
        """Write a line, or drop it."""
        with contextlib.suppress(OSError):
            self._stream.write(line)

    def flush(self) -> None:
        """Hand what was written to the system, or keep it for a later attempt."""
        with contextlib.suppress(OSError):
            self._stream.flush()


def _json(event: structlog.typing.EventDict, **_options: Any) -> bytes:
    # A line a request: the standard library's encoder would cost a fifth of a hot answer.
    return _ENCODER.encode(event)


def _on_one_line(_logger: Any, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    # A path or a name comes from outside: its control characters must not write lines or colours of their own.
    return {name: _escaped(value) if isinstance(value, str) else value for name, value in event.items()}


def _escaped(value: str) -> str:
    return value if value.isprintable() else value.encode("unicode_escape").decode("ascii")
