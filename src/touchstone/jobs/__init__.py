"""Jobs: trainings and explanations, queued as database rows and executed in processes of their own.

A job passes through these modules, in this order:

- `job_routes`, `job_submission`: accept requests, check them against the data, and queue the job;
- `queue_store`: the queue in the database, from which workers claim jobs;
- `dispatcher`, `job_attempt`: claim jobs, execute them, and record how they end;
- `execution`: the processes, local or on Ray, in which the tasks of jobs run;
- `job_event_stream`, `job_responses`, `job_json`: report progress and results to the owner.

Modules whose name ends in `_store` contain the SQL statements on the rows of jobs:

- `job_store`: what owners do with their jobs: read, cancel and delete them;
- `queue_store`: queueing new jobs and claiming the next one;
- `lease_store`: the leases of workers, and retrying the jobs of lost workers;
- `progress_store`: how far running jobs have come;
- `outcome_store`: how attempts end;
- `state_transition_store`: the moves between states, which the other stores are built on.

`comparisons` reads the rows of comparisons, each of which refers to several trainings, and says which of them is best.

Files are handled by `input_files`, `artifact_files` and `trained_model_store`.
"""
