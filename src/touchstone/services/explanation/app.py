"""The application of the explanation service."""

from touchstone.jobs.backend_app import JobBackend
from touchstone.jobs.kinds import EXPLANATION
from touchstone.services.explanation.routes import explanation


class Explanation(JobBackend):
    """The explanation service."""

    kind = EXPLANATION
    routes = explanation
