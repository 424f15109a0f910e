"""Splits of a table into training and test rows.

`split_decision` chooses a `SplitPlan`, with the help of `group_detection`, `time_detection` and `duplicate_rows`.
`split_rule` applies the plan to the rows of a table, and `folds` divides them.
"""
