"""The training service, which starts and reports trainings, and predicts with trained models."""
