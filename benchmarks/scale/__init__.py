"""The benchmark of scale: a catalog of millions of records, from its first start to bulk imports."""

from benchmarks.scale.command import main

__all__ = ["main"]
