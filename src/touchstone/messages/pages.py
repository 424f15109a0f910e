"""The texts of the page frame, the ranking and the comparison, in French and English."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

PAGES: Final[Mapping[str, Text]] = {
    # Frame
    "skip": ("Aller au contenu", "Skip to the content"),
    "skip_results": ("Aller au classement", "Skip to the ranking"),
    "skip_weights": ("Aller aux poids", "Skip to the weights"),
    "skip_filters": ("Aller aux filtres", "Skip to the filters"),
    "nav_main": ("Pages", "Pages"),
    "nav_rank": ("Classer", "Rank"),
    "nav_projects": ("Projets", "Projects"),
    "nav_jobs": ("Traitements", "Jobs"),
    "nav_add": ("Ajouter des données", "Add data"),
    "theme_auto": ("Thème du système", "System theme"),
    "theme_light": ("Thème clair", "Light theme"),
    "theme_dark": ("Thème sombre", "Dark theme"),
    "foot_api": ("Documentation de l’API", "API documentation"),
    "page_other_site": (
        "Cette demande ne vient pas de nos pages ; rien n’a été fait",
        "This request did not come from our pages; nothing was done",
    ),
    "colon": ("\u00a0:", ":"),
    "semicolon": ("\u202f;", ";"),
    "yes": ("oui", "yes"),
    "no": ("non", "no"),
    "any": ("indifférent", "any"),
    "unknown": ("inconnu", "unknown"),
    "unknown_count": ("inconnu : {count}", "unknown: {count}"),
    "minimum": ("minimum", "minimum"),
    "maximum": ("maximum", "maximum"),
    "save": ("Enregistrer", "Save"),
    "cancel": ("Annuler", "Cancel"),
    "delete": ("Supprimer", "Delete"),
    "table": ("Tableau", "Table"),
    "pages": ("Pages de résultats", "Pages of results"),
    "page_before": ("Précédente", "Previous"),
    "page_after": ("Suivante", "Next"),
    "page_of": ("{page} sur {pages}", "{page} of {pages}"),
    "more_values": ("{count} autres valeurs", "{count} more values"),
    "more_values_one": ("{count} autre valeur", "{count} more value"),
    "more_values_cut": (
        "Voici les {shown} plus fréquentes ; cherchez les autres parmi toutes les valeurs.",
        "These are the {shown} most frequent; search all values for the others.",
    ),
    "values_all": ("Chercher parmi toutes les valeurs", "Search all values"),
    "values_title": ("{name} : toutes les valeurs", "{name}: all values"),
    "values_lead": (
        "Cochez des valeurs : le classement retient les jeux de données qui en ont au moins une. Vos autres filtres "
        "et vos poids sont conservés.",
        "Tick some values: the ranking keeps the datasets that have at least one of them. Your other filters and "
        "your weights are kept.",
    ),
    "values_search": ("Chercher une valeur", "Search for a value"),
    "values_go": ("Chercher", "Search"),
    "values_chosen": ("Valeurs choisies", "Selected values"),
    "values_frequent": ("Les plus fréquentes d’abord", "Most frequent first"),
    "values_count": ("{count} valeurs à choisir", "{count} values to choose from"),
    "values_count_one": ("{count} valeur à choisir", "{count} value to choose from"),
    "values_matching": ("{count} valeurs contiennent « {search} »", "{count} values contain “{search}”"),
    "values_matching_one": ("{count} valeur contient « {search} »", "{count} value contains “{search}”"),
    "values_search_clear": ("Voir toutes les valeurs", "Show all values"),
    "values_apply": ("Voir le classement", "Show the ranking"),
    "values_pages": ("Pages de valeurs", "Pages of values"),
    # Errors
    "error_missing": (
        "L’adresse est erronée, ou ce qui s’y trouvait n’existe plus ou ne vous appartient pas.",
        "The address is wrong, or what was there no longer exists or does not belong to you.",
    ),
    "error_forbidden": (
        "Vous pouvez consulter cette page, mais pas la modifier.",
        "You may view this page, but not change it.",
    ),
    "error_invalid": ("Revenez en arrière et corrigez.", "Go back and correct it."),
    "error_slow_down": ("Patientez un instant, puis réessayez.", "Wait a little, then try again."),
    "error_later": (
        "Vous n’y êtes pour rien. Réessayez dans un instant.",
        "This is not your fault. Please try again in a moment.",
    ),
    "error_home": ("Retour au classement", "Back to the ranking"),
    "error_again": ("Réessayer", "Try again"),
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
    # How robust the ranking is
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
    # Comparison
    "compare_title": ("Comparer", "Compare"),
    "compare_lead": (
        "Les mêmes poids s’appliquent à tous. La barre dorée marque la meilleure valeur connue, ≠ les lignes "
        "qui diffèrent.",
        "The same weights apply to all. The golden bar marks the best known value, ≠ the rows that differ.",
    ),
    "compare_all": ("Critère par critère", "Criterion by criterion"),
    "pairs_title": ("Pourquoi l’un avant l’autre", "Why one ranks above the other"),
    "pairs_lead": (
        "Pour chaque paire : les points qui les séparent, et le plus petit changement d’un seul poids qui inverserait "
        "leur ordre.",
        "For each pair: the points between them, and the smallest change of a single weight that would reverse their "
        "order.",
    ),
    "pair_title": ("{above} avant {below}", "{above} above {below}"),
    "pair_points": ("Écart", "Difference"),
    "pair_lead": ("Avance", "Lead"),
    "pair_try": (
        "Voir le classement inversé : {name} à {position} sur 100",
        "Show the reversed ranking: {name} at {position} of 100",
    ),
    "compare_few": ("Épinglez au moins deux jeux de données", "Pin at least two datasets"),
    "compare_back": ("Retour au classement", "Back to the ranking"),
    "compare_facts": ("Ce que l’on sait", "What is known"),
    "compare_points": ("Points", "Points"),
    "compare_drop": ("Retirer", "Remove"),
    "compare_choose": ("Choisir dans un projet", "Choose for a project"),
}
