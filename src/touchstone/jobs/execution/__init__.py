"""The execution of tasks in processes of their own: forked on this machine, or as actors on a Ray cluster.

On this machine, three processes take part:

- the service, which runs `process_executor` and, through it, `fork_server_client`;
- the fork server (`fork_server_main`, `fork_server`), which loads the libraries and forks a worker for every task;
- the worker (`worker_process`), which runs one task of `task_functions` within `resource_limits`, and dies together
  with its parent (`parent_death`). Workers that predict wait for further tasks (`idle_workers`).

They exchange the messages of `protocol` over the sockets of `message_channel`. On Ray, the worker only drives an actor
(`ray_actor`), and the fork server may start the cluster (`ray_head`). `synchronous_tasks` runs short tasks that a
request waits for.
"""
