"""Rules about the stewardship of the data: security, quality, record keeping and purpose."""

import re
from typing import Final

from touchstone.metadata.extraction.cues import (
    ABOUT_DATA,
    ABOUT_DATA_NEGATIVE,
    SILENT_HEADINGS,
    SILENT_OR_LEGAL_HEADINGS,
    STANDING_RULE,
    CueRule,
    cue_pattern,
)
from touchstone.metadata.extraction.negations_and_plans import Objection

SECURITY: Final = "security_measures_in_place"
QUALITY: Final = "data_quality_documented"
RECORD_KEEPING: Final = "record_keeping_policy_exists"
PURPOSE: Final = "purpose_limitation_respected"

INTENDED_USE: Final = "intended use"
EXCLUDED_USE: Final = "excluded use"

# The data as a whole, or its parts.
_DATA: Final = (
    r"(?:data|data ?sets?|corpus|corpora|data ?base|collection|annotations?|labels?|examples?|instances?|samples?"
    r"|sentences?|pairs?|images?|recordings?|records?|items?|questions?|answers?|documents?|articles?|texts?|tweets?"
    r"|transcripts?|transcriptions?|translations?|readings|measurements|pages|files|clips"
    r"|entries|dialogues?|dialogs?|summaries|rows|reviews|stories)"
)
# Faults of data, and the parts that have them.
_FAULTY: Final = (
    r"(?:nois[ey]\w*|duplicat\w*|near-duplicates?|invalid|low[ -]quality|incorrect\w*|wrong\w*|erroneous|corrupt\w*"
    r"|malformed|spam|incomplete|ungrammatical|ill-formed|bad|unreliable|ambiguous|inconsistent|mislabel\w*|boilerplate"
    r"|false positives?|html(?: tags?| markup)?|broken|irrelevant|outliers?|empty|non-english|typos|errors?|artifacts?"
    r"|garbage|misaligned)"
)
# A check for personal information is not a quality check.
_NOT_ABOUT_QUALITY: Final = re.compile(rf"{SILENT_OR_LEGAL_HEADINGS.pattern}|personal|sensitive", re.IGNORECASE)
# The beginning of a clause that describes the removed items ("files without a label").
_DEFECT: Final = r"(?:that|which|with|without|shorter|longer|containing|where|whose|having|not in|less than|fewer)\b"
# Standing rules often mention other datasets: "earlier releases will remain available".
_STANDING_AGREEMENT: Final = STANDING_RULE - {Objection.OTHER_DATASET}

