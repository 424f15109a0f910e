"""Fast prediction of a few rows without the input checks of scikit-learn, which would take most of the time."""
