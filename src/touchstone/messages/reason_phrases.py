"""The phrases of the sentences in `reasons`, in French and English.

Most phrases are clauses of a longer sentence. Phrases that end with a full stop are whole sentences.
"""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

from touchstone.messages.locales import Text, in_language
from touchstone.messages.numbers import format_count
from touchstone.messages.plurals import with_count

REASON_PHRASES: Final[Mapping[str, Text]] = {
    "quoted": ("« {label} »", "“{label}”"),
    "and": ("{items} et {last}", "{items} and {last}"),
    # Why does a dataset have its rank?
    "rank": (
        "« {name} » est en {place} position sur {total} avec un score de {score}",
        "“{name}” ranks {place} of {total} with a score of {score}",
    ),
    "shared_rank": (
        "« {name} » partage la {place} place sur {total} avec {others} {others:autre|autres} et un score de {score}",
        "“{name}” shares {place} place of {total} with {others} {others:other|others} and a score of {score}",
    ),
    "points": (" : {points}", ": {points}"),
    "first_points": ("{label} apporte {points}", "{label} adds {points}"),
    "later_points": ("{label} {points}", "{label} {points}"),
    "points_of_others": (
        "{count} {count:autre critère|autres critères} {points}",
        "{count} other {count:criterion|criteria} {points}",
    ),
    "no_points": (
        " : aucun des critères pondérés ne lui apporte de points",
        ": none of the weighted criteria adds any points",
    ),
    "unknown_criteria": (
        " ; on ne sait rien de {labels}",
        "; nothing is known about {labels}",
    ),
    "unknown_ethical_attributes": (
        " ; {count} de ses {total} critères éthiques {count:est inconnu|sont inconnus}",
        "; {count} of its {total} ethical criteria {count:is|are} unknown",
    ),
    "highest_score": (
        " ; ce que l’on ignore pourrait porter son score à {score} au plus",
        "; what is unknown could raise its score to {score} at most",
    ),
    # Why does one dataset rank above another?
    "ranks_above": (
        "« {above} » ({above_score}) est devant « {below} » ({below_score})",
        "“{above}” ({above_score}) ranks above “{below}” ({below_score})",
    ),
    "advantages": (" grâce à {differences}", " because of {differences}"),
    "drawbacks": (
        ", bien que « {below} » soit meilleur pour {differences}",
        ", although “{below}” is better in {differences}",
    ),
    "difference": ("{label} ({points})", "{label} ({points})"),
    "difference_of_others": (
        "{count} {count:autre critère|autres critères} ({points})",
        "{count} other {count:criterion|criteria} ({points})",
    ),
    "reversed_above": (
        " ; l’ordre s’inverserait si le poids de {label} passait de {weight} à plus de {bound}",
        "; the order would be reversed if the weight of {label} rose from {weight} to above {bound}",
    ),
    "reversed_below": (
        " ; l’ordre s’inverserait si le poids de {label} passait de {weight} à moins de {bound}",
        "; the order would be reversed if the weight of {label} fell from {weight} to below {bound}",
    ),
    "reversed_at_zero": (
        " ; l’ordre s’inverserait si le poids de {label} passait de {weight} à 0",
        "; the order would be reversed if the weight of {label} fell from {weight} to 0",
    ),
    "not_reversible": (
        " ; changer un seul poids ne peut pas inverser cet ordre",
        "; no change of a single weight can reverse this order",
    ),
    "same_score": (
        "« {above} » et « {below} » ont le même score ({score}) : leur ordre n’est qu’alphabétique.",
        "“{above}” and “{below}” have the same score ({score}): their order is merely alphabetical.",
    ),
    "same_score_but_for_rounding": (
        "« {above} » et « {below} » ont le même score ({score}) à une erreur d’arrondi près, qui seule décide de leur "
        "ordre.",
        "“{above}” and “{below}” have the same score ({score}) up to a rounding error, which alone decides their "
        "order.",
    ),
    # Would a dataset keep its rank if the weights were slightly different?
    "robust": (
        "La place de « {name} » est solide",
        "The place of “{name}” is robust",
    ),
    "fragile": (
        "La place de « {name} » est fragile",
        "The place of “{name}” is fragile",
    ),
    "share_at_first_rank": (
        " : si l’on varie les poids jusqu’à {spread}, il est premier sur {total} dans {kept} des {samples} tirages",
        ": if the weights vary by up to {spread}, it ranks first of {total} in {kept} of {samples} samples",
    ),
    "share_among_first": (
        " : si l’on varie les poids jusqu’à {spread}, il est parmi les {k} premiers sur {total} dans {kept} des "
        "{samples} tirages",
        ": if the weights vary by up to {spread}, it is among the first {k} of {total} in {kept} of {samples} samples",
    ),
    "always_among_first": (
        "« {name} » ne peut pas quitter les {k} premiers, car seulement {total} jeux de données sont classés ; si l’on "
        "varie les poids jusqu’à {spread} ({samples} tirages), il y reste",
        "“{name}” cannot leave the first {k}, because only {total} datasets are ranked; if the weights vary by up to "
        "{spread} ({samples} samples), it stays there",
    ),
    "only_dataset": (
        "« {name} » est le seul jeu de données classé, quels que soient les poids.",
        "“{name}” is the only dataset that is ranked, whatever the weights.",
    ),
    "same_rank": (", toujours au rang {best}", ", always at rank {best}"),
    "ranks_from_to": (", du rang {best} au rang {worst}", ", from rank {best} to rank {worst}"),
    "ranks_from_to_beyond": (
        ", du rang {best} au-delà du rang {limit}",
        ", from rank {best} to beyond rank {limit}",
    ),
    "ranks_beyond": (", toujours au-delà du rang {limit}", ", always beyond rank {limit}"),
    "alphabet_decides_first": (
        " ; à score égal, l’ordre alphabétique décide s’il est le premier",
        "; among equal scores, the alphabet decides whether it ranks first",
    ),
    "alphabet_decides_among_first": (
        " ; à score égal, l’ordre alphabétique décide s’il est parmi les {k} premiers",
        "; among equal scores, the alphabet decides whether it is among the first {k}",
    ),
    "overtaken": (
        " ; de ceux qui le dépassent alors, « {name} » est le plus proche",
        "; of those that overtake it then, “{name}” is the nearest",
    ),
    # Which attributes would have to be verified for a dataset to reach a better rank?
    "target_rank_within_reach": (
        "« {name} » passerait du rang {rank} au rang {target} si l’on établissait {attributes}.",
        "“{name}” would rise from rank {rank} to rank {target} if {attributes} were established.",
    ),
    "target_rank_shared": (
        "« {name} » partage le rang {rank} avec d’autres, et passerait devant eux si l’on établissait {attributes}.",
        "“{name}” shares rank {rank} with others, and would come before them if {attributes} were established.",
    ),
    "target_rank_shared_for_good": (
        "« {name} » partage le rang {rank} avec d’autres, et ne passerait pas devant eux, même si tous ses attributs "
        "oui/non étaient établis en sa faveur.",
        "“{name}” shares rank {rank} with others, and would not come before them, even if all its yes/no attributes "
        "were established in its favour.",
    ),
    "target_rank_reached": (
        "« {name} » est déjà au rang {rank}.",
        "“{name}” is already at rank {rank}.",
    ),
    "target_rank_out_of_reach": (
        "Même si tous les attributs oui/non de « {name} » (rang {rank}) étaient établis en sa faveur, "
        "il n’atteindrait pas le rang {target}.",
        "Even if all yes/no attributes of “{name}” (rank {rank}) were established in its favour, "
        "it would not reach rank {target}.",
    ),
    # The same for a dataset that is not in the ranking
    "target_rank_within_reach_outside": (
        "« {name} » ne passe pas les filtres ou les exigences du classement ; parmi ceux qui les passent, "
        "il passerait du rang {rank} au rang {target} si l’on établissait {attributes}.",
        "“{name}” does not pass the filters or requirements of the ranking; among the datasets that do, "
        "it would rise from rank {rank} to rank {target} if {attributes} were established.",
    ),
    "target_rank_shared_outside": (
        "« {name} » ne passe pas les filtres ou les exigences du classement ; parmi ceux qui les passent, "
        "il partagerait le rang {rank} avec d’autres, et passerait devant eux si l’on établissait {attributes}.",
        "“{name}” does not pass the filters or requirements of the ranking; among the datasets that do, "
        "it would share rank {rank} with others, and come before them if {attributes} were established.",
    ),
    "target_rank_shared_for_good_outside": (
        "« {name} » ne passe pas les filtres ou les exigences du classement ; parmi ceux qui les passent, "
        "il partagerait le rang {rank} avec d’autres, et ne passerait pas devant eux, même si tous ses attributs "
        "oui/non étaient établis en sa faveur.",
        "“{name}” does not pass the filters or requirements of the ranking; among the datasets that do, "
        "it would share rank {rank} with others, and not come before them, even if all its yes/no attributes were "
        "established in its favour.",
    ),
    "target_rank_reached_outside": (
        "« {name} » ne passe pas les filtres ou les exigences du classement ; parmi ceux qui les passent, "
        "il serait au rang {rank}.",
        "“{name}” does not pass the filters or requirements of the ranking; among the datasets that do, "
        "it would be at rank {rank}.",
    ),
    "target_rank_out_of_reach_outside": (
        "« {name} » ne passe pas les filtres ou les exigences du classement ; parmi ceux qui les passent, "
        "il serait au rang {rank}, et n’atteindrait pas le rang {target}, même si tous ses attributs oui/non étaient "
        "établis en sa faveur.",
        "“{name}” does not pass the filters or requirements of the ranking; among the datasets that do, "
        "it would be at rank {rank}, and would not reach rank {target}, even if all its yes/no attributes were "
        "established in its favour.",
    ),
    "attribute_is_true": ("« {label} » (oui)", "“{label}” (yes)"),
    "attribute_is_false": ("« {label} » (non)", "“{label}” (no)"),
    # Which ranks can a dataset have, depending on its unknown attributes?
    "rank_range": (
        "« {name} » est au rang {rank} ; selon ce que l’on ignore encore des critères éthiques, son rang "
        "parmi les jeux de données classés irait de {best} à {worst}.",
        "“{name}” is at rank {rank}; depending on what is still unknown of the ethical criteria, its rank "
        "among the ranked datasets would be from {best} to {worst}.",
    ),
    "rank_certain": (
        "« {name} » est au rang {rank} des jeux de données classés, quoi que l’on ignore encore de leurs critères "
        "éthiques.",
        "“{name}” is at rank {rank} of the ranked datasets, whatever is still unknown of their ethical criteria.",
    ),
}


# The sentences about a long ranking repeat many phrases, because labels, counts and rounded points repeat.
@lru_cache(maxsize=10_000)
def phrase(key: str, locale: str, **placeholders: str | int) -> str:
    """Return a phrase of `REASON_PHRASES` in one language, with its placeholders filled in.

    Integers are formatted here, and select the singular or plural of the words that agree with them. Other numbers must
    already be formatted for the language.
    """
    formatted_values: dict[str, str] = {}
    for name, value in placeholders.items():
        if isinstance(value, int):
            number = format_count(value, locale)
            formatted_values[name] = with_count(number, value, locale)
        else:
            formatted_values[name] = value

    template = in_language(REASON_PHRASES[key], locale)
    return template.format(**formatted_values)


def enumeration(phrases: Sequence[str], locale: str) -> str:
    """Join phrases with commas, and with the word for "and" before the last one."""
    *others, last = phrases
    if not others:
        return last
    return phrase("and", locale, items=", ".join(others), last=last)


@cache
def quoted(label: Text, locale: str) -> str:
    """Return a label in the quotation marks of a language."""
    return phrase("quoted", locale, label=in_language(label, locale))
