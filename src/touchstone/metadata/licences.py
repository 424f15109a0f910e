"""Licences of datasets: the wording of the source, and the SPDX expression if it is unambiguous."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Final

from license_expression import ExpressionError, Licensing, get_spdx_licensing

UNKNOWN_LICENCE: Final = "unknown"
"""The filter value for records without a known licence."""

# Words that say that the licence is not known, which does not mean that there is none.
_UNKNOWN: Final = frozenset(
    {"", "unknown", "unspecified", "notspecified", "not specified", "not found", "none", "n/a", "na", "license unknown",
     "various", "null"}
)  # fmt: skip

# Unambiguous spellings of a licence and its version, in the form that `_simplify` returns.
_SPELLINGS: Final = {
    "apache license 2.0": "Apache-2.0",
    "apache license version 2.0": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache2": "Apache-2.0",
    "http://www.apache.org/licenses/license-2.0": "Apache-2.0",
    "https://www.apache.org/licenses/license-2.0": "Apache-2.0",
    "mit": "MIT",
    "mit license": "MIT",
    "the mit license": "MIT",
    "bsd 2-clause license": "BSD-2-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "the 3-clause bsd license": "BSD-3-Clause",
    "artistic license 2.0": "Artistic-2.0",
    "academic free license v3.0": "AFL-3.0",
    "epl 1.0": "EPL-1.0",
    "isc license": "ISC",
    "mpl 2.0": "MPL-2.0",
    "microsoft public license": "MS-PL",
    "gnu general public license v3.0": "GPL-3.0-only",
    "gnu general public license v2.0": "GPL-2.0-only",
    "gpl-3.0": "GPL-3.0-only",
    "gpl-2.0": "GPL-2.0-only",
    "agpl-3.0": "AGPL-3.0-only",
    "lgpl-3.0": "LGPL-3.0-only",
    "lgpl 3.0": "LGPL-3.0-only",
    "lgpl-2.1": "LGPL-2.1-only",
    "lgpl 2.1": "LGPL-2.1-only",
    "unlicense": "Unlicense",
    "c-uda": "C-UDA-1.0",
    "c-uda-1.0": "C-UDA-1.0",
    "odbl": "ODbL-1.0",
    "odbl-1.0": "ODbL-1.0",
    "open data commons open database license": "ODbL-1.0",
    "open data commons open database license 1.0": "ODbL-1.0",
    "odc-by": "ODC-By-1.0",
    "odc-by-1.0": "ODC-By-1.0",
    "odc by 1.0": "ODC-By-1.0",
    "open data commons attribution license": "ODC-By-1.0",
    "pddl": "PDDL-1.0",
    "odc-pddl-1.0": "PDDL-1.0",
    "odc-pddl": "PDDL-1.0",
    "open data commons public domain dedication and license 1.0": "PDDL-1.0",
    "open data commons public domain dedication and licence": "PDDL-1.0",
    "cdla permissive 1.0": "CDLA-Permissive-1.0",
    "cdla sharing 1.0": "CDLA-Sharing-1.0",
    "ogl 3.0": "OGL-UK-3.0",
    "ogl-uk-3.0": "OGL-UK-3.0",
    "uk-ogl": "OGL-UK-3.0",
    "cc 0": "CC0-1.0",
    "cc0 1.0": "CC0-1.0",
    "cc0": "CC0-1.0",
    "cc-0": "CC0-1.0",
    "cc-zero": "CC0-1.0",
    "cc zero": "CC0-1.0",
    "cc0 1.0 universal": "CC0-1.0",
    "creative commons zero v1.0 universal": "CC0-1.0",
    "cc0: public domain": "CC0-1.0",
    "creative commons zero (cc-0": "CC0-1.0",
    "https://creativecommons.org/public-domain/cc0": "CC0-1.0",
    "public domain": "LicenseRef-PublicDomain",
    "public-domain": "LicenseRef-PublicDomain",
    "other-pd": "LicenseRef-PublicDomain",
    "in the public domain": "LicenseRef-PublicDomain",
    "http://www.usa.gov/publicdomain/label/1.0": "LicenseRef-US-PublicDomain",
}

_CC_CODE: Final = re.compile(r"cc[- ]?(by(?:[- ]nc)?(?:[- ](?:sa|nd))?)[- ]?v?([1-4](?:\.[05])?)(?:[- ]international)?")
_CC_ADDRESS: Final = re.compile(
    r"https?://(?:www\.)?creativecommons\.org/(?:licenses|publicdomain)/([a-z-]+)/(\d\.\d)(?:/[a-z.]{2,8})?"
)
_CC_WORDS: Final = re.compile(
    r"(?:creative commons )?attribution((?:[- ](?:noncommercial|non-commercial|sharealike|share-alike|noderivatives"
    r"|noderivs|no derivatives))*)(?:[- ]version)?[- ]v?([1-4]\.[05])"
    r"(?: (?:international|unported|generic))?(?: license)?"
)
_CC_WORD_CODES: Final = (
    (re.compile("non-?commercial"), "NC"),
    (re.compile("share-?alike"), "SA"),
    (re.compile("no[- ]?deriv"), "ND"),
)
_LICENCE_ADDRESS: Final = re.compile(
    r"https?://(?:www\.)?(?:choosealicense\.com/licenses|spdx\.org/licenses|opensource\.org/licen[cs]es?"
    r"|opendatacommons\.org/licenses)/([a-z0-9.+-]+?)(?:\.html)?(?:/1[-.]0)?"
)

# A string with one of these operators is intended as an SPDX expression.
_OPERATOR: Final = re.compile(r"\b(?:AND|OR|WITH)\b")

# Licences that let anyone obtain the data. `NC` and `ND` restrict its use, but not who may obtain it.
_OPEN_ACCESS: Final = re.compile(
    r"^(?:CC0|CC-BY|MIT|Apache|BSD|GPL|AGPL|LGPL|GFDL|ODbL|ODC-By|PDDL|CDLA|OGL|C-UDA|Unlicense|ISC|AFL|MPL|EPL|Artistic"
    r"|MS-PL|LicenseRef-.*PublicDomain)"
)


_licensing_lock: Final = Lock()


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence as a source names it.

    Attributes:
        spdx: the SPDX expression, or None if the licence or its version is ambiguous.
        text: the wording of the source.
    """

    spdx: str | None
    text: str

    @property
    def is_open(self) -> bool:
        """Whether anyone may obtain the data under this licence."""
        return self.spdx is not None and _OPEN_ACCESS.match(self.spdx) is not None


