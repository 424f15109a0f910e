"""A nursery whose tasks take no libraries and no time: what the tests of the machinery run."""

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
from touchstone.jobs.execution.protocol import Bench, Done, Produced, Task, TaskSet
from touchstone.learning.errors import LearningError
from touchstone.learning.requests import (
    ExplanationRequest,
    TrainingRequest,
    check_explanation_request,
    check_training_request,
)


def noop(bench: Bench) -> Done:
    return Done(result={"order": bench.order})


def sleep(bench: Bench) -> Done:
    """Sleep in steps, reporting each; leave the pid in a file, and a child of its own running."""
    seconds, steps = bench.order["seconds"], bench.order.get("steps", 10)
    if trace := bench.order.get("trace"):
        other = subprocess.Popen(["/bin/sleep", str(seconds * 2)])
        Path(trace).write_text(f"{os.getpid()} {other.pid}")
    for step in range(steps):
        bench.report(100 * step / steps, f"phase {step}", step=step, total_steps=steps, message="preparing_data")
        time.sleep(seconds / steps)
    return Done(result={"slept": seconds})


def write(bench: Bench) -> Done:
    for name, text in bench.order["texts"].items():
        (bench.scratch / name).write_text(text)
    (bench.scratch / "left-over").write_text("not an artefact")
    return Done(result={}, files=tuple(Produced(name=n, media_type="text/plain") for n in bench.order["texts"]))


def read(bench: Bench) -> Done:
    return Done(result={name: stream.read().decode() for name, stream in bench.files.items()})


def claim_missing_file(bench: Bench) -> Done:
    return Done(result={}, files=(Produced(name=bench.order["name"], media_type="text/plain"),))


def eat_memory(bench: Bench) -> Done:
    eaten = []
    while True:
        eaten.append(bytearray(64 * 2**20))


def fill_disk(bench: Bench) -> Done:
    with (bench.scratch / "big").open("wb") as stream:
        for _ in range(bench.order["mebibytes"]):
            stream.write(b"x" * 2**20)
    return Done(result={})


def segfault(bench: Bench) -> Done:
    ctypes.string_at(0)
    return Done(result={})


def kill_itself(bench: Bench) -> Done:
    if bench.order.get("until_attempt") and bench.scratch.name.endswith(f"-{bench.order['until_attempt']}"):
        return Done(result={})
    os.kill(os.getpid(), signal.SIGKILL)
    return Done(result={})


def refuse(bench: Bench) -> Done:
    raise LearningError("target_not_found", field="target", name="price", nearest="prize")


def stumble(bench: Bench) -> Done:
    raise RuntimeError("a defect with a secret in it")


def answer_nonsense(bench: Bench) -> Done:
    return Done(result={"nothing that": object()})


def go_back(bench: Bench) -> Done:
    """Report progress that goes back, in ever new phases so that every report is sent."""
    for number, percent in enumerate((10, 50, 30, 90, 20)):
        bench.report(percent, f"phase {number}", step=0, total_steps=1, message="preparing_data")
        time.sleep(0.6)
    return Done(result={})


def environment(bench: Bench) -> Done:
    return Done(result={"environment": dict(os.environ), "group": os.getpgid(0), "pid": os.getpid()})


def train(bench: Bench) -> Done:
    """Learn nothing, for as many seconds as the target is called; leave a model."""
    for step in range(10):
        bench.report(step * 10, "searching", step=step, total_steps=10, message="searching_models")
        time.sleep(float(bench.order["target"]) / 10)
    (bench.scratch / "model.skops").write_text("a model")
    model = Produced(name="model.skops", media_type="application/octet-stream")
    spec = {"spec": {"fr": {"title": "Matrice"}, "en": {"title": "Matrix"}}}
    data = bench.files["data"].read().decode()
    return Done(
        result={"model": {"classes": ["yes", "no"]}, "charts": {"confusion": spec}, "data": data}, files=(model,)
    )


def explain(bench: Bench) -> Done:
    files = {name: stream.read().decode() for name, stream in bench.files.items()}
    return Done(result={"files": files, "source": bench.source})


def predict(bench: Bench) -> Done:
    model = bench.files["model"].read().decode()
    return Done(result={"predictions": [{"prediction": model} for _ in bench.order["rows"]], "classes": []})


def preflight_train(bench: Bench) -> Done:
    """Look at a table of plain commas; a first column called `bomb` eats the memory, `crash` the process."""
    columns, rows, facts = look(bench)
    {"bomb": eat_memory, "crash": segfault}.get(columns[0], noop)(bench)
    order = msgspec.convert(bench.order, TrainingRequest)
    check_training_request(order, columns, rows=len(rows))
    if len({row[columns.index(order.target)] for row in rows}) < 2:
        raise LearningError("target_one_class", field="target", name=order.target)
    return Done(result=facts)


def preflight_explain(bench: Bench) -> Done:
    columns, rows, facts = look(bench)
    check_explanation_request(msgspec.convert(bench.order, ExplanationRequest), columns, rows=len(rows))
    return Done(result=facts)


def look(bench: Bench) -> tuple[list[str], list[list[str]], dict[str, Any]]:
    raw = bench.files["data"].read()
    columns, *rows = [line.split(",") for line in raw.decode().splitlines()]
    return columns, rows, {"columns": len(columns), "rows": len(rows), "sha256": hashlib.sha256(raw).hexdigest()}


def draw(bench: Bench) -> Done:
    return Done(result=base64.b64encode(f"{bench.order['format']} {bench.order['spec']['title']}".encode()).decode())


TASKS = TaskSet(
    *(
        Task(run.__name__, run)
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
