"""Stored comparisons of trainings, and the assessment of their results."""
