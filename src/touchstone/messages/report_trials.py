"""The sentences of the report on a project about compared models, trainings and explanations."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

TRIAL_TEXTS: Final[Mapping[str, Text]] = {
    # The comparison of models
    "models": ("Lequel donne le meilleur modèle ?", "Which of them trains the best model?"),
    "models_table": (
        "Les modèles des jeux de données comparés, le meilleur d’abord",
        "The models of the compared datasets, the best first",
    ),
    "models_rank": ("Rang d’alors", "Rank at that time"),
    "models_place": ("Place", "Place"),
    "models_baseline": ("Référence naïve", "Naive baseline"),
    "models_target": ("prédit « {target} »", "predicts “{target}”"),
    "models_overlap": (
        "l’écart avec le meilleur peut être dû au hasard",
        "the difference from the best may be chance",
    ),
    "models_warnings": (
        "{count} {count:avertissement|avertissements}",
        "{count} {count:warning|warnings}",
    ),
    "models_left_out": ("Écartés, avec la raison", "Left out, with the reason"),
    # Trainings and explanations
    "training": ("Ce que les essais ont montré", "What the trials have shown"),
    "training_counts": (
        "Entraînements terminés dans ce projet, sans ceux qui ont été supprimés : {total}, dont {succeeded} "
        "{succeeded:réussi|réussis}, {failed} {failed:échoué|échoués} et {cancelled} {cancelled:annulé|annulés}.",
        "Trainings in this project that have ended, without those that were deleted: {total}, of which {succeeded} "
        "succeeded, {failed} failed and {cancelled} {cancelled:was|were} cancelled.",
    ),
    "trainings_described": (
        "{shown} {shown:est décrit|sont décrits} ici : les plus récents de ceux qui ont réussi, et les plus récents "
        "sur le jeu de données dont ce rapport donne les preuves.",
        "{shown} {shown:is|are} described here: the newest of those that succeeded, and the newest on the dataset "
        "whose evidence this report shows.",
    ),
    "training_title": (
        "Prédire « {target} » : {algorithm}",
        "Predicting “{target}”: {algorithm}",
    ),
    "training_job": ("Entraînement", "Training"),
    "training_id": ("Identifiant de la tâche : {id}", "Job id: {id}"),
    "training_seed": ("Graine aléatoire : {seed}", "Random seed: {seed}"),
    "file_digest": ("{name} : SHA-256 {sha256}", "{name}: SHA-256 {sha256}"),
    "training_data": ("Données", "Data"),
    "training_data_value": (
        "« {name} », {rows} {rows:ligne|lignes}, SHA-256 {sha256}",
        "“{name}”, {rows} {rows:row|rows}, SHA-256 {sha256}",
    ),
    "training_request": ("Demande", "Request"),
    "training_request_hint": (
        "Envoyée à « POST /api/v1/ml/train » pour le même fichier et avec les versions de « environment.txt », elle "
        "donne de nouveau le même modèle. « dataset_id » est le numéro de la fiche dans le catalogue où elle est "
        "envoyée.",
        "Sent to “POST /api/v1/ml/train” for the same file and with the versions in “environment.txt”, it gives the "
        "same model again. “dataset_id” is the number of the record in the catalog to which it is sent.",
    ),
    "training_finished": ("Terminé le", "Finished on"),
    "training_evaluation": ("Évaluation", "Evaluation"),
    "training_test_rows": (
        "Mesuré sur {rows} {rows:ligne|lignes} que le modèle n’avait pas vues",
        "Measured on {rows} {rows:row|rows} that the model had not seen",
    ),
    "training_folds": (
        "Moyenne sur {folds} plis, chacun évalué sur des lignes que le modèle de ce pli n’avait pas vues",
        "Mean over {folds} folds, each measured on rows that the model of that fold had not seen",
    ),
    "training_on_all_rows": (
        "Après cette évaluation, le modèle livré a appris de toutes les lignes ; lui-même n’a donc pas été évalué.",
        "After this evaluation, the delivered model learned from all rows, so it has not been evaluated itself.",
    ),
    "training_thresholds": ("Seuils de décision par groupe ({columns})", "Decision thresholds by group ({columns})"),
    "other_groups": ("tous les autres groupes", "all other groups"),
    "training_metrics": ("Qualité mesurée", "Measured quality"),
    "metric": ("Mesure", "Metric"),
    "value": ("Valeur", "Value"),
    "interval": ("Intervalle à 95 %", "95% interval"),
    "baseline": ("référence naïve", "naive baseline"),
    "training_groups": ("Qualité par groupe : {column}", "Quality by group: {column}"),
    "group": ("Groupe", "Group"),
    "rows": ("Lignes", "Rows"),
    "too_small": ("trop peu de lignes", "too few rows"),
    "missing_group": ("(manquant)", "(missing)"),
    "training_warnings": ("Avertissements", "Warnings"),
    "no_groups": (
        "Aucune mesure par groupe de personnes : aucune colonne sensible n’a été indiquée.",
        "No metrics by group of people: no sensitive column was named.",
    ),
    "explanation_title": ("Explication : {methods}", "Explanation: {methods}"),
    "explanation_subject": ("Ce qui est expliqué", "What is explained"),
    "explained_training": ("le modèle de la tâche {id}", "the model of the job {id}"),
    "explanation_limits": ("Ce qu’il ne faut pas en conclure", "What not to conclude from it"),
}
