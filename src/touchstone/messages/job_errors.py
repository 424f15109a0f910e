"""The reasons why a job cannot start or has failed, by error code, in French and English.

The codes are defined in `learning_errors.py` and by the jobs. Placeholders such as `{name}` are filled in with the
facts of the error. The sentences about all other refused requests are in `errors.py`.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

# The key of the suggestion at the end of a sentence about an unknown name that resembles a known one.
NAME_SUGGESTION: Final = "nearest_name"
# The end of a sentence about one of several datasets.
NAME_OF_DATASET: Final = "name_of_dataset"

JOB_ERROR_TEXTS: Final[Mapping[str, Text]] = {
    NAME_SUGGESTION: (" ; nom le plus proche : « {nearest} »", "; nearest name: “{nearest}”"),
    NAME_OF_DATASET: (" (jeu de données « {dataset} »)", " (dataset “{dataset}”)"),
    # Requests that contradict themselves
    "unknown_algorithm": (
        "« {name} » n’est pas un algorithme connu : {known}",
        "“{name}” is not a known algorithm: {known}",
    ),
    "unknown_metric": ("« {name} » n’est pas une métrique connue : {known}", "“{name}” is not a known metric: {known}"),
    "unknown_method": ("« {name} » n’est pas une méthode connue : {known}", "“{name}” is not a known method: {known}"),
    "metric_task_mismatch": (
        "La métrique « {name} » ne convient pas à la tâche {task}",
        "The metric “{name}” does not suit the task {task}",
    ),
    "algorithm_not_installed": (
        "L’algorithme « {name} » n’est pas installé ici (extra {extra})",
        "The algorithm “{name}” is not installed here (extra {extra})",
    ),
    "duplicate_value": ("« {name} » figure deux fois", "“{name}” is given twice"),
    "feature_both_ways": (
        "La colonne « {name} » est à la fois incluse et exclue",
        "The column “{name}” is both included and excluded",
    ),
    "target_excluded": ("La cible « {name} » est exclue", "The target “{name}” is excluded"),
    "target_as_feature": (
        "La cible « {name} » ne peut pas servir à se prédire elle-même",
        "The target “{name}” cannot predict itself",
    ),
    "target_sensitive": (
        "La cible « {name} » ne peut pas être aussi une colonne sensible",
        "The target “{name}” cannot be a sensitive column too",
    ),
    "threshold_objective_count": (
        "Indiquez threshold.metric ou threshold.cost, l’un des deux",
        "Give either threshold.metric or threshold.cost",
    ),
    "threshold_metric_unsuitable": (
        "La métrique « {name} » ne dépend pas d’un seuil de décision",
        "The metric “{name}” does not depend on a decision threshold",
    ),
    "mitigation_without_groups": (
        "Il faut nommer au moins une colonne sensible, dont les groupes sont à traiter également",
        "At least one sensitive column has to be named, whose groups are to be treated alike",
    ),
    "sample_weight_conflict": (
        "La colonne de poids « {name} » ne peut être ni la cible ni une colonne d’apprentissage",
        "The column of weights “{name}” can be neither the target nor a feature",
    ),
    "time_column_missing": (
        "Un découpage temporel demande split.time_column",
        "A split by time needs split.time_column",
    ),
    "time_column_unexpected": (
        "split.time_column n’a pas de sens avec la stratégie {strategy}",
        "split.time_column has no meaning with the strategy {strategy}",
    ),
    "group_column_missing": (
        "Un découpage par groupes demande split.group_column",
        "A split by group needs split.group_column",
    ),
    "group_column_unexpected": (
        "split.group_column n’a pas de sens avec la stratégie {strategy}",
        "split.group_column has no meaning with the strategy {strategy}",
    ),
    "split_by_two_columns": (
        "Indiquez split.time_column ou split.group_column, pas les deux",
        "Give split.time_column or split.group_column, not both",
    ),
    "split_by_target": (
        "La cible « {name} » ne peut pas découper les lignes",
        "The target “{name}” cannot divide the rows",
    ),
    "explain_subject_missing": ("Indiquez job_id ou dataset_id", "Give job_id or dataset_id"),
    "explain_subject_twice": (
        "Indiquez job_id ou dataset_id, pas les deux",
        "Give job_id or dataset_id, not both",
    ),
    "comparison_subject_missing": ("Indiquez dataset_ids ou project_id", "Give dataset_ids or project_id"),
    "too_few_datasets": (
        "Une comparaison demande au moins {minimum} jeux de données",
        "A comparison needs at least {minimum} datasets",
    ),
    "target_without_dataset": (
        "Ce qui est indiqué pour « {name} » est sans effet : les jeux de données sont {known}",
        "What is given for “{name}” has no effect: the datasets are {known}",
    ),
    "target_not_suggested": (
        "Indiquez la colonne à prédire : la fiche de « {name} » n’en propose aucune",
        "Give the column to predict: the record of “{name}” suggests none",
    ),
    "ranking_without_tables": (
        "Aucun des premiers jeux de données du classement n’a de tableau lisible",
        "None of the first datasets of the ranking has a readable table",
    ),
    "explain_needs_model": (
        "La méthode « {method} » demande un modèle : indiquez job_id",
        "The method “{method}” needs a model: give job_id",
    ),
    "method_scope_mismatch": (
        "La méthode « {method} » ne couvre pas la portée {scope}",
        "The method “{method}” does not cover the scope {scope}",
    ),
    "option_without_effect": ("{option} est sans effet avec {subject}", "{option} has no effect with {subject}"),
    "instances_both_ways": (
        "Indiquez les lignes par numéro ou par valeurs, pas les deux",
        "Give rows by number or by value, not both",
    ),
    # Requests that do not fit the table
    "target_not_found": (
        "La colonne cible « {name} » n’est pas dans le fichier",
        "The target column “{name}” is not in the file",
    ),
    "column_not_found": ("La colonne « {name} » n’est pas dans le fichier", "The column “{name}” is not in the file"),
    "no_features": ("Il ne reste aucune colonne utilisable pour l’apprentissage", "No column is left to train on"),
    "too_few_rows": (
        "{rows} {rows:ligne ne suffit|lignes ne suffisent} pas : {minimum} au moins",
        "{rows} {rows:row is|rows are} not enough: at least {minimum} needed",
    ),
    "too_many_folds": (
        "{folds} plis, c’est trop pour {rows} {rows:ligne|lignes}",
        "{folds} folds are too many for {rows} {rows:row|rows}",
    ),
    "row_out_of_range": (
        "La ligne {row} n’existe pas : le fichier en a {rows}, numérotées à partir de 0",
        "There is no row {row}: the file has {rows}, numbered from 0",
    ),
    "class_not_found": (
        "« {name} » n’est pas une classe du modèle : {known}",
        "“{name}” is not a class of the model: {known}",
    ),
    "target_one_class": ("La cible « {name} » n’a qu’une seule valeur", "The target “{name}” has a single value"),
    "target_classes_too_rare": (
        "La cible « {name} » a moins de deux valeurs présentes sur au moins {minimum} {minimum:ligne|lignes}",
        "The target “{name}” has fewer than two values that occur in at least {minimum} {minimum:row|rows}",
    ),
    "past_one_class": (
        "Avant la date du découpage, la cible « {name} » n’a qu’une seule valeur",
        "Before the moment of the split, the target “{name}” has a single value",
    ),
    "training_one_class": (
        "Parmi les lignes d’apprentissage, la cible « {name} » n’a qu’une seule valeur",
        "Among the training rows, the target “{name}” has a single value",
    ),
    "too_few_groups": (
        "La colonne « {name} » forme {groups} {groups:groupe|groupes} : il en faut au moins {minimum}",
        "The column “{name}” forms {groups} {groups:group|groups}: at least {minimum} are needed",
    ),
    "groups_connected": (
        "La colonne « {name} » forme {groups} groupes, mais des lignes identiques (ou presque) les relient en {units}"
        " {units:seul ensemble|ensembles}, et il en faut au moins {minimum} : supprimez les doublons, ou demandez "
        "split.duplicates = keep",
        "The column “{name}” forms {groups} groups, but equal (or nearly equal) rows connect them into {units}"
        " {units:set|sets}, and at least {minimum} are needed: remove the duplicates, or ask for"
        " split.duplicates = keep",
    ),
    "too_few_training_rows": (
        "Ce découpage ne laisse que {rows} {rows:ligne|lignes} pour l’apprentissage : {minimum} au moins",
        "This split leaves only {rows} {rows:row|rows} to learn from: at least {minimum} are needed",
    ),
    "folds_exceed_classes": (
        "Aucune classe n’a une ligne pour chacun des {folds} plis : la plus fréquente n’en a que {rows}",
        "No class has a row for each of the {folds} folds: the most frequent one has only {rows}",
    ),
    "too_few_different_rows": (
        "Les lignes identiques (ou presque) restent ensemble, et seules {units} des {rows} lignes diffèrent : il en"
        " faut au moins {minimum}, ou bien split.duplicates = keep",
        "Equal (or nearly equal) rows stay together, and only {units} of the {rows} rows differ: at least {minimum}"
        " are needed, or else split.duplicates = keep",
    ),
    "target_unsupported": (
        "La cible « {name} » contient des valeurs qui ne se prédisent pas, comme des listes, des objets ou des durées",
        "The target “{name}” holds values that cannot be predicted, such as lists, objects or durations",
    ),
    "target_all_missing": ("La cible « {name} » n’a aucune valeur", "The target “{name}” has no value at all"),
    "target_not_numeric": ("La cible « {name} » n’est pas un nombre", "The target “{name}” is not a number"),
    "target_too_many_classes": (
        "La cible « {name} » a {classes} valeurs : {maximum} classes au plus",
        "The target “{name}” has {classes} values: at most {maximum} classes",
    ),
    "two_classes_needed": (
        "{option} demande une cible de deux classes : « {name} » en a {classes}",
        "{option} needs a target of two classes: “{name}” has {classes}",
    ),
    "sample_weights_invalid": (
        "La colonne de poids « {name} » doit contenir un nombre positif ou nul à chaque ligne, et un poids non nul",
        "The column of weights “{name}” must have a number of at least 0 in every row, and one above 0",
    ),
    "sample_weights_one_class": (
        "Les lignes d’apprentissage dont le poids dans « {name} » n’est pas nul ont toutes la même valeur cible",
        "All rows to learn from whose weight in “{name}” is not 0 have the same target value",
    ),
    "sample_weights_one_sided": (
        "D’un côté du découpage, toutes les lignes ont le poids 0 dans « {name} » : il n’y a rien à y apprendre ou à y"
        " évaluer",
        "On one side of the split all rows have the weight 0 in “{name}”, so there is nothing to learn or to evaluate",
    ),
    "time_column_not_ordered": (
        "La colonne « {name} » n’ordonne pas les lignes dans le temps",
        "The column “{name}” does not order the rows in time",
    ),
    "row_column_missing": ("Ligne {row} : « {name} » manque", "Row {row}: “{name}” is missing"),
    "row_column_unknown": (
        "Ligne {row} : « {name} » n’est pas une colonne du modèle",
        "Row {row}: “{name}” is not a column of the model",
    ),
    "row_value_invalid": (
        "Ligne {row} : valeur non valable pour « {name} »",
        "Row {row}: invalid value for “{name}”",
    ),
    "too_many_rows": ("{rows} lignes : {maximum} au plus", "{rows} rows: at most {maximum}"),
    # Unusable data files
    "file_type_unknown": (
        "Le type de fichier {file_type} n’est pas pris en charge ; types pris en charge : {known}",
        "Files of type {file_type} are not supported; supported types: {known}",
    ),
    "file_empty": ("Le fichier ne contient aucune ligne", "The file contains no rows"),
    "file_not_text": ("Le fichier n’est pas un fichier texte", "The file is not a text file"),
    "file_malformed": (
        "Le fichier n’est pas un tableau bien formé (ligne {line})",
        "The file is not a well-formed table (line {line})",
    ),
    "file_unreadable": (
        "Le fichier n’est pas un tableau bien formé",
        "The file is not a well-formed table",
    ),
    "file_key_repeated": (
        "Un objet du fichier a deux fois la clé « {name} »",
        "An object in the file has the key “{name}” twice",
    ),
    "too_many_columns": ("{columns} colonnes : {maximum} au plus", "{columns} columns: at most {maximum}"),
    "too_many_cells": ("{cells} cellules : {maximum} au plus", "{cells} cells: at most {maximum}"),
    "line_too_long": ("Une ligne dépasse {maximum} octets", "A line is longer than {maximum} bytes"),
    "file_too_large": ("Le fichier dépasse {maximum} octets", "The file is larger than {maximum} bytes"),
    "file_not_readable_safely": (
        "La lecture du fichier demande trop de mémoire ou de temps",
        "Reading the file takes too much memory or time",
    ),
    "data_changed": (
        "Le fichier de données a changé depuis l’entraînement",
        "The data file has changed since training",
    ),
    # Failures while the job runs
    "training_failed": ("Aucun modèle n’a pu être ajusté à ces données", "No model could be fitted to this data"),
    "artifact_damaged": ("Le modèle enregistré est endommagé", "The stored model is damaged"),
    "artifact_untrusted": (
        "Le modèle enregistré contient des objets non autorisés",
        "The stored model contains objects that are not allowed",
    ),
    "out_of_memory": (
        "Le traitement a demandé plus de mémoire qu’il n’est permis",
        "The job needed more memory than it is allowed",
    ),
    "out_of_time": (
        "Le traitement a dépassé {seconds} {seconds:seconde|secondes}",
        "The job took more than {seconds} {seconds:second|seconds}",
    ),
    "worker_died": (
        "Le processus du traitement s’est arrêté brutalement à chaque tentative",
        "The process of the job ended abruptly on every attempt",
    ),
    "worker_lost": (
        "Le serveur qui exécutait le traitement a cessé de répondre à chaque tentative",
        "The server that ran the job stopped responding on every attempt",
    ),
    "work_failed": ("Erreur interne pendant le traitement", "Internal error during the job"),
    "storage_failed": (
        "Les résultats n’ont pas pu être enregistrés",
        "The results could not be stored",
    ),
}
