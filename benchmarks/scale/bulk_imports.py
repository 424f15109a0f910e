"""Bulk imports over HTTP and with the command line, compared with the fastest way to insert rows into the database."""

import http.client
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.product_server import PASSWORD, ServerProcess, User
from benchmarks.raw_http import host_and_port
from benchmarks.scale.measured_catalog import MeasuredCatalog, sign_in
from benchmarks.scale.record_lines import write_record_lines
from benchmarks.scale.report import Figure, Target, print_figure, print_heading

BULK_PATH: Final = "/api/v1/datasets/bulk"
_BLOCK_BYTES: Final = 1 << 20
_TIMEOUT_SECONDS: Final = 7200.0
_HTTP_RATE: Final = {"postgresql": 20_000, "sqlite": 15_000}
_COMMAND_LINE_RATE: Final = 10_000


class BulkSummary(msgspec.Struct):
    """The last line of the response to a bulk import."""

    done: bool
    made: int
    updated: int
    unchanged: int
    refused: int
    detail: str = ""


def measure_bulk_imports(catalog: MeasuredCatalog, folder: Path, record_count: int) -> None:
    """Print the import rates of the product in records per second. Missing records end the run."""
    print_heading(f"Bulk import of {record_count:,} records into {catalog.label}")
    http_lines = folder / "http.jsonl"
    command_line_lines = folder / "command-line.jsonl"
    first_id = catalog.record_count + 1
    write_record_lines(http_lines, first_id, record_count)
    write_record_lines(command_line_lines, first_id + record_count, record_count)

    database_rate = _measure_database(catalog, first_id, record_count)

    with catalog.serving() as server:
        user = sign_in(server)
        rate = _measure_http(server, user, http_lines, record_count)
        counterpart = f"the database alone takes {database_rate:,.0f} rows/s"
        target = Target(_HTTP_RATE[catalog.kind], is_minimum=True)
        print_figure(Figure("over HTTP", rate, "records/s", counterpart, target))

        rate = _measure_repetition(server, user, http_lines, record_count)
        print_figure(Figure("the same lines again, which changes nothing", rate, "records/s"))

        rate = _measure_command_line(server, user, command_line_lines, record_count)
        target = Target(_COMMAND_LINE_RATE, is_minimum=True)
        print_figure(Figure("through the command line", rate, "records/s", "", target))


def _measure_database(catalog: MeasuredCatalog, first_id: int, record_count: int) -> float:
    """Return the insert rate of the database without the product, in rows per second."""
    began_at = time.perf_counter()
    catalog.database.insert_rows(first_id, record_count)
    return record_count / (time.perf_counter() - began_at)


def _measure_http(server: ServerProcess, user: User, lines: Path, record_count: int) -> float:
    """Return the import rate over HTTP in records per second."""
    seconds, summary = _time_import(server, user, lines)
    if summary.made != record_count:
        raise SystemExit(f"not all records were imported: {summary}")
    return record_count / seconds


def _measure_repetition(server: ServerProcess, user: User, lines: Path, record_count: int) -> float:
    """Return the rate of a repeated import, which changes nothing, in records per second."""
    seconds, summary = _time_import(server, user, lines)
    if summary.unchanged != record_count:
        raise SystemExit(f"the repeated import changed records: {summary}")
    return record_count / seconds


def _time_import(server: ServerProcess, user: User, lines: Path) -> tuple[float, BulkSummary]:
    """Import a JSON Lines file over HTTP, and return the duration in seconds and the summary."""
    began_at = time.perf_counter()
    summary = send_lines(server.address, user.token, lines)
    return time.perf_counter() - began_at, summary


def send_lines(address: str, token: str, lines: Path) -> BulkSummary:
    """Import a file of JSON Lines with a single request, and return the summary in the last line of the response."""
    host, port = host_and_port(address)
    headers = {"Content-Type": "application/x-ndjson", "Authorization": f"Bearer {token}"}

    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_SECONDS, blocksize=_BLOCK_BYTES)
    with closing(connection), lines.open("rb") as body:
        connection.request("POST", BULK_PATH, body, headers, encode_chunked=True)
        response = connection.getresponse()
        content = response.read()

    if response.status != 200:
        raise SystemExit(f"{BULK_PATH}: {response.status} {content[:300].decode()}")
    last_line = content.splitlines()[-1]
    return msgspec.json.decode(last_line, type=BulkSummary)


def _measure_command_line(server: ServerProcess, user: User, lines: Path, record_count: int) -> float:
    """Return the import rate of the command line in records per second, including its start."""
    with tempfile.TemporaryDirectory() as configuration_folder:
        settings = {"XDG_CONFIG_HOME": configuration_folder, "TOUCHSTONE_URL": server.address}
        environment = os.environ | settings
        _run_command(["login", "--email", user.email, "--password", PASSWORD], environment)

        began_at = time.perf_counter()
        _run_command(["import", "--bulk", str(lines)], environment)
        return record_count / (time.perf_counter() - began_at)


def _run_command(arguments: list[str], environment: dict[str, str]) -> None:
    """Run a command of the product, and raise CalledProcessError if it fails."""
    command = [sys.executable, "-m", "touchstone", *arguments]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
