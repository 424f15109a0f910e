"""Find the named contact, curator, maintainer or publisher who is responsible for a dataset.

The criterion of accountability has no table of rules like the others, because a name has no fixed wording: what counts
as one depends on the label, the heading or the field that it belongs to.
"""

import re
from typing import Final

from touchstone.metadata.documents import Claim
from touchstone.metadata.extraction.negations_and_plans import Objection, objections_to
from touchstone.metadata.extraction.passages import PassageKind
from touchstone.metadata.extraction.sentences import Sentence
from touchstone.metadata.extraction.uninformative_sentences import refers_elsewhere, states_nothing

ACCOUNTABILITY: Final = "accountability_defined"

# Matches "ada@signs.example", "{ada,grace}@signs.example" and "ada (at) signs dot example". It does not match the
# handle "@signs".
_EMAIL: Final = re.compile(
    r"""
    [\w.+}-]{1,64}\s?
    (?:@{1,2}|\(at\)|\[at\]|\{at\}|[ ]at[ ])\s?
    (?:[\w-]{1,63}(?:\.|[ ]dot[ ]|\s?\(dot\)\s?|\s?\[dot\]\s?)){1,6}
    [A-Za-z]{2,12}\b
    """,
    re.VERBOSE,
)
# Matches "Point of Contact: Ada Lovelace", but not "Contact us for questions", which has no colon.
_CONTACT_LABEL: Final = re.compile(
    r"^\W*(?:points? of contact|contacts?|contact (?:person|point|e-?mail|information|details)|maintainers?"
    r"|maintained by"
    r"|curators?|curated by|data (?:controller|steward|owner|custodian)s?|responsible (?:person|party)|publisher"
    r"|corresponding author)\s?:\s*(?P<name>.*)$",
    re.IGNORECASE,
)
# Headings such as "Dataset Curators" and "Who maintains the data?".
_RESPONSIBLE_HEADING: Final = re.compile(
    r"\b(?:curators?|maintain\w*|maintenance|hosting|contact|data controller|publisher|owner|custodian|responsib\w+"
    r"|point of contact|get in touch)\b",
    re.IGNORECASE,
)
# Fields of metadata standards such as `contactPoint` and `maintainer_email`.
_RESPONSIBLE_FIELD: Final = re.compile(
    r"^(?:publisher|maintainers?|contact_?points?|contacts?|maintainer_email|author_email|point_?of_?contact|curators?"
    r"|data_?controller|steward|custodian)$",
    re.IGNORECASE,
)
# Sections that name people for other reasons, such as a citation or a licence.
_SILENT_HEADING: Final = re.compile(
    r"\b(?:table of contents|contributions|citation|citing|references|acknowledg|licen[cs]|data instances|data fields"
    r"|supported tasks|leaderboard)",
    re.IGNORECASE,
)
# The name of a person ("Ana de la Cruz", "J. Smith") or organization ("ACME Research", "the Unicode Consortium").
_CAPITALIZED: Final = r"[A-Z\u00c0-\u00de][\w'’.-]*"
_NAME: Final = re.compile(
    rf"\b{_CAPITALIZED}(?: (?:{_CAPITALIZED}|of|de|la|van|von|der|den|di|el|al|bin|for|and|the)){{0,6}} {_CAPITALIZED}"
    rf"|{_CAPITALIZED}, [A-Z\u00c0-\u00de]"  # the surname first
    rf"|\bby (?:the )?{_CAPITALIZED}"
    r"|^\W*[A-Z\u00c0-\u00de][\w-]{2,}\W*$"  # a single word
)
_ORGANIZATION: Final = re.compile(
    r"\b(?:universit\w+|institut\w*|laborator\w+|lab|group|team|department|ministry|agency|consortium|foundation|inc\.?"
    r"|ltd|gmbh|corporation|company|association|organi[sz]ation|cent(?:er|re)|bureau|office|council|google|microsoft"
    r"|facebook|meta|ibm|amazon|deepmind|openai|mozilla|nvidia|apple|stanford|mit|nasa|technology|research|commission"
    r"|academy|society|library|museum|hospital|college|school|project)\b",
    re.IGNORECASE,
)
# Texts that stand in place of a name, such as "Anonymous", "the authors of this dataset" and "GitHub issues".
_NOT_A_NAME: Final = re.compile(
    r"^\W*(?:anonymous\w*|anonymi[sz]ed.*|hugging ?face\b.*|(?:the )?(?:\w+ )?community\b.*|crowd-?sourc\w+.*"
    r"|for [\w-]+|git ?hub\b.*|home ?page|website"
    r"|web ?page|paper|arxiv|author(?:s|\(s\))?(?: e-?mails?)?.{0,40}|(?:the )?(?:authors|maintainers|curators"
    r"|contributors)(?: of .{0,80})?|e-?mail|link|here|issues?|unknown|none|n/?a|tbd|contact(?: us)?|forum|discord"
    r"|slack|twitter)\W*$",
    re.IGNORECASE,
)
# Matches "is maintained by the City of Lyon", but not "is maintained regularly".
_MAINTAINED_BY: Final = re.compile(
    r"\b(?:(?:is|are|was|were|been) (?:\w+ )?(?:maintained|curated|managed|published|hosted and maintained"
    r"|published and managed|administered|owned|supported) by"
    r"|(?:published|curated|maintained|managed)(?: and (?:\w+))? by)\s(?P<name>.{3,120})",
    re.IGNORECASE,
)
# An address counts next to a request to write: "Please send an e-mail to ada@signs.example". "E-mail addresses" and the
# key of an example record (`"email": "a@b.org"`) ask nobody to write.
_CONTACT_REQUEST: Final = re.compile(
    r"\b(?:contact|(?:e-?)?mails?(?!\s?address(?:es\b|\s(?:such|like|was|were)\b)|[\"'`])|questions?|inquir\w+"
    r"|enquir\w+|feedback|reach(?: out)?|write to|get in touch|report"
    r"|respond to queries|correspondence|requests?)\b",
    re.IGNORECASE,
)
# In how many characters after "maintained by" the name of an organization is looked for.
_MAX_ORGANIZATION_DISTANCE: Final = 60
_WEB_ADDRESS: Final = re.compile(r"(?:https?://|www\.)\S+")
# Matches "this large corpus", and "it" at the beginning of a sentence, but not "the website".
_THIS_DATASET: Final = re.compile(
    r"^it\b|\b(?:this|the|our|these) (?:[\w-]+ ){0,3}(?:data ?sets?|corpus|corpora|data|data ?base|collection|benchmark"
    r"|resource)\b",
    re.IGNORECASE,
)
# Matches "nobody is responsible for the data" and "the dataset is orphaned".
_NOBODY_RESPONSIBLE: Final = re.compile(
    r"\b(?:(?:nobody|no one|no-one|no person|no organi[sz]ation) (?:\w+ ){0,3}(?:maintains?|is responsible"
    r"|is accountable|answers?|takes responsibility)|(?:has|have) no (?:maintainers?|curators?|owners?|contact)\b"
    r"|(?:is|are) (?:unmaintained|orphaned|abandoned)\b|there (?:is|are) no (?:maintainers?|curators?|contact person))",
    re.IGNORECASE,
)
# Sections about curators also thank people, or ask to cite them.
_OTHER_REASON_FOR_NAME: Final = re.compile(r"\bthanks to\b|\bcommunity\b|\bcite\b|\bcredit\b", re.IGNORECASE)
# "Derived from data published by the WHO" names the publisher of the source.
_ABOUT_SOURCE: Final = re.compile(r"\bsourced?\b|\bderived\b|\boriginal\b", re.IGNORECASE)
_NOT_MAINTAINED: Final = re.compile(
    r"\b(?:no longer|not|never)(?: \w+)? (?:maintained|updated|supported|curated)\b", re.IGNORECASE
)
# The hub only hosts other people's data, so it is not a responsible party.
_HUB: Final = re.compile(r"\b(?:the )?hugging ?face(?: team)?\b", re.IGNORECASE)


