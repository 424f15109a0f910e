"""Licences of datasets, as sources word them and as SPDX expressions.

SPDX (ISO/IEC 5962) lists identifiers for licences, such as `CC-BY-4.0`, and combines them into expressions with AND, OR
and WITH. Sources rarely use them: they write "Creative Commons Attribution 4.0 International" or give an address. This
module takes such a wording and returns it together with its expression, or without one if several licences or versions
could be meant.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Final

from license_expression import ExpressionError, Licensing, get_spdx_licensing

from touchstone.metadata.prose import on_one_line

UNKNOWN_LICENCE: Final = "unknown"
"""The filter value for records without a known licence."""

# Wordings for an unknown licence. They do not mean that there is none.
_UNKNOWN: Final = frozenset(
    {"", "unknown", "unspecified", "notspecified", "not specified", "license not specified", "licence not specified",
     "not found", "none", "n/a", "na", "license unknown", "various", "null"}
)  # fmt: skip

# Unambiguous spellings of a licence and its version, in the form that `_lookup_key` returns.
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
    "https://opendatacommons.org/licenses/by": "ODC-By-1.0",
    "https://opendatacommons.org/licenses/by/1-0": "ODC-By-1.0",
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
    "open government licence v3.0": "OGL-UK-3.0",
    "open government licence 3.0": "OGL-UK-3.0",
    "https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3": "OGL-UK-3.0",
    "http://www.nationalarchives.gov.uk/doc/open-government-licence/version/3": "OGL-UK-3.0",
    "lov2": "etalab-2.0",
    "etalab 2.0": "etalab-2.0",
    "licence ouverte 2.0": "etalab-2.0",
    "licence ouverte v2.0": "etalab-2.0",
    "licence ouverte version 2.0": "etalab-2.0",
    "open licence 2.0": "etalab-2.0",
    "open licence version 2.0": "etalab-2.0",
    "licence ouverte / open licence version 2.0": "etalab-2.0",
    "licence ouverte / open licence 2.0": "etalab-2.0",
    "dl-de-by-2.0": "DL-DE-BY-2.0",
    "dl-de/by-2-0": "DL-DE-BY-2.0",
    "http://dcat-ap.de/def/licenses/dl-by-de/2.0": "DL-DE-BY-2.0",
    "https://www.govdata.de/dl-de/by-2-0": "DL-DE-BY-2.0",
    "dl-de-zero-2.0": "DL-DE-ZERO-2.0",
    "dl-de/zero-2-0": "DL-DE-ZERO-2.0",
    "http://dcat-ap.de/def/licenses/dl-zero-de/2.0": "DL-DE-ZERO-2.0",
    "https://www.govdata.de/dl-de/zero-2-0": "DL-DE-ZERO-2.0",
    "cc 0": "CC0-1.0",
    "cc0 1.0": "CC0-1.0",
    "cc0": "CC0-1.0",
    "cc-0": "CC0-1.0",
    "cc-zero": "CC0-1.0",
    "cc zero": "CC0-1.0",
    "cc0 1.0 universal": "CC0-1.0",
    "cc0 1.0 universal (cc0 1.0) public domain dedication": "CC0-1.0",
    "creative commons zero v1.0 universal": "CC0-1.0",
    "cc0: public domain": "CC0-1.0",
    "creative commons zero (cc-0": "CC0-1.0",
    "https://creativecommons.org/public-domain/cc0": "CC0-1.0",
    "public domain": "LicenseRef-PublicDomain",
    "public-domain": "LicenseRef-PublicDomain",
    "other-pd": "LicenseRef-PublicDomain",
    "in the public domain": "LicenseRef-PublicDomain",
    "http://www.usa.gov/publicdomain/label/1.0": "LicenseRef-US-PublicDomain",
    "https://www.usa.gov/government-works": "LicenseRef-US-PublicDomain",
}

# All patterns for licences match the form that `_lookup_key` returns, which is in lower case.

# Matches "cc-by-sa-4.0", "cc by 4" and "ccby-nc4.0-international". It does not match "cc-by-sa", which lacks a version.
_CC_CODE: Final = re.compile(
    r"""
    cc[- ]?
    (?P<conditions>by(?:[- ]nc)?(?:[- ](?:sa|nd))?)
    [- ]?v?(?P<version>[1-4](?:\.[05])?)
    (?:[- ]international)?
    """,
    re.VERBOSE,
)
# Matches "https://creativecommons.org/licenses/by-sa/3.0/us" and ".../publicdomain/zero/1.0". It does not match
# "https://creativecommons.org/licenses/by-sa", which lacks a version.
_CC_ADDRESS: Final = re.compile(
    r"""
    https?://(?:www\.)?creativecommons\.org/(?:licenses|publicdomain)
    /(?P<conditions>[a-z-]+)
    /(?P<version>\d\.\d)
    (?:/[a-z.]{2,8})?  # a country, or the page for a language such as "deed.fr"
    """,
    re.VERBOSE,
)
# Matches "creative commons attribution-noncommercial 4.0 international". It does not match "creative commons
# attribution", which lacks a version.
_CC_NAME: Final = re.compile(
    r"""
    (?:creative[ ]commons[ ])?attribution
    (?P<conditions>(?:[- ](?:
        noncommercial|non-commercial|sharealike|share-alike|noderivatives|noderivs|no[ ]derivatives
    ))*)
    (?:[- ]version)?[- ]v?(?P<version>[1-4]\.[05])
    (?:[ ](?:international|unported|generic))?
    (?:[ ]license)?
    """,
    re.VERBOSE,
)
# The codes of the conditions in the name of a Creative Commons licence, in the order in which SPDX writes them.
_CC_CONDITION_CODES: Final = (
    (re.compile("non-?commercial"), "NC"),
    (re.compile("share-?alike"), "SA"),
    (re.compile("no[- ]?deriv"), "ND"),
)
# Matches "https://opensource.org/licenses/mit", "https://spdx.org/licenses/cc-by-4.0.html" and
# "https://opendatacommons.org/licenses/odbl/1-0". It does not match pages of other sites, which may be about anything.
_LICENCE_ADDRESS: Final = re.compile(
    r"""
    https?://(?:www\.)?
    (?:choosealicense\.com/licenses|spdx\.org/licenses|opensource\.org/licen[cs]es?|opendatacommons\.org/licenses)
    /(?P<name>[a-z0-9.+-]+?)
    (?:\.html)?
    (?:/1[-.]0)?  # the version, which is 1.0 for all licences of Open Data Commons
    """,
    re.VERBOSE,
)

# The addresses of the European Union's list of licences begin with this. They end with a code such as "cc_byncsa_4_0".
_EUROPEAN_LIST: Final = re.compile(r"https?://publications\.europa\.eu/resource/authority/licence/")
_EUROPEAN_CC_CODE: Final = re.compile(r"cc_by(?P<noncommercial>nc)?(?P<change>sa|nd)?_(?P<major>\d)_(?P<minor>\d)")
_EUROPEAN_CODES: Final[Mapping[str, str]] = {
    "cc0": "CC0-1.0",
    "odc_bl": "ODbL-1.0",
    "odc_by": "ODC-By-1.0",
    "odc_pddl": "PDDL-1.0",
}
# Matches "creative commons attribution 4.0 international (cc by 4.0", whose last parenthesis the lookup key lacks.
_NAME_AND_CODE: Final = re.compile(r"(?P<name>[^()]+) \((?P<code>[^()]+)")

# A string with one of these operators is intended as an SPDX expression. In lower case, they are ordinary words:
# "terms and conditions".
_OPERATOR: Final = re.compile(r"\b(?:AND|OR|WITH)\b")
# A longer text is an agreement, which only takes long to parse.
_MAX_EXPRESSION_LENGTH: Final = 200

# Licences that let anyone obtain the data. `NC` and `ND` restrict its use, but not who may obtain it.
_OPEN_ACCESS: Final = re.compile(
    r"^(?:CC0|CC-BY|MIT|Apache|BSD|GPL|AGPL|LGPL|GFDL|ODbL|ODC-By|PDDL|CDLA|OGL|C-UDA|Unlicense|ISC|AFL|MPL|EPL|Artistic"
    r"|MS-PL|etalab|DL-DE|LicenseRef-.*PublicDomain)"
)

_licensing_lock: Final = Lock()


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence in the wording of a source.

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
    """Return a licence with its SPDX expression if the wording identifies one version of one licence.

    There is no expression for `cc-by-sa` without a version, `other`, `Public` or the names of agreements.
    """
    wording = on_one_line(text)
    return Licence(_find_expression(wording), wording)


def most_telling_name(candidates: Iterable[object]) -> str | None:
    """Return the name that says most about a licence: the first one with an SPDX expression, or else the first one.

    Candidates that are empty or not strings are ignored. The result is None if there are no others.
    """
    names = [name for name in candidates if isinstance(name, str) and name]
    identified_names = (name for name in names if normalize_licence(name).spdx is not None)
    return next(identified_names, names[0] if names else None)


def combine_licences(texts: Iterable[str]) -> Licence | None:
    """Combine all licences of a dataset, or return None if there are none.

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

    # AND binds more strongly than OR, so a choice such as "MIT OR Apache-2.0" needs parentheses.
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
    """Return whether the wording only means that the licence is unknown."""
    return _lookup_key(text) in _UNKNOWN


