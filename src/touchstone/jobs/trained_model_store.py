"""Finding the trained model of a job."""

from typing import Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa

from touchstone.core.errors import JobNotFound, JobNotSucceeded
from touchstone.core.identity import parse_uuid
from touchstone.database.engine import Reader
from touchstone.database.tables import job_artifacts, jobs
from touchstone.jobs import job_store
from touchstone.jobs.job_kinds import TRAINING
from touchstone.jobs.job_records import JobRecord
from touchstone.jobs.job_states import JobState

MODEL_FILE_NAME: Final = "model.skops"


class TrainedModel(NamedTuple):
    """The path of a model file, and its digest, which is verified before the file is loaded."""

    path: str
    sha256: str


async def load_trained_model(connection: Reader, training: JobRecord) -> TrainedModel:
    """Return the path and the digest of the model of a training.

    Raises:
        JobNotSucceeded: the training has not succeeded (yet).
    """
    if training.status != JobState.SUCCEEDED:
        raise JobNotSucceeded

    artifacts_by_job = await job_store.load_artifacts(connection, [training.id])
    for artifact in artifacts_by_job[training.id]:
        if artifact.name == MODEL_FILE_NAME:
            return TrainedModel(artifact.path, artifact.sha256)

    raise JobNotSucceeded


async def load_owned_model(connection: Reader, job_id: str, owner: UUID) -> TrainedModel:
    """Return the stored model of a training of this owner, without loading the result of the training.

    Raises:
        JobNotFound: the owner has no such training, or the id is malformed.
        JobNotSucceeded: the training has not succeeded (yet).
    """
    job_uuid = parse_uuid(job_id)
    if job_uuid is None:
        raise JobNotFound

    is_model_of_job = sa.and_(job_artifacts.c.job_id == jobs.c.id, job_artifacts.c.name == MODEL_FILE_NAME)
    query = (
        sa.select(jobs.c.status, job_artifacts.c.path, job_artifacts.c.sha256)
        .select_from(jobs.outerjoin(job_artifacts, is_model_of_job))
        .where(jobs.c.id == job_uuid, jobs.c.owner == owner, jobs.c.kind == TRAINING.name)
    )
    row = await connection.first(query)
    if row is None:
        raise JobNotFound

    if row["status"] != JobState.SUCCEEDED or row["path"] is None:
        raise JobNotSucceeded
    return TrainedModel(row["path"], row["sha256"])