def accountability_claims(sentences: list[Sentence]) -> list[Claim]:
    """Return a claim for each sentence with a responsible party, or with the statement that there is none."""
    claims = []
    for sentence in sentences:
        denial = _NOBODY_RESPONSIBLE.search(sentence.text)
        if denial is not None and Objection.OTHER_DATASET not in objections_to(sentence.text, denial):
            claims.append(_claim(sentence, value=False, note="nobody maintains or answers for the data"))
            continue

        note = _responsibility_note(sentence)
        if note:
            claims.append(_claim(sentence, value=True, note=note))
    return claims


def _responsibility_note(sentence: Sentence) -> str:
    """Return the note for a sentence that names a responsible party, such as "a named contact", or an empty string.

    The result becomes the note of the claim, so it uses the terms of the codebook for annotators.
    """
    section = sentence.section
    # A contact may be nested in its field: `publisher`, `contactPoint`, `name`.
    if section.is_structured and any(_RESPONSIBLE_FIELD.match(key) for key in section.path[-3:]):
        return "a named publisher, maintainer or contact" if _is_named_contact(sentence.text, sentence.quote) else ""

    if _SILENT_HEADING.search(sentence.headings) or sentence.kind is PassageKind.ABSTRACT:
        return ""

    label = _CONTACT_LABEL.match(sentence.text)
    if label:
        return "a named contact" if _is_named_contact(label["name"], sentence.quote) else ""

    if _RESPONSIBLE_HEADING.search(sentence.heading) and _names_curator(sentence):
        return "a named curator"
    if _EMAIL.search(sentence.quote) and _CONTACT_REQUEST.search(sentence.text):
        return "an address for questions about the dataset"
    return "a named maintainer or publisher" if _names_maintainer(sentence) else ""


