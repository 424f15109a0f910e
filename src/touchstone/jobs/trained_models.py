"""The models of trainings, found through the job that trained them."""

from typing import Final, NamedTuple

from touchstone.core.errors import JobNotSucceeded
from touchstone.database.engine import Reader
from touchstone.jobs import job_store
from touchstone.jobs.records import JobRecord
from touchstone.jobs.states import JobState

MODEL_FILE_NAME: Final = "model.skops"


class TrainedModel(NamedTuple):
    """The path of a model file, and the digest without which the file is never loaded."""

    path: str
    sha256: str


async def load_trained_model(connection: Reader, training: JobRecord) -> TrainedModel:
    """Return the path and the digest of the model that a training has produced.

    Raises:
        JobNotSucceeded: the training has not succeeded, or not yet.
    """
    if training.status != JobState.SUCCEEDED:
        raise JobNotSucceeded

    artifacts_by_job = await job_store.load_artifacts(connection, [training.id])
    for artifact in artifacts_by_job[training.id]:
        if artifact.name == MODEL_FILE_NAME:
            return TrainedModel(artifact.path, artifact.sha256)
    raise JobNotSucceeded
