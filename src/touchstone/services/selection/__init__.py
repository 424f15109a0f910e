"""The selection backend, which manages the catalog of dataset records, their ranking, projects, and uploads.

The catalog itself is in the package `catalog`. The package `ranking` is the library that ranks its records.
"""
