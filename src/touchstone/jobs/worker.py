"""The nursery of the real work: `python -m touchstone.jobs.worker <descriptor>`."""

from touchstone.jobs.nursery import main
from touchstone.jobs.tasks import TASKS

if __name__ == "__main__":
    main(TASKS)
