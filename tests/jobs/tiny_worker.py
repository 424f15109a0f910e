"""The fork server of the tests: its tasks need no libraries and hardly any time, and some of them misbehave."""

import base64
import ctypes
import hashlib
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from touchstone.jobs.execution.fork_server import run_fork_server
from touchstone.jobs.execution.protocol import OutputFile, TaskContext, TaskSet, TaskSucceeded, WorkerTask
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_checks_against_data import check_explanation_request, check_training_request
from touchstone.learning.request_definitions import ExplanationRequest, TrainingRequest


class Table(NamedTuple):
    """A small table: its columns, its rows, and the facts that a preflight task returns."""

    columns: list[str]
    rows: list[list[str]]
    facts: dict[str, Any]


def noop(context: TaskContext) -> TaskSucceeded:
    """Return the request."""
    return TaskSucceeded(result={"order": context.request})


def sleep(context: TaskContext) -> TaskSucceeded:
    """Sleep in steps and report each of them.

    If the request names a `pid_file`, also start a child process that outlives the sleep, and write the process ids of
    both into the file.
    """
    seconds = context.request["seconds"]
    step_count = context.request.get("steps", 10)

    pid_file = context.request.get("pid_file")
    if pid_file:
        child_process = subprocess.Popen(["/bin/sleep", str(seconds * 2)])
        Path(pid_file).write_text(f"{os.getpid()} {child_process.pid}")

    for step in range(step_count):
        percent = 100 * step / step_count
        context.report(percent, f"phase {step}", step=step, total_steps=step_count, message="preparing_data")
        time.sleep(seconds / step_count)
    return TaskSucceeded(result={"slept": seconds})


def write(context: TaskContext) -> TaskSucceeded:
    """Write the files of the request, and one more that is not declared as an output file."""
    texts = context.request["texts"]
    for name, text in texts.items():
        (context.scratch_folder / name).write_text(text)
    (context.scratch_folder / "left-over").write_text("not an artefact")

    output_files = tuple(OutputFile(name=name, media_type="text/plain") for name in texts)
    return TaskSucceeded(result={}, files=output_files)


def read(context: TaskContext) -> TaskSucceeded:
    """Return the contents of the input files."""
    return TaskSucceeded(result={role: stream.read().decode() for role, stream in context.files.items()})


def claim_missing_file(context: TaskContext) -> TaskSucceeded:
    """Declare an output file that was never written."""
    return TaskSucceeded(result={}, files=(OutputFile(name=context.request["name"], media_type="text/plain"),))


def eat_memory(context: TaskContext) -> TaskSucceeded:
    """Allocate memory until there is none left."""
    blocks = []
    while True:
        blocks.append(bytearray(64 * 2**20))


def fill_disk(context: TaskContext) -> TaskSucceeded:
    """Write a file of as many mebibytes as requested."""
    with (context.scratch_folder / "big").open("wb") as stream:
        for _ in range(context.request["mebibytes"]):
            stream.write(b"x" * 2**20)
    return TaskSucceeded(result={})


def segfault(context: TaskContext) -> TaskSucceeded:
    """Crash the process by reading from address 0."""
    ctypes.string_at(0)
    return TaskSucceeded(result={})


def kill_itself(context: TaskContext) -> TaskSucceeded:
    """Kill the process, except at the attempt `until_attempt` of the request."""
    last_attempt = context.request.get("until_attempt")
    # The scratch folder is named after the job and the attempt.
    if last_attempt and context.scratch_folder.name.endswith(f"-{last_attempt}"):
        return TaskSucceeded(result={})

    os.kill(os.getpid(), signal.SIGKILL)
    return TaskSucceeded(result={})


def refuse(context: TaskContext) -> TaskSucceeded:
    """Reject the request with a reason and its facts."""
    raise LearningError("target_not_found", field="target", name="price", nearest="prize")


def fail_unexpectedly(context: TaskContext) -> TaskSucceeded:
    """Fail with an exception that no user may read."""
    raise RuntimeError("a defect with a secret in it")


def return_unencodable_result(context: TaskContext) -> TaskSucceeded:
    """Return a result that JSON cannot represent."""
    return TaskSucceeded(result={"nothing that": object()})


def report_decreasing_progress(context: TaskContext) -> TaskSucceeded:
    """Report percentages that decrease, each in a new phase, so that every report is sent."""
    for phase_number, percent in enumerate((10, 50, 30, 90, 20)):
        context.report(percent, f"phase {phase_number}", step=0, total_steps=1, message="preparing_data")
        time.sleep(1.2)
    return TaskSucceeded(result={})


