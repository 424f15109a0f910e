"""Benchmarks that are run as their users run them, with small sizes."""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import __main__ as benchmark_runner

ROOT = Path(__file__).parents[2]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "benchmarks").rglob("*.md")))
COMMAND = re.compile(r"(?:python -m benchmarks |make bench ARGS=\"?)([a-z_]+)")
# Those that need neither a server of the product nor packages that only benchmarks need.
QUICK_RUNS = (
    ("evidence_extraction", "--mistakes"),
    ("search", "precision"),
    ("following", "200"),
    ("scale", "--records", "200", "--database", "sqlite", "--part", "generate", "--folder", "scale"),
    ("long_answers", "--items", "200", "--rounds", "1"),
    ("assurance", "1e3"),
    ("reasons", "1e3"),
    ("ties", "1e3"),
    ("search", "large", "1e3"),
)
RUNS_WITH_OTHER_ENGINES = (("ranking", "1e3"), ("search", "scale", "1e3"))


def run_benchmark(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `python -m benchmarks` in a folder, where it may write files."""
    search_path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "benchmarks", *arguments]
    environment = {**os.environ, "PYTHONPATH": search_path}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def check_run(arguments: Sequence[str], folder: Path) -> None:
    """Run a benchmark, and check that it succeeds and prints figures."""
    run = run_benchmark(arguments, folder)
    assert run.returncode == 0, run.stderr
    assert re.search(r"\d", run.stdout), run.stdout
    assert not re.search(r"Traceback|another answer", run.stdout + run.stderr), run.stdout + run.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", QUICK_RUNS, ids=" ".join)
def test_benchmark_prints_figures(arguments: Sequence[str], tmp_path: Path) -> None:
    """A benchmark succeeds with a small catalog."""
    check_run(arguments, tmp_path)


# Continuous integration does not install these packages, which are large.
if os.environ.get("CI") != "true":

    @pytest.mark.slow
    @pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("chdb", "tantivy"))), reason="run `make .venv/.bench` first"
    )
    @pytest.mark.parametrize("arguments", RUNS_WITH_OTHER_ENGINES, ids=" ".join)
    def test_benchmark_with_other_engines_prints_figures(arguments: Sequence[str], tmp_path: Path) -> None:
        """A comparison with other engines succeeds, and all of them return the same records."""
        check_run(arguments, tmp_path)


@pytest.mark.slow
def test_crash_of_a_benchmark_gives_exit_status_1(tmp_path: Path) -> None:
    """The error and the name of the benchmark are on the standard error stream."""
    run = run_benchmark(("evidence_extraction", "--documents", "missing"), tmp_path)
    assert run.returncode == 1
    assert "FileNotFoundError" in run.stderr
    assert run.stderr.endswith("failed: evidence_extraction\n")


def test_failure_of_a_benchmark_does_not_keep_the_others_from_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """All benchmarks are run, also after one that crashes or ends the process, and the failed ones are named."""
    finished: list[str] = []

    def crash() -> None:
        raise ValueError

    mains: dict[str, Any] = {
        "crash": crash,
        "passed": lambda: sys.exit(0),
        "missed": lambda: sys.exit(1),
        "refused": lambda: sys.exit("no server"),
        "last": lambda: finished.append("last"),
    }
    monkeypatch.setattr(benchmark_runner, "MODULES", {name: name for name in mains})
    for name, main in mains.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(main=main))
    monkeypatch.setattr(sys, "argv", ["benchmarks"])

    with pytest.raises(SystemExit, match="failed: crash, missed, refused"):
        benchmark_runner.main()
    assert finished == ["last"]


def test_documented_benchmarks_exist() -> None:
    """Every benchmark that the documentation calls can be called by this name."""
    names = {name for document in DOCUMENTS for name in COMMAND.findall(document.read_text())}
    assert len(names) > 10
    assert names <= set(benchmark_runner.MODULES)
