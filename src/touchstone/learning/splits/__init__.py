"""Splits of the rows into training and test rows: which rows must stay together, and how they are divided.

`split_decision` chooses how to divide a table, with the help of `group_detection`, `time_detection` and
`duplicate_rows`; the choice is a `SplitPlan`. `split_rule` applies the plan to the rows of a table, and `folds`
divides them.
"""
