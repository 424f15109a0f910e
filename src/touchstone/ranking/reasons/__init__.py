"""Explanations of the ranks of records, and of the changes that would move records in a ranking."""
