"""The messages about the progress of a job, by phase, in French and English."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

PROGRESS: Final[Mapping[str, Text]] = {
    "reading_data": ("Lecture des données", "Reading the data"),
    "preparing_data": ("Préparation des données", "Preparing the data"),
    "searching_models": ("Recherche du meilleur modèle", "Searching for the best model"),
    "measuring_model": ("Évaluation de la qualité", "Evaluating quality"),
    "measuring_groups": ("Évaluation par groupe", "Evaluating by group"),
    "explaining_globally": ("Explication du modèle", "Explaining the model"),
    "explaining_rows": ("Explication des prédictions", "Explaining predictions"),
    "profiling_data": ("Profil des données", "Profiling the data"),
    "writing_artifacts": ("Écriture des résultats", "Writing the results"),
    # Before the first phase and after the last one
    "waiting": ("En attente", "Waiting"),
    "starting": ("Démarrage", "Starting"),
    "done": ("Terminé", "Done"),
}
