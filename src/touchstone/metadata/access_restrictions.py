"""Recognition of sentences that say that data are given out only on request, or after signing an agreement.

Readers pass descriptions, cards and other prose. They quote the sentence that is returned as evidence that a dataset is
not public.
"""

import re
from collections.abc import Iterable
from typing import Final

from touchstone.metadata.comments import remove_comments
from touchstone.metadata.prose import MAX_SEARCHED_LENGTH

MAX_QUOTE_LENGTH: Final = 500

# Conditions for access: "you must sign the agreement", "available upon request", "access must be requested". Each
# phrase is enclosed by word boundaries, because "gated" also occurs inside "investigated".
_CONDITION: Final = re.compile(
    r"\bgated (?:access|dataset|repo(?:sitory)?)\b|\b(?:is|are) gated\b"
    r"|\bLDC[- ]User[- ]Agreement\b|\b(?:User|Licen[cs]e|Data Use|Usage) Agreement for Non-?Members\b"
    r"|\b(?:must|need(?:s)? to|have to|required to|please|by) (?:first )?(?:sign(?:ing)?|execute) "
    r"(?:a|an|the|our|and return) [^.\n]{0,60}?(?:agreement|licen[cs]e|form|terms)\b"
    r"|\bagreements? must be signed\b"
    r"|\b(?P<on_request>(?:only )?available (?:only )?(?:up)?on request)\b"
    r"|\baccess (?:to the (?:data|dataset|corpus) )?(?:is|must be|has to be|can be|needs to be) "
    r"(?:restricted|requested|granted|approved)\b"
    r"|\brequest(?:ing)? access\b|\bagree to (?:the )?[\w ]{0,40}?Terms of Access\b"
    r"|\bhas requested permission to use\b",
    re.IGNORECASE,
)
_NEGATION: Final = r"(?:\b(?:not|no|never|nor|neither|nobody|no one|cannot|unnecessary)|n['’]t)"
# A negation that governs the condition directly after it: "you do not have to …", "without …". A negation further away,
# as in "this is not the original, which is …", does not match.
_NEGATED_BEFORE: Final = re.compile(
    rf"(?:{_NEGATION}|(?P<without>\bwithout))"
    r"(?: (?:need|needs|have|has|had|having|needing|required|necessary|obliged|asked|to|for|you|first|even|ever|longer"
    r"|a|an|any|be|being|formally)){0,6}\s*$",
    re.IGNORECASE,
)
# A negation that governs the condition directly before it: "requesting access is not necessary".
_NEGATED_AFTER: Final = re.compile(
    r"^\W*(?:\w+ ){0,4}?(?:is|are)(?: not| no longer|n['’]t) (?:needed|required|necessary)\b", re.IGNORECASE
)
# Words that end the subject of a clause: "the data" in "the data of the study".
_PREDICATE: Final = re.compile(
    r"\b(?:is|are|was|were|will|can|may|has|have|made|of|for|about|that|which|in|to|from|on|with)\b", re.IGNORECASE
)
# The subject must be the data: papers, code and guidelines may be available on request although the data are public.
_DATA_SUBJECT: Final = re.compile(
    r"\b(?:data|data ?sets?|data ?bases?|corpus|corpora|access)(?=\W*$|,| and\b| or\b)", re.IGNORECASE
)
_WORD_SEPARATOR: Final = re.compile(r"[\W_]+")
# Where a new clause begins: "the data are public, but the code is available on request".
_CLAUSE_BREAK: Final = re.compile(r";|\bbut\b|, (?=(?:and|so|however|whereas|while)\b)", re.IGNORECASE)
_SENTENCE_SEPARATOR: Final = re.compile(r"\n|\. ")
# How many characters around a condition are searched for its subject and for a negation.
_CONTEXT_LENGTH: Final = 300


