"""Sentences that explain how to verify the digests in a report, in French and English."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

VERIFICATION_TEXTS: Final[Mapping[str, Text]] = {
    "verification": ("Vérifier ce rapport", "How to verify this report"),
    "verification_json": (
        "Le rapport au format JSON contient les mêmes faits que ce document, et l’empreinte sous « sha256 ». Il faut "
        "le conserver avec ce document, car un rapport refait plus tard énonce l’état de ce moment-là.",
        "The report in the format JSON contains the same facts as this document, and the digest as “sha256”. Keep it "
        "together with this document, because a report that is made again later states the facts of that time.",
    ),
    "verification_command": (
        "Cette commande recalcule l’empreinte à partir du fichier JSON, sans serveur. Si elle affiche celle qui figure "
        "en bas de chaque page, le fichier énonce ce que ce document énonçait quand il a été établi.",
        "This command computes the digest again from the JSON file, without a server. If it prints the one at the foot "
        "of every page, the file states what this document stated when it was made.",
    ),
    "verification_bytes": (
        "Sans Touchstone : l’empreinte est le SHA-256 de la forme canonique (RFC 8785, en UTF-8) du seul membre "
        "« report » du fichier. Python la calcule avec le paquet « rfc8785 ».",
        "Without Touchstone: the digest is the SHA-256 of the canonical form (RFC 8785, in UTF-8) of the member "
        "“report” of the file alone. Python computes it with the package “rfc8785”.",
    ),
    "verification_dataset": (
        "L’empreinte d’un jeu de données choisi se calcule de même sur l’objet des membres « dataset_id », « record » "
        "et « claims » de son entrée dans l’historique des choix, que cette commande affiche.",
        "The digest of a chosen dataset is computed in the same way over the object with the members “dataset_id”, "
        "“record” and “claims” of its entry in the history of choices, which this command prints.",
    ),
}
