"""The notes of claims from documents, which say by which rule a value follows from the quote.

Notes of claims from prose name the applied row of the codebook, and notes of claims from fields say how the value was
derived. Claims store their notes in English. Pages translate them, and return any other note unchanged.
"""

import re
from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import LOCALES, Text

FACETS_PREFIX: Final = "shown: "
"""How the note of a claim begins that needs several facets of a criterion; the facets follow, separated by commas."""
_FACETS: Final[Text] = ("établi\u00a0: {facets}", "shown: {facets}")
_FACET_SEPARATOR: Final = ", "
# The separators of the parts of a note, by language. A note itself has the English one.
_PART_SEPARATORS: Final[Text] = ("\u00a0; ", "; ")
NOTES: Final[tuple[Text, ...]] = (
    ("une vérification avec son résultat", "a check with its result"),
    ("un décompte des groupes dans les données", "a count of the groups in the data"),
    (
        "une règle pour les versions, la maintenance, la conservation ou l’effacement",
        "a rule for versions, maintenance, retention or deletion",
    ),
    ("un tableau des groupes dans les données", "a table of the groups in the data"),
    ("l’accès est contrôlé ou demande un accord", "access is under control or needs an agreement"),
    ("l’accord entre annotateurs a été mesuré", "agreement between annotators was measured"),
    ("un engagement à ne pas réidentifier", "an agreement against re-identification"),
    ("un accord lie l’usage à des finalités", "an agreement ties the use to purposes"),
    ("un audit de l’équité avec son résultat", "an audit of fairness with its result"),
    (
        "toute finalité est permise, ou des données d’une autre finalité sont réutilisées",
        "any purpose is allowed, or data of another purpose are reused",
    ),
    ("un nettoyage a modifié les données", "cleaning changed the data"),
    ("des contributeurs ont donné leurs données pour publication", "contributors gave their data for publication"),
    ("des contenus discriminatoires ont été retirés", "discriminatory content was removed"),
    ("des erreurs ou des lacunes des données sont nommées", "errors or gaps of the data are named"),
    ("des lacunes des données sont nommées", "gaps of the data are named"),
    ("des groupes de personnes sont couverts à dessein", "groups of people are covered by design"),
    ("des groupes de personnes ont été équilibrés", "groups of people were balanced"),
    ("la façon dont les données ont été traitées", "how the data were processed"),
    ("des identifiants de personnes sont dans les données", "identifiers of people are in the data"),
    ("des identifiants ont été retirés ou remplacés", "identifiers were removed or replaced"),
    (
        "les personnes peuvent faire retirer ce qui les concerne, et il est dit comment",
        "people can have what concerns them removed, and how is named",
    ),
    (
        "les personnes ne peuvent ni retirer ni corriger ce qui les concerne",
        "people have no way to withdraw or correct what concerns them",
    ),
    ("les demandes de retrait sont refusées", "requests for removal are refused"),
    ("des données sensibles sont accessibles sans protection", "sensitive data stand open without protection"),
    ("certains identifiants ont été gardés", "some identifiers were kept"),
    ("les données ne sont pas anonymisées", "the data are not anonymised"),
    (
        "les données ne sont pas maintenues, ou les anciennes versions pas conservées",
        "the data are not maintained, or old versions not kept",
    ),
    (
        "les données sont déséquilibrées entre des groupes de personnes",
        "the data are skewed with respect to groups of people",
    ),
    ("les données ont été anonymisées", "the data were anonymised"),
    ("les données ont été vérifiées ou corrigées", "the data were checked or corrected"),
    (
        "l’origine ou la procédure n’est pas connue ou pas divulguée",
        "the origin or procedure is not known or not disclosed",
    ),
    (
        "les personnes ont accepté la collecte ou la diffusion de leurs données",
        "the people in the data agreed to its collection or release",
    ),
    ("les personnes ont donné leur consentement", "the people in the data gave their consent"),
    ("les personnes n’ont pas été consultées", "the people in the data were not asked"),
    ("la procédure ou la sélection", "the procedure or selection"),
    ("la qualité n’a pas été vérifiée", "the quality was not checked"),
    ("l’échantillon a été redressé selon des groupes de personnes", "the sample was adjusted for groups of people"),
    ("à quoi servent les données", "what the data are meant for"),
    ("à quoi les données ne doivent pas servir", "what the data must not be used for"),
    ("d’où viennent les données", "where the data come from"),
    ("qui a produit ou annoté les données", "who made or annotated the data"),
    ("personne ne maintient les données ni n’en répond", "nobody maintains or answers for the data"),
    ("un éditeur, un responsable ou un contact nommé", "a named publisher, maintainer or contact"),
    ("un contact nommé", "a named contact"),
    ("une personne nommée qui les a rassemblées", "a named curator"),
    ("une adresse pour les questions sur le jeu de données", "an address for questions about the dataset"),
    ("un responsable ou un éditeur nommé", "a named maintainer or publisher"),
    # Values from fields of documents
    ("la page du jeu de données", "Homepage"),
    ("le dépôt du jeu de données", "Repository"),
    ("l’article sur le jeu de données", "Paper"),
    ("Semantic Scholar", "Semantic Scholar"),
    ("une condition d’accès est énoncée", "a condition for access is stated"),
    ("un éditeur nommé", "a named publisher"),
    (
        "une adresse publique de téléchargement, sans condition d’accès",
        "a public download address, and no condition for access",
    ),
    ("une licence ouverte", "an open licence"),
    ("une licence ouverte, sans condition d’accès", "an open licence, and no condition for access"),
    ("les champs sont décrits", "fields are described"),
    ("les champs du plus grand jeu d’enregistrements", "fields of the largest record set"),
    ("aucune cible n’est nommée", "no target is named"),
    ("la première citation", "the first citation"),
    ("la plateforme demande un accord", "the hub asks for consent"),
    ("la seule partition", "the only split"),
    ("sans la cible", "without the target"),
    ("année de la publication", "year of the publication"),
    # The facets of criteria that need several
    ("traitement", "processing"),
    ("usage exclu", "excluded use"),
    ("procédure", "procedure"),
    ("usage prévu", "intended use"),
    ("origine", "source"),
    ("auteurs", "makers"),
)
NOTES_WITH_NAMES: Final[tuple[Text, ...]] = (
    ("la plus grande de {count} configurations\u00a0: {name}", "the largest of {count} configurations: {name}"),
    ("sans la cible {name}", "without the target {name}"),
)
"""Notes that contain a number or a name from the document."""
_BY_ENGLISH_NOTE: Final[Mapping[str, Text]] = {texts[1]: texts for texts in NOTES}
# Every place for a number or a name becomes a group of the regular expression.
_PATTERNS: Final = tuple(
    (re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(texts[1]))), texts) for texts in NOTES_WITH_NAMES
)


def translate_note(note: str, locale: str) -> str:
    """Return the note of a claim in a language. Parts of it that are none of these notes stay as they are."""
    index = LOCALES.index(locale)
    if note.startswith(FACETS_PREFIX):
        facets = note.removeprefix(FACETS_PREFIX).split(_FACET_SEPARATOR)
        translated_facets = [_translate(facet, index) for facet in facets]
        return _FACETS[index].format(facets=_FACET_SEPARATOR.join(translated_facets))

    parts = note.split(_PART_SEPARATORS[LOCALES.index("en")])
    translated_parts = [_translate(part, index) for part in parts]
    is_known = translated_parts != parts
    return _PART_SEPARATORS[index].join(translated_parts) if is_known else note


def _translate(note: str, index: int) -> str:
    """Return a single note in the language with this index."""
    texts = _BY_ENGLISH_NOTE.get(note)
    if texts:
        return texts[index]

    for pattern, texts_with_names in _PATTERNS:
        match = pattern.fullmatch(note)
        if match:
            return texts_with_names[index].format(**match.groupdict())
    return note
