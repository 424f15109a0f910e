"""Fairness: how well a model treats the groups of sensitive columns, and how unequal treatment is mitigated."""