SECURITY_RULES: Final = (
    CueRule(
        SECURITY,
        value=True,
        pattern=cue_pattern(
            r"(?:access (?:to (?:\w+ ){0,6})?(?:is|are|was|has been) (?:\w+ )?(?:restricted|controlled|limited to"
            r"|granted (?:only|after|upon|on)|gated|password)"
            r"|(?:restricted|controlled|credentialed|gated)[ -]access\b|access[ -]control(?:s|led)?\b"
            r"|(?:are|is|was|were|been) (?:\w+ )?encrypted\b|encrypted (?:at rest|in transit|storage|server|form)"
            r"|secure (?:data )?(?:enclave|server|environment|facility|storage|platform|research)"
            r"|(?:must|need to|have to|required to|requires? (?:\w+ )?to|requires?|after|by|upon) (?:first )?"
            r"(?:sign(?:ing|ed)?|complet(?:e|ing)|fill(?:ing)? (?:in|out)|accept(?:ing)?|agree(?:ing)?(?: to)?)"
            r" (?:\w+ ){0,6}(?:agreement|dua|nda|data usage|confidentiality|request form|training)\b"
            r"|(?:credentialed|vetted|accredited|approved) (?:\w+ )?(?:users|researchers|investigators)\b"
            r"|(?:data (?:use|usage|user|access|sharing|transfer)|non-?disclosure|confidentiality"
            r"|end[ -]user) agreement)"
        ),
        note="access is under control or needs an agreement",
        example="Users must sign a data use agreement.",
        voided_by=_STANDING_AGREEMENT,
        unless=cue_pattern(
            r"(?:inter-annotator|counting|statistics only"
            r"|(?:unlike|in contrast (?:to|with)|as opposed to|compared (?:to|with)) [^,;]{0,80}"
            r"(?:, (?:which|whose|where)\b[^,;]{0,80})?"
            r"\b(?:requir\w+|agreements?|restricted|controlled|credentialed|gated|encrypted))"
        ),
        silent_under=SILENT_HEADINGS,
    ),
    CueRule(
        SECURITY,
        value=True,
        pattern=cue_pattern(
            r"(?:agree(?:s|d|ing)?|undertake|promise|commit|forbidden|prohibited|not allowed|must not|may not"
            r"|shall not)\b"
            r".{0,80}\b(?:re-?identify|re-?identification|determine the identity|identify (?:any |the )?(?:individuals?"
            r"|speakers?|persons?|people|patients?|participants?|users?|subjects?)|de-?anonymi[sz]e)"
        ),
        note="an agreement against re-identification",
        example="Users must not try to re-identify individuals.",
        voided_by=_STANDING_AGREEMENT - {Objection.NEGATED},
        silent_under=SILENT_HEADINGS,
    ),
    CueRule(
        SECURITY,
        value=False,
        pattern=cue_pattern(
            r"(?:(?:sensitive|personal|confidential|private) (?:data|information|records?)\b.{0,80}\b(?:without"
            r"|no|not under|unprotected)\b.{0,40}\b(?:protection|access control|encryption|restrictions?|safeguards?)"
            r"|no (?:\w+ ){0,2}(?:security|access|protection) (?:measures?|controls?|safeguards?)\b)"
        ),
        note="sensitive data stand open without protection",
        example="Personal data are published without any protection.",
        voided_by=ABOUT_DATA_NEGATIVE,
    ),
)

