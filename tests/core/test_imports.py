"""What a server imports when it starts: no heavy packages that most servers never use."""

import subprocess
import sys

import pytest

HEAVY_PACKAGES = ("alembic", "duckdb", "numba", "pandas", "ray", "scipy", "sklearn", "typst")


@pytest.mark.slow
def test_a_server_starts_without_heavy_packages() -> None:
    """Each of these takes a noticeable part of the time of a start, and is imported only by the code that needs it."""
    code = "import sys, touchstone.cli.server_commands; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert not set(HEAVY_PACKAGES) & set(modules)
