"""The program of the fork server for jobs on Ray, which starts a Ray head if no cluster is configured.

It is run as `python -m touchstone.jobs.execution.ray_fork_server_main <descriptor>` and configured by Ray's
environment variables: `RAY_ADDRESS`, `RAY_AUTH_MODE`, and `RAY_AUTH_TOKEN` or `RAY_AUTH_TOKEN_PATH`.
"""

import os

from touchstone.core.garbage_collection import without_garbage_collection

with without_garbage_collection():
    from touchstone.jobs.execution.fork_server import run_fork_server
    from touchstone.jobs.execution.ray_actor import tasks_on_ray
    from touchstone.jobs.execution.ray_head import existing_or_local_cluster
    from touchstone.jobs.execution.task_functions import TASKS

if __name__ == "__main__":
    with existing_or_local_cluster(os.environ.get("RAY_ADDRESS")) as cluster_address:
        run_fork_server(tasks_on_ray(TASKS, cluster_address))
