"""From the probabilities of a classifier to decisions: its positive class, calibration and threshold.

Everything here is learned from predictions for rows that the model in question did not learn from (the inner
out-of-fold predictions of the search), never from the test rows, on which the decisions are measured.
"""
