"""Sentences about comparisons of trainings on several datasets, in French and English.

Numbers in their placeholders are already formatted for the language.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

COMPARISON_TEXTS: Final[Mapping[str, Text]] = {
    "in_progress": (
        "{done} {done:entraînement terminé|entraînements terminés} sur {total}.",
        "{done} of {total} {total:training|trainings} finished.",
    ),
    "none_succeeded": (
        "Aucun entraînement n’a abouti : il n’y a rien à comparer.",
        "No training has succeeded, so there is nothing to compare.",
    ),
    "different_metrics": (
        "Les entraînements ont été mesurés par des métriques différentes ({metrics}), qui ne se comparent pas : "
        "choisissez la tâche.",
        "The trainings were measured by different metrics ({metrics}), which cannot be compared: choose the task.",
    ),
    "only_score": (
        "Un seul jeu de données a un score : « {name} », {metric} {value} (intervalle à 95 % : {low} à {high}).",
        "Only one dataset has a score: “{name}”, {metric} {value} (95% interval: {low} to {high}).",
    ),
    "best": (
        "« {name} » donne le meilleur modèle : {metric} {value} (intervalle à 95 % : {low} à {high}).",
        "“{name}” gives the best model: {metric} {value} (95% interval: {low} to {high}).",
    ),
    "shared_best": (
        "{names} donnent des modèles également bons : {metric} {value}.",
        "{names} give equally good models: {metric} {value}.",
    ),
    "overlapping": (
        "L’écart avec {names} peut être dû au hasard : les intervalles se recoupent.",
        "The difference from {names} may be chance: the intervals overlap.",
    ),
    "about_model": ("Sur le modèle de « {name} » :", "About the model of “{name}”:"),
    "quoted_name": ("« {name} »", "“{name}”"),
    "not_better_than_baseline": (
        "Ce n’est pas nettement mieux qu’une référence naïve, qui ignore toutes les colonnes ({baseline}).",
        "This is not clearly better than a naive baseline, which ignores every column ({baseline}).",
    ),
    "with_warnings": (
        "{count} {count:avertissement accompagne|avertissements accompagnent} ce modèle : lisez-{count:le|les} "
        "avant de choisir.",
        "This model comes with {count} {count:warning|warnings}: read {count:it|them} before you choose.",
    ),
    "own_rows": (
        "Chaque score a été mesuré sur des lignes de son propre tableau.",
        "Each score was measured on rows of its own table.",
    ),
}
