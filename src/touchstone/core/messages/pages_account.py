"""The texts of signing in, registering and one's own account. French, English."""

from collections.abc import Mapping
from typing import Final

ACCOUNT_PAGES: Final[Mapping[str, tuple[str, str]]] = {
    "pitch": ("Choisir ses données, et en répondre", "Choose your data, and answer for the choice"),
    "pitch_more": (
        "Touchstone classe des jeux de données selon ce qui compte pour vous, et explique chaque place.",
        "Touchstone ranks datasets by what matters to you, and explains every place.",
    ),
    "pitch_weigh": (
        "Déplacez un poids et voyez pourquoi l'ordre change.",
        "Move a weight and see why the order changes.",
    ),
    "pitch_unknown": (
        "Ce que personne n'a vérifié reste inconnu, et ne passe jamais pour un zéro.",
        "What nobody has checked stays unknown, and never passes for a zero.",
    ),
    "pitch_work": (
        "Entraînez un modèle, faites-vous l'expliquer, gardez le choix et ses raisons.",
        "Train a model, have it explained, keep the choice and its reasons.",
    ),
    "sign_in": ("Se connecter", "Sign in"),
    "sign_out": ("Se déconnecter", "Sign out"),
    "register": ("Créer un compte", "Create an account"),
    "no_account": ("Pas encore de compte ?", "No account yet?"),
    "have_account": ("Déjà un compte ?", "Already have an account?"),
    "forgotten": (
        "Mot de passe oublié ? Un administrateur peut vous donner un jeton pour en choisir un autre.",
        "Forgotten your password? An administrator can give you a token to choose another one.",
    ),
    "email": ("Adresse e-mail", "E-mail address"),
    "password": ("Mot de passe", "Password"),
    "password_hint": (
        "8 caractères au moins ; une phrase fait un bon mot de passe.",
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
    "password_change": ("Changer le mot de passe", "Change the password"),
    "password_ends": (
        "Toutes vos sessions prendront fin, celle-ci aussi.",
        "All your sessions will end, this one too.",
    ),
    "account": ("Votre compte", "Your account"),
    "profile": ("Profil", "Profile"),
    "picture": ("Photo", "Picture"),
    "picture_yours": ("Votre photo", "Your picture"),
    "picture_choose": ("PNG, JPEG ou WebP, 2 Mo au plus", "PNG, JPEG or WebP, at most 2 MB"),
    "picture_missing": ("Choisissez d'abord une photo.", "Choose a picture first."),
    "picture_remove": ("Retirer la photo", "Remove the picture"),
    "sessions": ("Où vous êtes connecté", "Where you are signed in"),
    "session_unknown": ("Appareil inconnu", "Unknown device"),
    "session_used": ("vu le {date}", "seen {date}"),
    "session_current": ("ici", "here"),
    "session_sure": ("Terminer cette session ?", "End that session?"),
    "session_end": ("Déconnecter", "Sign out there"),
    "done_signed_out": ("Vous êtes déconnecté.", "You are signed out."),
    "done_expired": (
        "Votre session a pris fin. Connectez-vous pour continuer.",
        "Your session has ended. Sign in to go on.",
    ),
    "done_unsaved": (
        "Votre session a pris fin : ce que vous veniez d'envoyer n'a pas été enregistré.",
        "Your session has ended: what you have just sent was not saved.",
    ),
    "done_password": (
        "Le mot de passe est changé. Connectez-vous avec le nouveau.",
        "The password is changed. Sign in with the new one.",
    ),
    "done_reset": (
        "Le mot de passe est choisi. Connectez-vous.",
        "The password is chosen. Sign in.",
    ),
    "done_profile": ("Le profil est enregistré.", "The profile is saved."),
    "done_picture": ("La photo est enregistrée.", "The picture is saved."),
    "done_no-picture": ("La photo est retirée.", "The picture is removed."),
    "uploads": ("Fichiers envoyés", "Uploaded files"),
    "uploads_used": ("{used} sur {quota}.", "{used} of {quota}."),
    "uploads_hint": (
        "Supprimer un fichier libère sa place ; la fiche qui le cite reste, mais ne permet plus d'entraînement.",
        "Deleting a file frees its room; the record that names it stays, but can no longer be trained on.",
    ),
    "uploads_none": ("Aucun fichier envoyé.", "No file uploaded."),
    "upload_delete": ("Supprimer {name}", "Delete {name}"),
    "done_file": ("Le fichier est supprimé.", "The file is deleted."),
    "done_session": ("Cette session est terminée.", "That session has ended."),
}
