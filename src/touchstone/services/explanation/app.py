"""The explanation backend."""

from touchstone.jobs.backend_app import JobBackend
from touchstone.jobs.kinds import EXPLAIN
from touchstone.services.explanation.routes import explanation


class Explanation(JobBackend):
    """Starts and reports explanations."""

    name = "explanation"
    kind = EXPLAIN
    address = "/api/v1/xai/jobs"
    routes = explanation
