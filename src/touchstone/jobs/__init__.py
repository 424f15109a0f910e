"""Jobs: trainings and explanations, queued as database rows and executed in separate processes.

A job passes through these modules in this order:

- `job_routes`, `job_submission`: accept requests, check them against the data, and queue the job;
- `queue_store`: stores the queue in the database;
- `dispatcher`, `job_attempt`: claim jobs, execute them, and record their outcome;
- `execution`: runs the tasks of jobs in processes, local or on Ray;
- `job_event_stream`, `job_responses`, `job_json`: report progress and results to the owner.

Modules whose name ends in `_store` contain the SQL statements for the rows of jobs:

- `job_store`: reading, cancelling and deleting jobs on behalf of their owners;
- `queue_store`: queueing new jobs and claiming the next one;
- `lease_store`: the leases of workers, and retrying the jobs of lost workers;
- `progress_store`: the progress of running jobs;
- `outcome_store`: the outcome of attempts;
- `state_transition_store`: the moves between states, which the other stores use.

`comparisons` reads comparisons of several trainings, and determines the best of them.

Files are handled by `input_files`, `artifact_files` and `trained_model_store`.
"""
