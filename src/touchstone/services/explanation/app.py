"""The application of the explanation service."""

from touchstone.jobs.backend_app import JobBackend
from touchstone.jobs.job_kinds import EXPLANATION
from touchstone.services.explanation.routes import explanation


class Explanation(JobBackend):
    """The explanation service.

    If it runs as a separate server, `startup.separate_services` opens it with its own database connections, its own
    worker processes, and a connection to the selection service.
    """

    kind = EXPLANATION
    routers = (explanation,)
