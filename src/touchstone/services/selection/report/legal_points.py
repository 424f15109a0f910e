"""The points of European law that attributes of a dataset and parts of a report are evidence for.

The table is our interpretation of two regulations, for people who have to document a choice of data. It states which
evidence is relevant to a point, but not whether a requirement is met.

- GDPR: Regulation (EU) 2016/679, article 5 (principles relating to processing of personal data) and articles 12 to 22
  (rights of the data subject), https://eur-lex.europa.eu/eli/reg/2016/679/oj
- AI Act: Regulation (EU) 2024/1689, article 10(2) (practices of data governance and management),
  https://eur-lex.europa.eu/eli/reg/2024/1689/oj

The titles of the points are in `messages.report_law`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ReportPart(StrEnum):
    """A part of a report that is evidence for a legal point, besides the attributes of the dataset."""

    NEED = "need"  # the weights, filters and gates of the project
    CHOICE = "choice"  # the choice with its reason
    RANKING = "ranking"  # the datasets that were compared
    GROUP_METRICS = "group_metrics"  # the quality of trained models for groups of people


class Law(StrEnum):
    """A regulation that reports cover point by point."""

    GDPR = "gdpr"
    AI_ACT = "ai_act"


@dataclass(frozen=True, slots=True)
class LegalPoint:
    """A point of a regulation.

    Attributes:
        key: identifies the point in reports and in `messages.report_law`.
        law: the regulation.
        attributes: the attributes of a dataset that are relevant to the point.
        parts: the parts of a report that are relevant to the point.
    """

    key: str
    law: Law
    attributes: tuple[str, ...]
    parts: tuple[ReportPart, ...] = ()


LEGAL_POINTS: Final[tuple[LegalPoint, ...]] = (
    LegalPoint("gdpr_5_1_a", Law.GDPR, ("informed_consent", "transparency", "equity_non_discrimination")),
    LegalPoint("gdpr_5_1_b", Law.GDPR, ("purpose_limitation_respected",)),
    LegalPoint("gdpr_5_1_c", Law.GDPR, ("anonymization_applied",)),
    LegalPoint("gdpr_5_1_d", Law.GDPR, ("data_quality_documented", "missing_values_percentage")),
    LegalPoint("gdpr_5_1_e", Law.GDPR, ("record_keeping_policy_exists",)),
    LegalPoint("gdpr_5_1_f", Law.GDPR, ("security_measures_in_place", "anonymization_applied")),
    LegalPoint("gdpr_5_2", Law.GDPR, ("accountability_defined",), (ReportPart.CHOICE,)),
    LegalPoint("gdpr_12_22", Law.GDPR, ("user_control",)),
    LegalPoint("ai_act_a", Law.AI_ACT, ("is_split", "has_temporal_factors"), (ReportPart.NEED, ReportPart.CHOICE)),
    LegalPoint("ai_act_b", Law.AI_ACT, ("transparency", "informed_consent", "purpose_limitation_respected")),
    LegalPoint("ai_act_c", Law.AI_ACT, ("data_quality_documented", "anonymization_applied")),
    LegalPoint("ai_act_d", Law.AI_ACT, ("metadata_provided_with_dataset", "external_documentation_available")),
    LegalPoint("ai_act_e", Law.AI_ACT, ("instances_number", "features_number"), (ReportPart.RANKING,)),
    LegalPoint("ai_act_f", Law.AI_ACT, ("equity_non_discrimination",), (ReportPart.GROUP_METRICS,)),
    LegalPoint("ai_act_g", Law.AI_ACT, ("equity_non_discrimination",)),
    LegalPoint(
        "ai_act_h",
        Law.AI_ACT,
        ("missing_values_percentage", "has_missing_values", "data_quality_documented"),
    ),
)
"""The points in the order in which reports list them."""
