"""The `datafiles` package."""
