"""The texts about the options and the results of a training, in French and English."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

TRAINING_PAGES: Final[Mapping[str, Text]] = {
    # Options for splitting the rows into training and test rows
    "split_auto": ("comme les données l’exigent", "as the data require"),
    "split_auto_hint": (
        "Les lignes identiques ou d’un même groupe restent ensemble, et le passé prédit l’avenir, si le tableau a de "
        "tels groupes ou des dates. Le résultat dit ce qui a été fait.",
        "Identical rows and rows of one group stay together, and the past predicts the future, if the table has such "
        "groups or dates. The result says what was done.",
    ),
    "split_group": ("des groupes entiers", "whole groups"),
    "group_column": ("Colonne de groupe", "Group column"),
    "group_column_hint": (
        "Les lignes d’une même personne, d’un même foyer ou d’un même lieu ne servent jamais à la fois à apprendre "
        "et à évaluer.",
        "Rows of the same person, household or place are never used both to learn and to evaluate.",
    ),
    "folds": ("Nombre de plis", "Number of folds"),
    "folds_hint": ("Seulement à tour de rôle.", "Only for each in turn."),
    "test_size": ("Part des lignes de test (en %)", "Share of rows to test on (in %)"),
    "test_size_hint": ("Sans effet à tour de rôle.", "Without effect for each in turn."),
    "test_size_range": (
        "Saisissez un pourcentage entre {low} et {high}.",
        "Enter a percentage between {low} and {high}.",
    ),
    "duplicates": ("Lignes identiques", "Identical rows"),
    "duplicates_hint": (
        "Une ligne répétée des deux côtés ferait passer de la mémorisation pour un apprentissage.",
        "A row that is repeated on both sides would make memory look like knowledge.",
    ),
    "duplicates_auto": ("d’après les données", "as the data require"),
    "duplicates_together": ("ensemble", "together"),
    "duplicates_keep": ("sans précaution", "no precaution"),
    # Options for decisions
    "advanced": ("Réglages avancés", "Advanced settings"),
    "decisions": ("Décisions", "Decisions"),
    "positive_class": ("Classe positive", "Positive class"),
    "positive_class_hint": (
        "La classe dont on mesure la probabilité, la précision et les erreurs. Vide : la plus rare.",
        "The class whose probability, precision and errors are reported. Empty: the rarer one.",
    ),
    "threshold_metric": ("Seuil qui maximise", "Threshold that maximises"),
    "threshold_default": ("rien : 0,5 avant calibration", "nothing: 0.5 before calibration"),
    "threshold_hint": (
        "À partir de quelle probabilité la classe positive est prédite.",
        "From which probability on the positive class is predicted.",
    ),
    "cost_fp": ("Coût d’une fausse alerte", "Cost of a false alarm"),
    "cost_fn": ("Coût d’un oubli", "Cost of a miss"),
    "cost_hint": (
        "À la place de la métrique : le seuil qui coûte le moins.",
        "Instead of the metric: the threshold that costs least.",
    ),
    "threshold_both": (
        "Choisissez le seuil d’après une métrique ou d’après les coûts, pas les deux.",
        "Choose the threshold by a metric or by costs, not by both.",
    ),
    "threshold_one_cost": ("Indiquez les deux coûts.", "Give both costs."),
    "calibration": ("Calibration", "Calibration"),
    "calibration_hint": (
        "Corrige les probabilités pour que 30 % veuille dire 30 fois sur 100.",
        "Corrects probabilities so that 30% means 30 times out of 100.",
    ),
    "calibration_auto": ("le meilleur", "the best one"),
    "calibration_none": ("aucun", "none"),
    "calibration_sigmoid": ("sigmoïde", "sigmoid"),
    "calibration_isotonic": ("isotone", "isotonic"),
    # Options for learning and measuring
    "measuring": ("Mesure et budget", "Measuring and budget"),
    "learning": ("Apprentissage", "Learning"),
    "max_seconds": ("Temps de recherche (secondes)", "Search time (seconds)"),
    "max_seconds_hint": (
        "Une sécurité : si elle arrête la recherche, le résultat n’est plus reproductible.",
        "A safety stop: if it ends the search, the result is no longer reproducible.",
    ),
    "intended_use": ("À quoi servira le modèle", "What the model is to be used for"),
    "intended_use_hint": (
        "Sa fiche le dira : besoin, personnes concernées, limites.",
        "Its card will say so: the need, the people concerned, the limits.",
    ),
    "sample_weight": ("Colonne de poids", "Weight column"),
    "sample_weight_hint": (
        "Combien chaque ligne compte dans l’apprentissage et dans les métriques.",
        "How much each row counts in learning and in the metrics.",
    ),
    "refit": ("Réentraîner sur toutes les lignes", "Train again on all rows"),
    "refit_hint": (
        "Le modèle livré apprend aussi des lignes d’évaluation, une fois sa qualité mesurée.",
        "The delivered model also learns from the evaluation rows, once its quality has been measured.",
    ),
    "mitigation_hint": (
        "Réduit les écarts entre les groupes des colonnes sensibles ; le résultat montre l’avant et l’après.",
        "Reduces the gaps between the groups of the sensitive columns; the result shows before and after.",
    ),
    # The preview of a training
    "preview_show": ("Voir d’abord le découpage", "See the split first"),
    "preview": ("Comment les lignes seraient réparties", "How the rows would be divided"),
    "preview_rows": (
        "{training} lignes pour apprendre, {test} pour évaluer.",
        "{training} rows to learn from, {test} to evaluate on.",
    ),
    "preview_proposals": (
        "Ces colonnes semblent former des groupes ; choisissez-en une comme colonne de groupe si ses valeurs désignent "
        "la même personne, le même foyer ou le même lieu :",
        "These columns seem to form groups; choose one as the group column if its values stand for the same person, "
        "household or place:",
    ),
    "preview_groups": ("{count} groupes", "{count} groups"),
    "preview_groups_one": ("{count} groupe", "{count} group"),
    # The headline of a result
    "result": ("Ce que vaut le modèle", "How good the model is"),
    "result_interval": ("intervalle à 95 % : {low} à {high}", "95% interval: {low} to {high}"),
    "result_baseline": (
        "Une référence naïve, qui ignore toutes les colonnes, obtient {baseline}.",
        "A naive baseline, which ignores every column, gets {baseline}.",
    ),
    "result_better": ("nettement mieux que la référence", "clearly better than the baseline"),
    "result_not_better": ("pas nettement mieux que la référence", "not clearly better than the baseline"),
    "result_not_better_at_threshold": (
        "pas nettement mieux que la référence au seuil choisi",
        "not clearly better than the baseline at the chosen threshold",
    ),
    "result_unknown": ("non mesuré", "not measured"),
    "result_how": ("Comment il a été évalué", "How it was evaluated"),
    "not_reproducible": (
        "Le temps accordé a mis fin à la recherche : une répétition peut donner un autre modèle.",
        "The time limit ended the search: repeating it may give another model.",
    ),
    # The meaning of each metric
    "meaning_balanced_accuracy": (
        "La part des lignes dont la classe est trouvée, chaque classe comptant autant ; 1 est parfait.",
        "The share of rows whose class is found, with each class counting alike; 1 is perfect.",
    ),
    "meaning_accuracy": (
        "La part des lignes dont la classe est trouvée ; 1 est parfait.",
        "The share of rows whose class is found; 1 is perfect.",
    ),
    "meaning_f1_macro": (
        "Un compromis entre fausses alertes et oublis, en moyenne sur les classes ; 1 est parfait.",
        "A balance of false alarms and misses, averaged over the classes; 1 is perfect.",
    ),
    "meaning_precision_macro": (
        "La part de prédictions justes, en moyenne sur les classes prédites ; 1 est parfait.",
        "The share of predictions that are right, averaged over the predicted classes; 1 is perfect.",
    ),
    "meaning_recall_macro": (
        "La part des lignes trouvées, en moyenne sur les classes ; 1 est parfait.",
        "The share of rows that are found, averaged over the classes; 1 is perfect.",
    ),
    "meaning_roc_auc": (
        "La probabilité qu’une ligne positive soit classée avant une négative ; 0,5 est le hasard, 1 est parfait.",
        "The probability that a positive row ranks before a negative one; 0.5 is chance, 1 is perfect.",
    ),
    "meaning_average_precision": (
        "La part de lignes positives parmi celles que le modèle place en tête ; la référence est leur part en tout.",
        "The share of positive rows among those that the model puts first; the baseline is their share overall.",
    ),
    "meaning_log_loss": (
        "Ce que coûtent les probabilités données à ce qui est arrivé ; plus bas est mieux, 0 est parfait.",
        "What the probabilities given to what happened cost; lower is better, 0 is perfect.",
    ),
    "meaning_brier": (
        "L’erreur quadratique des probabilités ; plus bas est mieux, 0 est parfait.",
        "The squared error of the probabilities; lower is better, 0 is perfect.",
    ),
    "meaning_r2": (
        "La part des variations de la cible qu’explique le modèle ; 0 ne vaut pas mieux que la moyenne, 1 est parfait.",
        "The share of the target’s variation that the model explains; 0 is no better than the mean, 1 is perfect.",
    ),
    "meaning_rmse": (
        "L’erreur typique, dans l’unité de la cible, les grandes erreurs comptant davantage ; plus bas est mieux.",
        "The typical error in the unit of the target, with large errors counting more; lower is better.",
    ),
    "meaning_mae": (
        "L’erreur moyenne, dans l’unité de la cible ; plus bas est mieux.",
        "The mean error in the unit of the target; lower is better.",
    ),
    "meaning_median_ae": (
        "L’erreur qu’une ligne sur deux ne dépasse pas, dans l’unité de la cible ; plus bas est mieux.",
        "The error that half of the rows stay below, in the unit of the target; lower is better.",
    ),
}
