"""What the names of columns say: that a column identifies a person or a thing, or measures time.

Names are compared word by word, without accents: `PatientID`, `patient_id` and `id patient` are the same.
"""

import re
from typing import Final

from touchstone.core.text import fold

# Persons and things of which one table often has several rows, in English and French.
IDENTITY_WORDS: Final = frozenset(
    {
        "account",
        "adherent",
        "animal",
        "appareil",
        "assure",
        "beneficiary",
        "borrower",
        "child",
        "client",
        "compte",
        "conducteur",
        "customer",
        "device",
        "donor",
        "driver",
        "eleve",
        "employee",
        "enfant",
        "etudiant",
        "foyer",
        "household",
        "individu",
        "individual",
        "learner",
        "locataire",
        "machine",
        "member",
        "membre",
        "menage",
        "mother",
        "owner",
        "participant",
        "passenger",
        "patient",
        "person",
        "personne",
        "player",
        "pupil",
        "respondant",
        "respondent",
        "salarie",
        "sensor",
        "session",
        "speaker",
        "student",
        "subject",
        "sujet",
        "tenant",
        "usager",
        "user",
        "utilisateur",
        "visitor",
        "voter",
        "worker",
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

YEAR_WORDS: Final = frozenset({"an", "annee", "jahr", "year", "yr"})
MONTH_WORDS: Final = frozenset({"mo", "mois", "month", "mth"})
DAY_WORDS: Final = frozenset({"day", "jour"})
HOUR_WORDS: Final = frozenset({"heure", "hour", "hr"})
MINUTE_WORDS: Final = frozenset({"minute"})
COUNTER_WORDS: Final = DAY_WORDS | {"epoch", "semaine", "timestamp", "week"}
# Words that may stand beside a unit of time without making it the time of something else, such as a birth.
EVENT_WORDS: Final = frozenset(
    {
        "date",
        "evenement",
        "event",
        "measure",
        "measured",
        "mesure",
        "observation",
        "observed",
        "recorded",
        "releve",
        "report",
        "sale",
        "sold",
        "survey",
        "vente",
        "visit",
        "visite",
    }
)
BIRTH_WORDS: Final = frozenset({"birth", "birthdate", "birthday", "born", "dob", "naissance", "ne", "nee"})

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words_of_name(name: str) -> list[str]:
    """Return the words of a column's name, folded: `PatientID` has the words `patient` and `id`."""
    # The pattern only knows the letters from a to z, and divides words where capitals begin.
    plain_letters = [fold(letter).upper() if letter.isupper() else fold(letter) for letter in name]
    return [word.lower() for word in _WORD.findall("".join(plain_letters))]


def names_identity(name: str) -> bool:
    """Return whether a name says that the column identifies something: `patient`, `user_id`, `id_station`."""
    words = words_of_name(name)
    if not words:
        return False
    has_identifier = words[0] in LEADING_IDENTIFIER_WORDS or words[-1] in LEADING_IDENTIFIER_WORDS
    return has_identifier or names_person_or_thing(name)


def names_person_or_thing(name: str) -> bool:
    """Return whether a name says that the column identifies a person or a thing: `patient`, `user_id`.

    `family_size` and `account_length` do not: apart from the person or thing, they say something else.
    """
    words = [word for word in words_of_name(name) if word not in CONNECTING_WORDS | IDENTIFIER_WORDS]
    return len(words) == 1 and words[0].removesuffix("s") in IDENTITY_WORDS


def names_birth(name: str) -> bool:
    """Return whether a name says that the column is a date of birth."""
    return not BIRTH_WORDS.isdisjoint(words_of_name(name))


def time_unit_of_name(name: str, unit_words: frozenset[str]) -> frozenset[str] | None:
    """Return which event a column measures the time of, if it measures it in this unit; None if it does not.

    `year` and `Year_Sold` are years, of an unnamed event (an empty set) and of `sold`. `year_built` is not, because
    building is no event that the rows record.
    """
    words = set(words_of_name(name)) - CONNECTING_WORDS
    event_words = words - unit_words
    is_time = bool(words & unit_words) and event_words <= EVENT_WORDS
    return frozenset(event_words - {"date"}) if is_time else None
