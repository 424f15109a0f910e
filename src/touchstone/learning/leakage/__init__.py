"""Signs that a score is too good to be true: columns or pairs of columns that give the target away."""