def licence_alternatives(expression: str) -> tuple[str, ...]:
    """Return the alternatives in an SPDX expression: `MIT OR Apache-2.0` has two.

    Licences joined by AND form one alternative, in alphabetical order, because all of them apply.
    """
    parsed = _licensing().parse(expression).simplify()
    alternatives = parsed.args if isinstance(parsed, _licensing().OR) else (parsed,)
    return tuple(str(alternative.render("{symbol.key}")) for alternative in alternatives)


def requested_licences(filter_value: str) -> tuple[str, ...] | None:
    """Return the licences that a value of the filter `license` asks for, or None if the value is malformed.

    The value is `unknown`, a family such as `CC-BY-*`, or a licence in any spelling. An SPDX expression asks for each
    of its alternatives: `MIT OR Apache-2.0` for two licences. A value without an expression asks for the licence with
    exactly this wording, because sources also name licences that SPDX does not list, such as "TERMS AND CONDITIONS".
    """
    wording = on_one_line(filter_value)
    if not _lookup_key(wording):
        return None
    if is_unknown_licence(wording):
        return (UNKNOWN_LICENCE,)

    # A family has no spaces. In a sentence, a `*` is part of the wording.
    if "*" in wording and " " not in wording:
        return _licence_family(wording)

    expression = _find_expression(wording)
    if expression is None:
        return None if _is_incomplete_expression(wording) else (wording,)

    # Parentheses at the ends are ignored when a wording is looked up, so an expression is found even for "(MIT".
    if not _has_paired_parentheses(wording):
        return None
    return licence_alternatives(expression)


