"""A fork server whose tasks take no libraries and no time: what the tests of the machinery run."""

import base64
import ctypes
import hashlib
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import msgspec

from touchstone.jobs.execution.fork_server import main
from touchstone.jobs.execution.protocol import OutputFile, TaskContext, TaskSet, TaskSucceeded, WorkerTask
from touchstone.learning.errors import LearningError
from touchstone.learning.requests import (
    ExplanationRequest,
    TrainingRequest,
    check_explanation_request,
    check_training_request,
)


def noop(context: TaskContext) -> TaskSucceeded:
    return TaskSucceeded(result={"order": context.request})


def sleep(context: TaskContext) -> TaskSucceeded:
    """Sleep in steps, reporting each; leave the pid in a file, and a child of its own running."""
    seconds, steps = context.request["seconds"], context.request.get("steps", 10)
    if trace := context.request.get("trace"):
        other = subprocess.Popen(["/bin/sleep", str(seconds * 2)])
        Path(trace).write_text(f"{os.getpid()} {other.pid}")
    for step in range(steps):
        context.report(100 * step / steps, f"phase {step}", step=step, total_steps=steps, message="preparing_data")
        time.sleep(seconds / steps)
    return TaskSucceeded(result={"slept": seconds})


def write(context: TaskContext) -> TaskSucceeded:
    for name, text in context.request["texts"].items():
        (context.scratch / name).write_text(text)
    (context.scratch / "left-over").write_text("not an artefact")
    return TaskSucceeded(
        result={}, files=tuple(OutputFile(name=n, media_type="text/plain") for n in context.request["texts"])
    )


def read(context: TaskContext) -> TaskSucceeded:
    return TaskSucceeded(result={name: stream.read().decode() for name, stream in context.files.items()})


def claim_missing_file(context: TaskContext) -> TaskSucceeded:
    return TaskSucceeded(result={}, files=(OutputFile(name=context.request["name"], media_type="text/plain"),))


def eat_memory(context: TaskContext) -> TaskSucceeded:
    eaten = []
    while True:
        eaten.append(bytearray(64 * 2**20))


def fill_disk(context: TaskContext) -> TaskSucceeded:
    with (context.scratch / "big").open("wb") as stream:
        for _ in range(context.request["mebibytes"]):
            stream.write(b"x" * 2**20)
    return TaskSucceeded(result={})


def segfault(context: TaskContext) -> TaskSucceeded:
    ctypes.string_at(0)
    return TaskSucceeded(result={})


def kill_itself(context: TaskContext) -> TaskSucceeded:
    if context.request.get("until_attempt") and context.scratch.name.endswith(f"-{context.request['until_attempt']}"):
        return TaskSucceeded(result={})
    os.kill(os.getpid(), signal.SIGKILL)
    return TaskSucceeded(result={})


def refuse(context: TaskContext) -> TaskSucceeded:
    raise LearningError("target_not_found", field="target", name="price", nearest="prize")


def stumble(context: TaskContext) -> TaskSucceeded:
    raise RuntimeError("a defect with a secret in it")


def answer_nonsense(context: TaskContext) -> TaskSucceeded:
    return TaskSucceeded(result={"nothing that": object()})


def go_back(context: TaskContext) -> TaskSucceeded:
    """Report progress that goes back, in ever new phases so that every report is sent."""
    for number, percent in enumerate((10, 50, 30, 90, 20)):
        context.report(percent, f"phase {number}", step=0, total_steps=1, message="preparing_data")
        time.sleep(0.6)
    return TaskSucceeded(result={})


def environment(context: TaskContext) -> TaskSucceeded:
    return TaskSucceeded(result={"environment": dict(os.environ), "group": os.getpgid(0), "pid": os.getpid()})


def train(context: TaskContext) -> TaskSucceeded:
    """Learn nothing, for as many seconds as the target is called; leave a model."""
    for step in range(10):
        context.report(step * 10, "searching", step=step, total_steps=10, message="searching_models")
        time.sleep(float(context.request["target"]) / 10)
    (context.scratch / "model.skops").write_text("a model")
    model = OutputFile(name="model.skops", media_type="application/octet-stream")
    spec = {"spec": {"fr": {"title": "Matrice"}, "en": {"title": "Matrix"}}}
    data = context.files["data"].read().decode()
    return TaskSucceeded(
        result={"model": {"classes": ["yes", "no"]}, "charts": {"confusion": spec}, "data": data}, files=(model,)
    )


def explain(context: TaskContext) -> TaskSucceeded:
    files = {name: stream.read().decode() for name, stream in context.files.items()}
    return TaskSucceeded(result={"files": files, "source": context.source})


def predict(context: TaskContext) -> TaskSucceeded:
    model = context.files["model"].read().decode()
    return TaskSucceeded(
        result={"predictions": [{"prediction": model} for _ in context.request["rows"]], "classes": []}
    )


def preflight_train(context: TaskContext) -> TaskSucceeded:
    """Look at a table of plain commas; a first column called `bomb` eats the memory, `crash` the process."""
    columns, rows, facts = look(context)
    {"bomb": eat_memory, "crash": segfault}.get(columns[0], noop)(context)
    order = msgspec.convert(context.request, TrainingRequest)
    check_training_request(order, columns, rows=len(rows))
    if len({row[columns.index(order.target)] for row in rows}) < 2:
        raise LearningError("target_one_class", field="target", name=order.target)
    return TaskSucceeded(result=facts)


def preflight_explain(context: TaskContext) -> TaskSucceeded:
    columns, rows, facts = look(context)
    check_explanation_request(msgspec.convert(context.request, ExplanationRequest), columns, rows=len(rows))
    return TaskSucceeded(result=facts)


def look(context: TaskContext) -> tuple[list[str], list[list[str]], dict[str, Any]]:
    raw = context.files["data"].read()
    columns, *rows = [line.split(",") for line in raw.decode().splitlines()]
    return columns, rows, {"columns": len(columns), "rows": len(rows), "sha256": hashlib.sha256(raw).hexdigest()}


def draw(context: TaskContext) -> TaskSucceeded:
    return TaskSucceeded(
        result=base64.b64encode(f"{context.request['format']} {context.request['spec']['title']}".encode()).decode()
    )


TASKS = TaskSet(
    *(
        WorkerTask(run.__name__, run)
        for run in (
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
            stumble,
            answer_nonsense,
            go_back,
            environment,
            train,
            explain,
            predict,
            preflight_train,
            preflight_explain,
            draw,
        )
    )
)

if __name__ == "__main__":
    main(TASKS)
