"""The texts that are written from numbers, in French and English: progress, warnings, narratives, charts, model cards.

Each row is (French, English), filled with `str.format`; numbers arrive already written as the language writes them.
"""

from typing import Final

Text = tuple[str, str]

# What stands for a missing cell, everywhere: pages, charts, sentences, tables of groups.
MISSING_VALUE: Final[Text] = ("(manquant)", "(missing)")

PROGRESS: Final[dict[str, Text]] = {
    "reading_data": ("Lecture des données", "Reading the data"),
    "preparing_data": ("Préparation des données", "Preparing the data"),
    "searching_models": ("Recherche du meilleur modèle", "Searching for the best model"),
    "measuring_model": ("Évaluation de la qualité", "Evaluating quality"),
    "measuring_groups": ("Évaluation par groupe", "Evaluating by group"),
    "explaining_globally": ("Explication du modèle", "Explaining the model"),
    "explaining_rows": ("Explication des prédictions", "Explaining predictions"),
    "profiling_data": ("Profil des données", "Profiling the data"),
    "writing_artifacts": ("Écriture des résultats", "Writing the results"),
}

ALGORITHM_LABELS: Final[dict[str, Text]] = {
    "linear": ("Modèle linéaire", "Linear model"),
    "hist_gradient_boosting": ("Boosting de gradient par histogrammes", "Histogram gradient boosting"),
    "random_forest": ("Forêt aléatoire", "Random forest"),
    "decision_tree": ("Arbre de décision", "Decision tree"),
    "baseline": ("Référence naïve", "Naive baseline"),
    "lightgbm": ("LightGBM", "LightGBM"),
}

METRIC_LABELS: Final[dict[str, Text]] = {
    "balanced_accuracy": ("Exactitude équilibrée", "Balanced accuracy"),
    "accuracy": ("Exactitude", "Accuracy"),
    "f1_macro": ("F1 (macro)", "F1 (macro)"),
    "precision_macro": ("Précision (macro)", "Precision (macro)"),
    "recall_macro": ("Rappel (macro)", "Recall (macro)"),
    "roc_auc": ("Aire sous la courbe ROC", "Area under the ROC curve"),
    "average_precision": ("Précision moyenne", "Average precision"),
    "log_loss": ("Perte logarithmique", "Log loss"),
    "brier": ("Score de Brier", "Brier score"),
    "r2": ("R²", "R²"),
    "rmse": ("Racine de l’erreur quadratique moyenne", "Root mean squared error"),
    "mae": ("Erreur absolue moyenne", "Mean absolute error"),
    "median_ae": ("Erreur absolue médiane", "Median absolute error"),
}

METHOD_LABELS: Final[dict[str, Text]] = {
    "auto": ("Automatique", "Automatic"),
    "permutation_importance": ("Importance par permutation", "Permutation importance"),
    "partial_dependence": ("Dépendance partielle", "Partial dependence"),
    "shap": ("Valeurs de Shapley", "Shapley values"),
    "counterfactual": ("Contrefactuels", "Counterfactuals"),
    "data_profile": ("Profil des données", "Data profile"),
}

