"""The benchmark of trainings and explanations: against other libraries, in quality and in time."""

from benchmarks.learning.command import main

__all__ = ["main"]
