"""Why a job cannot start, or has failed, by code: French and English; `{…}` are filled from the refusal's facts."""

from collections.abc import Mapping
from typing import Final

NEAREST: Final = "nearest_name"

REASONS: Final[Mapping[str, tuple[str, str]]] = {
    NEAREST: (" ; nom le plus proche : « {nearest} »", "; nearest name: “{nearest}”"),
    # What contradicts itself in an order
    "unknown_algorithm": (
        "« {name} » n'est pas un algorithme connu : {known}",
        "“{name}” is not a known algorithm: {known}",
    ),
    "unknown_metric": ("« {name} » n'est pas une mesure connue : {known}", "“{name}” is not a known metric: {known}"),
    "unknown_method": ("« {name} » n'est pas une méthode connue : {known}", "“{name}” is not a known method: {known}"),
    "metric_task_mismatch": (
        "La mesure « {name} » ne convient pas à la tâche {task}",
        "The metric “{name}” does not suit the task {task}",
    ),
    "algorithm_not_installed": (
        "L'algorithme « {name} » n'est pas installé ici (extra {extra})",
        "The algorithm “{name}” is not installed here (extra {extra})",
    ),
    "duplicate_value": ("« {name} » est cité deux fois", "“{name}” is named twice"),
    "feature_both_ways": ("« {name} » est à la fois incluse et exclue", "“{name}” is both included and excluded"),
    "target_excluded": ("La cible « {name} » est exclue", "The target “{name}” is excluded"),
    "target_as_feature": (
        "La cible « {name} » ne peut pas servir à se prédire elle-même",
        "The target “{name}” cannot predict itself",
    ),
    "target_sensitive": (
        "La cible « {name} » ne peut pas être aussi une colonne sensible",
        "The target “{name}” cannot be a sensitive column too",
    ),
    "time_column_missing": (
        "Une séparation par le temps demande split.time_column",
        "A split by time needs split.time_column",
    ),
    "time_column_unexpected": (
        "split.time_column n'a pas de sens avec la stratégie {strategy}",
        "split.time_column has no meaning with the strategy {strategy}",
    ),
    "explain_subject_missing": ("Indiquez job_id ou dataset_id", "Give job_id or dataset_id"),
    "explain_subject_twice": (
        "Indiquez job_id ou dataset_id, pas les deux",
        "Give job_id or dataset_id, not both",
    ),
    "explain_needs_model": (
        "La méthode « {method} » demande un modèle : indiquez job_id",
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
    # What the table contradicts
    "target_not_found": (
        "La colonne cible « {name} » n'est pas dans le fichier",
        "The target column “{name}” is not in the file",
    ),
    "column_not_found": ("La colonne « {name} » n'est pas dans le fichier", "The column “{name}” is not in the file"),
    "no_features": ("Il ne reste aucune colonne dont apprendre", "No column is left to learn from"),
    "too_few_rows": (
        "{rows} lignes ne suffisent pas : {minimum} au moins",
        "{rows} rows are not enough: at least {minimum}",
    ),
    "too_many_folds": ("{folds} parts sont trop pour {rows} lignes", "{folds} folds are too many for {rows} rows"),
    "row_out_of_range": (
        "La ligne {row} n'existe pas : le fichier en a {rows}, comptées depuis 0",
        "There is no row {row}: the file has {rows}, counted from 0",
    ),
    "class_not_found": (
        "« {name} » n'est pas une classe du modèle : {known}",
        "“{name}” is not a class of the model: {known}",
    ),
    "target_one_class": ("La cible « {name} » n'a qu'une seule valeur", "The target “{name}” has a single value"),
    "target_classes_too_rare": (
        "La cible « {name} » a moins de deux valeurs présentes sur au moins {minimum} lignes",
        "The target “{name}” has fewer than two values that occur in at least {minimum} rows",
    ),
    "past_one_class": (
        "Avant le moment de la séparation, la cible « {name} » n'a qu'une seule valeur",
        "Before the moment of the split, the target “{name}” has a single value",
    ),
    "target_all_missing": ("La cible « {name} » n'a aucune valeur", "The target “{name}” has no value at all"),
    "target_not_numeric": ("La cible « {name} » n'est pas un nombre", "The target “{name}” is not a number"),
    "target_too_many_classes": (
        "La cible « {name} » a {classes} valeurs : {maximum} classes au plus",
        "The target “{name}” has {classes} values: at most {maximum} classes",
    ),
    "time_column_not_ordered": (
        "La colonne « {name} » ne range pas les lignes dans le temps",
        "The column “{name}” does not put the rows in order of time",
    ),
    "row_column_missing": ("Ligne {row} : « {name} » manque", "Row {row}: “{name}” is missing"),
    "row_column_unknown": (
        "Ligne {row} : « {name} » n'est pas une colonne du modèle",
        "Row {row}: “{name}” is not a column of the model",
    ),
    "row_value_invalid": (
        "Ligne {row} : valeur impossible pour « {name} »",
        "Row {row}: impossible value for “{name}”",
    ),
    "too_many_rows": ("{rows} lignes : {maximum} au plus", "{rows} rows: at most {maximum}"),
    # What the file is not
    "file_type_unknown": (
        "Le type de fichier {file_type} n'est pas lu ; types lus : {known}",
        "Files of type {file_type} are not read; types that are: {known}",
    ),
    "file_empty": ("Le fichier ne contient aucune ligne", "The file holds no row"),
    "file_not_text": ("Le fichier n'est pas du texte", "The file is not text"),
    "file_malformed": (
        "Le fichier n'est pas un tableau bien formé (ligne {line})",
        "The file is not a well-formed table (line {line})",
    ),
    "file_unreadable": (
        "Le fichier n'est pas un tableau bien formé",
        "The file is not a well-formed table",
    ),
    "too_many_columns": ("{columns} colonnes : {maximum} au plus", "{columns} columns: at most {maximum}"),
    "too_many_cells": ("{cells} cellules : {maximum} au plus", "{cells} cells: at most {maximum}"),
    "line_too_long": ("Une ligne dépasse {maximum} octets", "A line is longer than {maximum} bytes"),
    "file_too_large": ("Le fichier dépasse {maximum} octets", "The file is larger than {maximum} bytes"),
    "file_not_readable_safely": (
        "La lecture du fichier demande trop de mémoire ou de temps",
        "Reading the file takes too much memory or time",
    ),
    "data_changed": (
        "Le fichier de données a changé depuis l'entraînement",
        "The data file has changed since the training",
    ),
    # What happens on the way
    "training_failed": ("Aucun modèle n'a pu être ajusté à ces données", "No model could be fitted to these data"),
    "artifact_damaged": ("Le modèle enregistré est endommagé", "The stored model is damaged"),
    "artifact_untrusted": (
        "Le modèle enregistré contient des objets non admis",
        "The stored model holds objects that are not allowed",
    ),
    "out_of_memory": ("La tâche a demandé plus de mémoire que permis", "The job needed more memory than allowed"),
    "out_of_time": ("La tâche a dépassé {seconds} secondes", "The job took more than {seconds} seconds"),
    "worker_died": (
        "Le processus de la tâche s'est arrêté brutalement à chaque essai",
        "The process of the job ended abruptly at every attempt",
    ),
    "worker_lost": (
        "Le serveur qui exécutait la tâche n'a plus répondu à chaque essai",
        "The server that ran the job fell silent at every attempt",
    ),
    "work_failed": ("Erreur interne pendant la tâche", "Internal error during the job"),
    "storage_failed": (
        "Les résultats n'ont pas pu être enregistrés",
        "The results could not be stored",
    ),
}

PROGRESS: Final[Mapping[str, tuple[str, str]]] = {
    "waiting": ("En attente", "Waiting"),
    "starting": ("Démarrage", "Starting"),
    "done": ("Terminé", "Done"),
}
