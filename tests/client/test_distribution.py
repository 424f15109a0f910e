"""The distribution that contains only the client."""

import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Imports the client from a folder, with third-party packages but without the installed product, and prints which
# top-level modules that took.
IMPORT_CLIENT = """
import sys
sys.path[:0] = sys.argv[1:3]
import touchstone.client
assert touchstone.client.__file__.startswith(sys.argv[1]), touchstone.client.__file__
print(*{name.partition(".")[0] for name in sys.modules})
"""
SERVER_PACKAGES = {"fastapi", "starlette", "sqlalchemy", "numpy", "pandas", "pydantic", "sklearn", "uvicorn"}


@pytest.mark.slow
def test_the_client_works_without_the_rest_of_the_product(tmp_path: Path) -> None:
    """The wheel of the client imports nothing that only the server needs."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT / "client", check=True, capture_output=True)
    (wheel,) = tmp_path.glob("touchstone_client-*.whl")
    folder = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(folder)

    command = [sys.executable, "-I", "-S", "-c", IMPORT_CLIENT, str(folder), sysconfig.get_path("purelib")]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert {"touchstone", "httpx2", "msgspec"} <= set(output.split())
    assert not SERVER_PACKAGES & set(output.split())


def test_both_distributions_have_the_same_version() -> None:
    """The version of the client shows which version of the service it belongs to."""
    files = (ROOT / "pyproject.toml", ROOT / "client" / "pyproject.toml")
    product, client = (tomllib.loads(file.read_text())["project"] for file in files)
    assert product["version"] == client["version"]
