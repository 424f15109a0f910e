"""Detection of leakage: columns or pairs of columns that reveal the target, and scores too good to be true."""