def _is_named_contact(name: str, quote: str) -> bool:
    """Return whether the value after a label such as "Contact:" is a name or an e-mail address.

    Args:
        name: the text after the label.
        quote: the sentence in its source, whose markup may contain an address.
    """
    has_email = _EMAIL.search(quote) is not None
    is_address_at_hub = "huggingface.co" in quote.partition("@")[2]
    if has_email and not is_address_at_hub:
        return True
    if states_nothing(name) or _NOT_A_NAME.match(name) or refers_elsewhere(name):
        return False
    return _has_name(name)


def _names_curator(sentence: Sentence) -> bool:
    """Return whether a sentence under a heading such as "Dataset Curators" names a curator."""
    if refers_elsewhere(sentence.text) or _NOT_A_NAME.match(sentence.text) or _NOT_MAINTAINED.search(sentence.text):
        return False
    if _EMAIL.search(sentence.quote):
        return True
    if _OTHER_REASON_FOR_NAME.search(sentence.text):
        return False
    return _has_name(sentence.text)


def _has_name(text: str) -> bool:
    """Return whether a string contains the name of a person or organization other than the hub.

    Web addresses are ignored, because nearly all of them contain the name of an organization.
    """
    text_without_addresses = _HUB.sub(" ", _WEB_ADDRESS.sub(" ", text))
    return bool(_NAME.search(text_without_addresses) or _ORGANIZATION.search(text_without_addresses))


def _names_maintainer(sentence: Sentence) -> bool:
    """Return whether a sentence of any section names the maintainer or publisher of this dataset."""
    match = _MAINTAINED_BY.search(sentence.text)
    if match is None or not _THIS_DATASET.search(sentence.text[: match.end()]):
        return False
    if _ABOUT_SOURCE.search(sentence.text[: match.start()]) or objections_to(sentence.text, match):
        return False

    name = match["name"]
    is_name = bool(_NAME.match(name) or _ORGANIZATION.search(name[:_MAX_ORGANIZATION_DISTANCE]))
    return is_name and not _NOT_A_NAME.match(name)


def _claim(sentence: Sentence, *, value: bool, note: str) -> Claim:
    """Return a claim about accountability that quotes the sentence."""
    return Claim(ACCOUNTABILITY, value, quote=sentence.quote, place=sentence.place, note=note)
