"""The training backend."""

from touchstone.jobs.backend_app import JobBackend
from touchstone.jobs.kinds import TRAIN
from touchstone.services.training.routes import training


class Training(JobBackend):
    """Starts and reports trainings."""

    name = "training"
    kind = TRAIN
    address = "/api/v1/ml/jobs"
    routes = training
