"""The models that trainings have left behind, found through their training job."""

from typing import Final, NamedTuple

from touchstone.core.errors import JobNotSucceeded
from touchstone.database.engine import Reader
from touchstone.jobs import store
from touchstone.jobs.records import JobRecord
from touchstone.jobs.states import JobState

MODEL_FILE: Final = "model.skops"


class TrainedModel(NamedTuple):
    """The file of a model, and the digest without which it is never loaded."""

    path: str
    sha256: str


async def load_trained_model(rows: Reader, training: JobRecord) -> TrainedModel:
    """Return the model of a training.

    Raises:
        JobNotSucceeded: the training has no model.
    """
    if training.status == JobState.SUCCEEDED:
        artifacts = await store.load_artifacts(rows, [training.id])
        for artifact in artifacts[training.id]:
            if artifact.name == MODEL_FILE:
                return TrainedModel(artifact.path, artifact.sha256)
    raise JobNotSucceeded
