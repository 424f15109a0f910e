"""The wording by which a source says that its data are given out only on request, or after signing an agreement."""

import re
from typing import Final

from touchstone.metadata.comments import remove_comments
from touchstone.metadata.prose import MAX_SEARCHED_LENGTH

# Sentences by which a source says that not everybody gets the data. Each phrase stands between word boundaries:
# "gated" also occurs inside "investigated".
_RESTRICTED: Final = re.compile(
    r"\bgated (?:access|dataset|repo(?:sitory)?)\b|\b(?:is|are) gated\b"
    r"|\bLDC[- ]User[- ]Agreement\b|\b(?:User|Licen[cs]e|Data Use|Usage) Agreement for Non-?Members\b"
    r"|\b(?:must|need(?:s)? to|have to|required to|please|by) (?:first )?(?:sign(?:ing)?|execute) "
    r"(?:a|an|the|our|and return) [^.\n]{0,60}?(?:agreement|licen[cs]e|form|terms)\b"
    r"|\bagreements? must be signed\b"
    r"|\b(?:only )?available (?:only )?(?:up)?on request\b"
    r"|\baccess (?:to the (?:data|dataset|corpus) )?(?:is|must be|has to be|can be|needs to be) "
    r"(?:restricted|requested|granted|approved)\b"
    r"|\brequest(?:ing)? access\b|\bagree to (?:the )?[\w ]{0,40}?Terms of Access\b"
    r"|\bhas requested permission to use\b",
    re.IGNORECASE,
)


def find_access_restriction(text: str) -> str | None:
    """Return the line or sentence that says that not everybody gets the data, or None."""
    searched = remove_comments(text[:MAX_SEARCHED_LENGTH])
    match = _RESTRICTED.search(searched)
    if match is None:
        return None

    # A sentence lies between line breaks or full stops, or at the beginning or the end of the text.
    separators = ("\n", ". ")
    text_before = searched[: match.start()]
    starts = [text_before.rfind(separator) + len(separator) for separator in separators if separator in text_before]
    ends = [searched.find(separator, match.end()) for separator in separators]

    start = max(starts, default=0)
    end = min((end for end in ends if end >= 0), default=len(searched))
    return searched[start:end].strip()[:500]
