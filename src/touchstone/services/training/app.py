"""The application of the training service."""

from touchstone.jobs.backend_app import JobBackend
from touchstone.jobs.kinds import TRAINING
from touchstone.services.training.routes import training


class Training(JobBackend):
    """The training service."""

    kind = TRAINING
    routes = training
