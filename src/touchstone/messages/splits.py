"""Sentences about the split of rows into training and test rows, in French and English.

Numbers in their placeholders are already formatted for the language.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

# The reasons for the split.
SPLIT_REASONS: Final[Mapping[str, Text]] = {
    "requested": (
        "Le découpage a été demandé ainsi.",
        "The split was requested in this way.",
    ),
    "groups_detected": (
        "Les valeurs de « {name} » se répètent, et leurs lignes se ressemblent plus que par hasard : chaque groupe "
        "reste entier d’un côté du découpage.",
        "The values of “{name}” repeat, and their rows are more alike than chance: each group stays whole on one side "
        "of the split.",
    ),
    "time_detected": (
        "{names} {columns:ordonne|ordonnent} les lignes dans le temps : l’évaluation porte sur les plus récentes.",
        "{names} {columns:orders|order} the rows in time: the most recent ones are for evaluation.",
    ),
    "nothing_detected": (
        "Ni groupes ni ordre dans le temps n’ont été détectés : les lignes sont réparties au hasard.",
        "No groups and no order in time were detected: the rows are divided at random.",
    ),
    "nothing_feasible": (
        "Des groupes ou des dates ont été détectés, mais laissent trop peu à apprendre ou à évaluer : les lignes sont "
        "réparties au hasard.",
        "Groups or dates were detected, but leave too little to learn from or to evaluate: the rows are divided at "
        "random.",
    ),
}

# The effect of another split on the score.
SPLIT_EFFECTS: Final[Mapping[str, Text]] = {
    "group": (
        "{metric} : {shuffled} avec les lignes mélangées, {kept_apart} avec les groupes de « {name} » entiers.",
        "{metric}: {shuffled} with shuffled rows, {kept_apart} with whole groups of “{name}”.",
    ),
    "time": (
        "{metric} : {shuffled} avec les lignes mélangées, {kept_apart} sur les lignes les plus récentes.",
        "{metric}: {shuffled} with shuffled rows, {kept_apart} on the most recent rows.",
    ),
    "duplicates": (
        "{metric} : {shuffled} avec les lignes mélangées, {kept_apart} avec les lignes identiques du même côté.",
        "{metric}: {shuffled} with shuffled rows, {kept_apart} with equal rows on the same side.",
    ),
    "near_copies": (
        "{metric} : {shuffled} avec les lignes mélangées, {kept_apart} avec les quasi-copies du même côté.",
        "{metric}: {shuffled} with shuffled rows, {kept_apart} with near copies on the same side.",
    ),
}