def find_access_restriction(text: str, names: Iterable[str] = ()) -> str | None:
    """Return the first line or sentence that states a condition for access to the data, or None.

    Args:
        text: the text to search.
        names: the names of the dataset, which may be the subject of the sentence instead of a word such as "data".
    """
    name_pattern = _name_pattern(names)
    visible_text = remove_comments(text[:MAX_SEARCHED_LENGTH])
    for match in _CONDITION.finditer(visible_text):
        before = visible_text[max(0, match.start() - _CONTEXT_LENGTH) : match.start()]
        after = visible_text[match.end() : match.end() + _CONTEXT_LENGTH]
        before_in_sentence = _SENTENCE_SEPARATOR.split(before)[-1]
        after_in_sentence = _SENTENCE_SEPARATOR.split(after, maxsplit=1)[0]

        if _is_negated(before_in_sentence, after_in_sentence):
            continue
        # Anything can be "available on request". The other conditions are about access to data by themselves.
        if match["on_request"] is not None and not _has_data_as_subject(before_in_sentence, name_pattern):
            continue
        return _enclosing_sentence(visible_text, match)
    return None


def _enclosing_sentence(text: str, match: re.Match[str]) -> str:
    """Return the sentence around a match, delimited by line breaks or full stops.

    If the sentence is too long, words are left out at its ends, so that the match stays in the middle.
    """
    separators = ("\n", ". ")
    text_before = text[: match.start()]
    starts = [text_before.rfind(separator) + len(separator) for separator in separators if separator in text_before]
    sentence_start = max(starts, default=0)

    ends = [text.find(separator, match.end()) for separator in separators]
    sentence_end = min((end for end in ends if end >= 0), default=len(text))

    if sentence_end - sentence_start <= MAX_QUOTE_LENGTH:
        return text[sentence_start:sentence_end].strip()

    margin = (MAX_QUOTE_LENGTH - len(match[0])) // 2
    quote_start = min(max(sentence_start, match.start() - margin), sentence_end - MAX_QUOTE_LENGTH)
    quote_end = quote_start + MAX_QUOTE_LENGTH
    # Words that would be cut in two are left out.
    if quote_start > sentence_start:
        first_space = text.find(" ", quote_start, match.start())
        quote_start = match.start() if first_space < 0 else first_space + 1
    if quote_end < sentence_end:
        quote_end = max(text.rfind(" ", match.end(), quote_end), match.end())
    return text[quote_start:quote_end].strip()


def _is_negated(before: str, after: str) -> bool:
    """Return whether a condition is negated by the part of its sentence before or after it."""
    if _NEGATED_AFTER.search(after):
        return True
    negation = _NEGATED_BEFORE.search(before)
    if negation is None:
        return False

    # "Not available without requesting access" negates twice.
    is_double_negation = negation["without"] and re.search(_NEGATION, before[: negation.start()], re.IGNORECASE)
    return not is_double_negation


def _name_pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern that matches any of the names of a dataset, or None if it has none.

    "Street Signs" also matches "street-signs" and "street_signs", because identifiers have no spaces.
    """
    words_of_names = [[re.escape(word) for word in _WORD_SEPARATOR.split(name) if word] for name in names]
    alternatives = [r"[\W_]{1,3}".join(words) for words in words_of_names if words]
    if not alternatives:
        return None
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(alternatives)})(?![^\W_])", re.IGNORECASE)


def _has_data_as_subject(before: str, name_pattern: re.Pattern[str] | None) -> bool:
    """Return whether the words before "available on request" name the data, or name no subject at all.

    Args:
        before: the part of the sentence before these words.
        name_pattern: the pattern of the names of the dataset, if it has any.
    """
    if name_pattern is not None:
        before = name_pattern.sub("dataset", before)
    has_no_subject = not any(character.isalpha() for character in before)
    if has_no_subject:
        return True

    clause = _CLAUSE_BREAK.split(before)[-1]
    subject = _PREDICATE.split(clause.strip(), maxsplit=1)[0]
    return _DATA_SUBJECT.search(subject) is not None
