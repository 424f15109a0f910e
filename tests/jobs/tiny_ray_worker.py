"""The tiny tasks on a Ray of their own."""

from tiny_worker import TASKS

from touchstone.jobs.execution.fork_server import main
from touchstone.jobs.execution.ray_executor import through_ray
from touchstone.jobs.execution.ray_head import existing_or_local_cluster

if __name__ == "__main__":
    with existing_or_local_cluster(None) as address:
        main(through_ray(TASKS, address))
