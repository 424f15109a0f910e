"""The sentences of error responses in French and English, by the codes in `core/errors.py`.

Placeholders such as `{limit}` are filled in with the facts of the error. The sentences about invalid values are in
`validation.py`, and the sentences about jobs that cannot start or have failed are in `job_errors.py`.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

ERROR_TEXTS: Final[Mapping[str, Text]] = {
    "unauthorized": ("Non autorisé", "Non autorisé"),
    "invalid_user_id": ("ID utilisateur invalide", "ID utilisateur invalide"),
    "project_not_found": ("Projet non trouvé", "Projet non trouvé"),
    "invalid_credentials": ("Identifiants invalides", "Invalid credentials"),
    "invalid_identity": (
        "La réponse du service d’identité ne prouve pas qui vous êtes ; reconnectez-vous",
        "The answer of the identity provider does not prove who you are; sign in again",
    ),
    "invalid_refresh_token": ("Session expirée, reconnectez-vous", "Session expired, sign in again"),
    "invalid_internal_token": (
        "Ce service ne répond qu’à la passerelle",
        "This service only answers the gateway",
    ),
    "forbidden": (
        "Seuls son auteur et les administrateurs peuvent le modifier",
        "Only its author and administrators may change it",
    ),
    "review_forbidden": (
        "Seule une personne chargée de la vérification peut en décider, ou l’auteur de la fiche si c’est une "
        "proposition ou s’il l’a acceptée",
        "Only a curator may decide about it, or the creator of the record if it is a proposal or they have accepted it",
    ),
    "own_claim": (
        "Personne ne peut confirmer sa propre affirmation",
        "Nobody can confirm a claim of their own",
    ),
    "withdrawal_forbidden": (
        "Seuls son auteur et les personnes chargées de la vérification peuvent retirer une affirmation ; "
        "une mesure, elle, se rejette",
        "Only its author and curators may withdraw a claim; a measurement is rejected instead",
    ),
    "administrators_only": ("Réservé aux administrateurs", "For administrators only"),
    "registration_closed": ("Les inscriptions sont fermées", "Registration is closed"),
    "sign_in_refused": (
        "La connexion a été annulée ou refusée par {provider}",
        "The sign-in was cancelled, or refused by {provider}",
    ),
    "email_not_verified": (
        "{provider} n’a pas vérifié votre adresse e-mail",
        "{provider} has not verified your e-mail address",
    ),
    "not_found": ("Adresse inconnue", "Unknown address"),
    "dataset_not_found": ("Jeu de données non trouvé", "Dataset not found"),
    "snapshot_not_found": ("Instantané non trouvé", "Snapshot not found"),
    "claim_not_found": ("Affirmation non trouvée", "Claim not found"),
    "upload_not_found": ("Fichier non trouvé", "File not found"),
    "job_not_found": ("Tâche non trouvée", "Job not found"),
    "artifact_not_found": ("Fichier de traitement non trouvé", "Job artefact not found"),
    "model_gone": (
        "Le modèle n’existe plus : son entraînement a été supprimé",
        "The model no longer exists: its training job was deleted",
    ),
    "session_not_found": ("Session non trouvée", "Session not found"),
    "user_not_found": ("Utilisateur non trouvé", "User not found"),
    "oauth_account_not_found": ("Compte externe non trouvé", "External account not found"),
    "picture_not_found": ("Pas de photo de profil", "No profile picture"),
    "identity_provider_not_found": ("Service d’identité inconnu", "Unknown identity provider"),
    "method_not_allowed": ("Méthode non permise à cette adresse", "Method not allowed at this address"),
    "receive_timeout": ("La requête n’est pas arrivée à temps", "The request did not arrive in time"),
    "email_taken": ("Cette adresse a déjà un compte", "This address already has an account"),
    "account_not_linked": (
        "Cette adresse a déjà un compte : connectez-vous avec son mot de passe pour l’associer à {provider}",
        "This address already has an account: sign in with its password to link it to {provider}",
    ),
    "last_way_to_sign_in": (
        "Ce compte n’a pas de mot de passe : vous ne pourriez plus vous y connecter",
        "This account has no password: you could not sign in to it any more",
    ),
    "claim_closed": (
        "Cette affirmation a déjà été traitée ou retirée",
        "This claim has been decided already, or was withdrawn",
    ),
    "source_taken": (
        "Une autre de vos fiches (n° {id}) a déjà cette clé dans cette source",
        "Another one of your records (no. {id}) has this key in this source already",
    ),
    "idempotency_conflict": (
        "Cette clé d’idempotence a servi à une autre requête",
        "This idempotency key was used for another request",
    ),
    "job_not_final": (
        "Annulez le traitement avant de le supprimer",
        "Cancel the job before deleting it",
    ),
    "job_not_succeeded": (
        "Ce traitement n’a pas produit de modèle",
        "This job has not produced a model",
    ),
    "precondition_failed": (
        "La ressource a changé depuis votre lecture : relisez-la",
        "The resource has changed since you read it: read it again",
    ),
    "unusable_documents": ("Rien à importer : {why}", "Nothing to import: {why}"),
    "too_large": ("Requête trop volumineuse : {limit} octets au plus", "Request too large: at most {limit} bytes"),
    "quota_exceeded": (
        "Votre espace de fichiers est plein : {limit} octets au plus",
        "Your file space is full: at most {limit} bytes",
    ),
    "record_quota_exceeded": (
        "Vos fiches prennent toute la place à laquelle vous avez droit : {limit} octets au plus en tout",
        "Your records take up all the space that you may use: at most {limit} bytes in total",
    ),
    "project_quota_exceeded": (
        "Vos projets prennent toute la place à laquelle vous avez droit : {limit} octets au plus en tout",
        "Your projects take up all the space that you may use: at most {limit} bytes in total",
    ),
    "claim_quota_exceeded": (
        "Vous avez atteint le nombre d’affirmations permis : {limit} au plus",
        "You have reached the number of claims that is allowed: at most {limit}",
    ),
    "unsupported_media": (
        "Type de contenu non pris en charge ; attendu : {expected}",
        "Unsupported content type; expected: {expected}",
    ),
    "not_json": ("Le corps de la requête n’est pas du JSON valide", "The request body is not valid JSON"),
    # Lines of a bulk import
    "line_not_json": ("La ligne n’est pas du JSON valide", "The line is not valid JSON"),
    "line_not_json_from": (
        "La ligne n’est pas du JSON valide à partir du caractère {position}",
        "The line is not valid JSON from character {position} on",
    ),
    "line_incomplete": (
        "La ligne n’est pas du JSON valide : elle s’arrête trop tôt",
        "The line is not valid JSON: it ends too early",
    ),
    "line_not_text": ("La ligne n’est pas du texte en UTF-8", "The line is not text in UTF-8"),
    "line_exceeds_limit": (
        "La ligne est trop longue : {limit} octets au plus",
        "The line is too long: at most {limit} bytes",
    ),
    "bad_request": ("Requête mal formée", "Malformed request"),
    "invalid_sign_in_state": (
        "Cette connexion n’a pas commencé dans ce navigateur, ou n’est plus valable ; recommencez",
        "This sign-in did not begin in this browser, or is no longer valid; begin again",
    ),
    "validation_error": ("Valeur invalide pour {where} : {why}", "Invalid value for {where}: {why}"),
    "invalid_value": ("Valeur invalide pour {where} : {why}", "Invalid value for {where}: {why}"),
    "unknown_name": ("{why}", "{why}"),  # The explanation is a complete sentence already.
    "invalid_weights": ("Poids invalide pour {name} : {why}", "Invalid weight for {name}: {why}"),
    "conflicting_values": (
        "{name} et {other} désignent la même chose, mais leurs valeurs diffèrent",
        "{name} and {other} mean the same thing, but their values differ",
    ),
    "chosen_dataset_not_found": (
        "Le jeu de données choisi n’existe pas, ou vous ne pouvez pas le voir",
        "The chosen dataset does not exist, or you cannot see it",
    ),
    "last_administrator": (
        "Ce compte est le dernier administrateur actif",
        "This account is the last active administrator",
    ),
    "weak_password": (
        "Mot de passe refusé : 8 à 1024 caractères, ni courant, ni l’adresse elle-même",
        "Password refused: 8 to 1024 characters, not a common one, not the address itself",
    ),
    "wrong_password": ("Le mot de passe actuel est incorrect", "The current password is wrong"),
    "no_password": (
        "Ce compte n’a pas de mot de passe : un administrateur peut vous remettre un jeton pour en choisir un",
        "This account has no password: an administrator can give you a token to choose one",
    ),
    "invalid_reset_token": (
        "Ce jeton de réinitialisation n’est plus valable",
        "This reset token is no longer valid",
    ),
    "invalid_picture": (
        "Photo refusée : PNG, JPEG ou WebP lisible, 2 Mo au plus",
        "Picture refused: a readable PNG, JPEG or WebP of at most 2 MB",
    ),
    "data_file_unreadable": ("Fichier de données inaccessible", "Data file cannot be read"),
    "invalid_job_request": (
        "La demande ne peut pas être exécutée : {reason}",
        "The request cannot be carried out: {reason}",
    ),
    "too_many_attempts": (
        "Trop de tentatives ; réessayez dans {seconds} {seconds:seconde|secondes}",
        "Too many attempts; try again in {seconds} {seconds:second|seconds}",
    ),
    "too_many_jobs": (
        "Vous avez trop de traitements en attente : {limit} au plus",
        "Too many of your jobs are waiting: at most {limit}",
    ),
    "headers_too_large": (
        "Adresse ou en-têtes trop longs, ou en-têtes trop nombreux",
        "The address or the headers are too long, or there are too many headers",
    ),
    "internal_error": (
        "Erreur interne ; signalez l’identifiant de la requête",
        "Internal error; please report the request id",
    ),
    "unavailable": ("Service momentanément indisponible", "Service temporarily unavailable"),
    "backend_unavailable": (
        "Le service {backend} n’est pas disponible pour le moment",
        "The {backend} service is not available at the moment",
    ),
    "identity_provider_unavailable": (
        "{provider} ne répond pas comme il faut pour le moment ; réessayez, ou connectez-vous autrement",
        "{provider} is not answering properly at the moment; try again, or sign in another way",
    ),
    "overloaded": ("Trop de requêtes en cours ; réessayez", "Too many requests at once; try again"),
    "catalog_loading": (
        "Le catalogue est en cours de chargement : {records} jeux de données sur {total_records}",
        "The catalog is being loaded: {records} of {total_records} datasets",
    ),
    "catalog_loading_begins": (
        "Le catalogue est en cours de chargement ; réessayez dans quelques instants",
        "The catalog is being loaded; try again in a moment",
    ),
    "index_building": (
        "L’index de la recherche est en construction ; réessayez dans quelques instants",
        "The search index is being built; try again in a moment",
    ),
    "report_unavailable": (
        "Le rapport n’a pas pu être mis en page ; réessayez, ou choisissez un autre format",
        "The report could not be typeset; try again, or choose another format",
    ),
    "upstream_timeout": (
        "Le service {backend} n’a pas répondu à temps",
        "The {backend} service did not answer in time",
    ),
    "storage_full": (
        "Espace de stockage plein : plus rien ne peut être enregistré",
        "Storage is full: nothing more can be saved",
    ),
}
