"""The names of algorithms, metrics, explanation methods and files, in French and English."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

# The label of a missing cell on pages, in charts, in sentences and in tables of groups.
MISSING_VALUE: Final[Text] = ("(manquant)", "(missing)")

ALGORITHM_LABELS: Final[Mapping[str, Text]] = {
    "linear": ("Modèle linéaire", "Linear model"),
    "kernel": ("Modèle à noyau", "Kernel model"),
    "hist_gradient_boosting": ("Boosting de gradient par histogrammes", "Histogram gradient boosting"),
    "random_forest": ("Forêt aléatoire", "Random forest"),
    "decision_tree": ("Arbre de décision", "Decision tree"),
    "baseline": ("Référence naïve", "Naive baseline"),
    "lightgbm": ("LightGBM", "LightGBM"),
    "extra_trees": ("Arbres extrêmement aléatoires", "Extremely randomised trees"),
    "ensemble": ("Moyenne des meilleurs modèles", "Average of the best models"),
}

METRIC_LABELS: Final[Mapping[str, Text]] = {
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

GROUP_METRIC_LABELS: Final[Mapping[str, Text]] = {
    "accuracy": ("Exactitude", "Accuracy"),
    "selection_rate": ("Taux de prédictions positives", "Rate of positive predictions"),
    "true_positive_rate": ("Taux de vrais positifs", "True positive rate"),
    "false_positive_rate": ("Taux de faux positifs", "False positive rate"),
    "positive_predictive_value": ("Valeur prédictive positive", "Positive predictive value"),
    "mae": ("Erreur absolue moyenne", "Mean absolute error"),
    "mean_error": ("Erreur moyenne (prédit − réel)", "Mean error (predicted − actual)"),
}

MITIGATION_LABELS: Final[Mapping[str, Text]] = {
    "none": ("Aucune", "None"),
    "thresholds": ("Un seuil par groupe", "A threshold for each group"),
    "reweighing": ("Pondération des lignes", "Reweighed rows"),
}

METHOD_LABELS: Final[Mapping[str, Text]] = {
    "auto": ("Automatique", "Automatic"),
    "permutation_importance": ("Importance par permutation", "Permutation importance"),
    "partial_dependence": ("Dépendance partielle", "Partial dependence"),
    "shap": ("Valeurs de Shapley", "Shapley values"),
    "counterfactual": ("Contrefactuels", "Counterfactuals"),
    "data_profile": ("Profil des données", "Data profile"),
}

# The contents of the files that a training produces, by file name.
ARTIFACT_LABELS: Final[Mapping[str, Text]] = {
    "model.skops": ("le modèle, à ouvrir sans exécuter de code", "the model, which can be opened without running code"),
    "model.onnx": (
        "le modèle pour des programmes sans Python ni scikit-learn",
        "the model for programs without Python or scikit-learn",
    ),
    "example.py": ("un script qui prédit sans Touchstone", "a script that predicts without Touchstone"),
    "environment.txt": (
        "les versions des paquets dont le modèle a besoin",
        "the versions of the packages that the model needs",
    ),
    "predictions.parquet": ("la prédiction pour chaque ligne de test", "the prediction for each test row"),
    "split.json": ("les lignes d’apprentissage et de test", "the training and test rows"),
    "model_card.md": ("la fiche du modèle, à lire", "the model card, for readers"),
    "model_card.json": ("la fiche du modèle, pour des programmes", "the model card, for programs"),
}