WARNINGS: Final[dict[str, Text]] = {
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
        ""
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
        ""
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

LIMITS: Final[dict[str, Text]] = {
    "not_causal": (
        "Ces valeurs décrivent ce que le modèle utilise, pas ce qui cause le résultat.",
        "These values describe what the model uses, not what causes the outcome.",
    ),
    "correlated": (
        "Des colonnes liées se partagent l’importance ; permuter l’une d’elles crée des lignes irréalistes.",
        "Columns that depend on each other share their importance; permuting one of them creates unrealistic rows.",
    ),
    "training_rows": (
        "L’importance est mesurée sur des lignes que le modèle a vues : elle peut être surestimée.",
        "Importance is measured on rows that the model has seen: it may be overstated.",
    ),
    "sampled": (
        "Les contributions sont estimées par échantillonnage ({permutations} "
        "{permutations:permutation|permutations}) ; elles sont incertaines.",
        "Contributions are estimated by sampling ({permutations} {permutations:permutation|permutations}); "
        "they are uncertain.",
    ),
    "background": (
        "La référence vient d’un échantillon de {rows} {rows:ligne|lignes} ; un autre échantillon donnerait "
        "d’autres valeurs.",
        "The base value comes from a sample of {rows} {rows:row|rows}; another sample would give other values.",
    ),
    "rounded_probability": (
        "Les probabilités d’un modèle à classes équilibrées ne sont pas des fréquences.",
        "The probabilities of a model with balanced classes are not frequencies.",
    ),
    "association_only": (
        "Une association n’est pas une cause ; l’absence d’association simple n’exclut pas un lien plus complexe.",
        "An association in the data is not a cause; the lack of a simple one does not exclude a more complex link.",
    ),
    "counterfactual_not_advice": (
        "Un contrefactuel montre ce qui changerait la prédiction, pas ce qu’une personne peut ou doit changer.",
        "A counterfactual shows what would change the model's prediction, not what a person can or should change.",
    ),
}

NARRATIVE: Final[dict[str, Text]] = {
    "model": (
        "Le modèle ({algorithm}) prédit « {target} » à partir de {features} {features:colonne|colonnes}.",
        "The model ({algorithm}) predicts “{target}” from {features} {features:column|columns}.",
    ),
    "target_class": (
        "L’explication porte sur la probabilité de « {name} ».",
        "The explanation is about the probability of “{name}”.",
    ),
    "importance_top": (
        "La colonne qui compte le plus est « {name} » : la permuter coûte {drop} ± {spread} ({metric}).",
        "The column that matters most is “{name}”: permuting it costs {drop} ± {spread} ({metric}).",
    ),
    "importance_next": ("{names:Vient|Viennent} ensuite {names}.", "Next {names:comes|come} {names}."),
    "importance_none": (
        "Permuter une colonne ne change presque rien : aucune ne compte nettement à elle seule.",
        "Permuting any single column changes almost nothing: none clearly matters by itself.",
    ),
    "importance_useless": (
        "{count} {count:colonne|colonnes} sur {total} {count:n’a|n’ont} aucun effet mesurable sur la qualité.",
        "{count} of the {total} columns {count:has|have} no measurable effect on quality.",
    ),
    "direction_up": (
        "Quand « {name} » augmente, la prédiction tend à augmenter.",
        "As “{name}” increases, the prediction tends to rise.",
    ),
    "direction_down": (
        "Quand « {name} » augmente, la prédiction tend à baisser.",
        "As “{name}” increases, the prediction tends to fall.",
    ),
    "row": (
        "Ligne {row} : la prédiction est {prediction}, pour une référence de {base}.",
        "Row {row}: the prediction is {prediction}, against a base value of {base}.",
    ),
    "row_raised": ("Elle est surtout relevée par {names}.", "It is raised mostly by {names}."),
    "row_lowered": ("Elle est surtout abaissée par {names}.", "It is lowered mostly by {names}."),
    "contribution": ("« {name} » = {value} ({points})", "“{name}” = {value} ({points})"),
    "missing_value": MISSING_VALUE,
    "named": ("« {name} »", "“{name}”"),
    "named_strength": ("« {name} » ({strength})", "“{name}” ({strength})"),
    "counterfactual": (
        "Ligne {row} : la prédiction deviendrait {prediction} si {changes}.",
        "Row {row}: the prediction would become {prediction} if {changes}.",
    ),
    "change": ("« {name} » valait {value}", "“{name}” were {value}"),
    "data": (
        "Le tableau compte {rows} {rows:ligne|lignes} et {columns} {columns:colonne|colonnes} ; {percent} % "
        "des cellules sont vides.",
        "The table has {rows} {rows:row|rows} and {columns} {columns:column|columns}; {percent}% of the "
        "cells are empty.",
    ),
    "data_duplicates": (
        "{rows} {rows:ligne est une répétition exacte|lignes sont des répétitions exactes}.",
        "{rows} {rows:row is an exact repeat|rows are exact repeats}.",
    ),
    "data_classes": (
        "« {target} » a {classes} {classes:classe|classes} ; la plus fréquente, « {name} », couvre "
        "{percent} % des lignes.",
        "“{target}” has {classes} {classes:class|classes}; the most frequent, “{name}”, covers {percent}% of the rows.",
    ),
    "data_number": (
        "« {target} » va de {low} à {high}, avec une médiane de {median}.",
        "“{target}” ranges from {low} to {high}, with a median of {median}.",
    ),
    "data_pair": (
        "Les colonnes les plus liées sont « {first} » et « {second} » (association {strength}).",
        "The most strongly associated columns are “{first}” and “{second}” (association {strength}).",
    ),
    "data_with_target": (
        "{names:La plus liée|Les plus liées} à « {target} » {names:est|sont} {names}.",
        "{names:The one|Those} most strongly associated with “{target}” {names:is|are} {names}.",
    ),
    "data_proxy": (
        "« {name} » permet de deviner « {sensitive} » (association {strength}) : exclure celle-ci ne suffit "
        "pas à la cacher.",
        "“{name}” makes it possible to guess “{sensitive}” (association {strength}): leaving the latter out "
        "does not hide it.",
    ),
    "data_no_proxy": (
        "Aucune colonne, prise seule, ne permet de bien deviner « {sensitive} ».",
        "No single column makes it possible to guess “{sensitive}” well.",
    ),
}

GROUP_METRICS: Final[dict[str, Text]] = {
    "accuracy": ("Exactitude", "Accuracy"),
    "selection_rate": ("Taux de prédictions positives", "Rate of positive predictions"),
    "true_positive_rate": ("Taux de vrais positifs", "True positive rate"),
    "false_positive_rate": ("Taux de faux positifs", "False positive rate"),
    "mae": ("Erreur absolue moyenne", "Mean absolute error"),
    "mean_error": ("Erreur moyenne (prédit − réel)", "Mean error (predicted − actual)"),
}

CHARTS: Final[dict[str, Text]] = {
    "confusion": ("Matrice de confusion", "Confusion matrix"),
    "roc": ("Courbe ROC", "ROC curve"),
    "precision_recall": ("Courbe précision-rappel", "Precision-recall curve"),
    "calibration": ("Calibration des probabilités", "Calibration of probabilities"),
    "residuals": ("Résidus", "Residuals"),
    "predicted_actual": ("Valeurs prédites et réelles", "Predicted and actual values"),
    "learning_curve": ("Courbe d’apprentissage", "Learning curve"),
    "leaderboard": ("Comparaison des modèles", "Model comparison"),
    "group_metrics": ("Métriques par groupe de « {name} »", "Metrics by group of “{name}”"),
    "importance": ("Importance par permutation", "Permutation importance"),
    "shap_importance": ("Contribution moyenne (|SHAP|)", "Mean contribution (|SHAP|)"),
    "beeswarm": ("Contributions, ligne par ligne", "Contributions, row by row"),
    "waterfall": (
        "Ligne {name} : de la référence à la prédiction",
        "Row {name}: from the base value to the prediction",
    ),
    "dependence": ("Effet de « {name} »", "Effect of “{name}”"),
    "target_balance": ("Répartition de « {name} »", "Distribution of “{name}”"),
    "correlations": ("Associations entre colonnes", "Associations between columns"),
    "missing": ("Valeurs manquantes par colonne", "Missing values by column"),
}

AXES: Final[dict[str, Text]] = {
    "true_class": ("Classe réelle", "True class"),
    "predicted_class": ("Classe prédite", "Predicted class"),
    "class": ("Classe", "Class"),
    "rows": ("Lignes", "Rows"),
    "share": ("Part de la classe réelle", "Share of the true class"),
    "false_positive_rate": ("Taux de faux positifs", "False positive rate"),
    "true_positive_rate": ("Taux de vrais positifs", "True positive rate"),
    "precision": ("Précision", "Precision"),
    "recall": ("Rappel", "Recall"),
    "predicted_probability": ("Probabilité prédite", "Predicted probability"),
    "observed_share": ("Fréquence observée", "Observed frequency"),
    "predicted": ("Valeur prédite", "Predicted value"),
    "actual": ("Valeur réelle", "Actual value"),
    "residual": ("Réel − prédit", "Actual − predicted"),
    "training_rows": ("Lignes d’apprentissage", "Training rows"),
    "on_training": ("lignes d’apprentissage", "training rows"),
    "on_test": ("lignes jamais vues", "unseen rows"),
    "model": ("Modèle", "Model"),
    "baseline": ("référence naïve", "naive baseline"),
    "group": ("Groupe", "Group"),
    "column": ("Colonne", "Column"),
    "loss": ("Perte de qualité", "Loss of quality"),
    "contribution": ("Contribution", "Contribution"),
    "mean_contribution": ("Contribution absolue moyenne", "Mean absolute contribution"),
    "column_value": ("Valeur de la colonne", "Column value"),
    "low": ("basse", "low"),
    "high": ("haute", "high"),
    "up": ("relève", "raises"),
    "down": ("abaisse", "lowers"),
    "unclear": ("sans effet clair", "has no clear effect"),
    "high_value": ("Une valeur haute…", "A high value…"),
    "reference": ("Référence", "Base value"),
    "prediction": ("Prédiction", "Prediction"),
    "others": ("Autres colonnes", "Other columns"),
    "mean_prediction": ("Prédiction moyenne", "Mean prediction"),
    "association": ("Association", "Association"),
    "missing_percentage": ("Manquantes (%)", "Missing (%)"),
    "missing": MISSING_VALUE,
    "value": ("Valeur", "Value"),
}

CARD: Final[dict[str, Text]] = {
    "title": ("Fiche du modèle : {target}", "Model card: {target}"),
    "what": ("Ce que c’est", "What it is"),
    "model": ("{algorithm} ({settings}), {task}.", "{algorithm} ({settings}), {task}."),
    "data": ("Données", "Data"),
    "data_line": (
        "{rows} {rows:ligne|lignes}, {features} {features:colonne utilisée|colonnes utilisées} ; empreinte "
        "SHA-256 du fichier : `{digest}`.",
        "{rows} {rows:row|rows}, {features} {features:column|columns} used; SHA-256 digest of the file: `{digest}`.",
    ),
    "preparation": ("Préparation", "Preparation"),
    "preparation_line": (
        "Nombres : médiane à la place des valeurs manquantes (et indicateur), centrés et réduits. Catégories : une "
        "colonne par valeur, ou moyenne croisée de la cible au-delà de {many} valeurs. Dates : décomposées. "
        "Textes : TF-IDF et SVD. Tout est appris sur les seules lignes d’apprentissage.",
        "Numbers: median in place of missing values (and a flag), standardised. Categories: a column per value, or the "
        "cross-fitted mean of the target beyond {many} values. Dates: split into parts. Texts: TF-IDF and SVD. "
        "All of it is learned from training rows only.",
    ),
    "metrics": ("Qualité mesurée", "Measured quality"),
    "metrics_columns": (
        "| Métrique | Modèle | Intervalle à 95 % | Référence naïve |",
        "| Metric | Model | 95% interval | Naive baseline |",
    ),
    "split_holdout": (
        "Mesurée sur {percent} % des lignes, écartées de l’apprentissage ; le modèle conservé est celui qui "
        "a été évalué.",
        "Measured on {percent}% of the rows, held out of training; the model kept is the one that was evaluated.",
    ),
    "split_kfold": (
        "Mesurée en {folds} plis, la recherche étant refaite dans chacun ; le modèle conservé est réentraîné "
        "sur toutes les lignes.",
        "Measured over {folds} folds, with the search repeated in each; the model kept is refitted on every row.",
    ),
    "split_time": (
        "Mesurée sur les lignes les plus récentes ({percent} %) ; le modèle conservé est celui qui a été évalué.",
        "Measured on the most recent rows ({percent}%); the model kept is the one that was evaluated.",
    ),
    "groups": ("Groupes", "Groups"),
    "groups_columns": (
        "| Colonne | Groupe | Lignes | {metric} | Intervalle |",
        "| Column | Group | Rows | {metric} | Interval |",
    ),
    "limits": ("Limites et avertissements", "Limits and warnings"),
    "no_warning": ("Aucun avertissement.", "No warnings."),
    "versions": ("Versions", "Versions"),
    "classification": ("classification", "classification"),
    "regression": ("régression", "regression"),
}
