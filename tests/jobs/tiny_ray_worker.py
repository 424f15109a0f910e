"""The fork server of the tests for jobs on Ray: the tiny tasks, on a Ray cluster of its own."""

from tests.jobs.tiny_worker import TASKS
from touchstone.jobs.execution.fork_server import run_fork_server
from touchstone.jobs.execution.ray_actor import tasks_on_ray
from touchstone.jobs.execution.ray_head import existing_or_local_cluster

if __name__ == "__main__":
    with existing_or_local_cluster(None) as cluster_address:
        run_fork_server(tasks_on_ray(TASKS, cluster_address))
