"""The nursery of work on Ray: `python -m touchstone.jobs.ray_worker <descriptor>`; starts a head if none is named.

It is configured by Ray's own variables: `RAY_ADDRESS`, `RAY_AUTH_MODE`, `RAY_AUTH_TOKEN` or `RAY_AUTH_TOKEN_PATH`.
"""

import os

from touchstone.jobs.nursery import main
from touchstone.jobs.on_ray import through_ray
from touchstone.jobs.ray_head import Head
from touchstone.jobs.tasks import TASKS

if __name__ == "__main__":
    with Head.given_or_started(os.environ.get("RAY_ADDRESS")) as address:
        main(through_ray(TASKS, address))
