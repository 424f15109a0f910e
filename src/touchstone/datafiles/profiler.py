"""What a data file holds, measured in a child process that can hurt nobody.

The parent never parses the file: it hands the opened descriptor to `profiling_child`, which limits itself in memory,
processor time and file writes, and answers one JSON document. Whatever happens there, the parent gets a `Profile` or
a `ProfilingError` with a stable reason.
"""

import asyncio
import os
import sys
from enum import StrEnum
from typing import BinaryIO, Final

import msgspec

FILE_TYPES: Final = ("csv", "tsv", "parquet", "json", "jsonl")

# An empty cell or null always counts as missing; these words do too, whatever the blanks around them.
# Not among them: None, -, -9, 999, which are values in some tables.
MISSING_MARKS: Final = ("", "NA", "N/A", "n/a", "na", "null", "NULL", "NaN", "nan", "?")

_ANSWER_BYTES: Final = 32 * 2**20


class Reason(StrEnum):
    """Why a file could not be measured; the values never change."""

    UNSUPPORTED_TYPE = "unsupported_type"
    EMPTY = "empty"
    NOT_TEXT = "not_text"  # binary content under the name of a text format
    MALFORMED = "malformed"  # not what its type says: broken Parquet or JSON, rows of uneven length
    LINE_TOO_LONG = "line_too_long"
    TOO_MANY_COLUMNS = "too_many_columns"
    TOO_LARGE = "too_large"  # needs more memory than the limit
    TOO_SLOW = "too_slow"  # needs more time than the limit
    CRASHED = "crashed"  # the reader died


class ProfilingError(Exception):
    """The file could not be measured, with the reason that is told to the caller."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else str(reason))
        self.reason = reason


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What measuring one file may cost. Bytes and seconds; memory is address space, libraries included."""

    memory_bytes: int = 3 * 2**30
    cpu_seconds: int = 60
    wall_seconds: float = 60.0
    columns: int = 2_000
    line_bytes: int = 2 * 2**20


class ColumnType(StrEnum):
    """What the values of a column are, missing ones set aside."""

    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    TEXT = "text"


class ColumnProfile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One column. Counts are exact but for `distinct`, which is an estimate above a few hundred values.

    `histogram`: counts in equal-width bins from `minimum` to `maximum` (numbers only). `top`: the most frequent
    values with their counts, for columns of few values. A wholly missing column has type text and no extremes.
    """

    name: str
    type: ColumnType
    missing: int
    distinct: int
    minimum: float | str | None = None
    maximum: float | str | None = None
    mean: float | None = None
    deviation: float | None = None
    infinite: int = 0
    histogram: list[int] = []
    top: list[tuple[str, int]] = []


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """A measured file: the value of `metadata.measured`.

    `missing_values_percentage` is the share of missing cells among all cells, 0-100, and null without cells.
    `missing_marks` says how each mark was spelled and how many cells carried it; the empty mark counts empty cells
    and nulls. `warnings` are stable keys
    (`first_row_looks_like_data`).
    """

    rows: int
    columns: int
    missing_values_percentage: float | None
    sha256: str
    bytes: int
    file_type: str
    missing_marks: dict[str, int]
    warnings: list[str]
    column_profiles: list[ColumnProfile]


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What the child is asked: the descriptor it inherits, the type of the file and its limits."""

    descriptor: int
    file_type: str
    limits: Limits


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """The child's answer when the file can't be measured."""

    reason: Reason
    detail: str


class Answer(msgspec.Struct, frozen=True, tag=True):
    """The child's answer when the file was measured."""

    profile: Profile


async def profile(file: BinaryIO, file_type: str, *, limits: Limits | None = None) -> Profile:
    """Measure an opened file. Its position is neither used nor moved.

    Raises `ProfilingError`. Cancelling ends the child at once.
    """
    if file_type not in FILE_TYPES:
        raise ProfilingError(Reason.UNSUPPORTED_TYPE, file_type)
    order = Order(descriptor=file.fileno(), file_type=file_type, limits=limits or Limits())
    process = await _start(order)
    try:
        output = await asyncio.wait_for(_output(process), order.limits.wall_seconds)
    except TimeoutError:
        raise ProfilingError(Reason.TOO_SLOW, "out of time") from None
    finally:
        await _end(process)
    return _read(output, process.returncode)


async def _start(order: Order) -> asyncio.subprocess.Process:
    """Start the child process with an empty environment and only the file descriptor that it needs."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-m",
        "touchstone.datafiles.profiler_child",
        msgspec.json.encode(order).decode(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC", "MALLOC_ARENA_MAX": "2"},
        pass_fds=(order.descriptor,),
    )


async def _output(process: asyncio.subprocess.Process) -> bytes:
    """All the child says, up to a bound: a wild child must not fill the parent's memory."""
    assert process.stdout is not None
    chunks: list[bytes] = []
    size = 0
    while size <= _ANSWER_BYTES and (chunk := await process.stdout.read(2**16)):
        chunks.append(chunk)
        size += len(chunk)
    if size <= _ANSWER_BYTES:
        await process.wait()
    return b"".join(chunks)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
        await process.wait()


def _read(output: bytes, status: int | None) -> Profile:
    """Return the profile from the output of the child; raise `ProfilingError` with the reason if there is none."""
    try:
        answer = msgspec.json.decode(output, type=Answer | Refusal)
    except msgspec.DecodeError:
        raise ProfilingError(_DEATHS.get(status or 0, Reason.CRASHED), f"the reader ended with {status}") from None
    if isinstance(answer, Refusal):
        raise ProfilingError(answer.reason, answer.detail)
    return answer.profile


# Ends by signal that tell their reason: SIGXCPU (the processor limit, as a second SIGKILL) and SIGALRM.
_DEATHS: Final = {-24: Reason.TOO_SLOW, -14: Reason.TOO_SLOW, -9: Reason.TOO_SLOW}
