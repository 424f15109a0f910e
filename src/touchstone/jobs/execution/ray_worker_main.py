"""The fork server of work on Ray; starts a head if none is named.

Run as `python -m touchstone.jobs.execution.ray_worker_main <descriptor>`.

It is configured by Ray's own variables: `RAY_ADDRESS`, `RAY_AUTH_MODE`, `RAY_AUTH_TOKEN` or `RAY_AUTH_TOKEN_PATH`.
"""

import os

from touchstone.jobs.execution.fork_server import main
from touchstone.jobs.execution.ray_executor import through_ray
from touchstone.jobs.execution.ray_head import Head
from touchstone.jobs.execution.task_functions import TASKS

if __name__ == "__main__":
    with Head.given_or_started(os.environ.get("RAY_ADDRESS")) as address:
        main(through_ray(TASKS, address))
