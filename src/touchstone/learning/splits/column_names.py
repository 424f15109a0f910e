"""Classification of columns by name: does a column identify a person or a thing, or does it measure time?

Names are compared word by word, without accents: `PatientID`, `patient_id` and `id patient` are the same.
"""

import re
from typing import Final

from touchstone.core.text import fold

# Persons and things that often have several rows in a table, without accents.
IDENTITY_WORDS: Final = frozenset(
    {
        # English and French
        *("account", "adherent", "animal", "appareil", "assure", "beneficiary", "borrower", "child", "client"),
        *("compte", "conducteur", "courriel", "customer", "device", "donor", "driver", "eleve", "email"),
        *("employee", "enfant", "etudiant"),
        *("foyer", "household", "individu", "individual", "learner", "locataire", "machine", "member", "membre"),
        *("menage", "mother", "owner", "participant", "passenger", "patient", "person", "personne", "player"),
        *("pupil", "respondant", "respondent", "salarie", "sensor", "session", "speaker", "student", "subj"),
        *("subject", "sujet", "tenant", "usager", "user", "utilisateur", "visitor", "voter", "worker"),
        # German
        *("benutzer", "fahrer", "gerat", "haushalt", "konto", "kunde", "kunden", "maschine", "mieter", "mitarbeiter"),
        *("mitglied", "nutzer", "patienten", "personen", "proband", "probanden", "schuler", "spieler", "teilnehmer"),
        # Italian, Portuguese and Spanish
        *("alumno", "alunno", "aluno", "cliente", "cuenta", "dipendente", "dispositivo", "empleado", "estudiante"),
        *("hogar", "jugador", "maquina", "paciente", "participante", "paziente", "persona", "soggetto", "studente"),
        *("sujeto", "trabajador", "usuario", "utente", "utilizador"),
    }
)
IDENTIFIER_WORDS: Final = frozenset(
    {
        "code",
        "id",
        "identifiant",
        "identifier",
        "key",
        "name",
        "no",
        "nom",
        "nr",
        "num",
        "number",
        "numero",
        "nummer",
        "ref",
        "reference",
        "uid",
        "uuid",
    }
)
LEADING_IDENTIFIER_WORDS: Final = frozenset({"id", "identifiant", "identifier", "uid", "uuid"})
CONNECTING_WORDS: Final = frozenset({"of", "the", "de", "du", "la", "le"})

YEAR_WORDS: Final = frozenset({"an", "ano", "annee", "anno", "jahr", "year", "yr"})
MONTH_WORDS: Final = frozenset({"mes", "mese", "mo", "mois", "monat", "month", "mth"})
DAY_WORDS: Final = frozenset({"day", "dia", "giorno", "jour", "tag"})
HOUR_WORDS: Final = frozenset({"heure", "hora", "hour", "hr", "ora", "stunde"})
MINUTE_WORDS: Final = frozenset({"minute", "minuto"})
# Without `tag`, because the English word is a label.
COUNTER_WORDS: Final = (DAY_WORDS - {"tag"}) | {
    *("epoch", "semaine", "semana", "settimana", "timestamp", "week", "woche"),
}
CLOCK_WORDS: Final = frozenset(
    {"created", "date", "datetime", "epoch", "time", "timestamp", "ts", "unix", "updated", "zeit", "zeitstempel"}
)
# Words for the event that a row records. Other words beside a unit of time mean another event, such as a birth.
EVENT_WORDS: Final = frozenset(
    {
        "academic",
        "calendar",
        "date",
        "datum",
        "evenement",
        "event",
        "evento",
        "fecha",
        "fiscal",
        "measure",
        "measured",
        "mesure",
        "observation",
        "observed",
        "recorded",
        "releve",
        "report",
        "sale",
        "school",
        "scolaire",
        "sold",
        "survey",
        "vente",
        "visit",
        "visite",
    }
)
BIRTH_WORDS: Final = frozenset(
    {
        *("birth", "birthdate", "birthday", "born", "dob", "naissance", "ne", "nee"),
        *("geburt", "geburtsdatum", "geburtstag", "nacimiento", "nascimento", "nascita"),
    }
)

# Names that are written as one word, such as `userid` or `Kundennummer`.
_NUMBERED_IDENTITY: Final = re.compile("(.+)(id|no|nr|num|nummer|number)")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def split_into_words(name: str) -> list[str]:
    """Split a column name into lower-case words without accents, such as `PatientID` into `patient` and `id`."""
    # The pattern only matches the letters a to z, and uses capitals to separate words.
    plain_letters = [fold(letter).upper() if letter.isupper() else fold(letter) for letter in name]
    return [word.lower() for word in _WORD.findall("".join(plain_letters))]


def names_identity(name: str) -> bool:
    """Return whether a name indicates an identifier, such as `patient`, `user_id` or `id_station`."""
    words = split_into_words(name)
    if not words:
        return False
    has_identifier = words[0] in LEADING_IDENTIFIER_WORDS or words[-1] in LEADING_IDENTIFIER_WORDS
    return has_identifier or names_person_or_thing(name)


def names_person_or_thing(name: str) -> bool:
    """Return whether a name indicates a person or a thing, such as `patient` or `user_id`.

    Names with any other word, such as `family_size` or `account_length`, do not count.
    """
    words = [word for word in split_into_words(name) if word not in CONNECTING_WORDS | IDENTIFIER_WORDS]
    if len(words) != 1:
        return False

    # A word such as `alumno` may end like a number without being one.
    numbered = _NUMBERED_IDENTITY.fullmatch(words[0])
    identities = words if numbered is None else [words[0], numbered[1]]
    return any(identity.removesuffix("s") in IDENTITY_WORDS for identity in identities)


def names_plural(name: str) -> bool:
    """Return whether a name is a plural without a word for an identifier, such as `employees`.

    Numbers with such a name count persons or things instead of identifying them.
    """
    words = split_into_words(name)
    return IDENTIFIER_WORDS.isdisjoint(words) and any(word.endswith("s") for word in words)


def names_birth(name: str) -> bool:
    """Return whether a name indicates a date of birth."""
    return not BIRTH_WORDS.isdisjoint(split_into_words(name))


def names_clock(name: str) -> bool:
    """Return whether a name may indicate moments, such as `ts` or `created_at`.

    The numbers of the column must confirm it, because `time` may also be a duration.
    """
    return not CLOCK_WORDS.isdisjoint(split_into_words(name))


def parse_event(
    name: str, unit_words: frozenset[str], longer_units: frozenset[str] = frozenset()
) -> frozenset[str] | None:
    """Return the words for the event whose time a column states in the given unit, or None if it does not.

    The result for `Year_Sold` is `sold`. It is an empty set for `year`, which does not name an event, and None for
    `year_built`, because the rows do not record the event of building.

    Args:
        name: the name of the column.
        unit_words: the words for the unit, such as `year`.
        longer_units: the words for longer units that the name may contain as well, as in `day_of_year`.
    """
    words = set(split_into_words(name)) - CONNECTING_WORDS
    event_words = words - unit_words - longer_units
    is_time = bool(words & unit_words) and event_words <= EVENT_WORDS
    return frozenset(event_words - {"date"}) if is_time else None
