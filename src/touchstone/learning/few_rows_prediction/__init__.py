"""Predicting a few rows without the checks of scikit-learn, which take longer than the prediction itself."""
