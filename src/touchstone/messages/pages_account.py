"""The texts of the pages for signing in, registering and managing accounts, in both languages."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

ACCOUNT_PAGES: Final[Mapping[str, Text]] = {
    "pitch": ("Choisir ses données, et en répondre", "Choose your data, and answer for the choice"),
    "pitch_more": (
        "Touchstone classe des jeux de données selon ce qui compte pour vous, et explique chaque rang.",
        "Touchstone ranks datasets by what matters to you, and explains every rank.",
    ),
    "pitch_weigh": (
        "Déplacez un poids et voyez pourquoi l’ordre change.",
        "Move a weight and see why the order changes.",
    ),
    "pitch_unknown": (
        "Ce que personne n’a vérifié compte 0 dans le score, mais reste marqué « inconnu » : ce n’est jamais "
        "un « non ».",
        "What nobody has checked counts as 0 in the score, but stays marked “unknown”: it is never a “no”.",
    ),
    "pitch_work": (
        "Entraînez un modèle, faites-le expliquer, gardez votre choix et ses raisons.",
        "Train a model, have it explained, and keep your choice with its reasons.",
    ),
    "sign_in": ("Se connecter", "Sign in"),
    "sign_in_with": ("Se connecter avec {provider}", "Sign in with {provider}"),
    "sign_in_with_providers": ("Autres façons de se connecter", "Other ways to sign in"),
    "sign_in_in_other_tab": (
        "Ces services s’ouvrent dans un autre onglet. Une fois connecté, revenez ici et continuez.",
        "These services open in another tab. Once you are signed in, come back here and go on.",
    ),
    "signed_in_go_on": ("Je suis connecté, continuer", "I am signed in, go on"),
    "external_accounts": ("Services d’identité", "Identity providers"),
    "external_account_unlink": ("Dissocier", "Unlink"),
    "external_account_unlink_from": ("Dissocier de {provider}", "Unlink from {provider}"),
    "external_account_sure": (
        "Ne plus permettre la connexion à ce compte avec {provider} ?",
        "No longer sign in to this account with {provider}?",
    ),
    "done_provider": ("Le compte a été dissocié.", "The account has been unlinked."),
    "sign_out": ("Se déconnecter", "Sign out"),
    "register": ("Créer un compte", "Create an account"),
    "no_account": ("Pas encore de compte ?", "No account yet?"),
    "have_account": ("Déjà un compte ?", "Already have an account?"),
    "forgotten": (
        "Mot de passe oublié ? Un administrateur peut vous remettre un jeton pour en choisir un autre.",
        "Forgot your password? An administrator can give you a token to choose a new one.",
    ),
    "forgotten_link": ("J’ai un jeton", "I have a token"),
    "email": ("Adresse e-mail", "E-mail address"),
    "password": ("Mot de passe", "Password"),
    "password_hint": (
        "8 caractères au moins ; une phrase fait un bon mot de passe.",
        "At least 8 characters; a sentence makes a good password.",
    ),
    "pseudo": ("Pseudonyme", "Display name"),
    "given_name": ("Prénom", "First name"),
    "family_name": ("Nom", "Last name"),
    "language": ("Langue", "Language"),
    "reset": ("Choisir un nouveau mot de passe", "Choose a new password"),
    "reset_token": ("Jeton reçu", "Token you were given"),
    "new_password": ("Nouveau mot de passe", "New password"),
    "current_password": ("Mot de passe actuel", "Current password"),
    "password_change": ("Modifier le mot de passe", "Change the password"),
    "password_none": (
        "Ce compte n’a pas de mot de passe. Un administrateur peut vous remettre un jeton pour en choisir un.",
        "This account has no password. An administrator can give you a token to choose one.",
    ),
    "password_ends": (
        "Toutes vos sessions prendront fin, y compris celle-ci.",
        "All your sessions will end, including this one.",
    ),
    "account": ("Votre compte", "Your account"),
    "profile": ("Profil", "Profile"),
    "picture": ("Photo", "Picture"),
    "picture_yours": ("Votre photo", "Your picture"),
    "picture_choose": ("PNG, JPEG ou WebP, 2 Mo au plus", "PNG, JPEG or WebP, at most 2 MB"),
    "picture_missing": ("Choisissez d’abord une photo.", "Choose a picture first."),
    "picture_remove": ("Retirer la photo", "Remove the picture"),
    "sessions": ("Où vous êtes connecté", "Where you are signed in"),
    "session_unknown": ("Appareil inconnu", "Unknown device"),
    "session_used": ("vu le {date}", "last seen {date}"),
    "session_current": ("cette session", "this session"),
    "session_sure": ("Terminer cette session ?", "End this session?"),
    "session_end": ("Déconnecter", "Sign out there"),
    "done_signed_out": ("Vous êtes déconnecté.", "You are signed out."),
    "done_expired": (
        "Votre session a pris fin. Connectez-vous pour continuer.",
        "Your session has ended. Sign in to continue.",
    ),
    "done_unsaved": (
        "Votre session a pris fin avant l’enregistrement. Connectez-vous : ce que vous avez écrit revient ensuite.",
        "Your session ended before this was saved. Sign in: what you wrote comes back afterwards.",
    ),
    "form_return": ("Ce que vous aviez écrit", "What you wrote"),
    "form_return_hint": (
        "Votre session avait pris fin ; rien n’a encore été enregistré.",
        "Your session had ended; nothing has been saved yet.",
    ),
    "form_return_go": ("Reprendre", "Go on"),
    "form_returned": (
        "Vous êtes de nouveau connecté. Rien n’a encore été enregistré : vérifiez, puis envoyez.",
        "You are signed in again. Nothing has been saved yet: check it, then send it.",
    ),
    "done_password": (
        "Le mot de passe a été modifié. Connectez-vous avec le nouveau.",
        "Your password has been changed. Sign in with the new one.",
    ),
    "done_reset": (
        "Le nouveau mot de passe est enregistré. Connectez-vous.",
        "Your new password is saved. Sign in.",
    ),
    "done_profile": ("Le profil a été enregistré.", "Your profile has been saved."),
    "done_picture": ("La photo a été enregistrée.", "Your picture has been saved."),
    "done_no-picture": ("La photo a été retirée.", "Your picture has been removed."),
    "uploads": ("Fichiers envoyés", "Uploaded files"),
    "uploads_used": ("{used} sur {quota}.", "{used} of {quota}."),
    "uploads_hint": (
        "Supprimer un fichier libère de l’espace ; la fiche qui le cite reste, mais ne permet plus d’entraînement.",
        "Deleting a file frees its space; the record that refers to it stays, but can no longer be used for training.",
    ),
    "uploads_none": ("Aucun fichier envoyé.", "No files uploaded."),
    "upload_delete": ("Supprimer {name}", "Delete {name}"),
    "done_file": ("Le fichier a été supprimé.", "The file has been deleted."),
    "done_session": ("Cette session a été fermée.", "The session has been ended."),
    # The accounts, for administrators
    "users": ("Comptes", "Accounts"),
    "users_lead": (
        "Une personne chargée de la vérification lit les preuves et confirme, accepte ou rejette des affirmations sur "
        "toutes les fiches. Un compte bloqué ne peut plus se connecter, et ses sessions prennent fin.",
        "A curator reads the evidence and confirms, accepts or rejects claims about every record. A locked account "
        "cannot sign in any more, and its sessions end.",
    ),
    "users_search": ("Chercher une adresse e-mail", "Search for an e-mail address"),
    "users_matching": (
        "{count} adresses contiennent « {search} ».",
        "{count} addresses contain “{search}”.",
    ),
    "users_matching_one": ("{count} adresse contient « {search} ».", "{count} address contains “{search}”."),
    "users_all": ("Voir tous les comptes", "Show all accounts"),
    "user_active": ("Actif", "Active"),
    "user_curator": ("Vérification", "Curator"),
    "user_administrator": ("administrateur", "administrator"),
    "user_change": ("Modifier", "Change"),
    "user_appoint": ("Charger de la vérification", "Make a curator"),
    "user_dismiss": ("Décharger de la vérification", "End as a curator"),
    "user_lock": ("Bloquer", "Lock"),
    "user_unlock": ("Débloquer", "Unlock"),
    "user_reset": ("Créer un jeton", "Issue a token"),
    "user_token": (
        "Remettez ce jeton à {email} pour choisir un nouveau mot de passe. Il n’est affiché qu’une fois, ne sert "
        "qu’une fois et remplace tout jeton antérieur.",
        "Give this token to {email} to choose a new password. It is shown once, works once, and replaces any earlier "
        "token.",
    ),
    "user_token_link": (
        "Page pour choisir le mot de passe avec ce jeton",
        "Page for choosing the password with this token",
    ),
    "user_token_until": ("Valable jusqu’au {date}.", "Valid until {date}."),
    "users_manage": ("Gérer les comptes", "Manage the accounts"),
    "done_account": ("Le compte a été modifié.", "The account has been changed."),
}
