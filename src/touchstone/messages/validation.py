"""The reasons why a value is invalid, by type of validation error, in French and English.

Each text completes a sentence that begins with "Invalid value for <field>:", so it says what is accepted. Placeholders
such as `{minimum}` are filled in with the context of the error.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

# The key of the sentence for a value that is too short although one character or item would be enough.
EMPTY_VALUE: Final = "empty"
# The keys of the sentences for unknown names and values that resemble known ones, by error type.
SUGGESTIONS: Final[Mapping[str, str]] = {
    "unknown_name": "unknown_name_with_suggestion",
    "unknown_value": "unknown_value_with_suggestion",
}

VALIDATION: Final[Mapping[str, Text]] = {
    "missing": ("ce champ est obligatoire", "this field is required"),
    "given_twice": (
        "donné {count} fois, alors qu’une seule valeur est admise",
        "given {count} times, but only one value is accepted",
    ),
    "cursor_expected": (
        "un curseur d’une liste dans ce même ordre est attendu",
        "a cursor of a list in this same order is expected",
    ),
    "cursor_alone": (
        "ne se combine pas avec skip, page ou page_size",
        "cannot be combined with skip, page or page_size",
    ),
    # Strings
    "string_type": ("un texte est attendu", "text is expected"),
    "text_expected": ("un texte est attendu", "text is expected"),
    EMPTY_VALUE: ("ne peut pas être vide", "cannot be empty"),
    "string_too_short": (
        "{min_length} {min_length:caractère|caractères} au moins",
        "at least {min_length} {min_length:character|characters}",
    ),
    "string_too_long": (
        "{max_length} {max_length:caractère|caractères} au plus",
        "at most {max_length} {max_length:character|characters}",
    ),
    "string_pattern_mismatch": ("forme attendue : {pattern}", "expected form: {pattern}"),
    "unclean_text": (
        "les caractères NUL et les substituts isolés ne sont pas du texte",
        "NUL characters and lone surrogates are not text",
    ),
    "not_utf8": ("le texte doit être encodé en UTF-8", "the text must be encoded in UTF-8"),
    "query_too_long": ("{maximum} octets au plus en tout", "at most {maximum} bytes in all"),
    # Numbers
    "int_type": ("un nombre entier est attendu", "an integer is expected"),
    "int_parsing": ("un nombre entier est attendu", "an integer is expected"),
    "int_parsing_size": ("le nombre est trop grand", "the number is too large"),
    "int_from_float": ("un nombre entier est attendu", "an integer is expected"),
    "integer_expected": ("un nombre entier est attendu", "an integer is expected"),
    "integer_from": (
        "un nombre entier d’au moins {minimum} est attendu",
        "an integer of at least {minimum} is expected",
    ),
    "integer_between": (
        "un nombre entier de {minimum} à {maximum} est attendu",
        "an integer from {minimum} to {maximum} is expected",
    ),
    "float_type": ("un nombre est attendu", "a number is expected"),
    "float_parsing": ("un nombre est attendu", "a number is expected"),
    "finite_number": ("un nombre fini est attendu", "a finite number is expected"),
    "number_expected": ("un nombre est attendu", "a number is expected"),
    "number_between": (
        "un nombre de {minimum} à {maximum} est attendu",
        "a number from {minimum} to {maximum} is expected",
    ),
    "number_too_large": (
        "le nombre est trop grand : {maximum} au plus",
        "the number is too large: at most {maximum}",
    ),
    "number_out_of_range": ("un nombre est hors de portée", "a number is out of range"),
    "year_expected": (
        "une année de {minimum} à {maximum} est attendue",
        "a year from {minimum} to {maximum} is expected",
    ),
    "greater_than": ("doit dépasser {gt}", "must be greater than {gt}"),
    "greater_than_equal": ("doit être au moins {ge}", "must be at least {ge}"),
    "less_than": ("doit être inférieur à {lt}", "must be less than {lt}"),
    "less_than_equal": ("doit être au plus {le}", "must be at most {le}"),
    "time_expected": (
        "une date et une heure avec leur fuseau sont attendues, comme 2027-01-31T12:00:00Z",
        "a date and time with its time zone is expected, such as 2027-01-31T12:00:00Z",
    ),
    # Flags and choices
    "bool_type": ("true ou false est attendu", "true or false is expected"),
    "bool_parsing": ("true ou false est attendu", "true or false is expected"),
    "flag_expected": ("true ou false est attendu", "true or false is expected"),
    "literal_error": ("valeurs possibles : {expected}", "possible values: {expected}"),
    "enum": ("valeurs possibles : {expected}", "possible values: {expected}"),
    "choice_expected": ("valeurs possibles : {choices}", "possible values: {choices}"),
    # Lists and objects
    "list_type": ("une liste est attendue", "a list is expected"),
    "tuple_type": ("une liste est attendue", "a list is expected"),
    "dataset_id_expected": (
        "l’identifiant d’un jeu de données, entier ou UUID, est attendu",
        "the id of a dataset, an integer or a UUID, is expected",
    ),
    "dataset_repeated": ("ce jeu de données est donné deux fois", "this dataset is given twice"),
    "words_expected": (
        "une liste de textes, ou un texte dont les valeurs sont séparées par des virgules, est attendue",
        "a list of texts, or a text with commas between the values, is expected",
    ),
    "license_expected": (
        "« {value} » n’est ni une expression SPDX, comme MIT OR Apache-2.0, ni une famille connue, comme CC-BY-*",
        "“{value}” is neither an SPDX expression, such as MIT OR Apache-2.0, nor a known family, such as CC-BY-*",
    ),
    "dict_type": ("un objet JSON est attendu", "a JSON object is expected"),
    "model_type": ("un objet JSON est attendu", "a JSON object is expected"),
    "model_attributes_type": ("un objet JSON est attendu", "a JSON object is expected"),
    "too_long": ("{max_length} {max_length:élément|éléments} au plus", "at most {max_length} {max_length:item|items}"),
    "too_short": (
        "{min_length} {min_length:élément|éléments} au moins",
        "at least {min_length} {min_length:item|items}",
    ),
    "too_many_bytes": ("{max_bytes} octets de JSON au plus", "at most {max_bytes} bytes of JSON"),
    "too_deep": ("trop de niveaux imbriqués", "nested too deeply"),
    # Identifiers and names
    "uuid_parsing": (
        "un identifiant UUID est attendu, comme 3fa85f64-5717-4562-b3fc-2c963f66afa6",
        "a UUID is expected, such as 3fa85f64-5717-4562-b3fc-2c963f66afa6",
    ),
    "dataset_key": (
        "le numéro ou l’UUID d’un jeu de données est attendu",
        "the number or the UUID of a dataset is expected",
    ),
    "email": (
        "une adresse e-mail est attendue, comme ada@exemple.fr",
        "an e-mail address is expected, such as ada@example.org",
    ),
    "idempotency_key": (
        "1 à 255 caractères ASCII imprimables sans espace, donnés une fois",
        "1 to 255 printable ASCII characters without a space, given once",
    ),
    "unknown_name": (
        "« {name} » est inconnu ; sont admis : {known}",
        "“{name}” is unknown; accepted: {known}",
    ),
    "unknown_name_with_suggestion": (
        "« {name} » est inconnu ; le plus proche : {known}",
        "“{name}” is unknown; nearest: {known}",
    ),
    "cross_origin_refused": (
        "les pages de cette origine ne peuvent pas envoyer cette requête",
        "pages of this origin cannot send this request",
    ),
    "unknown_form_field": (
        "Le formulaire a un champ inconnu ; sont admis : {known}. Encodez les valeurs : « & » devient « %26 »",
        "The form has an unknown field; accepted: {known}. Encode the values: “&” becomes “%26”",
    ),
    "no_parameters": (
        "aucun paramètre n’est admis ici",
        "no parameters are accepted here",
    ),
    "unknown_value": (
        "« {name} » n’est pas une valeur admise pour {where} ; sont admis : {known}",
        "“{name}” is not an accepted value for {where}; accepted: {known}",
    ),
    "unknown_value_with_suggestion": (
        "« {name} » n’est pas une valeur admise pour {where} ; le plus proche : {known}",
        "“{name}” is not an accepted value for {where}; nearest: {known}",
    ),
    "conflicting_values": (
        "{name} et {other} désignent la même chose, mais leurs valeurs diffèrent",
        "{name} and {other} mean the same thing, but their values differ",
    ),
    # Values with special rules
    "cell": (
        "un texte, un nombre fini, true, false ou null est attendu",
        "a text, a finite number, true, false or null is expected",
    ),
    "no_owner": (
        "seul un utilisateur connecté peut garder une fiche privée ; « public » est attendu",
        "only a user who is signed in can keep a record private; “public” is expected",
    ),
    "unreadable_parquet": (
        "un fichier Parquet lisible est attendu : complet, non chiffré et d’au plus {max_rows} lignes",
        "a readable Parquet file is expected: complete, not encrypted, and of at most {max_rows} rows",
    ),
    "one_file_expected": ("un seul fichier par formulaire est permis", "only one file per form is allowed"),
    "file_type": (
        "le nom du fichier doit finir par {endings} ; enregistrez une feuille de calcul au format CSV",
        "the name of the file must end in {endings}; save a spreadsheet as CSV",
    ),
    "no_table": (
        "la fiche ne mène à aucun tableau lisible ; envoyez un fichier CSV ou Parquet, puis donnez son file_path à la "
        "fiche, ou choisissez un autre jeu de données",
        "the record leads to no readable table; upload a CSV or Parquet file and put its file_path into the record, "
        "or choose another dataset",
    ),
    "dataset_not_found": (
        "ce jeu de données n’existe pas, ou vous ne pouvez pas le voir",
        "this dataset does not exist, or you cannot see it",
    ),
    "weight_expected": (
        "un objet avec criterion_name et weight est attendu",
        "an object with criterion_name and weight is expected",
    ),
    "criterion_repeated": ("ce critère est donné deux fois", "this criterion is given twice"),
    "weights_all_zero": ("au moins un poids doit dépasser zéro", "at least one weight must be above zero"),
    "weight_not_a_number": ("un nombre est attendu", "a number is expected"),
    "weight_not_finite": ("un nombre fini est attendu", "a finite number is expected"),
    "weight_negative": ("un poids ne peut pas être négatif", "a weight cannot be negative"),
    "value_not_applicable": (
        "une affirmation « sans objet » n’a pas de valeur ; null est attendu",
        "a claim that is “not applicable” has no value; null is expected",
    ),
    # The subject of errors that do not concern a single field
    "whole_body": ("le corps de la requête", "the request body"),
    "whole_line": ("la ligne", "the line"),
    "whole_query": ("les paramètres de l’adresse", "the query parameters"),
    "whole_path": ("l’adresse", "the path"),
}
