"""The texts about filters, gates, weights and results of the rank page, in both languages."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

RANKING_PAGES: Final[Mapping[str, Text]] = {
    # The filters of the rank page
    "rank_title": ("Classer les jeux de données", "Rank datasets"),
    "rank_form": ("Filtres et poids", "Filters and weights"),
    "rank_apply": ("Appliquer", "Apply"),
    "filters": ("Filtres", "Filters"),
    "filters_set": ("Filtres actifs", "Active filters"),
    "filters_clear": ("Tout effacer", "Clear all"),
    "filter_remove": ("retirer ce filtre", "remove this filter"),
    "group_subject": ("Sujet", "Subject"),
    "group_size": ("Taille et âge", "Size and age"),
    "group_quality": ("Qualité", "Quality"),
    "group_ethics": ("Éthique", "Ethics"),
    "rank_ethical_score": ("Score éthique", "Ethical score"),
    "rank_technical_score": ("Score technique", "Technical score"),
    "rank_popularity_score": ("Score de popularité", "Popularity score"),
    "rank_q": ("Recherche", "Search"),
    "rank_q_hint": ("Chercher un nom, un sujet, un domaine…", "Search for a name, a subject, a domain…"),
    "rank_q_go": ("Chercher", "Search"),
    "suggestion_name": ("nom", "name"),
    "suggestion_domain": ("domaine", "domain"),
    "suggestion_task": ("tâche", "task"),
    "rank_language": ("Langue", "Language"),
    "rank_license": ("Licence", "Licence"),
    "license_unknown": ("inconnue", "unknown"),
    "rank_source": ("Provenance", "Source"),
    "rank_trainable": ("Tableau lisible, utilisable pour entraîner", "Readable table, usable for training"),
    "rank_file_type": ("Type de fichier", "File type"),
    "rank_visibility": ("Visibilité", "Visibility"),
    "visibility_public": ("publics", "public"),
    "visibility_private": ("privés (les miens)", "private (mine)"),
    "rank_not_a_number": ("{name} : saisissez un nombre.", "{name}: enter a number."),
    "rank_not_a_choice": (
        "{name} : choisissez l’une des valeurs proposées.",
        "{name}: choose one of the listed values.",
    ),
    "rank_away": (
        "Le service ne répond pas. Vous voyez le classement précédent ; vos réglages sont conservés.",
        "The service is not responding. This is the previous ranking; your settings are kept.",
    ),
    "parameter_ignored": (
        "Dans l’adresse, « {name} » est inconnu et reste sans effet.",
        "In the address, “{name}” is unknown and has no effect.",
    ),
    "parameter_ignored_near": (
        "Dans l’adresse, « {name} » est inconnu et reste sans effet. Vouliez-vous dire {known} ?",
        "In the address, “{name}” is unknown and has no effect. Did you mean {known}?",
    ),
    "parameter_replaced": (
        "Dans l’adresse, « {value} » n’est pas une valeur de « {name} » et a été remplacé. "
        "Valeurs admises : {accepted}.",
        "In the address, “{value}” is not a value of “{name}” and was replaced. Accepted values: {accepted}.",
    ),
    "parameter_no_position": (
        "Dans l’adresse, « {value} » n’est pas un poids pour « {name} » et a été remplacé. "
        "Un nombre de 0 à 100 est attendu.",
        "In the address, “{value}” is not a weight for “{name}” and was replaced. A number from 0 to 100 is expected.",
    ),
    "parameter_no_number": (
        "Dans l’adresse, « {value} » n’est pas une valeur de « {name} » et reste sans effet. "
        "Un nombre entier est attendu.",
        "In the address, “{value}” is not a value of “{name}” and has no effect. A whole number is expected.",
    ),
    "parameters_ignored_more": (
        "Dans l’adresse, {count} {count:autre paramètre|autres paramètres} "
        "{count:est inconnu ou non valable|sont inconnus ou non valables}.",
        "In the address, {count} further {count:parameter is|parameters are} unknown or invalid.",
    ),
    "rank_problem": ("Un filtre n’est pas valable", "A filter is not valid"),
    # The gates of the rank page
    "gates": ("Exigences", "Requirements"),
    "gates_lead": (
        "Ce qu’un jeu de données doit remplir. Le score n’en dépend pas et rien ne disparaît : chaque ligne dit ce "
        "qui est rempli, non rempli ou inconnu.",
        "What a dataset has to fulfil. The score does not depend on it and nothing disappears: every row says what "
        "is met, not met or unknown.",
    ),
    "gates_set": ("Exigences posées", "Requirements set"),
    "gates_clear": ("Lever toutes les exigences", "Drop all requirements"),
    "gate_remove": ("lever cette exigence", "drop this requirement"),
    "gate_passing_only": ("Ne montrer que ce qui remplit tout", "Show only what meets all of them"),
    "gate_any": ("pas d’exigence", "not required"),
    "gate_or": (" ou ", " or "),
    "gate_words_hint": (
        "Pour les listes, séparez les mots par des virgules : un seul suffit.",
        "In lists, separate words by commas: one of them is enough.",
    ),
    "gate_passed": ("rempli", "met"),
    "gate_failed": ("non rempli", "not met"),
    "gate_unknown": ("inconnu", "unknown"),
    "gates_empty": ("Aucun jeu de données ne remplit toutes les exigences", "No dataset meets all requirements"),
    "gates_empty_hint": (
        "Ce qui est inconnu n’est pas rempli. Montrez tout pour voir qui en est le plus proche.",
        "What is unknown is not met. Show all datasets to see which come closest.",
    ),
    "gates_show_all": ("Tout montrer", "Show all"),
    "gate_badges": ("Exigences", "Requirements"),
    # The weights of the rank page
    "weights": ("Poids", "Weights"),
    "profiles": ("Profils", "Profiles"),
    "shares_label": ("Part de chaque critère dans le score :", "Share of each criterion in the score:"),
    "share_of_score": ("{share} du score", "{share} of the score"),
    "weights_none": ("Aucun critère n’a de poids", "No criterion has any weight"),
    "weights_needed": ("Un critère au moins doit avoir un poids", "At least one criterion needs a weight"),
    "weights_none_hint": (
        "Donnez du poids à un critère au moins, ou repartez du profil équilibré.",
        "Give at least one criterion some weight, or start again from the balanced profile.",
    ),
    "weights_reset": ("Profil équilibré", "Balanced profile"),
    "formulas": ("Comment chaque critère est calculé", "How each criterion is computed"),
    "formula_score": (
        "Score = somme des (poids × critère) ÷ somme des poids. Un critère inconnu compte 0 dans le score et "
        "reste marqué « inconnu ».",
        "Score = sum of (weight × criterion) ÷ sum of weights. An unknown criterion counts as 0 in the score "
        "and stays marked “unknown”.",
    ),
    # The results of the rank page
    "results": ("Classement", "Ranking"),
    "datasets_found": ("jeux de données", "datasets"),
    "datasets_found_one": ("jeu de données", "dataset"),
    "announcement": (
        "{count} jeux de données. En tête : {name}, score {score}.",
        "{count} datasets. First: {name}, score {score}.",
    ),
    "announcement_one": (
        "{count} jeu de données : {name}, score {score}.",
        "{count} dataset: {name}, score {score}.",
    ),
    "views": ("Présentation", "View"),
    "view_heat": ("Carte de chaleur", "Heat map"),
    "view_bars": ("Barres", "Bars"),
    "view_table": ("Tableau", "Table"),
    "export": ("Exporter", "Export"),
    "export_csv": ("Tout le classement (CSV)", "The whole ranking (CSV)"),
    "export_svg": ("Cette carte (SVG)", "This heat map (SVG)"),
    "export_png": ("Cette carte (PNG)", "This heat map (PNG)"),
    "export_project": ("Garder dans un projet", "Keep in a project"),
    "keep_one": ("Garder {name} dans un projet", "Keep {name} in a project"),
    "heat_caption": (
        "La largeur de chaque colonne est proportionnelle à son poids",
        "The width of each column is proportional to its weight",
    ),
    "table_caption": ("Classement complet, page par page", "The whole ranking, page by page"),
    "rank": ("Rang", "Rank"),
    "dataset": ("Jeu de données", "Dataset"),
    "score": ("Score", "Score"),
    "rank_best": (
        "Seuls les {shown} premiers sont affichés ; le tableau les contient tous.",
        "Only the top {shown} are shown; the table has them all.",
    ),
    "rank_places": (
        "Seuls les rangs {first} à {last} sont affichés ; le tableau les contient tous.",
        "Only ranks {first} to {last} are shown; the table has them all.",
    ),
    "rank_empty": ("Aucun jeu de données ne correspond à ces filtres", "No dataset matches these filters"),
    "rank_empty_hint": (
        "Une valeur inconnue ne satisfait aucun filtre : relâchez-en un, ou ajoutez vos propres données.",
        "An unknown value never matches a filter: relax one, or add data of your own.",
    ),
    "at_most": ("au plus {value}", "at most {value}"),
    "notes": ("Remarques sur ce classement", "Notes on this ranking"),
    "tied_with": ("ex æquo avec {count} autres", "tied with {count} others"),
    "tied_with_one": ("ex æquo avec {count} autre", "tied with {count} other"),
    "moved_up": (
        "{count} {count:place gagnée|places gagnées}",
        "{count} {count:place|places} up",
    ),
    "moved_down": (
        "{count} {count:place perdue|places perdues}",
        "{count} {count:place|places} down",
    ),
    "moved_new": ("nouveau", "new"),
    "pin": ("Épingler pour comparer", "Pin to compare"),
    "pin_one": ("Épingler {name}", "Pin {name}"),
    "pin_hint": (
        "Cochez deux à cinq jeux de données pour les comparer côte à côte.",
        "Tick two to five datasets to compare them side by side.",
    ),
    "pins_full": (
        "Cinq jeux de données au plus : désépinglez-en d’abord un.",
        "Five datasets at most: unpin one first.",
    ),
    "pins_gone": (
        "{count} des jeux de données épinglés n’existent plus.",
        "{count} of the pinned datasets no longer exist.",
    ),
    "pins_gone_one": (
        "{count} des jeux de données épinglés n’existe plus.",
        "{count} of the pinned datasets no longer exists.",
    ),
    "pin_more": ("Cochez-en encore un pour comparer.", "Tick one more to compare."),
    "pinned": ("{count} jeux de données épinglés", "{count} datasets pinned"),
    "pinned_one": ("{count} jeu de données épinglé", "{count} dataset pinned"),
    "pins_clear": ("Tout désépingler", "Unpin all"),
    "compare": ("Comparer", "Compare"),
    # The robustness of the ranking
    "robustness": ("Robustesse", "Robustness"),
    "robustness_hint": (
        "Les premiers rangs tiennent-ils si les poids changent un peu ?",
        "Do the first ranks hold if the weights change a little?",
    ),
    "robustness_summary": (
        "{robust} {robust:rang|rangs} sur les {count} premiers {robust:est robuste|sont robustes}. Chaque poids varie "
        "au hasard de ± {spread}, {samples} fois ; un rang est robuste si le jeu de données reste dans les {k} "
        "premiers au moins 9 fois sur 10. Entre parenthèses : combien de fois il y reste.",
        "{robust} of the first {count} {robust:rank is|ranks are} robust. Every weight varies at random by ± {spread}, "
        "{samples} times; a rank is robust if the dataset stays in the top {k} at least 9 times out of 10. In "
        "brackets: how often it stays there.",
    ),
    "robustness_ties": (
        "Les scores du rang {first} au rang {last} sont égaux : seul l’ordre alphabétique décide qui d’entre eux est "
        "parmi les {k} premiers.",
        "The scores from rank {first} to rank {last} are equal: only the alphabet decides which of these datasets are "
        "in the top {k}.",
    ),
    "robustness_trivial": (
        "Seulement {total} {total:jeu de données est classé|jeux de données sont classés} : tous sont toujours parmi "
        "les {k} premiers, donc il n’y a pas de verdict. Les rangs sont ceux qu’ils ont si chaque poids varie au "
        "hasard de ± {spread}, {samples} fois.",
        "Only {total} {total:dataset is|datasets are} ranked: all are always in the top {k}, so there is no verdict. "
        "The ranks are those that they have if every weight varies at random by ± {spread}, {samples} times.",
    ),
    "robustness_of_all": (
        "Mesuré parmi tous les jeux de données, y compris ceux qui ne remplissent pas les exigences.",
        "Measured among all datasets, including those that do not meet the requirements.",
    ),
    "robustness_row": ("{verdict} : {ranks} ({share})", "{verdict}: {ranks} ({share})"),
    "verdict_robust": ("robuste", "robust"),
    "verdict_fragile": ("fragile", "fragile"),
    "ranks_single": ("rang {rank}", "rank {rank}"),
    "ranks_range": ("rangs {best} à {worst}", "ranks {best} to {worst}"),
    "ranks_open": ("rangs {best} à plus de {limit}", "ranks {best} to beyond {limit}"),
}
