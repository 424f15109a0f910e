"""A running product, as a user starts it, for tests of the command line, the documentation and the clients."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.serving_process import ServingProcess
from touchstone.core.environment_variable_names import PREFIX


@contextmanager
def served(folder: Path, *, demo: bool = False) -> Iterator[str]:
    """Run `touchstone serve` in a process of its own, on a free loopback port, and return its address.

    While it runs, the environment names the same database, as for someone who works on the server's machine, and a
    separate configuration folder.
    """
    variables = {
        f"{PREFIX}DATA_DIR": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    with environment(variables):
        serving = ServingProcess(folder / "data", **{f"{PREFIX}DEMO": str(demo).lower()}).start()
        try:
            yield serving.address
        finally:
            serving.stop()


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set these environment variables until the end of the block."""
    previous_values = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in previous_values.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