def _is_incomplete_expression(text: str) -> bool:
    """Return whether a string is an SPDX expression that lacks an operand or a parenthesis, such as "MIT OR"."""
    operands = _OPERATOR.split(text)
    has_operator = len(operands) > 1
    if not has_operator:
        return False

    lacks_operand = any(not operand.strip(" ()") for operand in operands)
    return lacks_operand or not _has_paired_parentheses(text)


def _has_paired_parentheses(text: str) -> bool:
    """Return whether the parentheses in a string are balanced."""
    depth = 0
    for character in text:
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        if depth < 0:
            return False
    return depth == 0


def _licence_family(pattern: str) -> tuple[str, ...] | None:
    """Return the SPDX licences that match a pattern such as `CC-BY-*`, or None if there are none.

    The pattern itself is one of them, because sources also name a family when they leave the version open.
    """
    if pattern.count("*") != 1 or not pattern.endswith("*"):
        return None

    prefix = pattern.removesuffix("*").casefold()
    identifiers = {*_licensing().known_symbols, *_SPELLINGS.values()}
    members = sorted(identifier for identifier in identifiers if identifier.casefold().startswith(prefix))
    return (*members, pattern) if members else None


def _lookup_key(wording: str) -> str:
    """Return the form of a wording that the tables and patterns of this module use.

    It is in lower case, without punctuation at its ends, and without the parts of an address that name a page about the
    same licence, such as `/legalcode`.
    """
    key = on_one_line(wording).casefold().strip(" '\"/.,;()[]")
    return key.removesuffix("/legalcode").removesuffix("/deed.en").rstrip("/")


