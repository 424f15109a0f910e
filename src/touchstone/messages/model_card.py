"""The sentences and headings of a model card, in French and English.

Numbers in their placeholders are already formatted for the language.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

MODEL_CARD: Final[Mapping[str, Text]] = {
    "title": ("Fiche du modèle : {target}", "Model card: {target}"),
    "what": ("Ce que c’est", "What it is"),
    "model": ("{algorithm} ({settings}), {task}.", "{algorithm} ({settings}), {task}."),
    "intended_use": ("Usage prévu", "Intended use"),
    "named_dataset": ("« {name} »", "“{name}”"),
    "unnamed_dataset": ("la table d’apprentissage", "the training table"),
    "use_of_request": (
        "Indiqué au lancement de l’apprentissage : « {use} ».",
        "Stated when the training was started: “{use}”.",
    ),
    "use_of_project": (
        "Besoin du projet « {name} » : « {need} ».",
        "Need of the project “{name}”: “{need}”.",
    ),
    "use_of_dataset": (
        "Ce que la documentation des données dit de leur usage ({level}) : « {quote} ».",
        "What the documentation of the data says about their use ({level}): “{quote}”.",
    ),
    "use_not_stated": (
        "Personne n’a indiqué d’usage ; ce qui suit découle de l’apprentissage.",
        "Nobody has stated a use; what follows is derived from the training.",
    ),
    "intended_use_rows": (
        "Prédire « {target} » pour des lignes recueillies comme celles de {dataset}.",
        "Predict “{target}” for rows that were collected like those of {dataset}.",
    ),
    "intended_use_limits": (
        "La qualité n’a été mesurée que sur des lignes de cette table : rien ne dit qu’elle vaut pour d’autres lieux, "
        "d’autres époques ou d’autres populations.",
        "Its quality was measured on rows of this table only; whether it holds for other places, times or populations "
        "is not known.",
    ),
    "intended_use_people": (
        "Une décision sur une personne ne doit pas reposer sur ce modèle seul.",
        "No decision about a person should rest on this model alone.",
    ),
    "data": ("Données", "Data"),
    "dataset_line": ("{name} (jeu de données n° {number}).", "{name} (dataset no. {number})."),
    "licences_line": ("Licence : {licences}.", "Licence: {licences}."),
    "licence_unknown": ("inconnue", "unknown"),
    "ethical_columns": (
        "| Attribut éthique | Valeur | Niveau de preuve |",
        "| Ethical attribute | Value | Level of evidence |",
    ),
    "yes": ("oui", "yes"),
    "no": ("non", "no"),
    "not_known": ("inconnu", "not known"),
    "data_line": (
        "{rows} {rows:ligne|lignes}, {features} {features:colonne utilisée|colonnes utilisées} ; empreinte "
        "SHA-256 du fichier : `{digest}`.",
        "{rows} {rows:row|rows}, {features} {features:column|columns} used; SHA-256 digest of the file: `{digest}`.",
    ),
    "preparation": ("Préparation", "Preparation"),
    "preparation_line": (
        "Nombres : médiane à la place des valeurs manquantes (et indicateur), centrés et réduits. Catégories : une "
        "colonne par valeur, ou moyenne croisée de la cible au-delà de {many} valeurs. Dates : décomposées. "
        "Textes : poids de leurs mots (TF-IDF). Tout est appris sur les seules lignes d’apprentissage.",
        "Numbers: median in place of missing values (and a flag), standardised. Categories: a column per value, or the "
        "cross-fitted mean of the target beyond {many} values. Dates: split into parts. Texts: weights of their words "
        "(TF-IDF). All of it is learned from training rows only.",
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
    "split_group": (
        "Mesurée sur des groupes entiers de « {name} » ({percent} % des lignes), écartés de l’apprentissage ; le "
        "modèle conservé est celui qui a été évalué.",
        "Measured on whole groups of “{name}” ({percent}% of the rows), held out of training; the model kept is the "
        "one that was evaluated.",
    ),
    "groups": ("Groupes", "Groups"),
    "group": ("Groupe", "Group"),
    "rows": ("Lignes", "Rows"),
    "rates_of_class": ("Classe « {name} » comme positive", "Class “{name}” as the positive one"),
    "mitigation": ("Atténuation", "Mitigation"),
    "mitigation_columns": ("| Colonne | Mesure | Avant | Après |", "| Column | Measure | Before | After |"),
    "threshold": ("Seuil", "Threshold"),
    "groups_without_threshold": ("Tous les autres groupes", "All other groups"),
    "gap_of": ("{metric}, écart", "{metric}, gap"),
    "limits": ("Limites et avertissements", "Limits and warnings"),
    "no_warning": ("Aucun avertissement.", "No warnings."),
    "versions": ("Graine et versions", "Seed and versions"),
    "seed": ("Graine aléatoire : {seed}.", "Random seed: {seed}."),
    "classification": ("classification", "classification"),
    "regression": ("régression", "regression"),
}