QUALITY_RULES: Final = (
    CueRule(
        QUALITY,
        value=True,
        pattern=cue_pattern(
            r"(?:(?:kappa|[κα]|k-?alpha|krippendorff['’]?s?|fleiss['’]?|cohen['’]?s?|inter-?(?:annotator|rater|coder"
            r"|labell?er)|annotators?['’]? agreement|agreement (?:rate|score|of|between|among|was|is)|iaa)\b.{0,120}"
            r"(?:\b0?\.\d+|\d+(?:\.\d+)? ?%|\b(?:high|low|moderate|substantial|strong|almost perfect|good|fair)\b)"
            r"|(?:\b0?\.\d+|\d+(?:\.\d+)? ?%|(?:high|low|moderate|substantial|strong|almost perfect|good) )"
            r".{0,60}\b(?:kappa|krippendorff|inter-?(?:annotator|rater|coder)|(?:annotator )?agreement\b)"
            r"|(?:measur|comput|calculat|report|assess|evaluat|estimat)\w*\b.{0,80}\b(?:inter-?(?:annotator|rater"
            r"|coder) (?:agreement|reliability)|kappa|krippendorff))"
        ),
        note="agreement between annotators was measured",
        example="The agreement between annotators is 0.83 (kappa).",
        voided_by=ABOUT_DATA,
        unless=cue_pattern(r"(?:agreement (?:with the|to the) (?:licen|terms))"),
    ),
    CueRule(
        QUALITY,
        value=True,
        pattern=cue_pattern(
            r"(?:(?:were|was|are|is|been|being|we|and|then|also) (?:\w+ ){0,3}?"
            r"(?:verif(?:y|ied)|validated?|checked|double[- ]check(?:ed)?|proof-?read|cross-?checked|corrected|cleaned"
            r"|sanity[- ]checked|re-?annotated|re-?labell?ed|deduplicated|de-duplicated|manually"
            r" (?:checked|reviewed|inspected|evaluated|curated|filtered|cleaned)|quality[- ](?:checked|controlled)"
            r"|adjudicated|spot[- ]checked|audited)\b"
            r"|(?:quality (?:control|assurance|check\w*)|adjudicat\w+|manual (?:verification|validation"
            r"|correction|check\w*|cleaning|inspection|review)|human (?:verification|validation)|validation (?:step"
            r"|phase"
            r"|round|process))\b.{0,100}\b(?:was|were|is|are|has been|ensur\w+|conducted|performed|applied|done|removed"
            r"|by)\b)"
        ),
        note="the data were checked or corrected",
        example="All labels were checked by a second annotator.",
        voided_by=ABOUT_DATA,
        silent_under=_NOT_ABOUT_QUALITY,
        unless=cue_pattern(
            r"(?:personal|sensitive|offensive|licen[cs]\w+|cross-validation|(?-i:Cleaned)|train(?:ed)? and validat\w+"
            r"|validated on"
            r"|checksums?|models? (?:was|were|is|are) |annotators were|next (?:release|version)"
            r"|(?:errors|issues|mistakes) (?:\w+ ){0,4}reported)"
        ),
    ),
    CueRule(
        QUALITY,
        value=True,
        pattern=cue_pattern(
            rf"(?:(?:remov(?:e|ed|ing)|filter(?:ed|ing)?(?: out)?|discard(?:ed|ing)?|exclud(?:e|ed|ing)|drop(?:ped)?"
            rf"|cleaned|cleaning|eliminat(?:e|ed|ing)|prun(?:e|ed)|fix(?:ed|ing)|correct(?:ed|ing)|strip(?:ped)?)\b"
            rf".{{0,80}}\b{_FAULTY}\b"
            rf"|{_FAULTY}\b.{{0,60}}\b(?:was|were|are|is|been|being|to be) (?:\w+ ){{0,2}}(?:removed|filtered|discarded"
            r"|excluded|dropped|cleaned|eliminated|pruned|fixed|corrected|stripped|thrown out|left out)\b"
            r"|(?:was|were) (?:set to missing|re-?entered|re-?measured|imputed|winsori[sz]ed)\b"
            rf"|(?:filter(?:ed|ing)?(?: out)?|discard(?:ed|ing)?|remov(?:e|ed|ing)|exclud(?:e|ed"
            rf"|ing)) (?:\w+ ){{0,4}}{_DATA}\b {_DEFECT}"
            rf"|{_DATA} {_DEFECT}.{{0,80}}\b(?:was|were|are|is) (?:\w+ )?(?:filtered|discarded|removed|excluded)\b"
            r"|filtered out due to|de-?duplicat(?:ion|ed|ing)\b|clean-?ups?\b|(?:data )?cleaning (?:was|is|process"
            r"|steps?|script|to))"
        ),
        note="cleaning changed the data",
        example="We removed duplicate images.",
        voided_by=ABOUT_DATA,
        unless=cue_pattern(
            r"(?:grammatical error correction|error correction (?:task|system|model)|participants|required to"
            r"|next (?:release|version)|(?:errors|issues|mistakes) (?:\w+ ){0,4}reported"
            r"|fixed (?:set|list|number|length|size|vocabulary)\b)"
        ),
    ),
    CueRule(
        QUALITY,
        value=True,
        pattern=cue_pattern(
            rf"(?:{_DATA} (?:\w+ ){{0,4}}?(?:contains?|includes?|has|have|suffers? from)\b.{{0,60}}\b(?:noise|noisy"
            rf"|errors?"
            r"|mistakes|mislabel\w+|typos|inaccura\w+|duplicates?|inconsisten\w+|missing (?:values?|data|labels?)"
            r"|artifacts?|misspell\w+|gaps)"
            r"|(?:noise|noisy|errors?|mistakes|mislabel\w+|typos|inaccuracies|inaccurate|duplicates|inconsistencies"
            r"|missing values|artifacts|incomplete|misaligned|imperfect)\b.{0,40}\b(?:in|are|is|exist|occur|present)\b"
            rf".{{0,40}}\b{_DATA}\b"
            rf"|{_DATA} (?:\w+ ){{0,3}}(?:is|are) (?:\w+ ){{0,2}}(?:noisy|incomplete|imperfect|inaccurate|inconsistent"
            r"|mislabell?ed|incorrect|corrupted)\b"
            r"|(?:errors?|mistakes|typos|duplicates|noise) (?:\w+ ){0,2}(?:remains?|persists?)\b"
            rf"|{_DATA} (?:[\w-]+ ){{0,5}}(?:is|are|was|were) (?:\w+ )?missing\b"
            r"|still (?:contains?|includes?|has|have) (?:\w+ ){0,5}(?:noise|errors?|mistakes|duplicates|typos)\b"
            rf"|\d+ {_DATA} (?:with|have|are) (?:\w+ )?(?:missing|texts? missing)\b"
            r"|(?:\d+(?:\.\d+)? ?%|\d+) of (?:the |all )?(?:\w+ ){0,2}"
            rf"{_DATA}.{{0,60}}\b(?:wrong|incorrect|erroneous|mislabell?ed|missing|noisy|ambiguous|duplicates?"
            r"|invalid)"
            r"|\d+(?:\.\d+)? ?% of (?:the |all )?[\w-]+(?: [\w-]+){0,4} (?:is|are|was|were) (?:\w+ )?(?:wrong|erroneous"
            r"|mislabell?ed|missing|noisy|ambiguous|duplicate[sd]?|invalid|off)\b)"
        ),
        note="errors or gaps of the data are named",
        example="The labels contain some errors.",
        voided_by=ABOUT_DATA,
        unless=cue_pattern(
            r"(?:error correction|errors? (?:detection|analysis|types?)|grammatical errors?|spelling errors?"
            r"|less noisy|participants (?:are|were|have) (?:asked|required))"
        ),
    ),
    CueRule(
        QUALITY,
        value=True,
        pattern=cue_pattern(
            rf"{_DATA} (?:\w+ ){{0,3}}(?:do|does|are|is|was|were)(?: not|n['’]t) (?:\w+ )?(?:encode|cover|include"
            rf"|capture"
            r"|contain|exhaustive|complete|always (?:correct|accurate)|fully)\b"
        ),
        note="gaps of the data are named",
        example="The data do not cover rural areas.",
        voided_by=ABOUT_DATA_NEGATIVE,
        unless=cue_pattern(r"(?:personal|sensitive|offensive|annotations?|private|confidential|patient|identif\w+)"),
        under=cue_pattern(r"(?:.{0,200}(?:limitation|quality|known (?:errors|issues|gaps)))"),
    ),
    CueRule(
        QUALITY,
        value=True,
        pattern=cue_pattern(
            r"(?:devoid of|free (?:of|from)|reduces?|without) (?:\w+ ){0,3}(?:statistical irregularities|spurious"
            r"|annotation artifacts|artifacts|duplicates|errors|noise)\b"
        ),
        note="a check with its result",
        example="The images are free of duplicates.",
        voided_by=frozenset({Objection.PLANNED, Objection.SUPPOSED, Objection.QUESTION, Objection.OTHER_DATASET}),
        under=cue_pattern(r"(?:.{0,200}(?:citation|quality|annotation|source|collection|creation|limitation))"),
        silent_under=SILENT_HEADINGS,
    ),
    CueRule(
        QUALITY,
        value=False,
        pattern=cue_pattern(
            r"(?:quality|accuracy|correctness) (?:\w+ ){0,6}(?:was|were|is|has|have)(?: not|n['’]t)(?: been)? (?:\w+ )?"
            r"(?:checked|verified|assessed|validated|evaluated|controlled|guaranteed)\b"
            r"|(?:were|was|are|is|been)(?: not|n['’]t)(?: been)? (?:manually |further |systematically )?"
            r"(?:checked|verified|validated) for (?:quality|accuracy|errors|correctness)\b"
            r"|(?:have|has|were|was)(?: not|n['’]t)(?: been)? (?:manually )?(?:checked|verified|validated|reviewed) by"
            r" (?:\w+ ){0,2}(?:humans?|hand|people|experts?|anyone|annotators)\b"
            r"|no quality (?:control|checks?|assurance)\b"
        ),
        note="the quality was not checked",
        example="The quality of the labels was not checked.",
        voided_by=ABOUT_DATA_NEGATIVE,
        unless=cue_pattern(r"(?:remaining|rest of|some|other|that were|which were|those)\b"),
    ),
)

