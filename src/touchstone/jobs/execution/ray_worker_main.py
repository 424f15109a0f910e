"""The fork server for jobs on Ray; it starts a Ray head if no cluster is named.

Run as `python -m touchstone.jobs.execution.ray_worker_main <descriptor>`. Ray's own variables configure it:
`RAY_ADDRESS`, `RAY_AUTH_MODE`, and `RAY_AUTH_TOKEN` or `RAY_AUTH_TOKEN_PATH`.
"""

import os

from touchstone.jobs.execution.fork_server import main
from touchstone.jobs.execution.ray_executor import through_ray
from touchstone.jobs.execution.ray_head import existing_or_local_cluster
from touchstone.jobs.execution.task_functions import TASKS

if __name__ == "__main__":
    with existing_or_local_cluster(os.environ.get("RAY_ADDRESS")) as cluster_address:
        main(through_ray(TASKS, cluster_address))
