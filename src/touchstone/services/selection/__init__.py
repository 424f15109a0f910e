"""The selection backend, which owns the catalog: dataset records, their ranking, projects, and uploads.

The catalog itself is in the package `catalog`; the library that ranks its records is the package `ranking`.
"""
