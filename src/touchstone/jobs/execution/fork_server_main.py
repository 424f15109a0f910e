"""The program of the fork server: `python -m touchstone.jobs.execution.fork_server_main <descriptor>`."""

from touchstone.core.garbage_collection import without_garbage_collection

with without_garbage_collection():
    from touchstone.jobs.execution.fork_server import run_fork_server
    from touchstone.jobs.execution.task_functions import TASKS

if __name__ == "__main__":
    run_fork_server(TASKS)
