"""Titles of charts, and labels of their axes and legends, in French and English."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.labels import MISSING_VALUE
from touchstone.messages.locales import Text

CHART_TITLES: Final[Mapping[str, Text]] = {
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

AXIS_LABELS: Final[Mapping[str, Text]] = {
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
    "after_calibration": ("après calibration", "after calibration"),
    "before_calibration": ("avant calibration", "before calibration"),
    "observed_share": ("Fréquence observée", "Observed frequency"),
    "predicted": ("Valeur prédite", "Predicted value"),
    "actual": ("Valeur réelle", "Actual value"),
    "residual": ("Réel − prédit", "Actual − predicted"),
    "training_rows": ("Lignes d’apprentissage", "Training rows"),
    "on_training": ("lignes d’apprentissage", "training rows"),
    "on_test": ("lignes jamais vues", "unseen rows"),
    "model": ("Modèle", "Model"),
    "baseline": ("référence naïve", "naive baseline"),
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
