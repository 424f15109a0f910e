"""The backend that starts and reports trainings."""
