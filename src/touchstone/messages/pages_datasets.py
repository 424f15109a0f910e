"""The texts of the dataset pages, in French and English."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

DATASET_PAGES: Final[Mapping[str, Text]] = {
    # Lifts: the attributes that would raise a dataset if they were verified
    "lifts_title": ("Ce qui l’élèverait", "What would raise it"),
    "lifts_rank": ("Rang {rank} sur {total}", "Rank {rank} of {total}"),
    "lifts_rank_outside": (
        "Ce jeu de données ne passe pas les filtres ou les exigences du classement ; il y aurait "
        "le rang {rank} sur {total}.",
        "This dataset does not pass the filters or requirements of the ranking; it would have rank {rank} of {total} "
        "there.",
    ),
    "rank_range": (
        "Selon ce que l’on apprendra des attributs éthiques inconnus, son rang parmi ces jeux de données sera entre "
        "{best} et {worst}.",
        "Depending on what is found out about unknown ethical attributes, its rank among these datasets is between "
        "{best} and {worst}.",
    ),
    "lifts_attribute": ("Si ceci était établi", "If this were established"),
    "lifts_now": ("Aujourd’hui", "Today"),
    "lifts_gain": ("Gain", "Gain"),
    "lifts_declared": ("seulement déclaré", "only declared"),
    # Readers who do not see the bar hear these words.
    "lifts_marked": ("ligne marquée", "marked row"),
    "lifts_set_hint": (
        "Les lignes marquées d’un trait doré suffisent ensemble pour atteindre le rang {rank}.",
        "The rows with a golden bar are enough together to reach rank {rank}.",
    ),
    "lifts_without_effect": (
        "{count} autres attributs ne changeraient rien au score avec ces poids.",
        "{count} further attributes would not change the score with these weights.",
    ),
    "lifts_without_effect_one": (
        "{count} autre attribut ne changerait rien au score avec ces poids.",
        "{count} further attribute would not change the score with these weights.",
    ),
    # The page of a dataset
    "private": ("privé", "private"),
    "train_start": ("Entraîner un modèle", "Train a model"),
    "explain_data": ("Expliquer ces données", "Explain this data"),
    "score_parts": ("Composition du score", "What makes up the score"),
    "score_sum": ("Score : somme des points", "Score: sum of the points"),
    "score_gone": ("Ce jeu de données ne figure plus au classement.", "This dataset is no longer in the ranking."),
    "score_none": ("Aucun critère n’a de poids.", "No criterion has any weight."),
    "criterion": ("Critère", "Criterion"),
    "value": ("Valeur", "Value"),
    "share": ("Part", "Share"),
    "ethics_title": ("Les dix critères éthiques", "The ten ethical criteria"),
    "ethics_count": (
        "{count} {count:rempli|remplis}, {unknown} {unknown:inconnu|inconnus}",
        "{count} met, {unknown} unknown",
    ),
    "ethics_uncounted": (
        " ; {count} ne {count:compte|comptent} pas au niveau « {level} »",
        "; {count} {count:does|do} not count at the level “{level}”",
    ),
    "evidence": ("Source :", "Evidence:"),
    "columns_title": ("Colonnes du fichier", "Columns of the file"),
    "column": ("Colonne", "Column"),
    "type": ("Type", "Type"),
    "column_unreadable": ("{count} valeurs illisibles", "{count} unreadable values"),
    "column_unreadable_one": ("{count} valeur illisible", "{count} unreadable value"),
    "type_integer": ("entier", "integer"),
    "type_number": ("nombre", "number"),
    "type_boolean": ("oui/non", "yes/no"),
    "type_date": ("date", "date"),
    "type_text": ("texte", "text"),
    "distribution": ("Répartition", "Distribution"),
    "distribution_of": ("Répartition de la colonne « {name} »", "Distribution of the column “{name}”"),
    "distinct": ("Valeurs distinctes", "Distinct values"),
    "missing": ("Valeurs manquantes", "Missing values"),
    "meta_licence": ("Licence", "Licence"),
    "meta_source": ("Provenance", "Source"),
    "meta_language": ("Langues", "Languages"),
    "meta_part_of": ("Fait partie de", "Part of"),
    "meta_tags": ("Étiquettes", "Tags"),
    "meta_variant_of": ("Variante de", "Variant of"),
    "meta_variants": ("Autres variantes", "Other variants"),
    "meta_warning": ("Avertissement de la source :", "Warning of the source:"),
    "meta_link": ("lien", "link"),
    "measured_title": ("Déclaré et mesuré", "Declared and measured"),
    "declared": ("Déclaré", "Declared"),
    "measured": ("Mesuré", "Measured"),
    "not_measured": ("Le fichier n’a pas pu être mesuré.", "The file could not be measured."),
    "no_file": (
        "Cette fiche n’a pas de fichier de données : on peut la choisir, mais pas s’en servir pour entraîner "
        "un modèle.",
        "This record has no data file: it can be chosen, but not used for training.",
    ),
    "differs_hint": (
        "≠ : le fichier et la fiche ne concordent pas. Le score se fonde sur la fiche.",
        "≠: the file and the record disagree. The score is based on the record.",
    ),
    "choose_title": ("Choisir pour un projet", "Choose for a project"),
    "choose_none": (
        "Un projet garde le choix et ses raisons.",
        "A project keeps the choice and its reasons.",
    ),
    "choose": ("Garder ce choix", "Keep this choice"),
    "choose_one": ("Choisir {name}", "Choose {name}"),
    "choose_which": ("Choisissez un jeu de données.", "Choose a dataset."),
    "reason": ("Pourquoi celui-ci ?", "Why this one?"),
    "reason_hint": (
        "Ce qui a fait pencher la balance, et ce qui reste à vérifier",
        "What tipped the balance, and what still needs checking",
    ),
    "reason_edit": ("Modifier la raison", "Edit the reason"),
    "reason_missing": ("Indiquez pourquoi vous le choisissez.", "Say why you are choosing it."),
    "record": ("La fiche", "The record"),
    "changed": ("Modifié le", "Modified on"),
    "description": ("Description", "Description"),
    "manage": ("Gérer", "Manage"),
    "manage_hint": (
        "Seuls l’auteur d’une fiche et les administrateurs peuvent la modifier ou la supprimer.",
        "Only the author of a record and administrators can edit or delete it.",
    ),
    "edit": ("Modifier la fiche", "Edit the record"),
    "edit_title": ("Modifier {name}", "Edit {name}"),
    "edit_lead": (
        "Ce que vous déclarez ici compte dans le score ; les mesures faites sur le fichier sont conservées.",
        "What you declare here counts towards the score; the measurements of the file are kept.",
    ),
    "edit_outdated": (
        "Votre saisie figure encore ci-dessous, mais n’a pas été enregistrée.",
        "What you entered is still below, but has not been saved.",
    ),
    "edit_deleted": (
        "La fiche n’existe plus, ou vous ne la voyez plus. Votre saisie figure encore ci-dessous : vous pouvez "
        "l’ajouter comme nouvelle fiche.",
        "The record no longer exists, or you can no longer see it. What you entered is still below, and you can add "
        "it as a new record.",
    ),
    "edit_reload": ("Repartir de la fiche telle qu’elle est", "Start again from the current record"),
    "edit_see": ("la voir dans un autre onglet", "see it in another tab"),
    "measured_first_row_looks_like_data": (
        "La première ligne du fichier contient des données et non des noms : les colonnes sont numérotées.",
        "The first row of the file holds data instead of names: the columns are numbered.",
    ),
    "measured_encoding_guessed": (
        "Le fichier n’est pas en UTF-8 : son encodage a été deviné d’après ses lettres.",
        "The file is not UTF-8: its encoding was guessed from its letters.",
    ),
    "file_without_rows": (
        "Le fichier ne contient que les noms de ses colonnes, et aucune ligne. Vérifiez-le et envoyez-le de nouveau.",
        "The file contains only the names of its columns, and no rows. Check it and upload it again.",
    ),
    "unmeasured_in_progress": (
        "Le fichier est en cours de lecture : son profil apparaîtra ici. Rechargez la page dans un instant.",
        "The file is being read: its profile will appear here. Reload the page in a moment.",
    ),
    "unmeasured_unsupported_type": (
        "Ce type de fichier n’est pas pris en charge : envoyez un fichier CSV, TSV, Parquet, JSON ou JSON Lines.",
        "This file type is not supported: upload CSV, TSV, Parquet, JSON or JSON Lines.",
    ),
    "unmeasured_empty": (
        "Il ne contient aucune ligne : vérifiez-le et envoyez-le à nouveau.",
        "It contains no rows: check it and upload it again.",
    ),
    "unmeasured_not_text": (
        "Ce n’est pas un fichier texte : enregistrez-le en CSV (UTF-8) et envoyez-le à nouveau.",
        "It is not a text file: save it as CSV (UTF-8) and upload it again.",
    ),
    "unmeasured_malformed": (
        "Ce n’est pas un tableau bien formé : vérifiez que chaque ligne a autant de cellules que l’en-tête.",
        "It is not a well-formed table: check that each line has as many cells as the header.",
    ),
    "unmeasured_line_too_long": (
        "L’une de ses lignes est trop longue : vérifiez les guillemets et les fins de ligne.",
        "One of its lines is too long: check the quotes and the line endings.",
    ),
    "unmeasured_too_many_columns": (
        "Il a trop de colonnes : ne gardez que les plus utiles.",
        "It has too many columns: keep only the useful ones.",
    ),
    "unmeasured_too_large": (
        "Sa lecture demande trop de mémoire : envoyez-le en Parquet, ou n’en envoyez qu’un extrait.",
        "Reading it takes too much memory: upload it as Parquet, or upload only a part of it.",
    ),
    "unmeasured_too_slow": (
        "Sa lecture demande trop de temps : envoyez-le en Parquet, ou n’en envoyez qu’un extrait.",
        "Reading it takes too long: upload it as Parquet, or upload only a part of it.",
    ),
    "unmeasured_crashed": (
        "Sa lecture a échoué : enregistrez-le à nouveau, par exemple en CSV, et renvoyez-le.",
        "It could not be read: save it again, for instance as CSV, and upload it again.",
    ),
    "delete_sure": ("Supprimer définitivement ?", "Delete permanently?"),
    "done_created": ("La fiche a été enregistrée.", "The record has been saved."),
    "field_name": ("Nom", "Name"),
    "field_problem": ("{name} : {problem}", "{name}: {problem}"),
    "quoted": ("« {text} »", "“{text}”"),
    "number_too_large": ("nombre trop grand", "the number is too large"),
    "error_back": ("Revenir au formulaire", "Back to the form"),
    "file_too_big": (
        "Ce fichier est trop volumineux : {limit} au plus.",
        "This file is too large: at most {limit}.",
    ),
    # The datasets and files of the user
    "new_title": ("Ajouter des données", "Add data"),
    "new_lead": (
        "Envoyez un tableau : ses colonnes sont mesurées, puis vous pouvez entraîner un modèle et le faire expliquer.",
        "Upload a table: its columns are measured, then you can train a model and have it explained.",
    ),
    "new_what": ("Les données", "The data"),
    "new_file": ("Fichier", "File"),
    "new_file_hint": (
        "CSV, TSV, Parquet, JSON ou JSON Lines, {limit} au plus."
        " Sans fichier, la fiche décrit les données sans les contenir.",
        "CSV, TSV, Parquet, JSON or JSON Lines, at most {limit}."
        " Without a file, the record describes the data without containing them.",
    ),
    "edit_file_hint": (
        "CSV, TSV, Parquet, JSON ou JSON Lines, {limit} au plus."
        " Un nouveau fichier remplace celui de la fiche, puis il est mesuré.",
        "CSV, TSV, Parquet, JSON or JSON Lines, at most {limit}."
        " A new file replaces the one that the record has, and is then measured.",
    ),
    "file_again": ("Choisissez de nouveau le fichier.", "Choose the file again."),
    "files_again": ("Choisissez de nouveau les documents.", "Choose the documents again."),
    "new_name_hint": ("par défaut, le nom du fichier", "the file name by default"),
    "new_nothing": ("Choisissez un fichier ou donnez un nom.", "Choose a file or enter a name."),
    "edit_hidden": (
        "Cette fiche est masquée par l’administration. Votre choix de la rendre publique ou privée est conservé et "
        "vaudra de nouveau dès qu’elle sera réaffichée.",
        "An administrator has hidden this record. Your choice whether it is public or private is kept, and applies "
        "again once the record is shown.",
    ),
    "new_private": ("Visible seulement par moi", "Visible only to me"),
    "new_learning": ("Pour l’apprentissage", "For training"),
    "new_target_hint": ("la colonne à prédire", "the column to predict"),
    "new_ethics_hint": (
        "Ne déclarez que ce que vous avez vérifié : mieux vaut « inconnu » qu’un « oui » sans preuve.",
        "Declare only what you have checked: “unknown” is better than a “yes” without evidence.",
    ),
    "target": ("Colonne à prédire", "Column to predict"),
    "sensitive": ("Colonnes sensibles", "Sensitive columns"),
    "commas": ("valeurs séparées par des virgules", "values separated by commas"),
}
