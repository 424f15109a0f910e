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
    "no_other_succeeded": (
        "Aucun autre entraînement n’a abouti : il n’y a rien à comparer.",
        "No other training has succeeded, so there is nothing to compare.",
    ),
    "deleted": (
        "{count} {count:entraînement a été supprimé : son résultat manque|entraînements ont été supprimés : leurs "
        "résultats manquent} dans cette comparaison.",
        "{count} {count:training has|trainings have} been deleted, so {count:its result is|their results are} missing "
        "from this comparison.",
    ),
    "different_metrics": (
        "Les entraînements ont été mesurés par des métriques différentes ({metrics}), qui ne se comparent pas : "
        "choisissez la tâche.",
        "The trainings were measured by different metrics ({metrics}), which cannot be compared: choose the task.",
    ),
    "unit_of_target": (
        "{metric} : cette métrique a l’unité de la cible, et les scores de tableaux différents ne se comparent donc "
        "pas : choisissez R².",
        "{metric}: this metric has the unit of the target, so the scores of different tables cannot be compared: "
        "choose R².",
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
    "different_class_counts": (
        "Les cibles n’ont pas le même nombre de classes ({counts}) : un score peut n’être meilleur que parce que sa "
        "cible est plus facile à prédire.",
        "The targets have different numbers of classes ({counts}), so a score may only be better because its target is "
        "easier to predict.",
    ),
    "different_targets": (
        "Les cibles sont différentes ({names}) : un score peut n’être meilleur que parce que sa cible est plus facile "
        "à prédire.",
        "The targets are different ({names}), so a score may only be better because its target is easier to predict.",
    ),
    "different_baselines": (
        "Un modèle qui ignore toutes les colonnes obtient de {low} à {high} selon le tableau : un score peut n’être "
        "meilleur que parce que sa cible est plus facile à prédire.",
        "A model that ignores every column scores {low} to {high}, depending on the table, so a score may only be "
        "better because its target is easier to predict.",
    ),
    "different_splits": (
        "Les lignes d’évaluation n’ont pas été choisies de la même façon ({ways}) : un score peut n’être meilleur que "
        "pour cette raison.",
        "The test rows were chosen in different ways ({ways}), which may be the only reason for a better score.",
    ),
    "split_holdout": ("au hasard", "at random"),
    "split_kfold": ("chacune à son tour", "each in turn"),
    "split_time": ("les plus récentes", "the most recent ones"),
    "split_group": ("des groupes entiers", "whole groups"),
}
