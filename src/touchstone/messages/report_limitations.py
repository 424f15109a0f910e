"""Sentences about the limitations of a report, by code after `limit_`, in both languages."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

LIMITATION_TEXTS: Final[Mapping[str, Text]] = {
    "limit_no_compliance": (
        "Ce rapport dit ce qui est connu. Il ne certifie aucune conformité et ne remplace aucun avis juridique.",
        "This report states what is known. It certifies no compliance and is no substitute for legal advice.",
    ),
    "limit_catalog_only": (
        "Seuls les jeux de données du catalogue ont été comparés ; il peut en exister de meilleurs ailleurs.",
        "Only datasets of the catalog were compared; there may be better ones elsewhere.",
    ),
    "limit_claims_of_others": (
        "Une citation montre ce qu’un document affirme, et non que c’est vrai. Seul « vérifié » veut dire qu’une "
        "personne a lu la preuve.",
        "A quote shows what a document says, and not that it is true. Only “reviewed” means that a person has read the "
        "evidence.",
    ),
    "limit_nothing_chosen": ("Rien n’est choisi.", "Nothing is chosen."),
    "limit_no_reason": ("Le choix n’est pas motivé.", "No reason is given for the choice."),
    "limit_dataset_changed": (
        "La fiche du jeu de données a changé depuis qu’il a été choisi.",
        "The record of the dataset has changed since it was chosen.",
    ),
    "limit_dataset_withdrawn": (
        "La fiche du jeu de données n’est plus visible pour le propriétaire du projet ; il n’est plus classé.",
        "The record of the dataset is no longer visible to the owner of the project; it is not ranked any more.",
    ),
    "limit_content_not_kept": (
        "Ce que disait le jeu de données au moment du choix n’a pas été conservé.",
        "What the dataset said when it was chosen was not kept.",
    ),
    "limit_choice_not_ranked": (
        "Le jeu de données choisi ne figure pas dans le classement du projet.",
        "The chosen dataset is not in the ranking of the project.",
    ),
    "limit_declarations_count": (
        "Le classement compte aussi ce qui est seulement affirmé, sans citation.",
        "The ranking also counts what is merely stated, without a quote.",
    ),
    "limit_unknown_attributes": (
        "Des attributs sont inconnus ; ils comptent pour zéro dans le score, ce qui ne dit rien du jeu de données.",
        "Some attributes are unknown; they count as zero in the score, which says nothing about the dataset.",
    ),
    "limit_no_own_weights": (
        "Les poids sont ceux du profil par défaut ; personne ne les a choisis pour ce projet.",
        "The weights are those of the default profile; nobody has chosen them for this project.",
    ),
    "limit_no_training": (
        "Aucun modèle n’a été entraîné dans ce projet sur le jeu de données dont ce rapport donne les preuves : son "
        "utilité n’est pas mesurée.",
        "No model has been trained in this project on the dataset whose evidence this report shows: its usefulness has "
        "not been measured.",
    ),
    "limit_no_group_metrics": (
        "La qualité des modèles entraînés sur le jeu de données dont ce rapport donne les preuves n’a pas été mesurée "
        "par groupe de personnes.",
        "The quality of the models trained on the dataset whose evidence this report shows has not been measured by "
        "group of people.",
    ),
    "limit_group_differences": (
        "Un modèle entraîné dans ce projet sur le jeu de données dont ce rapport donne les preuves traite différemment "
        "des groupes de personnes, ce que le hasard n’explique pas ; voir les avertissements dans « Ce que les essais "
        "ont montré ».",
        "A model that was trained in this project on the dataset whose evidence this report shows treats groups of "
        "people differently, which chance does not explain; see the warnings in “What the trials have shown”.",
    ),
}
