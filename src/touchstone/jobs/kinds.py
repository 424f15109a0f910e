"""The names of the kinds of work: jobs, which have rows, and errands, which a request waits for."""

from typing import Final

TRAIN: Final = "train"
EXPLAIN: Final = "explain"
KINDS: Final = (TRAIN, EXPLAIN)

PREDICT: Final = "predict"
INSPECT: Final = "inspect"
DRAW: Final = "draw"
