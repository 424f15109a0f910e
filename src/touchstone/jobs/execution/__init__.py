"""The `jobs.execution` package."""
