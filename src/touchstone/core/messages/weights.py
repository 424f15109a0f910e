"""Why weights cannot be used, by reason: French, English."""

from collections.abc import Mapping
from typing import Final

WEIGHTS: Final[Mapping[str, tuple[str, str]]] = {
    "criterion_repeated": ("critère donné deux fois", "criterion given twice"),
    "weights_all_zero": ("tous sont nuls", "all are zero"),
    "weight_not_a_number": ("nombre attendu", "a number is expected"),
    "weight_not_finite": ("nombre fini attendu", "a finite number is expected"),
    "weight_negative": ("jamais négatif", "never negative"),
}
