"""Sentences about the task, the decisions and the calibration of a model, in both languages.

Numbers in their placeholders are already formatted for the language.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

TASK_SENTENCES: Final[Mapping[str, Text]] = {
    "requested": ("La tâche est celle de la demande.", "The task is the requested one."),
    "metric": ("La tâche est celle de la métrique demandée.", "The task is that of the requested metric."),
    "not_numeric": (
        "« {name} » ne contient pas de nombres : ses valeurs sont des classes.",
        "“{name}” does not hold numbers: its values are classes.",
    ),
    "dates": (
        "« {name} » contient {count} dates différentes, dont chacune est traitée comme une classe, sans ordre ni "
        "distance. Pour prédire un moment, ajoutez au fichier une colonne avec un nombre de jours.",
        "“{name}” holds {count} different dates, each of which is treated as a class, without order or distance. To "
        "predict a moment, add a column with a number of days to the file.",
    ),
    "two_values": (
        "« {name} » n’a que deux valeurs : ce sont des classes.",
        "“{name}” has two values: they are classes.",
    ),
    "few_integers": (
        "« {name} » contient {count} nombres entiers différents, traités comme des classes sans ordre. S’il s’agit "
        "d’une note ou d’un décompte, demandez une régression (task=regression).",
        "“{name}” holds {count} different whole numbers, treated as classes without an order. If it is a rating or a "
        "count, ask for a regression (task=regression).",
    ),
    "unordered_integers": (
        "« {name} » contient {count} nombres entiers différents dont les autres colonnes ne suivent pas l’ordre : ils "
        "sont traités comme des classes. S’il s’agit d’une note ou d’un décompte, demandez une régression "
        "(task=regression).",
        "“{name}” holds {count} different whole numbers whose order the other columns do not follow: they are treated "
        "as classes. If it is a rating or a count, ask for a regression (task=regression).",
    ),
    "ordered_integers": (
        "« {name} » contient {count} nombres entiers différents, comme une note ou un décompte : le modèle prédit un "
        "nombre. S’il s’agit de codes de classes, demandez une classification (task=classification).",
        "“{name}” holds {count} different whole numbers, like a rating or a count: the model predicts a number. If "
        "they are codes of classes, ask for a classification (task=classification).",
    ),
    "numeric": ("« {name} » est une quantité.", "“{name}” is a quantity."),
}

DECISION_SENTENCES: Final[Mapping[str, Text]] = {
    "positive_requested": (
        "La classe positive est « {name} », comme demandé ({percent} % des lignes).",
        "The positive class is “{name}”, as requested ({percent}% of the rows).",
    ),
    "positive_rarer": (
        "La classe positive est « {name} », la plus rare ({percent} % des lignes).",
        "The positive class is “{name}”, the rarer one ({percent}% of the rows).",
    ),
    "positive_last_name": (
        "La classe positive est « {name} » ; les deux classes sont aussi fréquentes l’une que l’autre.",
        "The positive class is “{name}”; both classes are equally frequent.",
    ),
    "threshold": (
        "Elle est prédite à partir d’une probabilité de {threshold}.",
        "It is predicted if its probability is at least {threshold}.",
    ),
    "threshold_by_group": (
        "La probabilité à partir de laquelle elle est prédite dépend du groupe ; elle est de {threshold} pour les "
        "groupes sans seuil propre.",
        "It is predicted if its probability reaches a threshold that depends on the group, or {threshold} for groups "
        "without a threshold of their own.",
    ),
    "threshold_metric": (
        "Ce seuil a été choisi pour {metric} : {value} sur les lignes de test, contre {default} au seuil par défaut "
        "({default_threshold}).",
        "This threshold was chosen for {metric}: {value} on the test rows, against {default} at the default threshold "
        "({default_threshold}).",
    ),
    "threshold_cost": (
        "Ce seuil a été choisi pour le coût des erreurs (faux positif : {fp}, faux négatif : {fn}) : {value} par ligne "
        "de test, contre {default} au seuil par défaut ({default_threshold}).",
        "This threshold was chosen for the cost of errors (false positive: {fp}, false negative: {fn}): {value} per "
        "test row, against {default} at the default threshold ({default_threshold}).",
    ),
    "most_probable": ("La classe la plus probable est prédite.", "The most probable class is predicted."),
    "most_probable_for_frequency": (
        "La classe prédite est la plus probable au regard de sa fréquence : toutes les classes comptent autant.",
        "The predicted class is the most probable for its frequency, so that all classes count the same.",
    ),
}

CALIBRATION_SENTENCES: Final[Mapping[str, Text]] = {
    "none": (
        "Les probabilités sont celles du modèle, sans correction.",
        "The probabilities are the model’s own, without correction.",
    ),
    "sigmoid": (
        "Les probabilités ont été corrigées par une courbe logistique (calibration sigmoïde).",
        "The probabilities were corrected by a logistic curve (sigmoid calibration).",
    ),
    "isotonic": (
        "Les probabilités ont été corrigées par une courbe croissante (régression isotonique).",
        "The probabilities were corrected by a rising curve (isotonic regression).",
    ),
    "losses": (
        "Perte logarithmique sur les lignes de test : {after} (avant : {before} ; simples fréquences des classes : "
        "{base_rate}).",
        "Log loss on the test rows: {after} (before: {before}; mere frequencies of the classes: {base_rate}).",
    ),
    "losses_unchanged": (
        "Perte logarithmique sur les lignes de test : {after} (simples fréquences des classes : {base_rate}).",
        "Log loss on the test rows: {after} (mere frequencies of the classes: {base_rate}).",
    ),
}

# The names of metrics with the decisions that they were measured for, for the start of a sentence or an axis.
QUALIFIED_METRIC_LABELS: Final[Mapping[str, Text]] = {
    "chosen_threshold": ("{metric} au seuil choisi", "{metric} at the chosen threshold"),
    "default_threshold": ("{metric} au seuil par défaut", "{metric} at the default threshold"),
    "before_calibration": ("{metric} avant calibration", "{metric} before calibration"),
}

WEIGHTING_SENTENCE: Final[Text] = (
    "Dans l’apprentissage et dans toutes les métriques, chaque ligne compte selon la colonne « {name} » ; les "
    "graphiques et les groupes comptent les lignes une à une.",
    "In learning and in all metrics, each row counts by the column “{name}”; charts and groups count every row once.",
)

# Warnings about decisions, which `training_warnings` includes in the table of all warnings.
DECISION_WARNINGS: Final[Mapping[str, Text]] = {
    "probabilities_worse_than_base_rate": (
        "Les probabilités du modèle sont moins bonnes que les simples fréquences des classes ({metric} : {value} "
        "contre {baseline}) : ne vous y fiez pas.",
        "The probabilities of the model are worse than the mere frequencies of the classes ({metric}: {value} against "
        "{baseline}): do not rely on them.",
    ),
    "not_calibrated": (
        "Les probabilités n’ont pas été corrigées : il faut au moins {minimum} lignes de validation par classe, et des "
        "probabilités plus hautes là où la classe est plus fréquente.",
        "The probabilities were not corrected: this takes at least {minimum} validation rows of each class, and "
        "probabilities that are higher where the class is more frequent.",
    ),
    "dates": TASK_SENTENCES["dates"],
    "few_integers": TASK_SENTENCES["few_integers"],
    "unordered_integers": TASK_SENTENCES["unordered_integers"],
    "ordered_integers": TASK_SENTENCES["ordered_integers"],
}