def normalize_licence(text: str) -> Licence:
    """Return a licence with its SPDX expression if the wording names one licence in one version.

    There is no expression for `cc-by-sa` without a version, `other`, `Public` or the names of agreements.
    """
    original = " ".join(text.split())
    simple = _simplify(original)
    return Licence(_find_expression(simple, original), original)


def combine_licences(texts: Iterable[str]) -> Licence | None:
    """Combine all licences that a source names for a dataset, or return None if it names none.

    All of them may apply, so their SPDX expressions are joined by AND. If one of them has no expression, the
    combination has none either. Values such as "unknown" are left out.
    """
    licences = [normalize_licence(text) for text in dict.fromkeys(texts) if not is_unknown_licence(text)]
    if not licences:
        return None

    combined_text = "; ".join(licence.text for licence in licences)
    expressions = [licence.spdx for licence in licences if licence.spdx is not None]
    if len(expressions) < len(licences):
        return Licence(None, combined_text)

    distinct_expressions = list(dict.fromkeys(expressions))
    if len(distinct_expressions) == 1:
        return Licence(distinct_expressions[0], combined_text)

    # AND binds more strongly than OR.
    operands = [f"({expression})" if " OR " in expression else expression for expression in distinct_expressions]
    return Licence(" AND ".join(operands), combined_text)


def licence_addresses(expression: str) -> list[str]:
    """Return the addresses of the licences in an SPDX expression if all of them apply.

    The result is empty for anything else: no SPDX expression, a choice, or a licence that SPDX does not list.
    """
    identifiers = expression.split(" AND ")
    if any(_known_identifier(identifier) is None for identifier in identifiers):
        return []
    return [f"https://spdx.org/licenses/{identifier}" for identifier in identifiers]


def is_unknown_licence(text: str) -> bool:
    """Return whether the wording only says that the licence is not known."""
    return _simplify(text) in _UNKNOWN


def licence_alternatives(expression: str) -> tuple[str, ...]:
    """Return the alternatives in an SPDX expression: `MIT OR Apache-2.0` has two.

    Licences joined by AND form one alternative, in alphabetical order, because all of them apply.
    """
    parsed = _licensing().parse(expression).simplify()
    alternatives = parsed.args if isinstance(parsed, _licensing().OR) else (parsed,)
    return tuple(str(alternative.render("{symbol.key}")) for alternative in alternatives)


