"""Why a value does not fit, by pydantic's error type: French and English; `{…}` come from the error's context."""

from collections.abc import Mapping
from typing import Final

VALIDATION: Final[Mapping[str, tuple[str, str]]] = {
    "missing": ("champ obligatoire", "required"),
    "string_type": ("texte attendu", "text is expected"),
    "string_too_short": (
        "{min_length} {min_length:caractère|caractères} au moins",
        "at least {min_length} {min_length:character|characters}",
    ),
    "string_too_long": (
        "{max_length} {max_length:caractère|caractères} au plus",
        "at most {max_length} {max_length:character|characters}",
    ),
    "string_pattern_mismatch": ("forme attendue : {pattern}", "expected form: {pattern}"),
    "int_type": ("nombre entier attendu", "an integer is expected"),
    "int_parsing": ("nombre entier attendu", "an integer is expected"),
    "int_parsing_size": ("nombre trop grand", "the number is too large"),
    "int_from_float": ("nombre entier attendu", "an integer is expected"),
    "float_type": ("nombre attendu", "a number is expected"),
    "float_parsing": ("nombre attendu", "a number is expected"),
    "finite_number": ("nombre fini attendu", "a finite number is expected"),
    "bool_type": ("true ou false attendu", "true or false is expected"),
    "bool_parsing": ("true ou false attendu", "true or false is expected"),
    "greater_than": ("doit être supérieur à {gt}", "must be greater than {gt}"),
    "greater_than_equal": ("au moins {ge}", "at least {ge}"),
    "less_than": ("doit être inférieur à {lt}", "must be less than {lt}"),
    "less_than_equal": ("au plus {le}", "at most {le}"),
    "list_type": ("liste attendue", "a list is expected"),
    "tuple_type": ("liste attendue", "a list is expected"),
    "dict_type": ("objet attendu", "an object is expected"),
    "model_type": ("objet attendu", "an object is expected"),
    "model_attributes_type": ("objet attendu", "an object is expected"),
    "too_long": ("{max_length} {max_length:élément|éléments} au plus", "at most {max_length} {max_length:item|items}"),
    "too_short": (
        "{min_length} {min_length:élément|éléments} au moins",
        "at least {min_length} {min_length:item|items}",
    ),
    "literal_error": ("valeurs possibles : {expected}", "possible values: {expected}"),
    "enum": ("valeurs possibles : {expected}", "possible values: {expected}"),
    "uuid_parsing": ("identifiant UUID attendu", "a UUID is expected"),
    "too_many_bytes": ("{max_bytes} octets de JSON au plus", "at most {max_bytes} bytes of JSON"),
    "unknown_name": ("{name} est inconnu ; connus : {known}", "{name} is unknown; known: {known}"),
    "too_deep": ("trop de niveaux imbriqués", "nested too deeply"),
    "unclean_text": (
        "les caractères NUL et les substituts isolés ne sont pas du texte",
        "NUL characters and lone surrogates are not text",
    ),
    "cell": (
        "texte, nombre fini, true, false ou null attendu",
        "text, a finite number, true, false or null is expected",
    ),
    "dataset_key": ("numéro ou UUID d’un jeu de données attendu", "the number or UUID of a dataset is expected"),
    "email": ("adresse électronique attendue", "an e-mail address is expected"),
    "not_null": ("ne peut pas être vide", "cannot be null"),
}
