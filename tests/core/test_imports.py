"""What a server imports when it starts: nothing heavy that most of them never use."""

import subprocess
import sys

import pytest

HEAVY = ("alembic", "duckdb", "numba", "pandas", "ray", "scipy", "sklearn", "typst")


@pytest.mark.slow
def test_a_server_starts_without_heavy_packages() -> None:
    """Each of these takes a noticeable part of the time of a start, and is imported by what needs it."""
    code = "import sys, touchstone.cli.server_commands; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert not set(HEAVY) & set(modules)
