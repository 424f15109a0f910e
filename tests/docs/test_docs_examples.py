"""Every example of the tutorial and the guides runs, in the order of its page."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.served import served
from touchstone.client import Touchstone

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]
SEPARATE_SERVICES_PAGE = DOCS / "how-to" / "run-the-services-separately.md"  # starts servers of its own
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS, EMAIL, PASSWORD = "http://127.0.0.1:8000", "ada@example.org", "seven green herons"
START_COMMAND = "make serve\n"
CONFIGURATIONS = ("nginx", "caddy", "ini")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("docs"), demo=True) as address:
        yield address


def path_without_touchstone() -> str:
    """Return a PATH without the environment in which the tests run."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not Path(folder, "touchstone").exists())


def script_of_page(page: Path, folder: Path) -> str:
    """Return a page as one script, in which the Python blocks form a single program."""
    steps, program = ["set -euo pipefail"], ""
    for number, (language, block) in enumerate(FENCE.findall(page.read_text())):
        if language == "sh":
            steps.append(block)
        elif language == "python":
            program += block
            (folder / f"program{number}.py").write_text(program)
            steps = [step for step in steps if not step.startswith("python program")]
            steps.append(f"python program{number}.py")
        elif language in CONFIGURATIONS:
            continue  # for another program; separate tests read them
        else:
            assert (language, block) == ("text", START_COMMAND), f"{page.name}: {language!r} examples are not run"
    return "\n".join(steps)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", [page for page in PAGES if page != SEPARATE_SERVICES_PAGE], ids=lambda page: page.stem)
def test_every_example_runs(page: Path, address: str, tmp_path: Path) -> None:
    """A reader who copies the examples of a page one after the other succeeds."""
    email = f"{page.stem}@example.org"
    text = script_of_page(page, tmp_path)
    if page.stem != "tutorial":  # the tutorial creates its account itself; the other pages expect one
        with Touchstone(address) as client:
            client.register(email, PASSWORD)
    for file in (tmp_path / "script.sh", *tmp_path.glob("program*.py")):
        original_text = text if file.suffix == ".sh" else file.read_text()
        file.write_text(original_text.replace(ADDRESS, address).replace(EMAIL, email))
    # The folder is like a clone after `make serve`; the page itself must say how its reader reaches the commands.
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    variables = {**os.environ, "PATH": path_without_touchstone(), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    process = run_script(tmp_path, variables)
    assert process.returncode == 0, f"{process.stdout[-3000:]}\n{process.stderr[-3000:]}"
    if page.stem == "tutorial":
        check_end_of_tutorial(process.stdout, tmp_path)


def check_end_of_tutorial(output: str, folder: Path) -> None:
    """Check that both choices of the tutorial are printed with author and digest, and that the report is a PDF."""
    choices = re.findall(r"Ada chose (.+), rank (\d+)\n  digest [0-9a-f]{64}\n  (.+)", output)
    assert [(rank, reason.split()[0]) for _, rank, reason in choices] == [("2", "Almost"), ("1", "Documented,")], output
    assert "still the same: True" in output
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")


def run_script(folder: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the script of a page, and end the processes that it has left running."""
    output, errors = (folder / "script.out").open("w+"), (folder / "script.err").open("w+")
    with output, errors:
        process = subprocess.Popen(
            ["bash", "script.sh"], cwd=folder, env=variables, stdout=output, stderr=errors, start_new_session=True
        )
        try:
            status = process.wait(400)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    texts = [(folder / name).read_text() for name in ("script.out", "script.err")]
    return subprocess.CompletedProcess(["bash"], status, *texts)


@pytest.mark.timeout(600)
def test_the_parts_are_started_from_the_page_alone(database_kind: str, database_url: str, tmp_path: Path) -> None:
    """Following the page about separate services in an empty folder trains a model and stops all services."""
    text = script_of_page(SEPARATE_SERVICES_PAGE, tmp_path)
    for number, port in enumerate(free_ports(4)):
        text = text.replace(f":{8100 + number}", f":{port}").replace(f"_PORT={8100 + number}", f"_PORT={port}")
    (tmp_path / "script.sh").write_text(text)
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TOUCHSTONE_")}
    variables["PATH"] = path_without_touchstone()
    if database_kind == "postgresql":
        variables["DATABASE_URL"] = database_url

    process = run_script(tmp_path, variables)

    logs = {path.name: path.read_text()[-1500:] for path in tmp_path.glob("*.log")}
    assert process.returncode == 0, f"{process.stdout[-2000:]}\n{process.stderr[-3000:]}\n{logs}"
    assert "Traceback" not in "".join(logs.values()), logs


def free_ports(count: int) -> list[int]:
    """Return free ports on loopback."""
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [listener.getsockname()[1] for listener in listeners]


def test_the_pages_lead_to_one_another() -> None:
    """Every relative link of these pages has a target."""
    for page in PAGES:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
