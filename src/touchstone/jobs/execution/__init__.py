"""The execution of tasks in separate processes, forked on this machine or as actors on a Ray cluster.

Three kinds of local processes are involved:

- the service, which runs `process_executor` and `fork_server_client`;
- the fork server (`fork_server_main`, `fork_server`), which loads the libraries and forks a worker for every task;
- the worker (`worker_process`), which runs one of the `task_functions` within `resource_limits`, and dies together
  with its parent (`parent_death`). Workers for predictions wait for further tasks (`idle_workers`).

They exchange the messages of `protocol` over the sockets of `message_channel`. On Ray, the worker only controls an
actor (`ray_actor`), and the fork server may start the cluster (`ray_head`). `synchronous_tasks` runs short tasks that
a request waits for.
"""
