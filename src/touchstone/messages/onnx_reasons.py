"""Sentences about `model.onnx` in the result of a training, in French and English."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

ONNX_DELIVERED: Final[Text] = (
    "Pour {rows} {rows:ligne|lignes}, model.onnx prédit la même chose que le modèle.",
    "For {rows} {rows:row|rows}, model.onnx predicts the same as the model.",
)

ONNX_REASONS: Final[Mapping[str, Text]] = {
    "not_installed": (
        "Pas de model.onnx : les paquets de l’extra « onnx » ne sont pas installés sur ce serveur.",
        "No model.onnx: the packages of the extra “onnx” are not installed on this server.",
    ),
    "no_time": (
        "Pas de model.onnx : il ne restait pas assez de temps pour l’écrire et le vérifier.",
        "No model.onnx: there was not enough time left to write and to verify it.",
    ),
    "text_column": (
        "Pas de model.onnx : ONNX ne sait pas découper en mots les textes de la colonne « {name} ».",
        "No model.onnx: ONNX cannot divide the texts of the column “{name}” into words.",
    ),
    "encoder": (
        "Pas de model.onnx : la préparation des colonnes ({name}) n’a pas d’équivalent en ONNX.",
        "No model.onnx: the preparation of the columns ({name}) has no equivalent in ONNX.",
    ),
    "model": (
        "Pas de model.onnx : ce type de modèle ({name}) n’est pas converti en ONNX.",
        "No model.onnx: this kind of model ({name}) is not converted to ONNX.",
    ),
    "group_thresholds": (
        "Pas de model.onnx : le modèle décide avec un seuil par groupe, d’après des colonnes absentes du fichier.",
        "No model.onnx: the model decides with a threshold for each group, by columns that the file does not have.",
    ),
    "too_many_nodes": (
        "Pas de model.onnx : les arbres ont {nodes} nœuds, soit plus de {maximum} : le fichier serait trop lourd.",
        "No model.onnx: the trees have {nodes} nodes, which is more than {maximum}: the file would be too large.",
    ),
    "differs": (
        "Pas de model.onnx : il aurait prédit autre chose que le modèle pour {different} des {rows} lignes comparées.",
        "No model.onnx: its predictions differed from those of the model for {different} of the {rows} rows compared.",
    ),
    "failed": (
        "Pas de model.onnx : sa conversion ou sa vérification a échoué ({error}).",
        "No model.onnx: its conversion or verification failed ({error}).",
    ),
}
