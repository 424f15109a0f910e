"""Sentences about sensitive groups and the mitigation of unequal treatment, in both languages.

Numbers in their placeholders are already formatted for the language.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

FAIRNESS: Final[Mapping[str, Text]] = {
    "small_groups": (
        "{names:Groupe|Groupes} de « {name} » {names:trop petit|trop petits} pour conclure (lignes "
        "évaluées) : {names}.",
        "{names:Group|Groups} of “{name}” too small to draw conclusions (evaluated rows): {names}.",
    ),
    "group_size": ("{name} ({rows})", "{name} ({rows})"),
    "group_ratio": (
        "Les groupes de « {name} » sont traités inégalement, au-delà du hasard : le taux le plus bas est inférieur aux "
        "quatre cinquièmes du plus élevé. {gaps}.",
        "Groups of “{name}” are treated unequally, more than chance explains: the lowest rate is below four fifths of "
        "the highest. {gaps}.",
    ),
    "group_gap": (
        "Entre les groupes de « {name} », des écarts dépassent ce que le hasard explique. {gaps}.",
        "Between the groups of “{name}”, there are gaps that chance does not explain. {gaps}.",
    ),
    "group_ratio_uncertain": (
        "Entre les groupes de « {name} », le taux le plus bas est inférieur aux quatre cinquièmes du plus élevé, mais "
        "il y a trop peu de lignes pour écarter le hasard. {gaps}.",
        "Between the groups of “{name}”, the lowest rate is below four fifths of the highest, but there are too few "
        "rows to rule out chance. {gaps}.",
    ),
    "gap": (
        "{metric} : {low} ({lowest}) contre {high} ({highest})",
        "{metric}: {low} ({lowest}) against {high} ({highest})",
    ),
    "rate_of_class": ("{metric} de « {name} »", "{metric} of “{name}”"),
    "mitigation_thresholds": (
        "Un seuil par groupe, à la place du seuil commun : tous les groupes sont prédits positifs à peu près au même "
        "taux sur les lignes d’apprentissage qui ont servi à choisir les seuils ; le tableau dit ce qu’il en est des "
        "lignes d’évaluation. Le modèle a donc besoin des colonnes sensibles pour décider.",
        "A threshold for each group, in place of the common one: all groups are predicted to be positive at about the "
        "same rate on the training rows by which the thresholds were chosen; the table shows how it is for the test "
        "rows. The model therefore needs the sensitive columns to decide.",
    ),
    "mitigated_metric": (
        "{metric} : {after} sur les lignes de test, contre {before} sans cette atténuation.",
        "{metric}: {after} on the test rows, against {before} without this mitigation.",
    ),
    "mitigated_cost": (
        "Coût des erreurs (faux positif : {fp}, faux négatif : {fn}) : {after} par ligne de test, contre {before} "
        "sans cette atténuation.",
        "Cost of errors (false positive: {fp}, false negative: {fn}): {after} per test row, against {before} without "
        "this mitigation.",
    ),
    "mitigation_reweighing": (
        "Les lignes sont pondérées à l’apprentissage, comme si le groupe et la classe étaient indépendants (Kamiran et "
        "Calders 2012). Le modèle n’a pas besoin des colonnes sensibles pour décider.",
        "Rows are weighted in training, as if group and class were independent (Kamiran and Calders 2012). The model "
        "does not need the sensitive columns to decide.",
    ),
}
