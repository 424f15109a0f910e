"""A job as its owner sees it, in the owner's language: the contract's object, and its events."""

from collections.abc import Sequence
from typing import Any, Final

from touchstone.jobs.states import FINAL
from touchstone.jobs.store import Row
from touchstone.messages import MESSAGES, job_error_text
from touchstone.messages.locales import LOCALES
from touchstone.messages.progress import PROGRESS

Json = dict[str, Any]
_PLAIN: Final = (
    "kind",
    "status",
    "name",
    "attempt",
    "request",
    "project_id",
    "parent_job_id",
    "inputs",
    "created_at",
    "started_at",
    "finished_at",
    "updated_at",
)


def shown(row: Row, artifacts: Sequence[Row], locale: str) -> Json:
    """The contract's job object. A row without its result, as in lists, gives an object without one."""
    job: Json = {"id": row["id"], "job_id": row["id"], "done": row["status"] in FINAL}
    job |= {name: row[name] for name in _PLAIN}
    job |= {"progress": progress(row["progress"], locale), "error": error(row["error"], locale)}
    job["artifacts"] = [{name: file[name] for name in ("name", "media_type", "bytes", "sha256")} for file in artifacts]
    return job | ({"result": row["result"]} if "result" in row else {})


def event(row: Row, locale: str) -> Json:
    """The data of an event: the state after it, the attempt, and the progress if that is what it tells."""
    told = row["event"] == "progress"
    status = "running" if told else row["event"]
    data: Json = {"job_id": row["job_id"], "status": status, "done": status in FINAL}
    data |= {"attempt": row["attempt"], "at": row["at"]}
    return data | ({"progress": progress(row["data"], locale)} if told else {})


def progress(stored: Json | None, locale: str) -> Json | None:
    """Progress with its sentence."""
    if stored is None:
        return None
    sentences = PROGRESS.get(stored["message"])
    return stored | {"message": sentences[LOCALES.index(locale)] if sentences else stored["phase"]}


def error(stored: Json | None, locale: str) -> Json | None:
    """An error with its sentence."""
    if stored is None:
        return None
    # A code that a later release has written is still told, without its own sentence.
    code = stored["code"] if stored["code"] in MESSAGES else "work_failed"
    message = job_error_text(code, stored["facts"], locale)
    return {"code": stored["code"], "message": message, "phase": stored["phase"]}
