"""The codebook with the meaning and the rules of the ethical criteria, in French and English.

`touchstone.metadata.codebook` combines the texts about each criterion.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

# The rules that apply to every criterion.
GENERAL_RULES: Final[tuple[Text, ...]] = (
    (
        "Oui : une affirmation sur ce jeu de données, de quelque chose qui a été fait ou qui est en vigueur. Non : il "
        "est dit que cela n’a pas été fait, n’est pas possible, ou que le contraire est vrai. Inconnu : le silence, "
        "une mention à compléter, une question ouverte, un projet, une généralité, les mots d’un modèle de document "
        "ou un texte caché dans un commentaire. « Sans objet » compte comme inconnu, avec une note.",
        "True: an affirmative statement about this dataset, of something done or in force. False: a statement that it "
        "was not done, is not possible, or that the contrary holds. Unknown: silence, a placeholder, a question left "
        "open, a plan, a general claim, a template’s own words, or text hidden in a comment. “Not applicable” counts "
        "as unknown, with a note.",
    ),
    (
        "Un titre ne prouve rien : seul compte ce qui est écrit dessous.",
        "A heading proves nothing: what stands under it does.",
    ),
    (
        "Le consentement, le contrôle et l’anonymisation concernent les personnes décrites par les données ou dont "
        "elles proviennent. Ce qui est dit des seuls annotateurs ne compte que s’ils sont eux-mêmes la source des "
        "données.",
        "Consent, control and anonymisation are about the people the records are about or come from. What is said of "
        "annotators alone counts only where they are themselves the source of the data.",
    ),
    (
        "En cas de contradiction dans un document, ce qui limite ou lèse les personnes l’emporte : non prime sur oui. "
        "Dans le doute, inconnu. Ce qui concerne visiblement un autre jeu de données ne compte pas.",
        "In a contradiction inside one document, what limits or harms people wins: false beats true. In doubt, "
        "unknown. Text that is visibly about another dataset does not count.",
    ),
    (
        "Une règle permanente compte même écrite au futur (« nous corrigerons ce qui est signalé ») ; une "
        "intention, non.",
        "A standing rule counts although it is written in the future (“we will fix what is reported”); an intention "
        "does not.",
    ),
    (
        "Le motif est indifférent : des noms retirés au profit du classifieur sont retirés. Si le reste du document "
        "défait ce qui a été fait, la réponse est non.",
        "A motive does not matter: names removed for the classifier’s sake are removed. What is undone by the rest of "
        "the record makes it false.",
    ),
    (
        "La citation est textuelle, aussi courte que possible et pourtant convaincante à elle seule.",
        "The quote is verbatim, and as short as possible while it still convinces someone who has not read the rest.",
    ),
)

DEFINITIONS: Final[Mapping[str, Text]] = {
    "informed_consent": (
        "Les personnes concernées ont accepté la collecte ou la diffusion de leurs données.",
        "The people concerned agreed to the collection or release of their data.",
    ),
    "transparency": (
        "Le document dit comment les données ont été produites.",
        "The document says how the data came to be.",
    ),
    "user_control": (
        "Les personnes peuvent consulter, corriger, retirer ou effacer ce qui les concerne.",
        "People can see, correct, withdraw or delete what concerns them.",
    ),
    "equity_non_discrimination": (
        "L’équité ou la représentation des groupes de personnes a été assurée ou mesurée.",
        "Fairness or the representation of groups of people was ensured or measured.",
    ),
    "security_measures_in_place": (
        "Les données sont protégées contre l’accès et l’usage abusifs.",
        "The data are protected against unauthorised access and misuse.",
    ),
    "data_quality_documented": (
        "La qualité des données a été vérifiée, et le résultat est connu.",
        "The quality of the data was checked, and the result is known.",
    ),
    "anonymization_applied": (
        "Les éléments qui identifient les personnes ont été retirés ou masqués.",
        "What identifies people was removed or masked.",
    ),
    "record_keeping_policy_exists": (
        "Une règle régit les versions, la maintenance, la conservation ou l’effacement.",
        "A rule governs versions, maintenance, retention or deletion.",
    ),
    "purpose_limitation_respected": (
        "Les usages prévus et les usages exclus sont définis.",
        "The uses that are intended and those that are excluded are defined.",
    ),
    "accountability_defined": (
        "Une personne ou un organisme nommé répond du jeu de données.",
        "A named person or body answers for the dataset.",
    ),
}

WHEN_TRUE: Final[Mapping[str, Text]] = {
    "informed_consent": (
        "Les personnes ont accepté cette collecte ou cette diffusion : formulaire, inscription volontaire, protocole "
        "approuvé avec consentement, contributions données pour être publiées, ou évaluateurs dont les réponses sont "
        "les données et qui ont signé.",
        "The people agreed to this collection or release: a form, an opt-in, a protocol approved with consent, "
        "contributions given for publication, or raters whose own answers are the data and who signed.",
    ),
    "transparency": (
        "Au moins deux des points suivants, en substance : la source, la procédure ou la sélection, qui a produit ou "
        "annoté les données, leur traitement.",
        "At least two of these, in substance: the source, the procedure or selection, who made or annotated the data, "
        "their processing.",
    ),
    "user_control": (
        "Les personnes peuvent consulter, corriger, retirer ou effacer ce qui les concerne, et la manière est "
        "indiquée.",
        "People can see, correct, withdraw or delete what concerns them, and how is named.",
    ),
    "equity_non_discrimination": (
        "Quelque chose a été fait ou mesuré : échantillon équilibré, audit avec son résultat, retrait de contenus "
        "discriminatoires, minorités prises en compte dès la conception, tableau de la composition.",
        "Something was done or measured: balanced sampling, an audit with its result, removal of discriminatory "
        "content, minorities covered by design, a table of who is in it.",
    ),
    "security_measures_in_place": (
        "Accès contrôlé, habilitations, accord contre la réidentification ou la redistribution, chiffrement, enclave.",
        "Access under control, credentials, an agreement against re-identification or redistribution, encryption, an "
        "enclave.",
    ),
    "data_quality_documented": (
        "Vérifications avec leur résultat, accord entre annotateurs, nettoyage, filtrage ou réannotation qui a changé "
        "les données, ou erreurs et lacunes connues de ce jeu de données.",
        "Checks with what came of them, agreement between annotators, cleaning, filtering or re-annotation that "
        "changed the data, or known errors and gaps of this dataset.",
    ),
    "anonymization_applied": (
        "Identifiants retirés, remplacés, hachés, floutés ou agrégés, pour les personnes présentes dans les données.",
        "Identifiers removed, replaced, hashed, blurred or aggregated, for the people in the data.",
    ),
    "record_keeping_policy_exists": (
        "Une règle de version, de modification, de maintenance, de conservation ou d’effacement est énoncée.",
        "A rule for versions, changes, maintenance, retention or deletion is stated.",
    ),
    "purpose_limitation_respected": (
        "Le document dit à quoi servent les données et à quoi elles ne doivent pas servir, ou un accord lie leur usage "
        "à des finalités.",
        "The document says what the data are meant for and what they must not be used for, or an agreement ties their "
        "use to purposes.",
    ),
    "accountability_defined": (
        "Une personne ou un organisme est nommé comme responsable : curateur, mainteneur, responsable de traitement, "
        "éditeur ou contact. L’adresse d’une organisation suffit.",
        "A person or body is named as answerable: curator, maintainer, controller, publisher or contact. The address "
        "of an organisation will do.",
    ),
}

WHEN_FALSE: Final[Mapping[str, Text]] = {
    "informed_consent": (
        "Il est dit que les personnes n’ont pas été interrogées, ou que la collecte s’est faite à leur insu.",
        "They are said not to have been asked, or the data were collected without their knowledge.",
    ),
    "transparency": (
        "Il est dit que l’origine ou la procédure n’est pas connue ou pas révélée.",
        "It says that the origin or procedure is not known or not disclosed.",
    ),
    "user_control": ("Il est dit que ce moyen n’existe pas.", "It says that there is no such way."),
    "equity_non_discrimination": (
        "Il est dit que les données sont déséquilibrées ou biaisées quant à des groupes de personnes, sans "
        "mesure prise.",
        "It says in words that the data are skewed or biased with respect to groups of people, and names nothing done "
        "about it.",
    ),
    "security_measures_in_place": (
        "Il est dit que des données sensibles sont accessibles sans protection.",
        "It says that sensitive data stand open without protection.",
    ),
    "data_quality_documented": (
        "Il est dit que la qualité n’a pas été vérifiée.",
        "It says that quality was not checked.",
    ),
    "anonymization_applied": (
        "Il est dit que des noms, des pseudonymes, des visages ou d’autres identifiants s’y trouvent.",
        "It says that names, user names, faces or other identifiers are in it.",
    ),
    "record_keeping_policy_exists": (
        "Il est dit que le jeu n’est pas maintenu, ou que les anciennes versions ne sont pas conservées.",
        "It says that the data are not maintained, or that old versions are not kept.",
    ),
    "purpose_limitation_respected": (
        "Il est dit, hors d’une licence, que toute finalité est permise, ou que des données collectées dans un autre "
        "but sont réutilisées sans un mot sur la compatibilité.",
        "It says, outside a licence, that any purpose is allowed, or that data collected for another purpose are "
        "reused without a word on compatibility.",
    ),
    "accountability_defined": (
        "Il est dit que personne ne maintient le jeu de données ni n’en répond.",
        "It says that nobody maintains the dataset or answers for it.",
    ),
}

NOT_EVIDENCE: Final[Mapping[str, Text]] = {
    "informed_consent": (
        "Accord pour un seul champ, acceptation des conditions d’un site, « accessible à tous », avis éthique sans un "
        "mot sur le consentement, annotateurs rémunérés.",
        "An opt-in for single fields, accepting a site’s terms, “publicly available”, ethics approval without a word "
        "on consent, paid workers.",
    ),
    "transparency": (
        "Un lien ou une référence, un seul des quatre points, une simple liste de sites, un audit des licences.",
        "A link or a citation, one of the four alone, a bare list of sites, an audit of licences.",
    ),
    "user_control": (
        "Un contact général sans cette offre, le droit de quitter une plateforme, des tickets ou demandes de fusion.",
        "A general contact without that offer, the right to leave a platform, issues or pull requests.",
    ),
    "equity_non_discrimination": (
        "« Peut contenir des biais », « non étudié », équilibre de classes ou de langues, un jeu d’essai destiné à "
        "mesurer les biais de modèles.",
        "“May contain biases”, “not studied”, balance of classes or languages, a benchmark for measuring bias in "
        "models.",
    ),
    "security_measures_in_place": (
        "Une connexion qui sert à compter, une somme de contrôle, l’interdiction de redistribuer d’une licence, une "
        "simple demande, des données brutes gardées.",
        "A log-in for counting, a checksum, a licence’s ban on redistribution, a request, raw data held back.",
    ),
    "data_quality_documented": (
        "« De haute qualité », l’exactitude d’un modèle, des annotateurs formés et rien d’autre.",
        "“High quality”, a model’s accuracy, trained annotators and nothing else.",
    ),
    "anonymization_applied": (
        "« Aucune donnée personnelle » (sans objet), « rien de sensible » sans dire comment, personnes publiques "
        "seulement.",
        "“No personal data” (not applicable), “nothing sensitive” without a word on how, public figures only.",
    ),
    "record_keeping_policy_exists": (
        "Un numéro de version, un DOI, une date, un dépôt.",
        "A version number, a DOI, a date, a repository.",
    ),
    "purpose_limitation_respected": (
        "Une licence, le but des auteurs, une interdiction sans finalité, les tâches prévues, « pour la recherche » "
        "sans plus.",
        "A licence, what the authors aim at, a ban without a purpose, supported tasks, “for research” alone.",
    ),
    "accountability_defined": (
        "Les auteurs d’une référence, un champ « creator » seul, des mainteneurs sans nom, un éditeur anonyme, un "
        "contact vide, l’hébergeur lui-même, « la communauté ».",
        "Authors in a citation, a creator field alone, unnamed maintainers, an anonymous publisher, an empty contact, "
        "the hub’s own organisation, “the community”.",
    ),
}
