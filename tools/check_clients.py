"""Generate a Python and a TypeScript client from the OpenAPI document, and fail on any warning.

    make .venv/.clients && .venv/bin/python tools/check_clients.py

The Python generator is installed in the environment `.venv/clients`. npx downloads the TypeScript generator. If npx is
not installed, this step is skipped with a message, or fails if the variable `CI` is set.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from touchstone.core.settings import Settings
from touchstone.startup.whole_product import openapi

ENVIRONMENT: Final = Path(__file__).parents[1] / ".venv" / "clients" / "bin"
TYPESCRIPT_GENERATOR: Final = "openapi-typescript@7.13.0"
PACKAGE: Final = "generated_client"


def is_installed() -> bool:
    """Return whether the Python generator is installed."""
    return (ENVIRONMENT / "openapi-python-client").exists()


def generate_python(document: Path, folder: Path) -> Path:
    """Generate a Python client package from an OpenAPI document, and return its path.

    The package needs the Python of `ENVIRONMENT`, which has its dependencies.

    Args:
        document: the OpenAPI document.
        folder: the folder for the new package.

    Raises:
        RuntimeError: the generator warned or failed. The message is its output.
    """
    generator = str(ENVIRONMENT / "openapi-python-client")
    package = folder / PACKAGE
    options = ["--fail-on-warning", "--meta", "none", "--path", str(document), "--output-path", str(package)]
    _run([generator, "generate", *options], folder)
    return package


def generate_typescript(document: Path, folder: Path) -> Path:
    """Generate TypeScript declarations from an OpenAPI document, and return their path.

    Args:
        document: the OpenAPI document.
        folder: the folder for the new file.

    Raises:
        RuntimeError: the generator warned or failed. The message is its output.
    """
    declarations = folder / "client.d.ts"
    output = _run(["npx", "--yes", TYPESCRIPT_GENERATOR, str(document), "--output", str(declarations)], folder)
    # Warnings of npm itself concern the settings of this machine.
    warnings = [line for line in output.splitlines() if "warn" in line.lower() and not line.startswith("npm ")]
    if warnings:
        raise RuntimeError("\n".join(warnings))
    return declarations


def _run(command: list[str], folder: Path) -> str:
    """Run a generator in a folder, and return its output.

    Raises:
        RuntimeError: the generator failed. The message is its output.
    """
    # The Python generator formats its code with the formatter on the path.
    path = f"{ENVIRONMENT}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1"}

    process = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    if process.returncode != 0:
        raise RuntimeError(process.stdout)
    return process.stdout


def main() -> int:
    """Generate both clients in a temporary folder, print the results, and return the exit status."""
    if not is_installed():
        print("The Python generator is missing: run `make .venv/.clients` first.")
        return 2

    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        document = folder / "openapi.json"
        document.write_text(json.dumps(asyncio.run(openapi(Settings()))))

        generate_python(document, folder)
        print("openapi-python-client: no warning")

        if shutil.which("npx") is None:
            print("openapi-typescript: skipped, npx is not installed")
            return 1 if os.environ.get("CI") else 0

        generate_typescript(document, folder)
        print("openapi-typescript: no warning")
    return 0


if __name__ == "__main__":
    sys.exit(main())
