"""What runs the work: a fork server with one child process per task, or Ray."""
