"""The reasons why a document or a part of it is not imported, by code, in French and English.

The reference of the metadata standards explains the same codes.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

# The keys of the only sentences with placeholders.
INVALID_RECORD: Final = "invalid_record"
MORE_REJECTIONS: Final = "more_rejections"

DOCUMENT_REJECTIONS: Final[Mapping[str, Text]] = {
    "access_unclear": (
        "les fichiers se téléchargent à la main : on ne sait pas si tout le monde les obtient",
        "the files have to be downloaded by hand, so whether everybody gets them is unknown",
    ),
    "ambiguous_unit": (
        "une part qui va peut-être de 0 à 1, peut-être de 0 à 100",
        "a share that may mean 0 to 1 or 0 to 100",
    ),
    "binary_content": (
        "ce n’est pas un texte ; si c’est une archive, décompressez-la et importez ses documents",
        "this is not a text; if it is an archive, unpack it and import its documents",
    ),
    "companion_document": (
        "ce fichier accompagne le document principal d’un jeu de données : importez-les ensemble",
        "this file belongs to the main document of a dataset: import them together",
    ),
    "counts_only_nan": (
        "une part nulle de valeurs manquantes qui ne compte que les cases lues comme NaN",
        "a share of missing values of zero that counts only cells read as NaN",
    ),
    "data_file": ("une table de données, et non une description", "a table of data, not a description"),
    "document_too_large": ("le document est trop volumineux", "the document is too large"),
    "duplicate_dataset": (
        "un jeu de données de même identifiant figure plus haut dans le document",
        "a dataset with the same identifier appears earlier in the document",
    ),
    "duplicate_key": (
        "une clé figure deux fois dans un objet : sa première valeur compte",
        "a key appears twice in one object: its first value counts",
    ),
    "empty_document": ("le document est vide", "the document is empty"),
    "error_reply": (
        "la réponse d’un service à une requête qui a échoué",
        "the reply of a service to a request that failed",
    ),
    "field_too_large": ("un champ trop volumineux pour être conservé", "a field that is too large to be kept"),
    "html_comment": ("un commentaire n’affirme rien", "a comment states nothing"),
    "contradicts_record": (
        "une affirmation qui contredit la valeur exportée",
        "a claim that contradicts the exported value",
    ),
    "implausible_value": ("une valeur qu’aucun jeu de données n’a", "a value that no dataset has"),
    "invalid_csv": ("ce n’est pas du CSV bien formé", "not well-formed CSV"),
    "invalid_exact_values": (
        "le membre touchstone:dataset n’est pas celui d’un export ; le reste est lu selon le standard",
        "the member touchstone:dataset is not what an export writes; the rest is read by the standard",
    ),
    "invalid_json": ("ce n’est pas du JSON bien formé", "not well-formed JSON"),
    "invalid_rdf": ("ce n’est pas du RDF bien formé", "not well-formed RDF"),
    "invalid_yaml": ("ce n’est pas du YAML bien formé", "not well-formed YAML"),
    INVALID_RECORD: (
        "le catalogue ne peut pas enregistrer la valeur de {place} : {reason}",
        "the catalog cannot hold the value of {place}: {reason}",
    ),
    "key_not_text": ("une clé qui n’est pas un texte", "a key that is not a text"),
    "loader_name": (
        "un chargeur de fichiers quelconques, et non un jeu de données",
        "a loader of any files, not a dataset",
    ),
    "missing_identifier": (
        "un jeu de données sans identifiant : un autre champ en tient lieu",
        "a dataset without an identifier: another field was used instead",
    ),
    "no_dataset": (
        "le document suit un standard connu, mais ne décrit aucun jeu de données",
        "the document follows a known standard, but describes no dataset",
    ),
    "no_identifier": (
        "rien dans la description n’identifie le jeu de données",
        "nothing in the description identifies the dataset",
    ),
    "no_name": ("rien dans la description ne nomme le jeu de données", "nothing in the description names the dataset"),
    MORE_REJECTIONS: (
        "{count} {count:autre jeu de données ou document est refusé|autres jeux de données ou documents sont refusés}, "
        "sans figurer dans cette liste",
        "{count} more {count:dataset or document was|datasets or documents were} rejected and "
        "{count:is|are} not in this list",
    ),
    "not_a_dataset": (
        "une ressource d’un autre type, comme un logiciel ou un article, et non un jeu de données",
        "a resource of another type, such as software or an article, and not a dataset",
    ),
    "not_written_in_time": (
        "le temps d’une requête est écoulé : envoyez de nouveau le document, la suite sera importée",
        "the time of one request is over: send the document again, and the rest will be imported",
    ),
    "number_not_finite": (
        "NaN ou un infini, qui devient une valeur inconnue",
        "NaN or an infinity, which becomes unknown",
    ),
    "number_too_large": (
        "un entier de plus de 64 bits, conservé comme texte",
        "an integer of more than 64 bits, which is kept as a text",
    ),
    "number_too_long": ("un nombre de plus de 400 chiffres", "a number of more than 400 digits"),
    "placeholder": (
        "ce qu’un modèle laisse à la place d’une réponse",
        "what a template leaves where an answer belongs",
    ),
    "quote_too_long": ("une citation trop longue pour être conservée", "a quote that is too long to be kept"),
    "reading_failed": (
        "la lecture s’est interrompue : le document demande trop de mémoire",
        "reading broke off: the document takes too much memory",
    ),
    "reading_too_slow": (
        "la lecture a pris trop de temps : importez moins de documents à la fois",
        "reading took too long: import fewer documents at a time",
    ),
    "record_quota_exceeded": (
        "vos fiches prennent toute la place à laquelle vous avez droit",
        "your records take up all the space that you may use",
    ),
    "remote_context_ignored": (
        "un contexte JSON-LD qui n’est donné que par son adresse, jamais consultée",
        "a JSON-LD context that is only named by its address, which is never fetched",
    ),
    "schema_document": (
        "un schéma JSON, qui décrit des descriptions",
        "a JSON schema, which describes descriptions",
    ),
    "template": ("le modèle vide d’une source", "the template of a source"),
    "too_deep": ("plus de 64 niveaux d’imbrication", "more than 64 levels of nesting"),
    "too_many_claims": (
        "plus de 200 affirmations sur un jeu de données : les suivantes sont laissées de côté",
        "more than 200 claims about one dataset: the others are left out",
    ),
    "too_many_datasets": (
        "plus de 5 000 jeux de données en une requête : les suivants sont laissés de côté",
        "more than 5,000 datasets in one request: the others are left out",
    ),
    "too_many_fields": ("un objet de plus de 10 000 membres", "an object with more than 10,000 members"),
    "too_many_proposals": (
        "trop de vos propositions attendent une décision : importez de nouveau le document quand il y en aura moins",
        "too many of your proposals wait for a decision: import the document again when there are fewer",
    ),
    "too_many_rows": ("une table de plus de 100 000 lignes", "a table with more than 100,000 rows"),
    "too_many_terms": (
        "plus de 200 tâches ou domaines, ou un terme de plus de 200 caractères",
        "more than 200 tasks or domains, or one of more than 200 characters",
    ),
    "too_many_values": ("plus d’un million de valeurs", "more than a million values"),
    "truncated_document": ("le document s’arrête trop tôt", "the document ends too early"),
    "unknown_standard": (
        "aucun standard de métadonnées connu ne reconnaît ce document",
        "no known metadata standard recognises this document",
    ),
    "unstorable_character": (
        "un caractère qu’aucune base de données n’enregistre, remplacé",
        "a character that no database holds, which was replaced",
    ),
    "wrong_encoding": (
        "ni UTF-8, ni UTF-16 ou UTF-32 avec une marque d’ordre des octets",
        "neither UTF-8 nor UTF-16 or UTF-32 with a byte order mark",
    ),
    "wrong_number_of_cells": (
        "une ligne de table qui a trop ou trop peu de cases",
        "a row of a table with too few or too many cells",
    ),
    "xml_entity_refused": (
        "une entité XML, qui peut prendre des gigaoctets",
        "an entity in XML, which can expand to gigabytes",
    ),
    "yaml_anchor_refused": (
        "une ancre ou un alias YAML, qui peut prendre des gigaoctets",
        "an anchor or alias in YAML, which can expand to gigabytes",
    ),
    "yaml_tag_refused": (
        "une étiquette YAML, qui peut nommer une classe",
        "a tag in YAML, which can name a class",
    ),
}
