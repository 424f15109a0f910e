"""The names of the kinds of work: jobs, which have rows, and errands, which a request waits for."""

from typing import Final

TRAIN: Final = "train"
EXPLAIN: Final = "explain"
KINDS: Final = (TRAIN, EXPLAIN)

PREDICT: Final = "predict"
PREFLIGHT: Final = {TRAIN: "preflight_train", EXPLAIN: "preflight_explain"}  # what a start waits for
DRAW: Final = "draw"
