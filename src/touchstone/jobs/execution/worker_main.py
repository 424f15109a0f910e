"""The fork server of the workers: `python -m touchstone.jobs.execution.worker_main <descriptor>`."""

from touchstone.jobs.execution.fork_server import main
from touchstone.jobs.execution.task_functions import TASKS

if __name__ == "__main__":
    main(TASKS)