def licence_filter_words(text: str) -> tuple[str, ...] | None:
    """Return the licences that a filter value selects, or None if the value is malformed.

    The value is an SPDX expression, a family such as `CC-BY-*`, or `unknown`. Any other value selects the licence with
    exactly this wording, because sources also name licences that SPDX does not list, such as "TERMS AND CONDITIONS".
    A family has no spaces, so that a `*` in a sentence is part of the wording.
    """
    simple = _simplify(text)
    if not simple:
        return None
    if simple in _UNKNOWN:
        return (UNKNOWN_LICENCE,)

    trimmed_text = " ".join(text.split())
    if "*" in trimmed_text and " " not in trimmed_text:
        return _licence_family(trimmed_text)

    expression = _find_expression(simple, trimmed_text)
    if expression is not None:
        return licence_alternatives(expression) if _has_paired_parentheses(text) else None

    return None if _is_incomplete_expression(text) else (trimmed_text,)


def _is_incomplete_expression(text: str) -> bool:
    """Return whether an SPDX expression lacks an operand or a parenthesis."""
    operands = _OPERATOR.split(text)
    if len(operands) == 1:
        return False
    return not all(operand.strip(" ()") for operand in operands) or not _has_paired_parentheses(text)


def _has_paired_parentheses(text: str) -> bool:
    """Return whether the parentheses in a string are balanced."""
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def _licence_family(pattern: str) -> tuple[str, ...] | None:
    """Return the SPDX licences that match a pattern with a trailing `*`, or None if there are none.

    The pattern itself is one of them, because sources also name a family when they leave the version open.
    """
    prefix = pattern.casefold()
    if prefix.count("*") != 1 or not prefix.endswith("*"):
        return None

    identifiers = {*_licensing().known_symbols, *_SPELLINGS.values()}
    members = sorted(name for name in identifiers if name.casefold().startswith(prefix[:-1]))
    return (*members, pattern) if members else None


def _simplify(text: str) -> str:
    """Convert a spelling to lower case, and strip spaces, quotes, punctuation and suffixes such as `/legalcode`."""
    simple = " ".join(text.split()).casefold().strip(" '\"/.,;()[]")
    return simple.removesuffix("/legalcode").removesuffix("/deed.en").rstrip("/")


def _find_expression(simple: str, original: str) -> str | None:
    """Return the SPDX expression of a simplified spelling, or None if it is ambiguous."""
    if simple in _UNKNOWN:
        return None
    known = _SPELLINGS.get(simple) or _creative_commons(simple)
    if known is not None:
        return known

    address = _LICENCE_ADDRESS.fullmatch(simple)
    if address is not None:
        return _find_expression(address.group(1), address.group(1))
    return _spdx_expression(original)


def _creative_commons(simple: str) -> str | None:
    """Return the SPDX identifier of a Creative Commons licence, or None if the spelling names another licence.

    The spelling may be an address, a code such as `cc by-sa 4.0`, or the full name.
    """
    address = _CC_ADDRESS.fullmatch(simple)
    if address is not None:
        kind, version = address.groups()
        if kind == "zero":
            return f"CC0-{version}"
        return _known_identifier(f"CC-{kind.upper()}-{version}")

    code = _CC_CODE.fullmatch(simple)
    if code is not None:
        kind, version = code.groups()
        conditions_code = kind.upper().replace(" ", "-")
        full_version = version if "." in version else f"{version}.0"
        return _known_identifier(f"CC-{conditions_code}-{full_version}")

    words = _CC_WORDS.fullmatch(simple)
    if words is not None:
        conditions = [letters for pattern, letters in _CC_WORD_CODES if pattern.search(words.group(1))]
        return _known_identifier("-".join(["CC-BY", *conditions, words.group(2)]))
    return None


def _known_identifier(identifier: str) -> str | None:
    """Return an identifier, or None if SPDX does not list it."""
    return identifier if identifier in _licensing().known_symbols else None


def _spdx_expression(text: str) -> str | None:
    """Return a valid SPDX expression in its canonical spelling, or None if it is not valid."""
    if len(text) > 200 or "://" in text:
        return None
    try:
        parsed = _licensing().parse(text, validate=True, strict=True)
    except (ExpressionError, AttributeError, TypeError):
        return None
    return None if parsed is None else str(parsed.render("{symbol.key}"))


def _licensing() -> Licensing:
    """Return the parser of SPDX expressions, which is loaded once."""
    with _licensing_lock:
        return _load_licensing()


@cache
def _load_licensing() -> Licensing:
    """Load the parser and its list of licences. The caller must hold the lock."""
    licensing = get_spdx_licensing()
    # The library builds this part lazily, and other threads could see it incomplete.
    licensing.get_advanced_tokenizer()
    return licensing
