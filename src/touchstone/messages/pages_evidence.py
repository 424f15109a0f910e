"""The texts of the pages about claims, their review and the required level, in both languages."""

from collections.abc import Mapping
from typing import Final

from touchstone.messages.locales import Text

EVIDENCE_PAGES: Final[Mapping[str, Text]] = {
    # Levels of evidence and the states of claims
    "level_declared": ("déclaré", "declared"),
    "level_documented": ("documenté", "documented"),
    "level_measured": ("mesuré", "measured"),
    "level_reviewed": ("vérifié", "reviewed"),
    "level_declared_hint": ("Quelqu’un l’affirme, sans plus.", "Somebody says so, nothing more."),
    "level_documented_hint": (
        "Une citation textuelle d’un document importé d’une source nommée le montre.",
        "A verbatim quote from a document that was imported from a named source shows it.",
    ),
    "level_measured_hint": ("Calculé à partir du fichier de données.", "Computed from the data file."),
    "level_reviewed_hint": (
        "Une personne chargée de la vérification a lu la preuve et la confirme.",
        "A curator has read the evidence and confirms it.",
    ),
    "levels_title": ("Ce que signifient les niveaux de preuve", "What the levels of evidence mean"),
    "not_applicable": ("sans objet", "not applicable"),
    "status_active": ("en vigueur", "in force"),
    "status_proposed": ("proposition", "proposal"),
    "status_rejected": ("rejeté", "rejected"),
    "status_withdrawn": ("retiré", "withdrawn"),
    # The evidence on the page of a dataset
    "declared_by": ("Déclaré par {name}", "Declared by {name}"),
    "declared_by_service": (
        "Fiche du catalogue fourni avec le service",
        "Record of the catalog that comes with the service",
    ),
    "yourself": ("vous", "you"),
    "somebody": ("une personne sans pseudonyme", "somebody without a display name"),
    "the_service": ("le service", "the service"),
    "claim_by": ("Affirmé par {name}", "Claimed by {name}"),
    "claim_by_service": ("Relevé par le service", "Found by the service"),
    "claim_date": ("le {date}", "on {date}"),
    "claim_until": ("jusqu’au {date}", "until {date}"),
    "claim_place": ("Endroit : {place}", "Place: {place}"),
    "claim_source": ("Source : {name}", "Source: {name}"),
    "claim_original_source": (
        "Source d’origine, d’après l’export : {name}",
        "Original source, according to the export: {name}",
    ),
    "claim_source_link": ("ouvrir la source", "open the source"),
    "claim_annotators": (
        "Concerne les annotateurs et non les personnes dont viennent les données : ne compte pas.",
        "About annotators and not the people the data come from: it does not count.",
    ),
    "claim_no_quote": ("Sans citation.", "Without a quote."),
    "claim_merely_declared": ("Affirmé dans la fiche, sans citation.", "Stated in the record, without a quote."),
    "claim_review_accept": ("Accepté par {name}", "Accepted by {name}"),
    "claim_review_confirm": ("Confirmé par {name}", "Confirmed by {name}"),
    "claim_review_reject": ("Rejeté par {name}", "Rejected by {name}"),
    "claim_note": ("Motif : {note}", "Reason: {note}"),
    "claim_withdrawn_on": ("Retiré le", "Withdrawn on"),
    "claims_conflict": (
        "Ces affirmations se contredisent. La mieux étayée l’emporte ; à niveau égal, « non » prime sur « oui ».",
        "These claims contradict one another. The best supported one wins; at the same level “no” beats “yes”.",
    ),
    "claims_none": ("Personne n’a rien affirmé.", "Nobody has claimed anything."),
    "claims_proposed": ("{count} propositions", "{count} proposals"),
    "claims_proposed_one": ("{count} proposition", "{count} proposal"),
    "claims_history": ("{count} affirmations rejetées ou retirées", "{count} rejected or withdrawn claims"),
    "claims_history_one": ("{count} affirmation rejetée ou retirée", "{count} rejected or withdrawn claim"),
    "evidence_other": ("Autres attributs", "Other attributes"),
    "evidence_details": ("Preuves", "Evidence"),
    "evidence_not_counted": (
        "Ne compte pas au niveau « {level} » : « {name} » n’a que le niveau « {own} ».",
        "Does not count at the level “{level}”: “{name}” is only “{own}”.",
    ),
    "claim_add": ("Ajouter une preuve", "Add evidence"),
    "claim_propose": ("Proposer une preuve", "Propose evidence"),
    "claim_add_one": ("Ajouter une preuve : {name}", "Add evidence: {name}"),
    "claim_propose_one": ("Proposer une preuve : {name}", "Propose evidence: {name}"),
    "claim_withdraw": ("Retirer", "Withdraw"),
    "claim_withdraw_sure": (
        "Retirer cette affirmation ? Elle restera visible dans l’historique.",
        "Withdraw this claim? It stays visible in the history.",
    ),
    "claim_review": ("Examiner", "Review"),
    "done_claim": ("L’affirmation a été enregistrée.", "The claim has been saved."),
    "done_proposal": (
        "La proposition a été enregistrée. Elle ne change rien tant que l’auteur de la fiche ou une personne chargée "
        "de la vérification ne l’a pas acceptée.",
        "The proposal has been saved. It changes nothing until the author of the record or a curator accepts it.",
    ),
    "done_withdrawn": ("L’affirmation a été retirée.", "The claim has been withdrawn."),
    "done_decided": ("La décision a été enregistrée.", "The decision has been saved."),
    # The formats for saving a dataset as a document
    "export_croissant": ("Croissant, avec l’IA responsable", "Croissant, with responsible AI"),
    "export_dcat": ("DCAT-AP (JSON-LD)", "DCAT-AP (JSON-LD)"),
    "export_datapackage": ("Data Package", "Data Package"),
    "export_card": ("Fiche Hugging Face (Markdown)", "Dataset card (Markdown)"),
    "export_jsonld": ("schema.org (JSON-LD)", "schema.org (JSON-LD)"),
    # Records that an administrator has hidden
    "hidden_notice": (
        "Cette fiche est masquée : seul son auteur la voit",
        "This record is hidden: only its author sees it",
    ),
    "hidden_datasets": ("Fiches masquées", "Hidden records"),
    "hidden_datasets_lead": (
        "Seul l’auteur d’une fiche masquée la voit encore.",
        "Only the author of a hidden record still sees it.",
    ),
    "hidden_datasets_none": ("Aucune fiche n’est masquée.", "No record is hidden."),
    "hidden_reason": ("Motif", "Reason"),
    "hide": ("Masquer la fiche", "Hide the record"),
    "hide_reason": ("Pourquoi la masquer ?", "Why hide it?"),
    "show_again": ("Ne plus masquer", "Show again"),
    "done_hidden": ("La fiche est masquée.", "The record is hidden."),
    "done_shown": ("La fiche est de nouveau visible.", "The record is visible again."),
    # The form for a claim
    "claim_lead": (
        "Dites ce qui est établi et citez ce qui le montre, mot pour mot.",
        "Say what is established, and quote what shows it, word for word.",
    ),
    "claim_lead_proposal": (
        "Ce n’est pas votre fiche : votre affirmation sera une proposition, à accepter par son auteur ou par une "
        "personne chargée de la vérification.",
        "This is not your record: your claim will be a proposal, to be accepted by its author or by a curator.",
    ),
    "claim_level_hint": (
        "Elle comptera au niveau « déclaré » : n’importe qui peut écrire un document. Une personne chargée de la "
        "vérification peut la porter au niveau « vérifié ».",
        "It will count at the level “declared”, because anyone can write a document. A curator can raise it to "
        "“reviewed”.",
    ),
    "claim_attribute": ("Attribut", "Attribute"),
    "claim_value": ("Valeur", "Value"),
    "claim_value_number": ("Nombre", "Number"),
    "claim_value_missing": ("Choisissez une valeur.", "Choose a value."),
    "claim_quote": ("Citation", "Quote"),
    "claim_quote_hint": (
        "Textuelle, aussi courte que possible et pourtant convaincante à elle seule",
        "Verbatim, and as short as possible while still convincing on its own",
    ),
    "claim_place_field": ("Endroit dans le document", "Place in the document"),
    "claim_place_hint": ("section, page, champ…", "section, page, field…"),
    "claim_source_name": ("Document", "Document"),
    "claim_source_url": ("Adresse du document", "Address of the document"),
    "claim_until_field": ("Valable jusqu’au", "Valid until"),
    "claim_until_hint": (
        "Facultatif. Après ce jour, l’affirmation ne compte plus.",
        "Optional. After this day, the claim no longer counts.",
    ),
    "claim_until_past": ("Choisissez un jour à venir, ou aucun.", "Choose a day to come, or none."),
    "claim_scope": ("La citation concerne", "The quote is about"),
    "claim_scope_subjects": ("les personnes dont viennent les données", "the people the data come from"),
    "claim_scope_annotators": ("les seuls annotateurs", "annotators alone"),
    "claim_send": ("Enregistrer", "Save"),
    "claim_send_proposal": ("Proposer", "Propose"),
    # The codebook beside a criterion
    "rule_title": ("Règle de décision", "Decision rule"),
    "rules_title": ("Quand un critère éthique est-il rempli ?", "When is an ethical criterion met?"),
    "rule_true": ("Oui, si", "Yes, if"),
    "rule_false": ("Non, si", "No, if"),
    "rule_unknown": ("Inconnu, malgré", "Unknown, in spite of"),
    "rule_general": ("Ce qui vaut pour tous les critères", "What holds for every criterion"),
    # The review queue
    "nav_review": ("Vérifier", "Review"),
    "review_title": ("Examiner les propositions", "Review proposals"),
    "review_lead": (
        "Une proposition à la fois. Lisez la citation, appliquez la règle, décidez.",
        "One proposal at a time. Read the quote, apply the rule, decide.",
    ),
    "review_queues": ("Files d’attente", "Queues"),
    "review_acceptance": ("Propositions", "Proposals"),
    "review_confirmation": ("Citations à confirmer", "Quotes to confirm"),
    "review_position": ("{number} sur {total}", "{number} of {total}"),
    "review_none": ("Rien n’attend", "Nothing is waiting"),
    "review_none_hint": (
        "Les propositions sur vos fiches apparaissent ici, et toutes les autres si vous êtes chargé de la "
        "vérification.",
        "Proposals about your records appear here, and all others if you are a curator.",
    ),
    "review_claim": ("{name} : {value}", "{name}: {value}"),
    "review_current": ("Valeur actuelle", "Current value"),
    "review_others": ("Autres affirmations sur cet attribut", "Other claims about this attribute"),
    "review_context": (
        "La citation dans la description du jeu de données",
        "The quote in the description of the dataset",
    ),
    "review_context_none": (
        "Le texte autour de la citation n’est pas disponible ici : vérifiez-la dans la source.",
        "The text around the quote is not available here: check the quote in its source.",
    ),
    "review_closed": ("Cette affirmation a déjà été traitée.", "This claim has already been decided."),
    "review_changed": (
        "Cette affirmation a changé depuis que vous avez ouvert cette page. La voici dans son état actuel ; votre "
        "décision n’a pas été enregistrée.",
        "This claim has changed since you opened this page. It is shown as it is now; your decision was not saved.",
    ),
    "review_note": ("Note", "Note"),
    "review_note_hint": ("Pourquoi : la note reste avec l’affirmation", "Why: the note stays with the claim"),
    "review_accept": ("Accepter", "Accept"),
    "review_accept_hint": (
        "La proposition entre en vigueur, à son niveau.",
        "The proposal comes into force, at its level.",
    ),
    "review_confirm": ("Confirmer", "Confirm"),
    "review_confirm_hint": (
        "La preuve est lue et convaincante : niveau « vérifié ».",
        "The evidence has been read and convinces: level “reviewed”.",
    ),
    "review_reject": ("Rejeter", "Reject"),
    "review_reject_hint": (
        "Elle ne compte pas et reste dans l’historique.",
        "It does not count and stays in the history.",
    ),
    "review_next": ("Passer", "Skip"),
    "review_previous": ("Revenir", "Back"),
    "review_keys": ("Touches", "Keys"),
    "review_keys_hint": (
        "Quand la proposition est sélectionnée (Tab ou Échap y ramène) : {decisions}, N passer, "
        "B revenir, E écrire une note.",
        "While the proposal is focused (Tab or Escape leads back to it): {decisions}, N skip, B back, E write a note.",
    ),
    # The required level of evidence in a ranking
    "assurance": ("Preuves exigées", "Evidence required"),
    "assurance_declared": ("déclaré", "declared"),
    "assurance_documented": ("documenté", "documented"),
    "assurance_reviewed": ("vérifié", "reviewed"),
    "assurance_declared_hint": (
        "Tout ce que quelqu’un affirme compte.",
        "Everything that somebody says counts.",
    ),
    "assurance_documented_hint": (
        "Seul compte ce qui est tiré d’un document, mesuré ou vérifié. Le reste est « inconnu ».",
        "Only what is quoted from a document, measured or reviewed counts. Everything else is “unknown”.",
    ),
    "assurance_reviewed_hint": (
        "Seul compte ce qui est mesuré, ou vérifié par une personne. Le reste est « inconnu ».",
        "Only what is measured, or reviewed by a person, counts. Everything else is “unknown”.",
    ),
    "known_exact": (
        "éthique : {known} {known:connu|connus} sur 10, {low} {low:rempli|remplis}",
        "ethics: {known} of 10 known, {low} met",
    ),
    "known_interval": (
        "éthique : {known} {known:connu|connus} sur 10, {low} à {high} remplis",
        "ethics: {known} of 10 known, {low} to {high} met",
    ),
    "known_none": ("éthique : 0 connu sur 10", "ethics: 0 of 10 known"),
    "merely_declared_row": ("{count} seulement déclarés", "{count} only declared"),
    "merely_declared_row_one": ("{count} seulement déclaré", "{count} only declared"),
    "lowered": (
        "Plus bas dans le classement, ou hors classement, parce que des valeurs sont déclarées sans preuve : {names}.",
        "Ranked lower, or not at all, because values are declared without evidence: {names}.",
    ),
    "lowered_more": ("et {count} autres", "and {count} more"),
    "lowered_more_one": ("et {count} autre", "and {count} more"),
    "lowered_show": ("Compter aussi ce qui est seulement déclaré", "Count what is merely declared as well"),
    "lowered_dataset": (
        "Au niveau « {level} », {count} valeurs de cette fiche ne comptent pas : elles sont seulement déclarées. "
        "Score {score} ; {declared} si elles comptaient.",
        "At the level “{level}”, {count} values of this record do not count: they are merely declared. "
        "Score {score}; {declared} if they counted.",
    ),
    "lowered_dataset_one": (
        "Au niveau « {level} », {count} valeur de cette fiche ne compte pas : elle est seulement déclarée. "
        "Score {score} ; {declared} si elle comptait.",
        "At the level “{level}”, {count} value of this record does not count: it is merely declared. "
        "Score {score}; {declared} if it counted.",
    ),
    "lowered_own": (
        "C’est votre fiche : pour que ces valeurs comptent, citez le document qui les montre ; une personne "
        "chargée de la vérification pourra alors les confirmer.",
        "This is your record: for these values to count, quote the document that shows them; a curator can then "
        "confirm them.",
    ),
    "lowered_first": ("Ajouter une preuve pour {name}", "Add evidence for {name}"),
    # The import of documents
    "import_instead": (
        "Importer plutôt la documentation d’un jeu de données (Hugging Face, Croissant, DCAT…)",
        "Import the documentation of a dataset instead (Hugging Face, Croissant, DCAT…)",
    ),
    "import_name": ("Identifiant du jeu de données", "Identifier of the dataset"),
    "import_name_hint": (
        "Seulement si les documents ne le disent pas, comme ceux de Hugging Face.",
        "Only if the documents do not say it, like those of Hugging Face.",
    ),
    "import_title": ("Importer une documentation", "Import documentation"),
    "import_lead": (
        "Une fiche Hugging Face, Croissant, DCAT, DataCite, Data Package, OpenML ou un autre standard : les valeurs "
        "viennent avec leurs citations.",
        "A Hugging Face card, Croissant, DCAT, DataCite, a Data Package, OpenML or another standard: values come with "
        "their quotes.",
    ),
    "import_files": ("Documents", "Documents"),
    "import_files_hint": (
        "Un ou plusieurs fichiers (Markdown, JSON, YAML…). Rien n’est enregistré avant votre accord.",
        "One or more files (Markdown, JSON, YAML…). Nothing is saved before you agree.",
    ),
    "import_source_name": ("D’où viennent-ils ?", "Where do they come from?"),
    "import_source_hint": ("le site ou l’organisme", "the site or the organisation"),
    "import_source_url": ("Adresse", "Address"),
    "import_show": ("Voir ce qui serait importé", "Show what would be imported"),
    "import_confirm": ("Importer", "Import"),
    "import_preview": ("Ce qui serait importé", "What would be imported"),
    "import_done": ("Ce qui a été importé", "What has been imported"),
    "import_choose_again": (
        "Ces documents sont trop volumineux pour être gardés ici : choisissez-les à nouveau pour les importer.",
        "These documents are too large to be kept here: choose them again to import them.",
    ),
    "import_nothing": ("Choisissez au moins un document.", "Choose at least one document."),
    "import_too_many": ("Au plus {limit} documents à la fois.", "At most {limit} documents at a time."),
    "import_created": ("nouvelle fiche", "new record"),
    "import_updated": ("fiche mise à jour", "record updated"),
    "import_unchanged": ("inchangée", "unchanged"),
    "import_rejected": ("rejeté", "rejected"),
    "import_evidence": ("Affirmations", "Claims"),
    "import_proposals": ("Propositions tirées du texte", "Proposals from the text"),
    "import_proposals_hint": (
        "Une proposition ne compte pas tant que personne ne l’a acceptée.",
        "A proposal does not count until somebody accepts it.",
    ),
    "import_skipped": ("{count} parties non utilisées", "{count} parts that were not used"),
    "import_skipped_one": ("{count} partie non utilisée", "{count} part that was not used"),
    "import_unmapped": (
        "{count} champs gardés tels quels, sans équivalent dans une fiche",
        "{count} fields kept as they are, without an equivalent in a record",
    ),
    "import_unmapped_one": (
        "{count} champ gardé tel quel, sans équivalent dans une fiche",
        "{count} field kept as it is, without an equivalent in a record",
    ),
    "import_omitted": (
        "Les détails manquent : la réponse aurait été trop longue.",
        "The details are left out: the answer would have been too long.",
    ),
}
