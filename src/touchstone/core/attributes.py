"""The attributes of a dataset record (interface, section 2.4).

Columns, filters, sort keys, database tables, schemas, importers, evidence, pages and the reference documentation are
derived from `ATTRIBUTES`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

INT32_MAX: Final = 2**31 - 1
INT53_MAX: Final = 2**53 - 1


class Kind(StrEnum):
    """The kind of an attribute, which determines how its values are stored, compared and limited."""

    TEXT = "text"  # folded for comparison: NFKD, marks removed, casefolded
    WORDS = "words"  # a list of short strings, compared ignoring case
    INTEGER = "integer"
    PERCENTAGE = "percentage"  # 0-100
    FLAG = "flag"  # true, false (assessed, absent) or null (not assessed)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of dataset records.

    Attributes:
        name: the name in the API.
        kind: the kind of its values.
        label_fr: the French label.
        label_en: the English label.
        minimum: the minimum of a number, or None.
        maximum: the maximum of a number, or None.
        ethical: whether it is one of the ethical criteria.
    """

    name: str
    kind: Kind
    label_fr: str
    label_en: str
    minimum: int | None = None
    maximum: int | None = None
    ethical: bool = False


def _ethical_flag(name: str, label_fr: str, label_en: str) -> Attribute:
    return Attribute(name, Kind.FLAG, label_fr, label_en, ethical=True)


ATTRIBUTES: Final[tuple[Attribute, ...]] = (
    Attribute("dataset_name", Kind.TEXT, "Nom", "Name"),
    Attribute("objective", Kind.TEXT, "Objectif", "Objective"),
    Attribute("domain", Kind.WORDS, "Domaine", "Domain"),
    Attribute("task", Kind.WORDS, "Tâche", "Task"),
    Attribute("year", Kind.INTEGER, "Année", "Year", minimum=1900),
    Attribute("instances_number", Kind.INTEGER, "Instances", "Instances", minimum=0, maximum=INT53_MAX),
    Attribute("features_number", Kind.INTEGER, "Variables", "Features", minimum=0, maximum=INT32_MAX),
    Attribute("citations", Kind.INTEGER, "Citations", "Citations", minimum=0, maximum=INT53_MAX),
    Attribute(
        "missing_values_percentage",
        Kind.PERCENTAGE,
        "Valeurs manquantes (%)",
        "Missing values (%)",
        minimum=0,
        maximum=100,
    ),
    Attribute("has_missing_values", Kind.FLAG, "Valeurs manquantes", "Has missing values"),
    Attribute("is_split", Kind.FLAG, "Découpage apprentissage/test", "Train/test split"),
    Attribute("has_temporal_factors", Kind.FLAG, "Facteurs temporels", "Temporal factors"),
    Attribute("is_public", Kind.FLAG, "Données ouvertes", "Open data"),
    Attribute("metadata_provided_with_dataset", Kind.FLAG, "Métadonnées fournies", "Metadata provided"),
    Attribute("external_documentation_available", Kind.FLAG, "Documentation externe", "External documentation"),
    _ethical_flag("informed_consent", "Consentement éclairé", "Informed consent"),
    _ethical_flag("transparency", "Transparence", "Transparency"),
    _ethical_flag("user_control", "Contrôle par les personnes", "User control"),
    _ethical_flag("equity_non_discrimination", "Équité et non-discrimination", "Equity and non-discrimination"),
    _ethical_flag("security_measures_in_place", "Mesures de sécurité", "Security measures in place"),
    _ethical_flag("data_quality_documented", "Qualité des données documentée", "Data quality documented"),
    _ethical_flag("anonymization_applied", "Anonymisation appliquée", "Anonymization applied"),
    _ethical_flag("record_keeping_policy_exists", "Politique de conservation", "Record-keeping policy"),
    _ethical_flag("purpose_limitation_respected", "Limitation des finalités respectée", "Purpose limitation respected"),
    _ethical_flag("accountability_defined", "Responsabilités définies", "Accountability defined"),
)

BY_NAME: Final = {attribute.name: attribute for attribute in ATTRIBUTES}
TEXTS: Final = tuple(attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.TEXT)
WORDS: Final = tuple(attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.WORDS)
NUMBERS: Final = tuple(attribute.name for attribute in ATTRIBUTES if attribute.kind in (Kind.INTEGER, Kind.PERCENTAGE))
FLAGS: Final = tuple(attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.FLAG)
ETHICAL: Final = tuple(attribute.name for attribute in ATTRIBUTES if attribute.ethical)
