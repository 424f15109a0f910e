"""Warnings about a training run and its data, in French and English.

Numbers arrive already formatted for the language.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

WARNINGS: Final[Mapping[str, Text]] = {
    "few_rows": (
        "{rows} {rows:ligne seulement|lignes seulement} : les mesures sont très incertaines.",
        "Only {rows} {rows:row|rows}: the figures are very uncertain.",
    ),
    "class_imbalance": (
        "Les classes sont déséquilibrées : « {name} » n’a que {rows} {rows:ligne|lignes} ({percent} %).",
        "The classes are imbalanced: “{name}” has only {rows} {rows:row|rows} ({percent}%).",
    ),
    "rare_classes_left_out": (
        "{names:Classe trop rare, laissée|Classes trop rares, laissées} de côté : {names}.",
        "{names:Class|Classes} too rare to be learned, left out: {names}.",
    ),
    "classes_never_learned": (
        "{names:Classe évaluée mais absente|Classes évaluées mais absentes} de l’apprentissage,"
        " que le modèle ne peut pas prédire : {names}.",
        "{names:Class|Classes} evaluated but absent from training, which the model cannot predict: {names}.",
    ),
    "target_missing": (
        "{rows} {rows:ligne sans valeur cible a été laissée|lignes sans valeur cible ont été laissées} de côté.",
        "{rows} {rows:row without a target value was|rows without a target value were} left out.",
    ),
    "leakage_suspect": (
        "« {name} » suffit presque à prédire la cible ({score}) : vérifiez que cette valeur est connue avant "
        "le résultat.",
        "“{name}” alone predicts the target almost perfectly ({score}): check that it is known before the outcome.",
    ),
    "columns_left_out": (
        "{names:Colonne inutilisable|Colonnes inutilisables} pour l’apprentissage,"
        " {names:laissée|laissées} de côté : {names}.",
        "{names:Column|Columns} with nothing to learn from, left out: {names}.",
    ),
    "mixed_column": (
        "« {name} » mêle des nombres (ou des dates) et des mots : {cells} "
        "{cells:cellule compte comme manquante|cellules comptent comme manquantes}.",
        "“{name}” mixes numbers (or dates) with words: {cells} {cells:cell counts|cells count} as missing.",
    ),
    "infinite_values": (
        "« {name} » contient {cells} "
        "{cells:valeur infinie, comptée comme manquante|valeurs infinies, comptées comme manquantes}.",
        "“{name}” contains {cells} infinite {cells:value|values}, counted as missing.",
    ),
    "mostly_missing": (
        "« {name} » est vide à {percent} %.",
        "“{name}” is {percent}% empty.",
    ),
    "columns_renamed": (
        "{names:Nom de colonne répété ou vide, renommé|Noms de colonnes répétés ou vides, renommés} : {names}.",
        "Repeated or empty column {names:name|names}, renamed: {names}.",
    ),
    "duplicate_rows": (
        "{rows} {rows:ligne est répétée|lignes sont répétées} à l’identique : une même ligne peut servir à "
        "l’apprentissage et à l’évaluation.",
        "{rows} {rows:row is an exact repeat|rows are exact repeats}: the same row may be used for both "
        "training and evaluation.",
    ),
    "small_groups": (
        "{names:Groupe|Groupes} de « {name} » {names:trop petit|trop petits} pour conclure (lignes "
        "évaluées) : {names}.",
        "{names:Group|Groups} of “{name}” too small to draw conclusions (evaluated rows): {names}.",
    ),
    "group_gap": (
        "L’exactitude varie de {difference} entre les groupes de « {name} », au-delà de l’incertitude.",
        "Accuracy differs by {difference} between the groups of “{name}”, more than uncertainty explains.",
    ),
    "not_better_than_baseline": (
        "Le modèle ne fait pas nettement mieux que la référence naïve.",
        "The model is not clearly better than the naive baseline.",
    ),
    "dates_split_at_random": (
        "« {name} » est une date, mais les lignes sont réparties au hasard : l’avenir a pu servir à prédire le passé.",
        "“{name}” is a date, yet rows were split at random: the future may have helped to predict the past.",
    ),
    "stopped_by_time": (
        "La recherche a été interrompue par la limite de temps : une autre exécution peut donner un autre résultat.",
        "The search was stopped by the time limit: another run may give a different result.",
    ),
}
