"""The titles of the points of law that reports cover, in French and English.

They summarize article 5 and articles 12 to 22 of Regulation (EU) 2016/679, and article 10(2) of Regulation (EU)
2024/1689. `services/selection/report/legal_points.py` contains the table of the points.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

LEGAL_POINT_TITLES: Final[Mapping[str, Text]] = {
    "gdpr_5_1_a": ("5, § 1, a) Licéité, loyauté, transparence", "5(1)(a) Lawfulness, fairness and transparency"),
    "gdpr_5_1_b": ("5, § 1, b) Limitation des finalités", "5(1)(b) Purpose limitation"),
    "gdpr_5_1_c": ("5, § 1, c) Minimisation des données", "5(1)(c) Data minimisation"),
    "gdpr_5_1_d": ("5, § 1, d) Exactitude", "5(1)(d) Accuracy"),
    "gdpr_5_1_e": ("5, § 1, e) Limitation de la conservation", "5(1)(e) Storage limitation"),
    "gdpr_5_1_f": ("5, § 1, f) Intégrité et confidentialité", "5(1)(f) Integrity and confidentiality"),
    "gdpr_5_2": ("5, § 2 Responsabilité", "5(2) Accountability"),
    "gdpr_12_22": ("Articles 12 à 22 Droits des personnes concernées", "Articles 12 to 22 Rights of the data subject"),
    "ai_act_a": ("a) Choix de conception", "(a) Design choices"),
    "ai_act_b": (
        "b) Collecte et origine des données ; finalité initiale des données à caractère personnel",
        "(b) Collection and origin of the data; original purpose of personal data",
    ),
    "ai_act_c": (
        "c) Préparation : annotation, étiquetage, nettoyage, mise à jour, enrichissement, agrégation",
        "(c) Preparation: annotation, labelling, cleaning, updating, enrichment, aggregation",
    ),
    "ai_act_d": (
        "d) Hypothèses : ce que les données sont censées mesurer et représenter",
        "(d) Assumptions: what the data are supposed to measure and represent",
    ),
    "ai_act_e": (
        "e) Évaluation de la disponibilité, de la quantité et de l’adéquation des jeux de données",
        "(e) Assessment of availability, quantity and suitability of the datasets",
    ),
    "ai_act_f": ("f) Examen des biais possibles", "(f) Examination in view of possible biases"),
    "ai_act_g": (
        "g) Mesures pour détecter, prévenir et atténuer les biais",
        "(g) Measures to detect, prevent and mitigate biases",
    ),
    "ai_act_h": (
        "h) Lacunes ou déficiences des données et moyens d’y remédier",
        "(h) Data gaps or shortcomings, and how they can be addressed",
    ),
}
