"""The texts that many pages share, such as common words and errors, in French and English."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

COMMON_PAGES: Final[Mapping[str, Text]] = {
    # Frame
    "skip": ("Aller au contenu", "Skip to the content"),
    "skip_results": ("Aller au classement", "Skip to the ranking"),
    "skip_weights": ("Aller aux poids", "Skip to the weights"),
    "skip_filters": ("Aller aux filtres", "Skip to the filters"),
    "nav_main": ("Pages", "Pages"),
    "nav_rank": ("Classer", "Rank"),
    "nav_projects": ("Projets", "Projects"),
    "nav_jobs": ("Traitements", "Jobs"),
    "nav_add": ("Ajouter", "Add data"),
    "theme_auto": ("Thème du système", "System theme"),
    "theme_light": ("Thème clair", "Light theme"),
    "theme_dark": ("Thème sombre", "Dark theme"),
    "foot_api": ("Documentation de l’API", "API documentation"),
    "page_other_site": (
        "Cette demande ne vient pas de nos pages ; rien n’a été fait",
        "This request did not come from our pages; nothing was done",
    ),
    # Before the title of a page that shows a rejected form, because screen readers begin with the title.
    "title_problem": ("Erreur", "Error"),
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
    "error_missing_project": (
        "L’adresse est erronée, le projet n’existe plus, ou il appartient à un autre compte. Un projet n’est visible "
        "que pour la personne qui l’a créé : demandez-lui d’en transmettre le rapport.",
        "The address is wrong, the project no longer exists, or it belongs to another account. Only the person who "
        "created a project can see it: ask them to send you its report.",
    ),
    "error_forbidden": (
        "Votre compte ne permet pas de consulter cette page ou de faire cette modification.",
        "Your account does not let you view this page or make this change.",
    ),
    "error_invalid": ("Revenez en arrière et corrigez.", "Go back and correct it."),
    "error_slow_down": ("Patientez un instant, puis réessayez.", "Wait a little, then try again."),
    "error_later": (
        "Vous n’y êtes pour rien. Réessayez dans un instant.",
        "This is not your fault. Please try again in a moment.",
    ),
    "no_such_project": ("Projet non trouvé", "Project not found"),
    "error_request_id": ("Identifiant de la requête :", "Request id:"),
    "error_home": ("Retour au classement", "Back to the ranking"),
    "error_again": ("Réessayer", "Try again"),
}
