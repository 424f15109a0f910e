"""Warnings about a row that a model predicts or explains, in French and English.

Numbers in their placeholders are already formatted for the language.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

ROW_WARNINGS: Final[Mapping[str, Text]] = {
    "category_unseen": (
        "« {name} » = {value} : le modèle n’a appris d’aucune ligne avec cette valeur.",
        "“{name}” = {value}: the model has not learned from any row with this value.",
    ),
    "value_out_of_range": (
        "« {name} » = {value} est hors de ce que le modèle a vu, de {low} à {high}.",
        "“{name}” = {value} is outside of what the model has seen, from {low} to {high}.",
    ),
    "value_unreadable": (
        "« {name} » = {value} ne se lit pas comme les autres valeurs de cette colonne et compte comme manquante,"
        " comme lors de l’apprentissage.",
        "“{name}” = {value} cannot be read like the other values of this column and counts as missing, as it did in"
        " training.",
    ),
    "group_unseen": (
        "« {name} » = {value} : le modèle n’a pas de seuil pour ce groupe ; le seuil commun décide.",
        "“{name}” = {value}: the model has no threshold for this group, so the common one decides.",
    ),
    "group_missing": (
        "« {name} » n’a pas de valeur : sans le groupe de cette ligne, le seuil commun décide.",
        "“{name}” has no value: without the group of this row, the common threshold decides.",
    ),
    "row_without_values": (
        "Cette ligne n’a aucune valeur : la réponse du modèle n’est qu’une supposition.",
        "This row has no values at all, so the answer of the model is a mere guess.",
    ),
}
