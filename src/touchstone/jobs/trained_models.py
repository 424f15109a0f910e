"""The models that trainings have left: found by the training job, loaded only with the digest that was recorded."""

from collections.abc import Sequence
from typing import Final

from touchstone.core.errors import JobNotSucceeded
from touchstone.database.engine import Reader
from touchstone.jobs import store
from touchstone.jobs.states import JobState
from touchstone.jobs.store import Json, Row

MODEL_FILE: Final = "model.skops"


async def model_of(rows: Reader, training: Row) -> Json:
    """Where the model of a training is, as a job's `source` says it.

    Raises:
        JobNotSucceeded: it has none.
    """
    files: Sequence[Row] = (await store.artifacts(rows, [training["id"]]))[training["id"]]
    for file in files:
        if file["name"] == MODEL_FILE and training["status"] == JobState.SUCCEEDED:
            return {"model_path": file["path"], "model_sha256": file["sha256"]}
    raise JobNotSucceeded
