"""Data files: uploads, access to files that records name, and their measurement."""
