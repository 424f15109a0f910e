"""The benchmark of the search: information needs, judgements, and measurements at scale."""

from benchmarks.search.command import main

__all__ = ["main"]
