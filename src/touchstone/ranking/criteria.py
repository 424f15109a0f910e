"""The table of the twelve scoring criteria (interface, sections 2.7 and 2.8).

The formulas of the criteria are in `criterion_formulas`, and the formula of the score is in `weighted_mean`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from touchstone.core.attributes import ETHICAL
from touchstone.ranking import criterion_formulas as formulas
from touchstone.ranking.array_types import Facts, Floats


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion of the score.

    Attributes:
        name: the name in requests and responses.
        kind: `composite`, `binary` or `continuous`.
        label_fr: the French label on pages.
        label_en: the English label on pages.
        formula_fr: a French description of the formula.
        formula_en: an English description of the formula.
        facts: the attributes that the criterion is computed from.
        compute: the function that computes values from 0 to 1 from columns of these attributes.
    """

    name: str
    kind: str
    label_fr: str
    label_en: str
    formula_fr: str
    formula_en: str
    facts: tuple[str, ...]
    compute: Callable[[Facts], Floats]


_DOCUMENTATION: Final = ("metadata_provided_with_dataset", "external_documentation_available")
_COMPLETENESS: Final = ("missing_values_percentage", "has_missing_values")

CRITERIA: Final[tuple[Criterion, ...]] = (
    Criterion(
        name="ethical_score",
        kind="composite",
        label_fr="Éthique",
        label_en="Ethical",
        formula_fr="nombre de critères éthiques remplis ÷ 10",
        formula_en="number of ethical criteria that are met ÷ 10",
        facts=ETHICAL,
        compute=formulas.ethical_score,
    ),
    Criterion(
        name="technical_score",
        kind="composite",
        label_fr="Technique",
        label_en="Technical",
        formula_fr="documentation (0,30) + qualité (0,40) + taille et richesse (0,30)",
        formula_en="documentation (0.30) + quality (0.40) + size and richness (0.30)",
        facts=(*_DOCUMENTATION, *_COMPLETENESS, "is_split", "instances_number", "features_number"),
        compute=formulas.technical_score,
    ),
    Criterion(
        name="popularity_score",
        kind="composite",
        label_fr="Popularité",
        label_en="Popularity",
        formula_fr="log10(citations) ÷ 3, borné à 0–1",
        formula_en="log10(citations) ÷ 3, clamped to 0–1",
        facts=("citations",),
        compute=formulas.popularity_score,
    ),
    Criterion(
        name="anonymization",
        kind="binary",
        label_fr="Anonymisation",
        label_en="Anonymization",
        formula_fr="1 si anonymisation appliquée, sinon 0",
        formula_en="1 if anonymization is applied, else 0",
        facts=("anonymization_applied",),
        compute=formulas.flag_is_true("anonymization_applied"),
    ),
    Criterion(
        name="transparency",
        kind="binary",
        label_fr="Transparence",
        label_en="Transparency",
        formula_fr="1 si transparence documentée, sinon 0",
        formula_en="1 if transparency is documented, else 0",
        facts=("transparency",),
        compute=formulas.flag_is_true("transparency"),
    ),
    Criterion(
        name="informed_consent",
        kind="binary",
        label_fr="Consentement éclairé",
        label_en="Informed consent",
        formula_fr="1 si consentement éclairé, sinon 0",
        formula_en="1 if consent was informed, else 0",
        facts=("informed_consent",),
        compute=formulas.flag_is_true("informed_consent"),
    ),
    Criterion(
        name="documentation",
        kind="binary",
        label_fr="Documentation",
        label_en="Documentation",
        formula_fr="1 si métadonnées fournies ou documentation externe, sinon 0",
        formula_en="1 if metadata or external documentation is there, else 0",
        facts=_DOCUMENTATION,
        compute=formulas.documentation,
    ),
    Criterion(
        name="data_quality",
        kind="continuous",
        label_fr="Qualité des données",
        label_en="Data quality",
        formula_fr="(100 − % manquant) ÷ 100 ; à défaut, 1 sans valeurs manquantes, 0,5 avec, 0 si inconnu",
        formula_en="(100 − missing %) ÷ 100; otherwise 1 without missing values, 0.5 with, 0 if unknown",
        facts=_COMPLETENESS,
        compute=formulas.data_quality,
    ),
    Criterion(
        name="instances_count",
        kind="continuous",
        label_fr="Nombre d’instances",
        label_en="Number of instances",
        formula_fr="log10(instances) ÷ 5, borné à 0–1",
        formula_en="log10(instances) ÷ 5, clamped to 0–1",
        facts=("instances_number",),
        compute=formulas.instances_count,
    ),
    Criterion(
        name="features_count",
        kind="continuous",
        label_fr="Nombre de variables",
        label_en="Number of features",
        formula_fr="variables ÷ 100, borné à 0–1",
        formula_en="features ÷ 100, clamped to 0–1",
        facts=("features_number",),
        compute=formulas.features_count,
    ),
    Criterion(
        name="citations",
        kind="continuous",
        label_fr="Citations",
        label_en="Citations",
        formula_fr="log10(citations) ÷ 3, borné à 0–1",
        formula_en="log10(citations) ÷ 3, clamped to 0–1",
        facts=("citations",),
        compute=formulas.popularity_score,
    ),
    Criterion(
        name="year",
        kind="continuous",
        label_fr="Nouveauté",
        label_en="Novelty",
        formula_fr="(année − 2000) ÷ 24, borné à 0–1",
        formula_en="(year − 2000) ÷ 24, clamped to 0–1",
        facts=("year",),
        compute=formulas.novelty,
    ),
)
CRITERION_NAMES: Final = tuple(criterion.name for criterion in CRITERIA)
CRITERION_LABELS: Final = {criterion.name: (criterion.label_fr, criterion.label_en) for criterion in CRITERIA}
"""The French and the English label of each criterion."""
FACTS_BY_CRITERION: Final = {criterion.name: criterion.facts for criterion in CRITERIA}
COMPOSITES: Final = tuple(criterion.name for criterion in CRITERIA if criterion.kind == "composite")
