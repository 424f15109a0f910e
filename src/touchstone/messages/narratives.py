"""Sentences that explain a model or a table in words, in French and English.

Numbers in their placeholders are already formatted for the language.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.labels import MISSING_VALUE
from touchstone.messages.locales import Text

NARRATIVE: Final[Mapping[str, Text]] = {
    "model": (
        "Le modèle ({algorithm}) prédit « {target} » à partir de {features} {features:colonne|colonnes}.",
        "The model ({algorithm}) predicts “{target}” from {features} {features:column|columns}.",
    ),
    "target_class": (
        "L’explication porte sur la probabilité de « {name} ».",
        "The explanation is about the probability of “{name}”.",
    ),
    "importance_top": (
        "La colonne qui compte le plus est « {name} » : la permuter coûte {drop} ± {spread} ({metric}).",
        "The column that matters most is “{name}”: permuting it costs {drop} ± {spread} ({metric}).",
    ),
    "importance_next": ("{names:Vient|Viennent} ensuite {names}.", "Next {names:comes|come} {names}."),
    "importance_none": (
        "Avec ces lignes, aucune colonne ne se distingue du hasard à elle seule : permuter « {name} » coûte le plus, "
        "{drop} ± {spread} ({metric}), et le hasard explique jusqu’à {limit}.",
        "With these rows, no single column can be told from chance: permuting “{name}” costs most, {drop} ± {spread} "
        "({metric}), and chance explains up to {limit}.",
    ),
    "importance_useless": (
        "{count} {count:colonne|colonnes} sur {total} ne {count:se distingue|se distinguent} pas du hasard.",
        "{count} of the {total} columns cannot be told from chance.",
    ),
    "direction_up": (
        "Quand « {name} » augmente, la prédiction tend à augmenter.",
        "As “{name}” increases, the prediction tends to rise.",
    ),
    "direction_down": (
        "Quand « {name} » augmente, la prédiction tend à baisser.",
        "As “{name}” increases, the prediction tends to fall.",
    ),
    "row_above": (
        "Ligne {row} : {prediction}, soit {difference} de plus que la référence ({base}), {reasons}.",
        "Row {row}: {prediction}, which is {difference} above the base value of {base}, {reasons}.",
    ),
    "row_below": (
        "Ligne {row} : {prediction}, soit {difference} de moins que la référence ({base}), {reasons}.",
        "Row {row}: {prediction}, which is {difference} below the base value of {base}, {reasons}.",
    ),
    "row_equal": (
        "Ligne {row} : {prediction}, comme la référence, {reasons}.",
        "Row {row}: {prediction}, like the base value, {reasons}.",
    ),
    "row_probability": (
        "le modèle prédit « {predicted} », la probabilité de « {name} » est de {value}",
        "the model predicts “{predicted}”, the probability of “{name}” is {value}",
    ),
    "row_probability_threshold": (
        "le modèle prédit « {predicted} », la probabilité de « {name} » est de {value} (« {positive} » est prédit à "
        "partir de {threshold})",
        "the model predicts “{predicted}”, the probability of “{name}” is {value} (“{positive}” is predicted from "
        "{threshold} on)",
    ),
    "row_log_odds": (
        "le modèle prédit « {predicted} », le logarithme de la cote de « {name} » est de {value}",
        "the model predicts “{predicted}”, the log-odds of “{name}” are {value}",
    ),
    "row_number": (
        "la valeur prédite de « {target} » est {value}",
        "the predicted value of “{target}” is {value}",
    ),
    "row_because": ("surtout à cause de {names}", "mostly because of {names}"),
    "row_despite": ("malgré {names}", "despite {names}"),
    "row_raised": ("relevée par {names}", "raised by {names}"),
    "row_lowered": ("abaissée par {names}", "lowered by {names}"),
    "row_without_reason": ("sans qu’une colonne se distingue", "without any column standing out"),
    "number": ("{number}", "{number}"),
    "points": ("{number} {count:point|points}", "{number} {count:point|points}"),
    "contribution": ("« {name} » = {value} ({points})", "“{name}” = {value} ({points})"),
    "missing_value": MISSING_VALUE,
    "named": ("« {name} »", "“{name}”"),
    "named_strength": ("« {name} » ({strength})", "“{name}” ({strength})"),
    "counterfactual": (
        "Ligne {row} : la prédiction deviendrait {prediction} si {changes}.",
        "Row {row}: the prediction would become {prediction} if {changes}.",
    ),
    "counterfactual_none": (
        "Ligne {row} : la recherche n’a trouvé aucun changement de quelques colonnes qui change nettement la"
        " prédiction.",
        "Row {row}: the search found no change of a few columns that clearly changes the prediction.",
    ),
    "counterfactual_none_with": (
        "Ligne {row} : sans toucher à {names}, la recherche n’a trouvé aucun changement de quelques colonnes qui"
        " change nettement la prédiction.",
        "Row {row}: with {names} unchanged, the search found no change of a few columns that clearly changes the"
        " prediction.",
    ),
    "change": ("« {name} » valait {value}", "“{name}” were {value}"),
    "pair": (
        "« {first} » et « {second} » ({strength})",
        "“{first}” and “{second}” ({strength})",
    ),
    "data": (
        "Le tableau compte {rows} {rows:ligne|lignes} et {columns} {columns:colonne|colonnes} ; {share} "
        "des cellules sont vides.",
        "The table has {rows} {rows:row|rows} and {columns} {columns:column|columns}; {share} of the cells are empty.",
    ),
    "data_duplicates": (
        "{rows} {rows:ligne est une répétition exacte|lignes sont des répétitions exactes}.",
        "{rows} {rows:row is an exact repeat|rows are exact repeats}.",
    ),
    "data_classes": (
        "« {target} » a {classes} {classes:classe|classes} ; la plus fréquente, « {name} », couvre {share} des lignes.",
        "“{target}” has {classes} {classes:class|classes}; the most frequent, “{name}”, covers {share} of the rows.",
    ),
    "data_number": (
        "« {target} » va de {low} à {high}, avec une médiane de {median}.",
        "“{target}” ranges from {low} to {high}, with a median of {median}.",
    ),
    "data_pair": (
        "Les colonnes les plus liées sont « {first} » et « {second} » (association {strength}).",
        "The most strongly associated columns are “{first}” and “{second}” (association {strength}).",
    ),
    "data_with_target": (
        "{names:La plus liée|Les plus liées} à « {target} » {names:est|sont} {names}.",
        "{names:The one|Those} most strongly associated with “{target}” {names:is|are} {names}.",
    ),
    "data_without_partner": (
        "Aucune colonne, prise seule, n’est liée à « {target} ».",
        "No single column is associated with “{target}”.",
    ),
    "data_proxy": (
        "« {name} » permet de deviner « {sensitive} » (association {strength}) : exclure celle-ci ne suffit "
        "pas à la cacher.",
        "“{name}” makes it possible to guess “{sensitive}” (association {strength}): leaving the latter out "
        "does not hide it.",
    ),
    "data_no_proxy": (
        "Aucune colonne, prise seule, ne permet de bien deviner « {sensitive} ».",
        "No single column makes it possible to guess “{sensitive}” well.",
    ),
}

LIMITS: Final[Mapping[str, Text]] = {
    "not_causal": (
        "Ces valeurs décrivent ce que le modèle utilise, pas ce qui cause le résultat.",
        "These values describe what the model uses, not what causes the outcome.",
    ),
    "correlated": (
        "Des colonnes liées se partagent l’importance ; permuter l’une d’elles crée des lignes irréalistes.",
        "Columns that depend on each other share their importance; permuting one of them creates unrealistic rows.",
    ),
    "correlated_pairs": (
        "Des colonnes liées se partagent l’importance, et permuter l’une d’elles crée des lignes irréalistes :"
        " {pairs}.",
        "Columns that depend on each other share their importance, and permuting one of them creates unrealistic rows:"
        " {pairs}.",
    ),
    "held_out_copy": (
        "L’importance est mesurée avec une copie du modèle qui n’a pas appris des lignes de mesure ; le modèle"
        " lui-même les a vues.",
        "Importance is measured with a copy of the model that has not learned from the rows it is measured on; the"
        " model itself has seen them.",
    ),
    "sampled": (
        "Les contributions sont estimées par échantillonnage ({permutations} "
        "{permutations:permutation|permutations}) ; elles sont incertaines.",
        "Contributions are estimated by sampling ({permutations} {permutations:permutation|permutations}); "
        "they are uncertain.",
    ),
    "background": (
        "La référence vient d’un échantillon de {rows} {rows:ligne|lignes} ; un autre échantillon donnerait "
        "d’autres valeurs.",
        "The base value comes from a sample of {rows} {rows:row|rows}; another sample would give other values.",
    ),
    "background_of_curves": (
        "Les courbes sont des moyennes sur un échantillon de {rows} {rows:ligne|lignes} ; un autre échantillon"
        " donnerait d’autres valeurs.",
        "The curves are averages over a sample of {rows} {rows:row|rows}; another sample would give other values.",
    ),
    "rounded_probability": (
        "Les probabilités d’un modèle à classes équilibrées ne sont pas des fréquences.",
        "The probabilities of a model with balanced classes are not frequencies.",
    ),
    "association_only": (
        "Une association n’est pas une cause ; l’absence d’association simple n’exclut pas un lien plus complexe.",
        "An association in the data is not a cause; the lack of a simple one does not exclude a more complex link.",
    ),
    "group_thresholds": (
        "Le modèle décide avec un seuil par groupe : chaque ligne est expliquée avec celui du sien, et les "
        "contrefactuels ne changent pas de groupe. Les importances valent pour le seuil commun.",
        "The model decides with a threshold for each group: each row is explained with that of its own, and "
        "counterfactuals stay within the group. Importances are about the common threshold.",
    ),
    "counterfactual_not_advice": (
        "Un contrefactuel montre ce qui changerait la prédiction, pas ce qu’une personne peut ou doit changer.",
        "A counterfactual shows what would change the model's prediction, not what a person can or should change.",
    ),
}
