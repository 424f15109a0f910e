"""The texts of the page that compares datasets, in French and English."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

DATASET_COMPARISON_PAGES: Final[Mapping[str, Text]] = {
    "compare_title": ("Comparer", "Compare"),
    "compare_lead": (
        "Les mêmes poids s’appliquent à tous. La barre dorée marque la meilleure valeur connue, ≠ les lignes "
        "qui diffèrent.",
        "The same weights apply to all. The golden bar marks the best known value, ≠ the rows that differ.",
    ),
    # Readers who do not see the bar hear these words.
    "compare_best": ("meilleure valeur connue", "best known value"),
    "compare_all": ("Critère par critère", "Criterion by criterion"),
    "pairs_title": ("Pourquoi l’un avant l’autre", "Why one ranks above the other"),
    "pairs_lead": (
        "Pour chaque paire : les points qui les séparent, et le plus petit changement d’un seul poids qui inverserait "
        "leur ordre. Les phrases donnent les poids de 0 à 1, les curseurs de 0 à 100 : un poids de 0,29 y est 29.",
        "For each pair: the points between them, and the smallest change of a single weight that would reverse their "
        "order. The sentences give weights from 0 to 1, the sliders from 0 to 100: a weight of 0.29 is 29 there.",
    ),
    "pairs_unranked": (
        "« {name} » ne passe pas les filtres ou les exigences du classement ; sans y avoir de rang, il est comparé par "
        "son score.",
        "“{name}” does not pass the filters or requirements of the ranking; it has no rank there, and is compared by "
        "its score.",
    ),
    "pair_title": ("{above} avant {below}", "{above} above {below}"),
    "pair_points": ("Écart", "Difference"),
    "pair_lead": ("Avance", "Lead"),
    "pair_try": (
        "Voir le classement inversé : {name} à {position} sur 100",
        "Show the reversed ranking: {name} at {position} of 100",
    ),
    "pair_out_of_reach": (
        "Aucun bouton ne montre le classement inversé : le curseur s’arrête à 100, avant ce poids.",
        "No button shows the reversed ranking: the slider ends at 100, before this weight.",
    ),
    "compare_few": ("Épinglez au moins deux jeux de données", "Pin at least two datasets"),
    "compare_back": ("Retour au classement", "Back to the ranking"),
    "compare_facts": ("Ce que l’on sait", "What is known"),
    "compare_points": ("Points", "Points"),
    "compare_drop": ("Retirer", "Remove"),
    "compare_choose": ("Choisir dans un projet", "Choose for a project"),
}