RECORD_RULES: Final = (
    CueRule(
        RECORD_KEEPING,
        value=True,
        pattern=cue_pattern(
            r"(?:(?:data ?set|data ?base|data|corpus|dump|list|version|releases?|updates?|snapshots?)\b.{0,60}\b(?:is"
            r"|are|gets?|will be|was|were) (?:\w+ )?(?:updated|released|published|refreshed|issued|versioned"
            r"|re-?released)\b"
            r".{0,60}\b(?:daily|weekly|monthly|quarterly|yearly|annually|regularly|periodically|every|as new"
            r"|tagged versions?|each (?:month|year|week|quarter|spring|summer|autumn|winter|january|july)"
            r"|(?:once|twice) an? (?:month|year|week)|six months)"
            r"|(?:old(?:er)?|previous|prior|past|all|earlier) versions? (?:\w+ ){0,4}(?:is|are|will be"
            r"|remain|stay) (?:\w+ )?"
            r"(?:kept|archived|available|retained|maintained|preserved|supported|hosted|accessible)"
            r"|(?:is|are|will be) (?:retained|kept|stored|archived|deleted|destroyed) (?:for|until|after|within) "
            r"|(?:is|are|will be) (?:deleted|destroyed|archived) (?:\w+ ){1,2}(?:days|weeks|months|years) after"
            r"|(?:errors|corrections|mistakes|issues)\b.{0,60}\b(?:is|are|get) (?:corrected|fixed|repaired)\b.{0,30}\b"
            r"(?:next|each|every|following) (?:release|version|update)"
            r"|(?:each|every) (?:day|week|month|year|quarter)\b.{0,60}\b(?:updates?|updated|releases?|new versions?)\b"
            r"|(?:retention|deletion|versioning|maintenance|update|archiving) (?:policy|period|plan|schedule|rules?)\b"
            r"|(?:is|are) (?:\w+ )?(?:documented|recorded|listed|tracked|logged) in (?:\w+ ){0,3}(?:change ?log|errata"
            r"|release notes)"
            r"|(?:errors|corrections|changes|updates|issues)\b.{0,60}\bwill be (?:\w+ )?(?:corrected|fixed|incorporated"
            r"|released|issued|published|announced|posted|communicated))"
        ),
        note="a rule for versions, maintenance, retention or deletion",
        example="Older versions will be archived.",
        voided_by=_STANDING_AGREEMENT,
        unless=cue_pattern(r"(?:models?|leaderboards?|websites?|wikipedia is|may be|if)"),
    ),
    CueRule(
        RECORD_KEEPING,
        value=False,
        pattern=cue_pattern(
            r"(?:(?:no longer|not|never|isn['’]t|n['’]t)(?: be| being| actively| currently| been| regularly)*"
            r" (?:maintained|supported|updated)\b"
            r"|no (?:further|more|future|new) (?:releases?|updates?|versions?) (?:is|are|will|planned)\b"
            r"|there will be no (?:further|more|future|new) (?:releases?|updates?|versions?)\b"
            r"|(?:nobody|no one|no-one) (?:\w+ ){0,2}(?:maintains|updates)\b"
            r"|no (?:plans? (?:to|for) (?:\w+ )?(?:updat\w*|maint\w*)|maintenance|updates? (?:are|is) planned)"
            r"|(?:old(?:er)?|previous) versions? (?:\w+ ){0,3}(?:are|will)(?: not|n['’]t) (?:be )?(?:kept|maintained"
            r"|supported|available|retained|hosted))"
        ),
        note="the data are not maintained, or old versions not kept",
        example="The dataset is no longer maintained.",
        voided_by=ABOUT_DATA_NEGATIVE - {Objection.PLANNED},
        unless=cue_pattern(r"(?:technical support|websites?|code|repository|paper|leaderboard)"),
    ),
)