def environment(context: TaskContext) -> TaskSucceeded:
    """Return the environment variables, the process group and the process id of the worker."""
    return TaskSucceeded(result={"environment": dict(os.environ), "group": os.getpgid(0), "pid": os.getpid()})


def train(context: TaskContext) -> TaskSucceeded:
    """Learn nothing for as many seconds as the name of the target says, and write a model."""
    seconds = float(context.request["target"])
    for step in range(10):
        context.report(step * 10, "searching", step=step, total_steps=10, message="searching_models")
        time.sleep(seconds / 10)

    (context.scratch_folder / "model.skops").write_text("a model")
    model_file = OutputFile(name="model.skops", media_type="application/octet-stream")
    chart = {"spec": {"fr": {"title": "Matrice"}, "en": {"title": "Matrix"}}}
    data = context.files["data"].read().decode()
    result = {
        "model": {"classes": ["yes", "no"], "algorithm": "linear"},
        "metrics": tiny_metrics(data, context.request["metric"] or "accuracy"),
        "charts": {"confusion": chart},
        "warnings": [{"code": "few_rows", "text": {"fr": "Peu de lignes.", "en": "Few rows."}}],
        "data": data,
    }
    return TaskSucceeded(result=result, files=(model_file,))


def tiny_metrics(data: str, metric: str) -> dict[str, Any]:
    """Return metrics of a training in which the score is the name of the table's last column."""
    score = float(data.splitlines()[0].split(",")[-1])
    estimate = {"value": score, "low": score - 0.05, "high": score + 0.05}
    baseline = {"value": 0.25, "low": 0.2, "high": 0.3}
    return {"metric": metric, "holdout": {metric: estimate}, "baseline": {metric: baseline}}


def explain(context: TaskContext) -> TaskSucceeded:
    """Return the input files and their source."""
    files = {role: stream.read().decode() for role, stream in context.files.items()}
    return TaskSucceeded(result={"files": files, "source": context.source})


def predict(context: TaskContext) -> TaskSucceeded:
    """Predict the content of the model file for every row."""
    model = context.files["model"].read().decode()
    predictions = [{"prediction": model} for _ in context.request["rows"]]
    return TaskSucceeded(result={"predictions": predictions, "classes": []})


def preflight_train(context: TaskContext) -> TaskSucceeded:
    """Check a training request; a first column called `bomb` eats the memory, one called `crash` ends the process."""
    table = read_table(context)
    misbehave = {"bomb": eat_memory, "crash": segfault}.get(table.columns[0], noop)
    misbehave(context)

    request = msgspec.convert(context.request, TrainingRequest)
    check_training_request(request, table.columns, rows=len(table.rows))

    target_index = table.columns.index(request.target)
    classes = {row[target_index] for row in table.rows}
    if len(classes) < 2:
        raise LearningError("target_one_class", field="target", name=request.target)
    return TaskSucceeded(result=table.facts)


def preflight_explain(context: TaskContext) -> TaskSucceeded:
    """Check an explanation request."""
    table = read_table(context)
    request = msgspec.convert(context.request, ExplanationRequest)
    check_explanation_request(request, table.columns, rows=len(table.rows))
    return TaskSucceeded(result=table.facts)


def read_table(context: TaskContext) -> Table:
    """Read the data file as comma-separated values without quotes."""
    content = context.files["data"].read()
    columns, *rows = [line.split(",") for line in content.decode().splitlines()]
    facts = {"columns": len(columns), "rows": len(rows), "sha256": hashlib.sha256(content).hexdigest()}
    return Table(columns, rows, facts)


def draw(context: TaskContext) -> TaskSucceeded:
    """Return the image format and the title of the chart instead of an image."""
    image = f"{context.request['format']} {context.request['spec']['title']}".encode()
    return TaskSucceeded(result=base64.b64encode(image).decode())


TASK_FUNCTIONS = (
    noop,
    sleep,
    write,
    read,
    claim_missing_file,
    eat_memory,
    fill_disk,
    segfault,
    kill_itself,
    refuse,
    fail_unexpectedly,
    return_unencodable_result,
    report_decreasing_progress,
    environment,
    train,
    explain,
    predict,
    preflight_train,
    preflight_explain,
    draw,
)
TASKS = TaskSet(*(WorkerTask(function.__name__, function) for function in TASK_FUNCTIONS))

if __name__ == "__main__":
    run_fork_server(TASKS)
