"""The application of the training service."""

from touchstone.jobs.backend_app import JobBackend
from touchstone.jobs.job_kinds import TRAINING
from touchstone.services.training.comparison.comparison_routes import comparison_router
from touchstone.services.training.routes import training


class Training(JobBackend):
    """The training service.

    If it runs as a separate server, `startup.separate_services` opens it with its own database connections, its own
    worker processes, and a connection to the selection service.
    """

    kind = TRAINING
    routers = (training, comparison_router)
