"""Data files: opening them safely, and profiling them with DuckDB in a child process of limited means."""
