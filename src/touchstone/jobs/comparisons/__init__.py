"""Comparisons of trainings as they are stored: their rows, and what follows from the results of their jobs."""
