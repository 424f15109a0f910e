"""Explanations of a record's rank, and of the changes that would move it."""
