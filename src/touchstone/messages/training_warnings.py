"""Warnings about a training run and its data, in French and English.

Numbers in their placeholders are already formatted for the language.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.decisions import DECISION_WARNINGS
from touchstone.messages.locales import Text

# A list of names that is too long for a sentence.
NAMES_AND_OTHERS: Final[Text] = (
    "{names} et {count} {count:autre|autres}",
    "{names}, and {count} {count:other|others}",
)

WARNINGS: Final[Mapping[str, Text]] = {
    **DECISION_WARNINGS,
    "few_rows": (
        "{rows} {rows:ligne seulement|lignes seulement} : les mesures sont très incertaines.",
        "Only {rows} {rows:row|rows}: the figures are very uncertain.",
    ),
    "extreme_targets": (
        "{rows} {rows:valeur|valeurs} de la cible, {rows:la plus éloignée|les plus éloignées} de la moyenne, "
        "{rows:fait|font} {percent} % de sa variance : le R² et l’erreur quadratique moyenne en dépendent surtout. "
        "Vérifiez qu’il ne s’agit pas {rows:d’une erreur|d’erreurs} ; metric = mae en dépend moins.",
        "{rows} {rows:value|values} of the target, {rows:the one|those} furthest from the mean, {rows:makes|make} up "
        "{percent}% of its variance: R² and the root mean squared error depend mostly on {rows:it|them}. Check that "
        "{rows:it is no error|they are no errors}; metric = mae depends less on {rows:it|them}.",
    ),
    "class_imbalance": (
        "Les classes sont déséquilibrées : « {name} » n’a que {rows} {rows:ligne|lignes} ({percent} %).",
        "The classes are imbalanced: “{name}” has only {rows} {rows:row|rows} ({percent}%).",
    ),
    "rare_classes_left_out": (
        "{names:Classe trop rare, laissée|Classes trop rares, laissées} de côté ({rows} {rows:ligne|lignes}) : "
        "{names}.",
        "{names:Class|Classes} too rare to be learned, left out ({rows} {rows:row|rows}): {names}.",
    ),
    "classes_differ_in_case": (
        "Des noms de classes qui ne diffèrent que par les majuscules comptent comme des classes différentes : {names}. "
        "S’ils désignent la même classe, écrivez-les de la même façon.",
        "Names of classes that differ only in capital letters count as different classes: {names}. If they mean the "
        "same class, write them in the same way.",
    ),
    "classes_never_learned": (
        "{names:Classe évaluée mais absente|Classes évaluées mais absentes} de l’apprentissage,"
        " que le modèle ne peut pas prédire : {names}.",
        "{names:Class|Classes} evaluated but absent from training, which the model cannot predict: {names}.",
    ),
    "classes_without_weight": (
        "{names:Classe|Classes} dont toutes les lignes ont le poids 0, que le modèle ne peut donc ni apprendre ni"
        " prédire : {names}.",
        "{names:Class|Classes} whose rows all have the weight 0, which the model can therefore neither learn nor"
        " predict: {names}.",
    ),
    "classes_never_evaluated": (
        "{names:Classe apprise mais absente|Classes apprises mais absentes} de l’évaluation, dont le score ne dit"
        " rien : {names}.",
        "{names:Class|Classes} learned but absent from evaluation, about which the score says nothing: {names}.",
    ),
    "one_class_evaluated": (
        "Toutes les lignes d’évaluation sont de la classe « {name} » : le score ne dit rien des autres ({names}), ni"
        " si le modèle les distingue. Demandez un autre découpage.",
        "All test rows have the class “{name}”: the score says nothing about the others ({names}), nor whether the"
        " model can tell them apart. Ask for another split.",
    ),
    "one_value_evaluated": (
        "Toutes les lignes d’évaluation, ou toutes celles d’un pli, ont la même valeur cible : R² n’y est pas défini,"
        " et rien n’y montre si le modèle distingue les valeurs. Demandez un autre découpage.",
        "All test rows, or all those of a fold, have the same target value: R² is not defined there, and nothing shows"
        " whether the model can tell values apart. Ask for another split.",
    ),
    "folds_of_one_class": (
        "Dans {folds} {folds:pli|plis} sur {all_folds}, toutes les lignes d’évaluation sont d’une même classe : ces"
        " scores ne disent pas si le modèle distingue les classes.",
        "In {folds} of {all_folds} folds, all test rows have one class: these scores do not show whether the model can"
        " tell the classes apart.",
    ),
    "target_missing": (
        "{rows} {rows:ligne sans valeur cible a été laissée|lignes sans valeur cible ont été laissées} de côté.",
        "{rows} {rows:row without a target value was|rows without a target value were} left out.",
    ),
    "leakage_suspect": (
        "« {name} » suffit presque à prédire la cible ({score}) : vérifiez que cette valeur est connue avant "
        "le résultat.",
        "“{name}” alone predicts the target almost perfectly ({score}): check that it is known before the outcome.",
    ),
    "columns_left_out": (
        "{names:Colonne inutilisable|Colonnes inutilisables} pour l’apprentissage,"
        " {names:laissée|laissées} de côté : {names}.",
        "{names:Column|Columns} with nothing to learn from, left out: {names}.",
    ),
    "columns_unsupported": (
        "{names:Colonne laissée|Colonnes laissées} de côté, car les apprentissages ne lisent ni les listes, ni les "
        "valeurs imbriquées ou binaires, ni les heures sans date, ni les durées : {names}. Écrivez ces valeurs sous "
        "forme de nombres ou de mots, par exemple une durée en secondes.",
        "{names:Column|Columns} left out because trainings read no lists, no nested or binary values, no times without "
        "a date, and no durations: {names}. Write such values as numbers or words, for example a duration in seconds.",
    ),
    "mixed_column": (
        "« {name} » mêle des nombres (ou des dates) et des mots : {cells} "
        "{cells:cellule compte comme manquante|cellules comptent comme manquantes}.",
        "“{name}” mixes numbers (or dates) with words: {cells} {cells:cell counts|cells count} as missing.",
    ),
    "dates_in_several_formats": (
        "« {name} » contient des dates écrites de plusieurs façons, qui sont traitées comme des mots : elles "
        "n’ordonnent pas les lignes dans le temps. Écrivez-les toutes de la même façon, par exemple 2024-12-25.",
        "“{name}” holds dates written in several ways, which are treated as words: they do not order the rows in "
        "time. Write all of them in the same way, for example 2024-12-25.",
    ),
    "several_units": (
        "« {name} » contient des nombres en plusieurs unités, ou dans une unité qui est écrite de plusieurs façons ou "
        "manque parfois. Ils sont traités comme des mots. Écrivez-les tous dans la même unité, de la même façon.",
        "“{name}” holds numbers in several units, or in one unit with several spellings or only beside some of them. "
        "They are treated as words. Write all of them in the same unit, with the same spelling.",
    ),
    "clock_times": (
        "« {name} » contient des heures ou des durées, comme {example}, qui sont traitées comme des mots sans "
        "ordre. Écrivez-les comme des nombres, par exemple en minutes.",
        "“{name}” holds times or durations, such as {example}, which are treated as words without an order. Write "
        "them as numbers, for example in minutes.",
    ),
    "periods": (
        "« {name} » contient des périodes, comme {example}, qui sont traitées comme des mots : elles n’ordonnent "
        "pas les lignes dans le temps. Écrivez-les comme des dates, par exemple 2024-10-01.",
        "“{name}” holds periods, such as {example}, which are treated as words: they do not order the rows in "
        "time. Write them as dates, for example 2024-10-01.",
    ),
    "words_among_numbers": (
        "« {name} » contient surtout des nombres, mais aussi trop d’autres valeurs, comme {example} : toutes sont "
        "traitées comme des mots sans ordre. Si les nombres ne sont pas des codes, écrivez les autres valeurs comme "
        "des nombres, ou laissez ces cellules vides.",
        "“{name}” holds mostly numbers, but too many other values, such as {example}: all are treated as words "
        "without an order. Unless the numbers are codes, write the other values as numbers, or leave these cells "
        "empty.",
    ),
    "repeated_outlier": (
        "« {name} » : {rows} {rows:ligne a|lignes ont} la valeur {value}, très loin de toutes les autres (de {low} à "
        "{high}). Si elle indique une valeur manquante, laissez ces cellules vides.",
        "“{name}”: {rows} {rows:row has|rows have} the value {value}, far from all others ({low} to {high}). If it "
        "marks missing values, leave these cells empty.",
    ),
    "dots_read_as_thousands": (
        "Les points, comme dans 12.345, ont été lus comme des séparateurs de milliers, mais pourraient être des "
        "séparateurs décimaux : {names}. Si c’est le cas, écrivez ces nombres avec quatre décimales (12.3450).",
        "Dots, as in 12.345, were read as thousands separators, although they could be decimal marks: {names}. If they "
        "are, write these numbers with four decimals (12.3450).",
    ),
    "dots_read_as_decimals": (
        "Les points, comme dans 12.345, ont été lus comme des séparateurs décimaux, mais pourraient séparer des "
        "milliers : {names}. Si c’est le cas, écrivez ces nombres sans point (12345).",
        "Dots, as in 12.345, were read as decimal marks, although they could separate thousands: {names}. If they do, "
        "write these numbers without dots (12345).",
    ),
    "infinite_values": (
        "« {name} » contient {cells} "
        "{cells:nombre infini ou au-delà de ±10³⁰, compté comme manquant|nombres infinis ou au-delà de ±10³⁰, comptés "
        "comme manquants}.",
        "“{name}” contains {cells} {cells:number|numbers} that {cells:is|are} infinite or beyond ±10³⁰, counted as "
        "missing.",
    ),
    "mostly_missing": (
        "« {name} » est vide à {percent} %.",
        "“{name}” is {percent}% empty.",
    ),
    "columns_renamed": (
        "{names:Nom de colonne répété ou vide, renommé|Noms de colonnes répétés ou vides, renommés} : {names}.",
        "Repeated or empty column {names:name|names}, renamed: {names}.",
    ),
    "duplicates_kept_together": (
        "{rows} {rows:ligne en répète une autre|lignes en répètent d’autres} : les lignes identiques restent du même "
        "côté du découpage.",
        "{rows} {rows:row repeats another|rows repeat others}: equal rows stay on the same side of the split.",
    ),
    "duplicates_divided": (
        "{rows} {rows:ligne en répète une autre|lignes en répètent d’autres} : une même ligne peut servir à "
        "l’apprentissage et à l’évaluation, comme demandé.",
        "{rows} {rows:row repeats another|rows repeat others}: the same row may be used for both training and "
        "evaluation, as requested.",
    ),
    "duplicates_by_coincidence": (
        "{rows} {rows:ligne en répète une autre|lignes en répètent d’autres} : avec des colonnes de si peu de valeurs, "
        "c’est attendu, et elles comptent comme des cas différents. Si ce sont des copies, demandez "
        "split.duplicates = together.",
        "{rows} {rows:row repeats another|rows repeat others}: with columns of so few values this is expected, and "
        "they count as different cases. If they are copies, ask for split.duplicates = together.",
    ),
    "near_copies_kept_together": (
        "{rows} {rows:ligne en répète presque une autre|lignes en répètent presque d’autres} : ces quasi-copies "
        "restent du même côté du découpage.",
        "{rows} {rows:row nearly repeats another|rows nearly repeat others}: these near copies stay on the same side "
        "of the split.",
    ),
    "near_copies_divided": (
        "{rows} {rows:ligne en répète presque une autre|lignes en répètent presque d’autres} : une ligne et sa "
        "quasi-copie peuvent servir l’une à l’apprentissage, l’autre à l’évaluation, comme demandé.",
        "{rows} {rows:row nearly repeats another|rows nearly repeat others}: a row may be used for training and its "
        "near copy for evaluation, as requested.",
    ),
    "groups_split_at_random": (
        "Les lignes d’un même groupe de « {name} » se ressemblent et servent à la fois à l’apprentissage et à "
        "l’évaluation : pour de nouveaux groupes, le modèle sera sans doute moins bon.",
        "Rows of the same group of “{name}” are alike, and are used for both training and evaluation: for new "
        "groups the model is probably less good.",
    ),
    "split_effect": (
        "Le découpage compte. {effect}",
        "The split matters. {effect}",
    ),
    "too_good_to_be_true": (
        "Des prédictions presque parfaites ({metric} : {score}) sont rares : vérifiez qu’aucune colonne ne découle de "
        "la cible et que les lignes évaluées sont vraiment nouvelles.",
        "Nearly perfect predictions ({metric}: {score}) are rare: check that no column follows from the target, and "
        "that the evaluated rows are really new.",
    ),
    "leakage_pair": (
        "« {first} » et « {second} » suffisent ensemble à prédire la cible ({score}) : vérifiez que ces valeurs sont "
        "connues avant le résultat.",
        "“{first}” and “{second}” together predict the target almost perfectly ({score}): check that they are known "
        "before the outcome.",
    ),
    "encoding_guessed": (
        "Le fichier n’est pas en UTF-8 ; il a été lu en {encoding}, ce que ses mots suggèrent. Si des noms "
        "paraissent illisibles, enregistrez-le en UTF-8.",
        "The file is not UTF-8; it was read as {encoding}, which its words suggest. If names look garbled, save it "
        "as UTF-8.",
    ),
    "header_missing": (
        "La première ligne du fichier contient des données et non des noms : les colonnes sont donc numérotées "
        "({names}…).",
        "The first row of the file holds data instead of names, so the columns are numbered ({names}…).",
    ),
    "not_better_than_baseline": (
        "Le modèle ne fait pas nettement mieux que la référence naïve ({metric}).",
        "The model is not clearly better than the naive baseline ({metric}).",
    ),
    "dates_split_at_random": (
        "« {name} » ordonne les lignes dans le temps, mais le modèle a pu apprendre de lignes plus récentes que celles "
        "qui servent à l’évaluer : l’avenir a pu servir à prédire le passé.",
        "“{name}” orders the rows in time, yet the model may have learned from later rows than those it was evaluated "
        "on: the future may have helped to predict the past.",
    ),
    "incomplete_dates": (
        "« {name} » contient des dates, mais {percent} % des lignes n’en ont pas : elles n’ont pas servi à ordonner "
        "les lignes dans le temps. Si « {name} » date les lignes, demandez split.time_column.",
        "“{name}” holds dates, but {percent}% of the rows have none, so they were not used to order the rows in time. "
        "If “{name}” dates the rows, ask for split.time_column.",
    ),
    "linear_model_preferred": (
        "Sur {rows} lignes, aucun autre modèle n’est nettement meilleur qu’un modèle linéaire : celui-ci a été choisi, "
        "car il est plus simple.",
        "On {rows} rows, no other model is clearly better than a linear one, which was chosen because it is simpler.",
    ),
    "stopped_by_time": (
        "La recherche a été interrompue par la limite de temps : une autre exécution peut donner un autre résultat.",
        "The search was stopped by the time limit: another run may give a different result.",
    ),
}
