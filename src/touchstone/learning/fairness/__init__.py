"""Fairness of a model towards the groups of sensitive columns, and the mitigation of unequal treatment."""
