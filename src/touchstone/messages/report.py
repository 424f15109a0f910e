"""Sentences of the report on a project, in French and English. Numbers arrive formatted for the language."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

REPORT_TEXTS: Final[Mapping[str, Text]] = {
    "title": ("Rapport sur le choix d’un jeu de données", "Report on the choice of a dataset"),
    "description_of_document": (
        "Ce qui a été choisi, pourquoi, sur quelles preuves, ce qui est inconnu et ce qui changerait le choix.",
        "What was chosen, why, on which evidence, what is unknown, and what would change the choice.",
    ),
    "project": ("Projet", "Project"),
    "state": ("État au {date} (dernier fait rapporté)", "State of {date} (the latest fact reported)"),
    "digest": ("Empreinte SHA-256 de ce que le rapport énonce", "SHA-256 digest of what the report states"),
    "digest_hint": (
        "L’empreinte est calculée sur la forme JSON canonique (RFC 8785) du rapport. Elle est la même dans les deux "
        "langues et dans tous les formats.",
        "The digest is computed over the canonical JSON form (RFC 8785) of the report. It is the same in both "
        "languages and in all formats.",
    ),
    "page": ("page", "page"),
    "contents": ("Sommaire", "Contents"),
    "labelled": ("{label} : {value}", "{label}: {value}"),
    # The first page
    "summary": ("En bref", "In brief"),
    "what_chosen": ("Qu’est-ce qui a été choisi ?", "What was chosen?"),
    "chosen": ("« {name} »", "“{name}”"),
    "chosen_unranked": (
        "« {name} », qui ne satisfait pas aux filtres du projet et n’a donc pas de rang.",
        "“{name}”, which does not satisfy the filters of the project and therefore has no rank.",
    ),
    "chosen_gone": (
        "« {name} », dont la fiche a été retirée du catalogue depuis.",
        "“{name}”, whose record has been withdrawn from the catalog since.",
    ),
    "chosen_changed": (
        "La fiche de ce jeu de données a changé depuis le choix.",
        "The record of this dataset has changed since the choice.",
    ),
    "dataset_number": ("jeu de données n° {id}", "dataset no. {id}"),
    "chosen_nothing": ("Rien n’a encore été choisi.", "Nothing has been chosen yet."),
    "first_proposed": (
        "Le classement propose d’abord « {name} », avec un score de {score}.",
        "The ranking proposes “{name}” first, with a score of {score}.",
    ),
    "nothing_matches": (
        "Aucun jeu de données ne satisfait aux filtres du projet.",
        "No dataset satisfies the filters of the project.",
    ),
    "reason_given": ("Raison donnée : {reason}", "Reason given: {reason}"),
    "reason_none": ("Aucune raison n’a été donnée.", "No reason was given."),
    "why_not_second": ("Pourquoi pas le deuxième ?", "Why not the runner-up?"),
    "why_not_first": ("Pourquoi pas le premier du classement ?", "Why not the first of the ranking?"),
    "why_this_order": ("Pourquoi cet ordre ?", "Why this order?"),
    "chosen_in_spite": (
        "Le projet a choisi « {below} » malgré ce classement ; seule la raison donnée dit pourquoi.",
        "The project chose “{below}” in spite of this ranking; only the reason given says why.",
    ),
    "no_rival": (
        "Il n’y a pas d’autre jeu de données à comparer.",
        "There is no other dataset to compare with.",
    ),
    "rival_unranked": (
        "Sans rang, le jeu de données choisi ne peut pas être comparé aux autres.",
        "Without a rank, the chosen dataset cannot be compared with the others.",
    ),
    "what_unknown": ("Qu’est-ce qui est inconnu ?", "What is unknown?"),
    "known_of_ten": (
        "Sur les dix attributs éthiques de « {name} », {known} {known:est connu|sont connus} au niveau de preuve exigé "
        "({assurance}).",
        "Of the ten ethical attributes of “{name}”, {known} {known:is|are} known at the level of evidence required "
        "({assurance}).",
    ),
    "unknown_names": ("Inconnu : {names}.", "Unknown: {names}."),
    "ethical_bounds": (
        "Le score éthique est donc d’au moins {low} et d’au plus {high}.",
        "The ethical score is therefore at least {low} and at most {high}.",
    ),
    "unknown_criteria": (
        "Rien n’est connu pour ces critères pondérés, qui comptent donc zéro : {names}.",
        "Nothing is known for these weighted criteria, which therefore count zero: {names}.",
    ),
    "nothing_unknown": (
        "Les dix attributs éthiques et tous les critères pondérés sont connus.",
        "All ten ethical attributes and all weighted criteria are known.",
    ),
    "nothing_to_know": ("Il n’y a pas de fiche à examiner.", "There is no record to examine."),
    "what_changes": ("Qu’est-ce qui changerait le choix ?", "What would change the choice?"),
    "reversal_hint": (
        "Les poids qui inverseraient l’ordre sont dans la partie « Le choix », les attributs à établir dans « Ce qui "
        "changerait le classement ».",
        "The weights that would reverse the order are in the part “The choice”, the attributes to be established in "
        "“What would change the ranking”.",
    ),
    # The need
    "need": ("Le besoin", "The need"),
    "need_lead": (
        "Les filtres décident quels jeux de données sont classés ; les poids, dans quel ordre.",
        "The filters decide which datasets are ranked; the weights decide in which order.",
    ),
    "filters": ("Filtres", "Filters"),
    "filters_none": ("aucun : tout le catalogue est classé", "none: the whole catalog is ranked"),
    "gates": ("Exigences", "Gates"),
    "gates_hint": (
        "Chaque jeu de données satisfait ou non à une exigence, ou on n’en sait rien ; le classement n’en dépend pas.",
        "Each dataset passes or fails a gate, or nothing is known about it; the ranking does not depend on gates.",
    ),
    "gate_flag": ("{label} : oui (au moins {level})", "{label}: yes (at least {level})"),
    "gate_failed": ("Exigence non satisfaite : {gate}", "Failed gate: {gate}"),
    "gate_unknown": ("Exigence dont on ne sait rien : {gate}", "Unknown gate: {gate}"),
    "gates_passed": ("Exigences satisfaites", "Gates passed"),
    "assurance": ("Preuves exigées", "Evidence required"),
    "weights": ("Poids des critères", "Weights of the criteria"),
    "weights_default": (
        "Le projet n’a pas de poids à lui ; ce sont ceux du profil par défaut.",
        "The project has no weights of its own; these are those of the default profile.",
    ),
    "criterion": ("Critère", "Criterion"),
    "formula": ("Formule", "Formula"),
    "weight": ("Poids", "Weight"),
    "share": ("Part", "Share"),
    # The ranking
    "ranking": ("Le classement", "The ranking"),
    "ranking_lead": (
        "{total} {total:jeu de données satisfait|jeux de données satisfont} aux filtres. "
        "Le score est la moyenne des critères, pondérée par leurs parts ; ce qui est inconnu compte zéro. Hachuré : ce "
        "que l’inconnu pourrait ajouter au plus.",
        "{total} {total:dataset satisfies|datasets satisfy} the filters. The score is the mean of the criteria, "
        "weighted by their shares; what is unknown counts zero. Hatched: what the unknown could add at most.",
    ),
    "notes_criterion_equal": (
        "Ces critères ne distinguent pas les jeux de données affichés, car ils ont la même valeur pour tous : "
        "{criteria}.",
        "These criteria do not distinguish the datasets shown, because they have the same value for all: {criteria}.",
    ),
    "notes_criterion_unknown": (
        "On ne sait rien de ces critères pour aucun des jeux de données affichés ; ils comptent 0 pour tous : "
        "{criteria}.",
        "Nothing is known about these criteria for any of the datasets shown; they count as 0 for all: {criteria}.",
    ),
    "ranking_first": ("Les premiers du classement", "The first of the ranking"),
    "rank": ("Rang", "Rank"),
    "dataset": ("Jeu de données", "Dataset"),
    "score": ("Score", "Score"),
    "ethics": ("Éthique", "Ethics"),
    "at_most": ("{value}, au plus {highest}", "{value}, at most {highest}"),
    "known": ("Connus", "Known"),
    "known_ratio": ("{known}/10", "{known}/10"),
    "is_chosen": ("choisi", "chosen"),
    "points_caption": ("D’où viennent les points", "Where the points come from"),
    "points_lead": (
        "Les points d’une ligne s’additionnent au score. Un point d’interrogation : rien n’est connu.",
        "The points of a row add up to the score. A question mark: nothing is known.",
    ),
    # The choice
    "choice": ("Le choix", "The choice"),
    "choice_reason": ("Raison", "Reason"),
    "choice_dataset": ("Jeu de données choisi", "Chosen dataset"),
    "choice_state": ("Depuis le choix", "Since the choice"),
    "state_unchanged": ("inchangé", "unchanged"),
    "state_changed": ("modifié", "changed"),
    "state_withdrawn": ("retiré du catalogue", "withdrawn from the catalog"),
    "state_unknown": (
        "inconnu : fait avant que le contenu des choix ne soit conservé",
        "unknown: made before the content of choices was kept",
    ),
    "changed_fields": ("Champs modifiés : {fields}", "Changed fields: {fields}"),
    "choice_digest": ("SHA-256 au moment du choix : {digest}", "SHA-256 when it was chosen: {digest}"),
    "history_caption": ("Tous les choix, le plus récent d’abord", "All choices, the newest first"),
    "decision_date": ("Date et auteur", "Date and author"),
    "choice_taken_back": ("choix annulé", "choice taken back"),
    "withdrawn": ("retiré depuis", "withdrawn since"),
    "short_digest": ("SHA-256 {digest}…", "SHA-256 {digest}…"),
    "choice_objective": ("Objectif", "Objective"),
    "choice_rank": ("Rang", "Rank"),
    "choice_rank_of": ("{rank} sur {total}", "{rank} of {total}"),
    "choice_rank_none": ("aucun : ne satisfait pas aux filtres", "none: does not satisfy the filters"),
    "choice_identifier": ("Identifiant", "Identifier"),
    "comparison_caption": (
        "« {above} » devant « {below} », critère par critère",
        "“{above}” before “{below}”, criterion by criterion",
    ),
    "difference": ("Différence", "Difference"),
    "total": ("Score", "Score"),
    "reversing_weight": ("Poids qui inverse", "Reversing weight"),
    "reversing_weight_hint": (
        "Poids qui inverse : si ce seul poids passait au-delà de cette valeur, l’ordre des deux jeux de données "
        "s’inverserait. Un tiret : aucun poids de ce critère ne l’inverse.",
        "Reversing weight: if this weight alone moved past that value, the order of the two datasets would be "
        "reversed. A dash: no weight of this criterion reverses it.",
    ),
    # What would change the ranking
    "changes": ("Ce qui changerait le classement", "What would change the ranking"),
    "robustness_lead": (
        "Les poids sont une appréciation. Le classement a donc été refait {samples} fois avec des poids tirés au "
        "hasard, chacun jusqu’à {spread} au-dessus ou au-dessous du sien. Une place est solide si le jeu de données "
        "reste parmi les {k} premiers dans neuf tirages sur dix.",
        "Weights are a matter of judgement. The ranking was therefore repeated {samples} times with weights drawn at "
        "random, each up to {spread} above or below its own. A place is robust if the dataset stays among the first "
        "{k} in nine of ten draws.",
    ),
    "robustness_caption": ("Solidité des premières places", "Robustness of the first places"),
    "share_of_samples": ("Parmi les {k} premiers", "Among the first {k}"),
    "sampled_ranks": ("Rangs", "Ranks"),
    "beyond": ("> {limit}", "> {limit}"),
    "overtaken_by": ("Dépassé d’abord par", "First overtaken by"),
    "verdict": ("Verdict", "Verdict"),
    "verdict_robust": ("solide", "robust"),
    "verdict_fragile": ("fragile", "fragile"),
    "lifts_caption": (
        "Ce qui ferait monter « {name} », si on l’établissait",
        "What would raise “{name}” if it were established",
    ),
    "lifts_nothing": (
        "Aucun attribut ne ferait monter « {name} » avec ces poids.",
        "No attribute would raise “{name}” with these weights.",
    ),
    "established_value": ("Valeur à établir", "Value to establish"),
    "gain": ("Gain", "Gain"),
    "new_score": ("Score", "Score"),
    "new_rank": ("Rang", "Rank"),
    # The evidence
    "evidence": ("Les preuves", "The evidence"),
    "evidence_lead": (
        "Ce que le catalogue sait de « {name} », avec les citations qui le montrent. « Pas de preuve » veut dire que "
        "rien de tel n’a été trouvé, et non que c’est absent.",
        "What the catalog knows about “{name}”, with the quotes that show it. “No evidence” means that nothing of the "
        "kind was found, and not that it is absent.",
    ),
    "evidence_first": (
        "Rien n’étant choisi, il s’agit du premier du classement.",
        "As nothing is chosen, this is the first of the ranking.",
    ),
    "evidence_gone": (
        "La fiche du jeu de données choisi n’existe plus, et son contenu n’a pas été conservé.",
        "The record of the chosen dataset no longer exists, and its content was not kept.",
    ),
    "evidence_kept": (
        "La fiche a été retirée depuis. Voici ce qui était connu au moment du choix, le {date}.",
        "The record has been withdrawn since. This is what was known at the time of the choice, {date}.",
    ),
    "evidence_caption": ("Attributs et preuves", "Attributes and evidence"),
    "attribute": ("Attribut", "Attribute"),
    "what_is_known": ("Ce qui est connu", "What is known"),
    "quotes": ("Preuves", "Evidence"),
    "no_evidence": ("pas de preuve", "no evidence"),
    "merely_declared": ("affirmé sans citation", "stated without a quote"),
    "not_counted": ("ne compte pas à ce niveau", "does not count at this level"),
    "conflicting": ("des affirmations se contredisent", "claims contradict one another"),
    "computed_from_file": ("calculé à partir du fichier de données", "computed from the data file"),
    "confirmed_by": ("vérifié par {name} le {date}", "reviewed by {name} on {date}"),
    "review_note": ("note : {note}", "note: {note}"),
    "more_claims": (
        "et {count} {count:autre affirmation|autres affirmations}",
        "and {count} more {count:claim|claims}",
    ),
    "law_lead": (
        "Ces tableaux disent quels faits du rapport se rapportent à quel point. Ils ne disent pas que l’exigence est "
        "respectée : cela demande une appréciation juridique.",
        "These tables say which facts of the report speak to which point. They do not say that a requirement is met: "
        "that takes a legal assessment.",
    ),
    "law": ("Ce que demande le droit", "What the law asks about"),
    "gdpr_caption": (
        "RGPD, règlement (UE) 2016/679 : principes et droits des personnes",
        "GDPR, Regulation (EU) 2016/679: principles and rights of data subjects",
    ),
    "ai_act_caption": (
        "Règlement sur l’IA, (UE) 2024/1689, article 10, paragraphe 2 : gouvernance des données",
        "AI Act, Regulation (EU) 2024/1689, article 10(2): data governance",
    ),
    "point": ("Point", "Point"),
    "facts_of_report": ("Faits de ce rapport", "Facts of this report"),
    "part_need": ("filtres et poids du projet", "filters and weights of the project"),
    "part_choice": ("choix motivé", "choice with its reason"),
    "part_ranking": ("comparaison de {count} jeux de données", "comparison of {count} datasets"),
    "part_group_metrics": ("mesures par groupe", "metrics by group"),
    "only_declared": ("{name} : seulement affirmé", "{name}: only stated"),
    "known_value": ("{name} : {value} ({level})", "{name}: {value} ({level})"),
    # Trainings and explanations
    "training": ("Ce que les essais ont montré", "What the trials have shown"),
    "training_none": (
        "Aucun modèle n’a été entraîné dans ce projet.",
        "No model has been trained in this project.",
    ),
    "training_title": (
        "Prédire « {target} » : {algorithm}",
        "Predicting “{target}”: {algorithm}",
    ),
    "training_data": ("Données", "Data"),
    "training_data_value": (
        "« {name} », {rows} {rows:ligne|lignes}, SHA-256 {sha256}",
        "“{name}”, {rows} {rows:row|rows}, SHA-256 {sha256}",
    ),
    "training_finished": ("Terminé le", "Finished on"),
    "training_metrics": ("Qualité mesurée", "Measured quality"),
    "metric": ("Mesure", "Metric"),
    "value": ("Valeur", "Value"),
    "interval": ("Intervalle à 95 %", "95% interval"),
    "baseline": ("référence naïve", "naive baseline"),
    "training_groups": ("Qualité par groupe : {column}", "Quality by group: {column}"),
    "group": ("Groupe", "Group"),
    "rows": ("Lignes", "Rows"),
    "too_small": ("trop peu de lignes", "too few rows"),
    "missing_group": ("(manquant)", "(missing)"),
    "training_warnings": ("Avertissements", "Warnings"),
    "no_groups": (
        "Aucune mesure par groupe de personnes : aucune colonne sensible n’a été indiquée.",
        "No metrics by group of people: no sensitive column was named.",
    ),
    "explanation_title": ("Explication : {method}", "Explanation: {method}"),
    "explanation_limits": ("Ce qu’il ne faut pas en conclure", "What not to conclude from it"),
    # Limitations
    "limitations": ("Limites", "Limitations"),
    "limit_no_compliance": (
        "Ce rapport dit ce qui est connu. Il ne certifie aucune conformité et ne remplace aucun avis juridique.",
        "This report states what is known. It certifies no compliance and replaces no legal advice.",
    ),
    "limit_catalog_only": (
        "Seuls les jeux de données du catalogue ont été comparés ; il peut en exister de meilleurs ailleurs.",
        "Only datasets of the catalog were compared; there may be better ones elsewhere.",
    ),
    "limit_claims_of_others": (
        "Une citation montre ce qu’un document affirme, et non que c’est vrai. Seul « vérifié » veut dire qu’une "
        "personne a lu la preuve.",
        "A quote shows what a document says, and not that it is true. Only “reviewed” means that a person has read the "
        "evidence.",
    ),
    "limit_nothing_chosen": ("Rien n’est encore choisi.", "Nothing has been chosen yet."),
    "limit_no_reason": ("Le choix n’est pas motivé.", "No reason is given for the choice."),
    "limit_dataset_changed": (
        "La fiche du jeu de données a changé depuis qu’il a été choisi.",
        "The record of the dataset has changed since it was chosen.",
    ),
    "limit_dataset_withdrawn": (
        "La fiche du jeu de données a été retirée depuis qu’il a été choisi ; il n’est plus classé.",
        "The record of the dataset has been withdrawn since it was chosen; it is not ranked any more.",
    ),
    "limit_content_not_kept": (
        "Ce que disait le jeu de données au moment du choix n’a pas été conservé.",
        "What the dataset said when it was chosen was not kept.",
    ),
    "limit_choice_not_ranked": (
        "Le jeu de données choisi ne figure pas dans le classement du projet.",
        "The chosen dataset is not in the ranking of the project.",
    ),
    "limit_declarations_count": (
        "Le classement compte aussi ce qui est seulement affirmé, sans citation.",
        "The ranking also counts what is merely stated, without a quote.",
    ),
    "limit_unknown_attributes": (
        "Des attributs sont inconnus ; ils comptent zéro dans le score, ce qui ne dit rien du jeu de données.",
        "Some attributes are unknown; they count zero in the score, which says nothing about the dataset.",
    ),
    "limit_no_own_weights": (
        "Les poids sont ceux du profil par défaut ; personne ne les a choisis pour ce projet.",
        "The weights are those of the default profile; nobody has chosen them for this project.",
    ),
    "limit_no_training": (
        "Aucun modèle n’a été entraîné sur ces données dans ce projet : leur utilité n’est pas mesurée.",
        "No model has been trained on these data in this project: their usefulness has not been measured.",
    ),
    "limit_no_group_metrics": (
        "La qualité des modèles n’a pas été mesurée par groupe de personnes.",
        "The quality of the models has not been measured by group of people.",
    ),
}

FILTER_LABELS: Final[Mapping[str, Text]] = {
    "q": ("Mots cherchés", "Words searched"),
    "license": ("Licence", "Licence"),
    "language": ("Langue des données", "Language of the data"),
    "source": ("Provenance de la fiche", "Source of the record"),
    "trainable": ("Tableau lisible", "Readable table"),
    "file_type": ("Type de fichier", "File type"),
    "visibility": ("Visibilité", "Visibility"),
    "instances": ("Instances", "Instances"),
    "features": ("Variables", "Features"),
    "ethical_score": ("Score éthique (%)", "Ethical score (%)"),
    "technical_score": ("Score technique (%)", "Technical score (%)"),
    "popularity_score": ("Score de popularité (%)", "Popularity score (%)"),
}
"""The labels of filters, and of the quantities that they bound, which are not attributes of a dataset."""
