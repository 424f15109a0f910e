"""The sentences of the report on a project, in French and English.

Numbers in their placeholders are already formatted for the language.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text
from touchstone.messages.report_limitations import LIMITATION_TEXTS
from touchstone.messages.report_trials import TRIAL_TEXTS
from touchstone.messages.report_verification import VERIFICATION_TEXTS

REPORT_TEXTS: Final[Mapping[str, Text]] = {
    "title": ("Rapport sur le choix d’un jeu de données", "Report on the choice of a dataset"),
    "description_of_document": (
        "Ce qui a été choisi, pourquoi, sur quelles preuves, ce qui est inconnu et ce qui changerait le choix.",
        "What was chosen, why, on which evidence, what is unknown, and what would change the choice.",
    ),
    "state": ("Dernier fait daté : {date}", "Latest dated fact: {date}"),
    "digest": ("Empreinte SHA-256 de ce que le rapport énonce", "SHA-256 digest of what the report states"),
    "digest_hint": (
        "L’empreinte est calculée sur la forme JSON canonique (RFC 8785) du rapport. Elle est la même dans les deux "
        "langues et dans tous les formats. La section « Vérifier ce rapport » dit comment la recalculer.",
        "The digest is computed over the canonical JSON form (RFC 8785) of the report. It is the same in both "
        "languages and in all formats. The section “How to verify this report” says how to compute it again.",
    ),
    "imprint": (
        "Établi avec Touchstone {version}, formule de score {formula}",
        "Made with Touchstone {version}, scoring formula {formula}",
    ),
    "page": ("page", "page"),
    "labelled": ("{label} : {value}", "{label}: {value}"),
    # The first page
    "summary": ("En bref", "In brief"),
    "what_chosen": ("Qu’est-ce qui a été choisi ?", "What was chosen?"),
    "chosen": ("« {name} »", "“{name}”"),
    "chosen_on": ("Choisi le {date}.", "Chosen on {date}."),
    "chosen_by": ("Choisi par {author}, le {date}.", "Chosen by {author}, on {date}."),
    "chosen_unranked": (
        "« {name} », qui ne satisfait pas aux filtres du projet et n’a donc pas de rang.",
        "“{name}”, which does not satisfy the filters of the project and therefore has no rank.",
    ),
    "chosen_gone": (
        "« {name} », dont la fiche n’est plus visible pour le propriétaire du projet.",
        "“{name}”, whose record is no longer visible to the owner of the project.",
    ),
    "chosen_changed": (
        "La fiche de ce jeu de données a changé depuis le choix.",
        "The record of this dataset has changed since the choice.",
    ),
    "dataset_number": ("jeu de données n° {id}", "dataset no. {id}"),
    "chosen_nothing": ("Rien n’a encore été choisi.", "Nothing has been chosen yet."),
    "choice_was_taken_back": (
        "Le choix de « {name} » a été annulé le {date}.",
        "The choice of “{name}” was taken back on {date}.",
    ),
    "first_proposed": (
        "Le classement propose d’abord « {name} », avec un score de {score}.",
        "The ranking proposes “{name}” first, with a score of {score}.",
    ),
    "nothing_matches": (
        "Aucun jeu de données ne satisfait aux filtres du projet.",
        "No dataset satisfies the filters of the project.",
    ),
    "reason_given": ("Raison donnée (texte d’origine) :", "Reason given:"),
    "replaces": ("Remplace « {name} », choisi le {date}.", "Replaces “{name}”, chosen on {date}."),
    "reason_none": ("Aucune raison n’a été donnée.", "No reason was given."),
    "why_not_second": ("Pourquoi pas le deuxième ?", "Why not the runner-up?"),
    "why_not_first": ("Pourquoi pas le premier du classement ?", "Why not the first of the ranking?"),
    "why_this_order": ("Pourquoi cet ordre ?", "Why this order?"),
    "chosen_in_spite": (
        "Le projet a choisi « {below} » malgré ce classement ; seule la raison donnée dit pourquoi.",
        "The project chose “{below}” in spite of this ranking; only the reason given says why.",
    ),
    "rival_gates_passed": ("« {name} » satisfait à toutes les exigences.", "“{name}” meets all requirements."),
    "rival_gate_failed": (
        "« {name} » ne satisfait pas à l’exigence « {gate} ».",
        "“{name}” does not meet the requirement “{gate}”.",
    ),
    "rival_gate_unknown": (
        "Il n’est pas établi que « {name} » satisfasse à l’exigence « {gate} ».",
        "It is not established whether “{name}” meets the requirement “{gate}”.",
    ),
    "only_passing": (
        "Parmi les {shown} premiers sur {total}, seul « {name} » satisfait à toutes les exigences.",
        "Of the first {shown} of {total}, only “{name}” meets all requirements.",
    ),
    "none_passing": (
        "Parmi les {shown} premiers sur {total}, aucun ne satisfait à toutes les exigences.",
        "Of the first {shown} of {total}, none meets all requirements.",
    ),
    "passing_count": (
        "Parmi les {shown} premiers sur {total}, {count} satisfont à toutes les exigences.",
        "Of the first {shown} of {total}, {count} meet all requirements.",
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
    "none_known_of_ten": (
        "Aucun des dix attributs éthiques de « {name} » n’est connu au niveau de preuve exigé ({assurance}).",
        "None of the ten ethical attributes of “{name}” is known at the level of evidence required ({assurance}).",
    ),
    "known_of_ten": (
        "Sur les dix attributs éthiques de « {name} », {known} {known:est connu|sont connus} au niveau de preuve exigé "
        "({assurance}).",
        "Of the ten ethical attributes of “{name}”, {known} {known:is|are} known at the level of evidence required "
        "({assurance}).",
    ),
    "known_names": ("Connu : {names}.", "Known: {names}."),
    "unknown_names": ("Inconnu : {names}.", "Unknown: {names}."),
    "ethical_bounds": (
        "Le score éthique est donc d’au moins {low} et d’au plus {high}.",
        "The ethical score is therefore at least {low} and at most {high}.",
    ),
    "open_points": (
        "Au score, ce que l’on ignore pourrait ajouter au plus : {points}.",
        "To the score, what is unknown could add at most: {points}.",
    ),
    "unknown_ranks": (
        "« {name} » est au rang {rank}. Si tous ses propres attributs éthiques inconnus étaient remplis, il serait au "
        "rang {best} ; si ceux de tous les autres jeux de données classés l’étaient, et non les siens, au rang "
        "{worst}.",
        "“{name}” is at rank {rank}. If all of its own unknown ethical attributes were true, it would be at rank "
        "{best}; if those of all other ranked datasets were, and not its own, at rank {worst}.",
    ),
    "unknown_criteria": (
        "Rien n’est connu pour ces critères pondérés, qui comptent donc pour zéro : {names}.",
        "Nothing is known for these weighted criteria, each of which therefore counts as zero: {names}.",
    ),
    "nothing_unknown": (
        "Les dix attributs éthiques et tous les critères pondérés sont connus.",
        "All ten ethical attributes and all weighted criteria are known.",
    ),
    "nothing_to_know": ("Il n’y a pas de fiche à examiner.", "There is no record to examine."),
    "what_changes": ("Qu’est-ce qui changerait le choix ?", "What would change the choice?"),
    "same_rank": (
        "Son rang est le même dans {share} des tirages. « Solide » et « fragile » portent sur les changements de "
        "poids, et non sur ce qui est inconnu.",
        "It has the same rank in {share} of the samples. “Robust” and “fragile” concern changes of the weights, and "
        "not what is unknown.",
    ),
    "same_rank_trivial": (
        "Son rang est le même dans {share} des tirages.",
        "Its rank is the same in {share} of the samples.",
    ),
    "reversal_hint": (
        "Les poids qui inverseraient l’ordre sont dans la section « Le choix », les attributs à établir dans « Ce qui "
        "changerait le classement ».",
        "The weights that would reverse the order are in the section “The choice”, the attributes to be established "
        "in “What would change the ranking”.",
    ),
    # The need
    "need": ("Le besoin", "The need"),
    "need_lead": (
        "Les filtres décident quels jeux de données sont classés ; les poids, dans quel ordre.",
        "The filters decide which datasets are ranked; the weights decide in which order.",
    ),
    "filters": ("Filtres", "Filters"),
    "filters_none": ("aucun : tout le catalogue est classé", "none: the whole catalog is ranked"),
    "gates": ("Exigences", "Requirements"),
    "gates_hint": (
        "Un jeu de données satisfait à une exigence ou non, ou ce n’est pas établi ; le classement n’en dépend pas.",
        "A dataset meets a requirement or does not, or this is not established; the ranking does not depend on "
        "requirements.",
    ),
    "gate_flag": ("{label} : oui (au moins {level})", "{label}: yes (at least {level})"),
    "gate_failed": ("Exigence non satisfaite : {gate}", "Requirement not met: {gate}"),
    "gate_unknown": ("Exigence non établie : {gate}", "Requirement not established: {gate}"),
    "gates_passed": ("Toutes les exigences sont satisfaites", "All requirements are met"),
    "mark_failed": ("{gate} : non", "{gate}: not met"),
    "mark_unknown": ("{gate} : ?", "{gate}: ?"),
    "marks_passed": ("satisfaites", "all met"),
    "assurance": ("Niveau de preuve exigé", "Level of evidence required"),
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
        "Le score est la moyenne des critères, pondérée par leurs parts ; ce qui est inconnu compte pour zéro. "
        "Hachuré : ce que l’inconnu pourrait ajouter au plus.",
        "{total} {total:dataset satisfies|datasets satisfy} the filters. The score is the mean of the criteria, "
        "weighted by their shares; what is unknown counts as zero. Hatched: what the unknown could add at most.",
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
    "ranking_first": ("Les {shown} premiers sur {total}", "The first {shown} of {total}"),
    "rank": ("Rang", "Rank"),
    "dataset": ("Jeu de données", "Dataset"),
    "score": ("Score", "Score"),
    "ethics": ("Éthique", "Ethics"),
    "at_most": ("{value}, au plus {highest}", "{value}, at most {highest}"),
    "known": ("Faits éthiques connus", "Ethical facts known"),
    "known_ratio": ("{known}/10", "{known}/10"),
    "is_chosen": ("choisi", "chosen"),
    "points_caption": ("D’où viennent les points", "Where the points come from"),
    "points_lead": (
        "La somme des points d’une ligne donne le score. Un point d’interrogation : rien n’est connu. Un tiret au lieu "
        "d’un score : rien n’est connu d’aucun critère pondéré. « 3 = » : plusieurs jeux de données ont ce même score.",
        "The points of a row add up to the score. A question mark: nothing is known. A dash instead of a score: "
        "nothing is known about any weighted criterion. “3 =”: several datasets have this very score.",
    ),
    # The choice
    "choice": ("Le choix", "The choice"),
    "choice_reason": ("Raison (texte d’origine)", "Reason"),
    "choice_dataset": ("Jeu de données choisi", "Chosen dataset"),
    "choice_state": ("Depuis le choix", "Since the choice"),
    "state_unchanged": ("la fiche est inchangée depuis le choix", "the record is unchanged since the choice"),
    "state_changed": ("la fiche a changé depuis le choix", "the record has changed since the choice"),
    "state_withdrawn": (
        "la fiche n’est plus visible pour le propriétaire du projet",
        "the record is no longer visible to the owner of the project",
    ),
    "state_unknown": (
        "inconnu : fait avant que le contenu des choix ne soit conservé",
        "unknown: made before the content of choices was kept",
    ),
    "changed_fields": ("Champs modifiés : {fields}", "Changed fields: {fields}"),
    "changed_value": ("{label} : {before} → {after}", "{label}: {before} → {after}"),
    "value_removed": ("valeur retirée", "removed"),
    "choice_digest": ("SHA-256 au moment du choix : {digest}", "SHA-256 when it was chosen: {digest}"),
    "history_caption": ("Tous les choix, le plus récent d’abord", "All choices, the newest first"),
    "history_caption_newest": (
        "Les {shown} choix les plus récents sur {total}, le plus récent d’abord",
        "The newest {shown} of {total} choices, the newest first",
    ),
    "decision_date": ("Date", "Date"),
    "decision_date_author": ("Date et auteur", "Date and author"),
    "author_is_owner": ("{name}, propriétaire du projet", "{name}, owner of the project"),
    "author_name": ("{name}", "{name}"),
    "author_unnamed": ("auteur sans nom affiché", "author has no display name"),
    "decision_status": ("État", "Status"),
    "decision_current": ("actuel", "current"),
    "decision_replaced": ("remplacé", "replaced"),
    "choice_taken_back": ("choix annulé", "choice taken back"),
    "withdrawn": ("n’est plus visible", "no longer visible"),
    "short_digest": ("SHA-256 {digest}…", "SHA-256 {digest}…"),
    "choice_objective": (
        "Objectif, tel que ses auteurs le décrivent (texte d’origine)",
        "Objective, as its authors describe it",
    ),
    "choice_rank": ("Rang", "Rank"),
    "choice_rank_of": ("{rank} sur {total}", "{rank} of {total}"),
    "rank_by_other_need": (
        "selon d’autres filtres, poids ou niveaux de preuve qu’aujourd’hui",
        "by other filters, weights or levels of evidence than now",
    ),
    "choice_rank_gone": (
        "aucun : la fiche n’est plus visible pour le propriétaire du projet",
        "none: the record is no longer visible to the owner of the project",
    ),
    "choice_rank_none": ("aucun : ne satisfait pas aux filtres", "none: does not satisfy the filters"),
    "choice_identifier": ("Identifiant : {id}", "Identifier: {id}"),
    "choice_licence": ("Licence, selon la fiche", "Licence, according to the record"),
    "licence_separator": (" ou ", " or "),
    "licence_unknown": (
        "inconnue : la fiche n’en indique aucune",
        "unknown: the record states none",
    ),
    "choice_source": ("Provenance, selon la fiche", "Source, according to the record"),
    "choice_data_file": ("Fichier de données mesuré", "Measured data file"),
    "data_digest": ("SHA-256 : {sha256}", "SHA-256: {sha256}"),
    "comparison_caption": (
        "« {above} » devant « {below} », critère par critère",
        "“{above}” before “{below}”, criterion by criterion",
    ),
    "difference": ("Différence", "Difference"),
    "total": ("Score", "Score"),
    "reversing_weight": ("Poids qui inverse", "Reversing weight"),
    "tie_at_zero": ("à égalité pour 0", "equal at 0"),
    "criterion_value": ("valeur {value}", "value {value}"),
    "reversing_weight_hint": (
        "Poids qui inverse : si ce seul poids passait au-delà de cette valeur (arrondie), l’ordre des deux jeux de "
        "données s’inverserait. Un tiret : aucun poids de ce critère ne l’inverse, ou seulement une égalité est "
        "possible. D’un critère sans poids, qui n’apporte pas de points, les valeurs de 0 à 1 sont indiquées ; un "
        "point d’interrogation : rien n’est connu, ce qui compte pour zéro.",
        "Reversing weight: if this weight alone moved past that value (rounded), the order of the two datasets would "
        "be reversed. A dash: no weight of this criterion reverses it, or no more than a tie is possible. Of a "
        "criterion without weight, which adds no points, the values from 0 to 1 are shown; a question mark: nothing "
        "is known, which counts as zero.",
    ),
    "sources_caption": (
        "D’où viennent les valeurs des critères pondérés (niveau de preuve entre parenthèses)",
        "Where the values of the weighted criteria come from (level of evidence in brackets)",
    ),
    "nothing_counted": ("inconnu à ce niveau de preuve", "unknown at this level of evidence"),
    "quoted_without_source": ("cité, sans indication de source", "quoted, without a named source"),
    # Changes that would affect the ranking
    "changes": ("Ce qui changerait le classement", "What would change the ranking"),
    "robustness_lead": (
        "Les poids sont une appréciation. Le classement a donc été refait {samples} fois avec des poids tirés au "
        "hasard, chacun jusqu’à {spread} au-dessus ou au-dessous du sien. Une place est solide si le jeu de données "
        "reste parmi les {k} premiers dans au moins neuf tirages sur dix. Cela ne dit rien de ce qui est inconnu.",
        "Weights are a matter of judgement. The ranking was therefore repeated {samples} times with weights drawn at "
        "random, each up to {spread} above or below its own. A place is robust if the dataset stays among the first "
        "{k} in at least nine of ten samples. This says nothing about what is unknown.",
    ),
    "robustness_trivial": (
        "Seulement {total} {total:jeu de données est classé|jeux de données sont classés} : tous sont toujours parmi "
        "les {k} premiers. Il n’y a donc pas de verdict, et seuls les rangs sont instructifs.",
        "Only {total} {total:dataset is|datasets are} ranked: all are always among the first {k}. There is therefore "
        "no verdict, and only the ranks are telling.",
    ),
    "robustness_caption": ("Solidité des premières places", "Robustness of the first places"),
    "share_of_samples": ("Parmi les {k} premiers", "Among the first {k}"),
    "share_of_same_rank": ("Même rang", "Same rank"),
    "sampled_ranks": ("Du meilleur au pire rang", "Best to worst rank"),
    "beyond": ("> {limit}", "> {limit}"),
    "overtaken_by": ("Dépassé d’abord par", "First overtaken by"),
    "verdict": ("Verdict (poids)", "Verdict (weights)"),
    "verdict_robust": ("solide", "robust"),
    "verdict_fragile": ("fragile", "fragile"),
    "lifts_caption": (
        "Ce qui ferait monter « {name} », si on l’établissait : {shown} sur {count}",
        "What would raise “{name}” if it were established: the first {shown} of {count}",
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
    "levels_scale": (
        "Niveaux de preuve, du plus faible au plus fort : déclaré (quelqu’un l’affirme), documenté (tiré d’un "
        "document), mesuré (calculé à partir du fichier), vérifié (une personne a lu la preuve).",
        "Levels of evidence, from the weakest to the strongest: declared (somebody says so), documented (quoted from "
        "a document), measured (computed from the file), reviewed (a person has read the evidence).",
    ),
    "evidence_first": (
        "Rien n’étant choisi, il s’agit du premier du classement.",
        "As nothing is chosen, this is the first of the ranking.",
    ),
    "evidence_gone": (
        "La fiche du jeu de données choisi n’est plus visible pour le propriétaire du projet, et son contenu n’a pas "
        "été conservé.",
        "The record of the chosen dataset is no longer visible to the owner of the project, and its content was not "
        "kept.",
    ),
    "evidence_kept": (
        "La fiche n’est plus visible pour le propriétaire du projet. Voici ce qui était connu au moment du choix, le "
        "{date}.",
        "The record is no longer visible to the owner of the project. This is what was known at the time of the "
        "choice, {date}.",
    ),
    "evidence_caption": ("Attributs et preuves", "Attributes and evidence"),
    "attribute": ("Attribut", "Attribute"),
    "what_is_known": ("Ce qui est connu", "What is known"),
    "quotes": ("Preuves (texte d’origine)", "Evidence"),
    "no_evidence": ("pas de preuve", "no evidence"),
    "quote_is_part": (
        "un élément parmi d’autres dans la source ; la valeur en est tirée",
        "one of several items in the source, from which the value is derived",
    ),
    "claim_note": ("motif : {note}", "reason: {note}"),
    "claimed_by": ("affirmé par {name} le {date}", "claimed by {name} on {date}"),
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
        "Ces tableaux indiquent, pour chaque point, les faits du rapport qui s’y rattachent. Ils ne disent pas qu’une "
        "disposition est respectée : cela demande une appréciation juridique.",
        "These tables say which facts of the report bear on each point. They do not say that a provision is complied "
        "with: that takes a legal assessment.",
    ),
    "law_values": (
        "Les valeurs sont celles que la source énonce. « Anonymisation appliquée », en particulier, n’a pas été "
        "évaluée comme une anonymisation au sens du RGPD.",
        "Values are what the source states. “Anonymization applied”, in particular, has not been assessed as "
        "anonymisation in the sense of the GDPR.",
    ),
    "law_scope": (
        "D’autres dispositions, comme les articles 6, 9 et 35 du RGPD, ne sont pas traitées. L’article 10 du "
        "règlement sur l’IA concerne les systèmes d’IA à haut risque ; le rapport n’examine pas s’il s’applique.",
        "Other provisions, such as articles 6, 9 and 35 of the GDPR, are not covered. Article 10 of the AI Act "
        "concerns high-risk AI systems; whether it applies is not assessed.",
    ),
    "law": ("Points de droit concernés", "Points of law concerned"),
    "gdpr_caption": (
        "Règlement (UE) 2016/679 (RGPD) : principes et droits des personnes",
        "GDPR, Regulation (EU) 2016/679: principles and rights of data subjects",
    ),
    "ai_act_caption": (
        "Règlement (UE) 2024/1689 (IA), article 10, paragraphe 2 : gouvernance des données",
        "AI Act, Regulation (EU) 2024/1689, article 10(2): data governance",
    ),
    "point": ("Point", "Point"),
    "facts_of_report": ("Faits liés (pertinence non évaluée)", "Related facts (relevance not assessed)"),
    "part_need": ("filtres et poids du projet", "filters and weights of the project"),
    "part_choice": ("choix motivé", "choice with its reason"),
    "part_ranking": ("comparaison de {count} jeux de données", "comparison of {count} datasets"),
    "part_group_metrics": ("mesures par groupe", "metrics by group"),
    "only_declared": ("{name} : seulement affirmé", "{name}: only stated"),
    "known_value": ("{name} : {value} ({level})", "{name}: {value} ({level})"),
    **TRIAL_TEXTS,
    # Limitations
    "limitations": ("Limites", "Limitations"),
    **LIMITATION_TEXTS,
    **VERIFICATION_TEXTS,
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
"""The labels of filters and bounded quantities that are not attributes of a dataset."""
