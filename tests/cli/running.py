"""Functions that run one command of the command line in this process."""

import json
from typing import Any

import structlog
from typer.testing import CliRunner, Result

from touchstone.cli.main import build_application

PASSWORD = "correct horse battery"


def run(*arguments: str, text: str | None = None) -> Result:
    """Run one command, as `touchstone` with these arguments."""
    # Commands configure the log of their process, which is that of all tests here.
    log_configuration = structlog.get_config()
    try:
        return CliRunner().invoke(build_application(arguments), list(arguments), prog_name="touchstone", input=text)
    finally:
        structlog.configure(**log_configuration)


def run_json(*arguments: str, text: str | None = None) -> Any:
    """Run one command that succeeds, and return the JSON value that it prints, or None if it prints nothing."""
    result = run(*arguments, text=text)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout) if result.stdout else None