PURPOSE_RULES: Final = (
    CueRule(
        PURPOSE,
        value=True,
        pattern=cue_pattern(
            r"(?:(?:is|are|was|were) (?:\w+ )?(?:intended|meant|designed|suitable) (?:only |solely |primarily "
            r"|to be used )?(?:for|to)\b|intended (?:use|purpose|usage|uses)\b|(?:should|must|may|can|is to"
            r"|are to) only be used (?:for|to|in)"
            r"|(?:is|are) (?:\w+ )?(?:provided|released|made available|shared) (?:only |solely )?for\b"
            r"|\Aintended (?:only |solely )?for\b|(?:we|authors) recommend (?:\w+ ){1,3}for\b"
            r"|recommended (?:for|uses?)\b"
            r"|to be used (?:only|solely|exclusively) (?:for|in)\b)"
        ),
        note="what the data are meant for",
        example="The corpus is intended for research on speech.",
        voided_by=ABOUT_DATA - {Objection.SUPPOSED},
        facet=INTENDED_USE,
    ),
    CueRule(
        PURPOSE,
        value=True,
        pattern=cue_pattern(
            r"(?:(?:should|must|may|shall|can|do|are|is|be)(?: not|not|n['’]t) (?:\w+ ){0,3}?(?:be )?"
            r"(?:used?|employed|deployed|applied|relied) (?:as|for|to|in|by|on|on as)\b"
            r"|cannot be used (?:for|to|in|as)\b|not (?:intended|meant|suitable|appropriate) (?:for|to)\b"
            r"|(?:ask|request) that (?:\w+ ){1,3}not be used (?:for|to|in|as)\b"
            r"|out-of-scope (?:use|uses)\b|uses? (?:\w+ ){0,6}(?:is|are) (?:strictly )?(?:prohibited|forbidden"
            r"|discouraged|not (?:allowed|permitted))|(?:prohibited|discouraged|forbidden) (?:use|uses|for|to use)\b)"
        ),
        note="what the data must not be used for",
        example="The images must not be used for face recognition.",
        voided_by=ABOUT_DATA_NEGATIVE - {Objection.SUPPOSED},
        unless=cue_pattern(r"(?:training set|for training|test set|as evidence|considered)"),
        facet=EXCLUDED_USE,
    ),
    CueRule(
        PURPOSE,
        value=True,
        pattern=cue_pattern(
            r"(?:agree(?:s|d|ing)?|agreement|undertakes?|sign(?:s|ed|ing)?|accept(?:s|ing)?)\b.{0,80}\b"
            r"(?:only|solely|exclusively|restricted to|limited to)\b.{0,60}\b(?:purposes?|research|use|uses)\b"
            r"|(?:agree(?:s|d|ing)?|agreement)\b.{0,60}\b(?:use|used)\b.{0,40}\b(?:only|solely|exclusively) (?:for"
            r"|in)\b"
        ),
        note="an agreement ties the use to purposes",
        example="Users agree to use the data only for research purposes.",
        voided_by=_STANDING_AGREEMENT,
        unless=cue_pattern(r"(?:licen[cs]e|creative commons|cc[ -]by)"),
    ),
    CueRule(
        PURPOSE,
        value=False,
        pattern=cue_pattern(
            r"(?:(?:(?:can|may) be used|use(?:d)?|free to use) (?:\w+ ){0,4}for (?:any(?: \w+)? purposes?|whatever)\b"
            r"|(?:originally|initially) (?:collected|gathered|created|produced) for (?:another|a different"
            r"|other) purposes?)"
        ),
        note="any purpose is allowed, or data of another purpose are reused",
        example="The data may be used for any purpose.",
        voided_by=ABOUT_DATA - {Objection.SUPPOSED},
        unless=cue_pattern(r"(?:licen[cs]\w*|public domain|copyright|cc0|compatib\w+|consent|waive\w*)"),
    ),
)

STEWARDSHIP_RULES: Final = (*SECURITY_RULES, *QUALITY_RULES, *RECORD_RULES, *PURPOSE_RULES)
