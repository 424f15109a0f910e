"""The training service: starts and reports trainings, and predicts with the trained models."""
