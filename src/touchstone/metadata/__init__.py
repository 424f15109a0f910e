"""Pure documents: dataset descriptions in and out, and profiles of data files."""
