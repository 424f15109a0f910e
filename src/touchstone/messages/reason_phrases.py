"""The parts of the sentences in `reasons`, in French and English; one that ends with a full stop is a whole sentence.

Numbers arrive already formatted for the language.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

REASON_PHRASES: Final[Mapping[str, Text]] = {
    "quoted": ("« {label} »", "“{label}”"),
    "and": ("{items} et {last}", "{items} and {last}"),
    # Why a dataset has its place.
    "rank": (
        "« {name} » est en {place} position sur {total} avec un score de {score}",
        "“{name}” ranks {place} of {total} with a score of {score}",
    ),
    "rank_tied": (
        "« {name} » partage la {place} place sur {total} avec {others} {others:autre|autres} et un score de {score}",
        "“{name}” shares {place} place of {total} with {others} {others:other|others} and a score of {score}",
    ),
    "rank_points": (" : {points}", ": {points}"),
    "first_points": ("{label} apporte {points}", "{label} adds {points}"),
    "next_points": ("{label} {points}", "{label} {points}"),
    "other_points": (
        "{count} {count:autre critère|autres critères} {points}",
        "{count} other {count:criterion|criteria} {points}",
    ),
    "rank_without_points": (
        " : aucun des critères pondérés ne lui apporte de points",
        ": none of the weighted criteria adds any points",
    ),
    "rank_unknown": (
        " ; on ne sait rien de {labels}",
        "; nothing is known about {labels}",
    ),
    "rank_unknown_ethical": (
        " ; {count} de ses {total} critères éthiques {count:est inconnu|sont inconnus}",
        "; {count} of its {total} ethical criteria {count:is|are} unknown",
    ),
    "rank_highest": (
        " ; ce que l’on ignore pourrait porter son score à {score} au plus",
        "; what is unknown could raise its score to {score} at most",
    ),
    # Why one dataset is above another.
    "comparison": (
        "« {above} » ({above_score}) est devant « {below} » ({below_score})",
        "“{above}” ({above_score}) ranks above “{below}” ({below_score})",
    ),
    "comparison_gains": (" grâce à {gains}", " because of {gains}"),
    "comparison_losses": (
        ", bien que « {below} » soit meilleur pour {losses}",
        ", although “{below}” is better in {losses}",
    ),
    "difference": ("{label} ({points})", "{label} ({points})"),
    "other_differences": (
        "{count} {count:autre critère|autres critères} ({points})",
        "{count} other {count:criterion|criteria} ({points})",
    ),
    "reversal_up": (
        " ; l’ordre s’inverserait si le poids de {label} passait de {weight} à plus de {bound}",
        "; the order would be reversed if the weight of {label} rose from {weight} to above {bound}",
    ),
    "reversal_down": (
        " ; l’ordre s’inverserait si le poids de {label} passait de {weight} à moins de {bound}",
        "; the order would be reversed if the weight of {label} fell from {weight} to below {bound}",
    ),
    "reversal_zero": (
        " ; l’ordre s’inverserait si le poids de {label} passait de {weight} à 0",
        "; the order would be reversed if the weight of {label} fell from {weight} to 0",
    ),
    "reversal_none": (
        " ; changer un seul poids ne peut pas inverser cet ordre",
        "; no change of a single weight can reverse this order",
    ),
    "comparison_tied": (
        "« {above} » et « {below} » ont le même score ({score}) : leur ordre n’est qu’alphabétique.",
        "“{above}” and “{below}” have the same score ({score}): their order is merely alphabetical.",
    ),
    # How robust a place is.
    "stability_robust": (
        "La place de « {name} » est solide",
        "The place of “{name}” is robust",
    ),
    "stability_fragile": (
        "La place de « {name} » est fragile",
        "The place of “{name}” is fragile",
    ),
    "stability_share_one": (
        " : si l’on varie les poids jusqu’à {spread}, il est premier dans {kept} des {samples} essais",
        ": if the weights vary by up to {spread}, it ranks first in {kept} of {samples} samples",
    ),
    "stability_share": (
        " : si l’on varie les poids jusqu’à {spread}, il est parmi les {k} premiers dans {kept} des {samples} essais",
        ": if the weights vary by up to {spread}, it is among the first {k} in {kept} of {samples} samples",
    ),
    "stability_constant": (", toujours au rang {best}", ", always at rank {best}"),
    "stability_ranks": (", du rang {best} au rang {worst}", ", from rank {best} to rank {worst}"),
    "stability_open": (
        ", du rang {best} au-delà du rang {limit}",
        ", from rank {best} to beyond rank {limit}",
    ),
    "stability_beyond": (", toujours au-delà du rang {limit}", ", always beyond rank {limit}"),
    "stability_overtaken": (
        " ; de ceux qui le dépassent alors, « {name} » est le plus proche",
        "; of those that overtake it then, “{name}” is the nearest",
    ),
    # What would raise a dataset.
    "lifts": (
        "« {name} » passerait du rang {rank} au rang {target} si l’on établissait {attributes}.",
        "“{name}” would rise from rank {rank} to rank {target} if {attributes} were established.",
    ),
    "lifts_reached": (
        "« {name} » est déjà au rang {rank}.",
        "“{name}” is already at rank {rank}.",
    ),
    "lifts_none": (
        "Quoi que l’on établisse sur « {name} » (rang {rank}), il n’atteindrait pas le rang {target}.",
        "Whatever were established about “{name}” (rank {rank}), it would not reach rank {target}.",
    ),
    "lift_true": ("« {label} » (oui)", "“{label}” (yes)"),
    "lift_false": ("« {label} » (non)", "“{label}” (no)"),
    # What unknown values leave open.
    "known_ranks": (
        "« {name} » est au rang {rank} ; selon ce que l’on ignore encore des critères éthiques, son rang irait de "
        "{best} à {worst}.",
        "“{name}” is at rank {rank}; depending on what is still unknown of the ethical criteria, its rank would be "
        "from {best} to {worst}.",
    ),
    "known_ranks_certain": (
        "« {name} » est au rang {rank}, quoi que l’on ignore encore des critères éthiques.",
        "“{name}” is at rank {rank}, whatever is still unknown of the ethical criteria.",
    ),
}
