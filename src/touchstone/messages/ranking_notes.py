"""Notes about criteria that do not distinguish the datasets of a ranking, in both languages."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

RANKING_NOTES: Final[Mapping[str, Text]] = {
    "criterion_equal": (
        "Le critère « {criterion} » ne distingue pas les jeux de données affichés : il a la même valeur pour tous.",
        "The criterion “{criterion}” does not distinguish the datasets shown: it has the same value for all of them.",
    ),
    "criterion_unknown": (
        "On ne sait rien du critère « {criterion} » pour aucun des jeux de données affichés ; il compte 0 pour tous.",
        "Nothing is known about the criterion “{criterion}” for any of the datasets shown; it counts as 0 for all.",
    ),
}