def _find_expression(wording: str) -> str | None:
    """Return the SPDX expression for a wording, or None if it is ambiguous or not a licence."""
    key = _lookup_key(wording)
    if key in _UNKNOWN:
        return None
    known_expression = _SPELLINGS.get(key) or _creative_commons(key) or _european_licence(key)
    if known_expression is not None:
        return known_expression

    # A name is often followed by its code. Other words in parentheses may limit the licence.
    repetition = _NAME_AND_CODE.fullmatch(key)
    if repetition is not None:
        expression = _find_expression(repetition["name"])
        return expression if expression == _find_expression(repetition["code"]) else None

    # The last step of an address is a name of the licence: https://opensource.org/licenses/mit
    address = _LICENCE_ADDRESS.fullmatch(key)
    if address is not None:
        return _find_expression(address["name"])
    return _canonical_expression(wording)


def _creative_commons(key: str) -> str | None:
    """Return the SPDX identifier of a Creative Commons licence, or None for any other licence.

    Args:
        key: the lookup key of an address, of a code such as `cc by-sa 4.0`, or of the full name.
    """
    address = _CC_ADDRESS.fullmatch(key)
    if address is not None:
        if address["conditions"] == "zero":
            return f"CC0-{address['version']}"
        return _known_identifier(f"CC-{address['conditions'].upper()}-{address['version']}")

    code = _CC_CODE.fullmatch(key)
    if code is not None:
        conditions = code["conditions"].upper().replace(" ", "-")
        version = code["version"] if "." in code["version"] else f"{code['version']}.0"
        return _known_identifier(f"CC-{conditions}-{version}")

    name = _CC_NAME.fullmatch(key)
    if name is not None:
        condition_codes = [code for pattern, code in _CC_CONDITION_CODES if pattern.search(name["conditions"])]
        return _known_identifier("-".join(["CC-BY", *condition_codes, name["version"]]))
    return None


def _european_licence(key: str) -> str | None:
    """Return the SPDX identifier for an address in the European Union's list of licences, or None."""
    address = _EUROPEAN_LIST.match(key)
    if address is None:
        return None

    code = key[address.end() :]
    cc_code = _EUROPEAN_CC_CODE.fullmatch(code)
    if cc_code is None:
        return _EUROPEAN_CODES.get(code)
    conditions = "-".join(part for part in ("by", cc_code["noncommercial"], cc_code["change"]) if part)
    return _known_identifier(f"CC-{conditions.upper()}-{cc_code['major']}.{cc_code['minor']}")


def _known_identifier(identifier: str) -> str | None:
    """Return an identifier, or None if SPDX does not list it."""
    return identifier if identifier in _licensing().known_symbols else None


def _canonical_expression(text: str) -> str | None:
    """Return a valid SPDX expression with the capitals of SPDX, or None if the string is not a valid expression."""
    if len(text) > _MAX_EXPRESSION_LENGTH or "://" in text:
        return None
    try:
        parsed = _licensing().parse(text, validate=True, strict=True)
    except (ExpressionError, AttributeError, TypeError):
        # The parser raises the last two for some invalid expressions.
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
