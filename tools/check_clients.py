"""Generate a Python and a TypeScript client from the OpenAPI document, and refuse any warning.

    make .venv/.clients && .venv/bin/python tools/check_clients.py

The Python generator comes with the environment `.venv/clients`. The TypeScript generator is fetched by npx; without
npx it is skipped with a message, which is an error when the variable `CI` is set.
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

from touchstone import compose
from touchstone.core.settings import Settings

ENVIRONMENT: Final = Path(__file__).parents[1] / ".venv" / "clients" / "bin"
TYPESCRIPT_GENERATOR: Final = "openapi-typescript@7.13.0"
PACKAGE: Final = "generated_client"


def is_installed() -> bool:
    """Return whether the environment with the Python generator is there."""
    return (ENVIRONMENT / "openapi-python-client").exists()


def generate_python(document: Path, folder: Path) -> Path:
    """Generate the Python package in `folder`, which needs the environment's packages, and return its path.

    Raises:
        RuntimeError: the generator warned or failed; the message is its output.
    """
    package = folder / PACKAGE
    generator = [str(ENVIRONMENT / "openapi-python-client"), "generate", "--fail-on-warning", "--meta", "none"]
    _run([*generator, "--path", str(document), "--output-path", str(package)], folder)
    return package


def generate_typescript(document: Path, folder: Path) -> Path:
    """Generate the TypeScript declarations in `folder` and return their path.

    Raises:
        RuntimeError: the generator warned or failed; the message is its output.
    """
    declarations = folder / "client.d.ts"
    output = _run(["npx", "--yes", TYPESCRIPT_GENERATOR, str(document), "--output", str(declarations)], folder)
    # npm itself warns about the settings of the machine that it runs on.
    warnings = [line for line in output.splitlines() if "warn" in line.lower() and not line.startswith("npm ")]
    if warnings:
        raise RuntimeError("\n".join(warnings))
    return declarations


def _run(command: list[str], folder: Path) -> str:
    # The Python generator formats its code with what it finds on the path.
    path = f"{ENVIRONMENT}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stdout)
    return done.stdout


def main() -> int:
    """Generate both clients in a temporary folder and return the exit status."""
    if not is_installed():
        print("The Python generator is missing: run `make .venv/.clients` first.")
        return 2

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        document = folder / "openapi.json"
        document.write_text(json.dumps(asyncio.run(compose.openapi(Settings()))))

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
