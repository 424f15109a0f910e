"""Explanations of a ranking: comparisons of datasets, possible improvements, and the stability of the first places."""
