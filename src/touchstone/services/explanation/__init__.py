"""The backend that starts and reports explanations."""
