"""The explanation backend."""

from touchstone.explanation.routes import explanation
from touchstone.jobs.backend_app import JobBackend
from touchstone.jobs.kinds import EXPLAIN


class Explanation(JobBackend):
    """Starts and reports explanations."""

    name = "explanation"
    kind = EXPLAIN
    address = "/api/v1/xai/jobs"
    routes = explanation
