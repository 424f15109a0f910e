"""Data files: uploads, access to the files of records, and their measurement."""
