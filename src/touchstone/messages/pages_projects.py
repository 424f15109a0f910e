"""The texts of the project pages, in French and English: needs, choices, snapshots and reports."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

PROJECT_PAGES: Final[Mapping[str, Text]] = {
    # The list of projects, and the forms that save one
    "project": ("Projet", "Project"),
    "projects_lead": (
        "Un besoin, ses exigences, ses poids, le jeu de données choisi et la raison du choix.",
        "A need, its requirements and weights, the chosen dataset and the reason for the choice.",
    ),
    "projects_none": ("Pas encore de projet", "No project yet"),
    "projects_none_hint": (
        "Un projet garde vos filtres, vos poids, votre choix et ses raisons.",
        "A project keeps your filters, your weights, your choice and its reasons.",
    ),
    "project_new": ("Créer un projet", "Create a project"),
    "project_keep": ("Garder dans un projet", "Keep in a project"),
    "project_name": ("Nom du projet", "Name of the project"),
    "project_need": ("Le besoin", "The need"),
    "project_need_hint": (
        "À quoi serviront les données, pour qui, avec quelles limites",
        "What the data are for, for whom, and within which limits",
    ),
    "project_outdated": (
        "Votre saisie figure encore dans son formulaire, mais n’a pas été enregistrée.",
        "What you entered is still in its form, but has not been saved.",
    ),
    "project_reload": ("Repartir du projet tel qu’il est", "Start again from the current project"),
    "project_update": ("Mettre à jour un projet", "Update a project"),
    "project_update_choice_hint": (
        "Ses filtres, ses exigences, ses poids et son choix seront remplacés par ceux-ci.",
        "Its filters, requirements, weights and choice will be replaced by these.",
    ),
    "project_update_hint": (
        "Ses filtres, ses exigences et ses poids seront remplacés par ceux-ci ; son choix est conservé.",
        "Its filters, requirements and weights will be replaced by these; its choice is kept.",
    ),
    "need_title": ("Ce qui compte", "What matters"),
    "need_no_filter": ("Aucun filtre : tout le catalogue est retenu.", "No filter: the whole catalog is included."),
    "need_adjust": ("Ajuster dans le classement", "Adjust in the ranking"),
    "chosen": ("Choisi : {name}", "Chosen: {name}"),
    "not_chosen": ("Aucun choix pour l’instant", "Nothing chosen yet"),
    "changed_at": ("Modifié le {date}", "Modified on {date}"),
    "choice": ("Le choix", "The choice"),
    "choice_hint": (
        "Cochez l’une des propositions ci-dessous et indiquez pourquoi.",
        "Select one of the proposals below and say why.",
    ),
    "choice_take_back": ("Annuler ce choix", "Take this choice back"),
    "choice_take_back_reason": ("Pourquoi ? (facultatif)", "Why? (optional)"),
    "choice_withdrawn": (
        "La fiche de « {name} » a été supprimée ou n’est plus visible pour vous. Le projet garde son nom, son "
        "empreinte et ce que l’on en savait.",
        "The record of “{name}” has been deleted or is no longer visible to you. The project keeps its name, its "
        "digest and what was known about it.",
    ),
    "choice_changed": (
        "La fiche a changé depuis le choix. Vérifiez que la raison tient toujours.",
        "The record has changed since it was chosen. Check whether the reason still holds.",
    ),
    "choice_unchanged": ("inchangé depuis le choix", "unchanged since it was chosen"),
    "choice_state_changed": ("modifié depuis", "changed since"),
    "choice_state_withdrawn": ("retiré", "withdrawn"),
    "choice_changes": ("{count} changements depuis le choix", "{count} changes since the choice"),
    "choice_changes_one": ("{count} changement depuis le choix", "{count} change since the choice"),
    "choice_digest": ("Empreinte de la fiche", "Digest of the record"),
    "change_field": ("Ce qui a changé", "What has changed"),
    "change_before": ("Avant", "Before"),
    "change_after": ("Maintenant", "Now"),
    "change_evidence": ("{name} : preuve", "{name}: evidence"),
    "change_claims": ("{name} : affirmations", "{name}: claims"),
    "change_metadata": ("Métadonnée {name}", "Metadata: {name}"),
    "change_file_path": ("Fichier de données", "Data file"),
    "change_gates": ("Exigences", "Requirements"),
    "change_claim_count": ("{count} affirmations", "{count} claims"),
    "change_claim_count_one": ("{count} affirmation", "{count} claim"),
    "change_nothing": ("aucune valeur", "no value"),
    # The history of the choice
    "history": ("Tous les choix", "Every choice"),
    "history_hint": (
        "Rien n’est écrasé : chaque choix garde son auteur, sa raison, son rang et l’empreinte de la fiche.",
        "Nothing is overwritten: each choice keeps its author, its reason, its rank and the digest of the record.",
    ),
    "history_older": ("{count} choix plus anciens", "{count} older choices"),
    "history_older_one": ("{count} choix plus ancien", "{count} older choice"),
    "history_current": ("en vigueur", "current"),
    "history_taken_back": ("Choix annulé", "Choice taken back"),
    "history_by": ("par {name}", "by {name}"),
    "history_until": ("jusqu’au {date}", "until {date}"),
    "history_rank": ("rang {rank} sur {total}, score {score}", "rank {rank} of {total}, score {score}"),
    "history_unranked": ("ne correspondait pas aux filtres", "did not match the filters"),
    "history_known": ("Ce que l’on en savait", "What was known about it"),
    "history_known_none": ("Personne n’avait rien affirmé.", "Nobody had claimed anything."),
    "history_need": (
        "Preuves exigées : {assurance}. Parts du score : {shares}.",
        "Evidence required: {assurance}. Shares of the score: {shares}.",
    ),
    "history_gates": ("Exigences : {gates}.", "Requirements: {gates}."),
    # Snapshots of the ranking
    "snapshots": ("Instantanés du classement", "Snapshots of the ranking"),
    "snapshots_hint": (
        "Un instantané fige le classement avec ses raisons. Le service dit ensuite ce qui a changé, et pourquoi.",
        "A snapshot freezes the ranking with its reasons. The service then says what has changed, and why.",
    ),
    "snapshot_note": ("Note (facultative)", "Note (optional)"),
    "snapshot_note_hint": ("Pourquoi le figer maintenant", "Why freeze it now"),
    "snapshot_delete": ("Supprimer l’instantané", "Delete the snapshot"),
    "snapshot_take": ("Figer le classement", "Freeze the ranking"),
    "snapshot": ("Instantané", "Snapshot"),
    "snapshot_by": ("Figé par", "Frozen by"),
    "snapshot_content": ("Contenu", "Content"),
    "snapshot_title": ("Instantané du {date}", "Snapshot of {date}"),
    "snapshot_items": ("{count} jeux de données", "{count} datasets"),
    "snapshot_items_one": ("{count} jeu de données", "{count} dataset"),
    "snapshot_of_total": (
        "Les {shown} premiers des {total} jeux de données, avec tout ce que l’on en savait",
        "The first {shown} of {total} datasets, with everything that was known about them",
    ),
    "snapshot_of_all": (
        "Tout le classement, {count} {count:jeu|jeux} de données, avec tout ce que l’on en savait",
        "The whole ranking, {count} {count:dataset|datasets}, with everything that was known about them",
    ),
    "snapshot_digest": ("Empreinte (SHA-256)", "Digest (SHA-256)"),
    "snapshot_formula": ("Version de la formule", "Version of the formula"),
    "snapshot_file": ("Enregistrer l’instantané (JSON)", "Save the snapshot (JSON)"),
    "snapshot_file_hint": (
        "La somme SHA-256 de ce fichier est l’empreinte ci-dessus.",
        "The SHA-256 sum of this file is the digest above.",
    ),
    # The changes since a snapshot
    "replay": ("Ce qui a changé depuis", "What has changed since"),
    "replay_identical": (
        "Rien n’a changé : les mêmes jeux de données, aux mêmes rangs, avec les mêmes scores.",
        "Nothing has changed: the same datasets, at the same ranks, with the same scores.",
    ),
    "replay_differs": ("Le classement a changé.", "The ranking has changed."),
    "replay_project": ("Le projet a changé", "The project has changed"),
    "replay_project_hint": (
        "La comparaison garde les filtres, les poids et les exigences de l’instantané.",
        "The comparison keeps the filters, the weights and the requirements of the snapshot.",
    ),
    "replay_formula": (
        "La formule du score a changé : version {before}, maintenant {after}.",
        "The formula of the score has changed: version {before}, now {after}.",
    ),
    "replay_total": (
        "Le classement comptait {count} jeux de données ; il en compte {after}.",
        "The ranking had {count} datasets; it has {after} now.",
    ),
    "replay_total_one": (
        "Le classement comptait {count} jeu de données ; il en compte {after}.",
        "The ranking had {count} dataset; it has {after} now.",
    ),
    "replay_then_now": ("Alors → maintenant", "Then → now"),
    "replay_why": ("Pourquoi", "Why"),
    "replay_unchanged": ("inchangé", "unchanged"),
    "replay_changed": ("modifié", "changed"),
    "replay_moved": ("déplacé", "moved"),
    "replay_new": ("nouveau", "new"),
    "replay_gone": ("sorti", "gone"),
    "replay_details": ("{count} différences", "{count} differences"),
    "replay_details_one": ("{count} différence", "{count} difference"),
    "replay_reason_record": ("Sa fiche ou ses preuves ont changé.", "Its record or its evidence has changed."),
    "replay_reason_others": ("D’autres sont passés devant ou derrière.", "Others have overtaken it or fallen behind."),
    "replay_reason_withdrawn": (
        "Sa fiche a été supprimée ou n’est plus visible.",
        "Its record has been deleted or is no longer visible.",
    ),
    "replay_reason_filters": (
        "Sa fiche a changé, et les filtres ne donnent plus le même résultat.",
        "Its record has changed, and the filters no longer give the same result.",
    ),
    "replay_reason_formula": ("La formule du score a changé.", "The formula of the score has changed."),
    # The report
    "report": ("Rapport", "Report"),
    "report_title": ("Rapport du projet « {name} »", "Report on the project “{name}”"),
    "report_hint": (
        "Un document à verser au dossier : le besoin, le classement, le choix et ses raisons, les preuves et ce que "
        "l’on ignore. Le même état du projet donne toujours le même document. D’autres comptes ne voient pas le "
        "projet : pour le faire relire, transmettez le rapport.",
        "A document for the files: the need, the ranking, the choice and its reasons, the evidence and what is "
        "unknown. The same state of the project always gives the same document. Other accounts cannot see the "
        "project: to have it reviewed, pass on the report.",
    ),
    "report_show": ("Lire le rapport", "Read the report"),
    "report_files": ("Lire et enregistrer", "View and save"),
    "report_view": ("Afficher", "View"),
    "report_in_fr": ("en français", "in French"),
    "report_in_en": ("en anglais", "in English"),
    "report_for_programs": (
        "pour vérifier le rapport plus tard, et pour des programmes",
        "to verify the report later, and for programs",
    ),
    "report_print": (
        "Pour imprimer le rapport, ouvrez son fichier PDF ou HTML.",
        "To print the report, open its PDF or HTML file.",
    ),
    "report_frame": ("Aperçu du rapport", "Preview of the report"),
    "offers": ("Ce que le catalogue propose", "What the catalog offers"),
    "offers_all": ("Voir tout le classement", "See the whole ranking"),
    # Comparisons of trainings on the best-ranked datasets
    "models": ("Lequel donne le meilleur modèle ?", "Which of them gives the best model?"),
    "models_hint": (
        "Le même entraînement sur plusieurs tableaux, et les résultats côte à côte. Ce formulaire prend les premiers "
        "du classement.",
        "The same training on several tables, with the results side by side. This form takes the first ones of the "
        "ranking.",
    ),
    "models_start": ("Comparer par l’entraînement", "Compare by training"),
    "models_go": ("Lancer la comparaison", "Start the comparison"),
    "models_target_hint": (
        "Laissez vide pour prédire la colonne que propose chaque fiche.",
        "Leave empty to predict the column that each record suggests.",
    ),
    "models_by_dataset": ("Colonnes et classes d’un seul tableau", "Columns and classes of one table"),
    "models_by_dataset_hint": (
        "Ce que vous indiquez ici remplace, pour ce tableau, ce qui vaut pour tous. Séparez plusieurs colonnes par des "
        "virgules.",
        "What you enter here replaces, for this table, what applies to all. Separate several columns by commas.",
    ),
    "dataset_option_features": ("Colonnes à écarter", "Columns to leave out"),
    "dataset_option_sensitive_features": ("Colonnes sensibles", "Sensitive columns"),
    "dataset_option_positive_class": ("Classe positive", "Positive class"),
    "dataset_option_sample_weight": ("Colonne de poids", "Weight column"),
    "dataset_option_time_column": ("Colonne de date", "Date column"),
    "dataset_option_group_column": ("Colonne de groupe", "Group column"),
    "models_limit": ("Nombre de tableaux", "Number of tables"),
    "models_place": ("Place", "Place"),
    "models_rank": ("rang {rank}", "rank {rank}"),
    "models_rows": ("{count} lignes", "{count} rows"),
    "models_rows_one": ("{count} ligne", "{count} row"),
    "models_deleted": ("supprimé", "deleted"),
    "models_left_out": ("{count} jeux de données écartés", "{count} datasets left out"),
    "models_left_out_one": ("{count} jeu de données écarté", "{count} dataset left out"),
    "models_older": ("{count} comparaisons plus anciennes", "{count} older comparisons"),
    "models_older_one": ("{count} comparaison plus ancienne", "{count} older comparison"),
    "models_badge": ("modèle n° {place} : {metric} {value}", "model no. {place}: {metric} {value}"),
    "jobs_none_project": (
        "Les entraînements et explications lancés dans ce projet apparaîtront ici.",
        "Training runs and explanations started in this project will appear here.",
    ),
    "timeline": ("Chronologie", "Timeline"),
    "timeline_older": ("{count} événements plus anciens", "{count} older events"),
    "timeline_older_one": ("{count} événement plus ancien", "{count} older event"),
    "event_project_made": ("Projet créé", "Project created"),
    "event_choice": ("Choisi :", "Chosen:"),
    "event_choice_taken_back": ("Choix annulé", "Choice taken back"),
    "event_snapshot": ("Classement figé :", "Ranking frozen:"),
    "event_project_changed": ("Projet modifié", "Project changed"),
    "event_train_asked": ("Entraînement demandé :", "Training requested:"),
    "event_explain_asked": ("Explication demandée :", "Explanation requested:"),
    "event_job_succeeded": ("Terminé :", "Finished:"),
    "event_job_failed": ("En échec :", "Failed:"),
    "event_job_cancelled": ("Annulé :", "Cancelled:"),
    "done_chosen": ("Le choix a été enregistré, avec sa raison.", "The choice has been saved, with its reason."),
    "done_taken-back": (
        "Le choix a été annulé. Il reste dans l’historique.",
        "The choice has been taken back. It stays in the history.",
    ),
    "done_snapshot-deleted": ("L’instantané a été supprimé.", "The snapshot has been deleted."),
    "done_snapshot": (
        "Le classement est figé. Cette page dira ce qui change désormais.",
        "The ranking is frozen. This page will say what changes from now on.",
    ),
    "done_project": ("Le projet a été enregistré.", "The project has been saved."),
}
