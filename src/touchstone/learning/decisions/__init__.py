"""The decisions of a classifier: its positive class, calibration and threshold.

Calibration and threshold are learned from the out-of-fold predictions of the search, that is for rows that the
respective model has not learned from. Test rows are never used, because they measure the decisions.
"""
