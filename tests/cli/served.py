"""A served product, as a person starts it, for tests of the command line, the documentation and the clients."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from touchstone.core.settings import PREFIX

START_SECONDS = 120
STOP_SECONDS = 60


@contextmanager
def served(folder: Path, *, demo: bool = False) -> Iterator[str]:
    """`touchstone serve` in a process of its own, on a free loopback port; its address.

    While it runs, the environment names the same database, as for someone who works on the server's machine, and a
    configuration folder of its own.
    """
    mine = {
        f"{PREFIX}DATA_DIR": str(folder / "data"),
        f"{PREFIX}DEMO": str(demo).lower(),
        f"{PREFIX}PORT": "0",
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    with environment(mine), (folder / "log").open("w") as log:
        command = [sys.executable, "-u", "-m", "touchstone", "serve"]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
        try:
            yield _address(process, folder / "log")
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _address(process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"answers at (http://\S+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"the server did not start:\n{log.read_text()}")


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """These variables, until the end of the block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
