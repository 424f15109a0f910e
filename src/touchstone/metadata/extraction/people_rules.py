"""Rules about the people in the data: consent, control, fairness and anonymization."""

from typing import Final

from touchstone.metadata.extraction.cues import (
    ABOUT_DATA,
    SILENT_HEADINGS,
    STANDING_RULE,
    UNLESS_UNCERTAIN,
    CueRule,
    cue_pattern,
)
from touchstone.metadata.extraction.negations_and_plans import Objection

# The people whom the data are about, or from whom they come.
_PEOPLE: Final = (
    r"(?:speakers?|patients?|users?|authors?|writers?|participants?|subjects?|individuals?|people|persons?"
    r"|contributors?|donors?|volunteers?|respondents?|students?|parents|guardians|customers?|consumers?|interviewees?"
    r"|raters?|players?|actors|recordists|informants|owners|everyone|all of them|they|we)"
)
# Groups of people that can be treated unequally.
_GROUP: Final = (
    r"(?:gender|sex|sexes|males?|females?|men|women|rac(?:e|es|ial)|ethnic\w*|age groups?|ages?|demographic\w*"
    r"|nationalit\w+|religio(?:n|ns|us groups?)|disabilit\w+|minorit\w+(?! class)|indigenous|socio-?economic|accents?"
    r"|blacks?|whites?|african|asian|hispanic|western\w*|caucasian|lgbt\w*|skin (?:tones?|colou?rs?)"
    r"|developing countries|global south|identity groups?|social groups?|stereotyp\w+|dialect groups?|young(?:er)? \w+"
    r"|older people|elderly|low-income|muslims?|immigrants?)"
)
# A bare "names" means names of people only after such a word: "variable names" and "city names" identify nobody.
_BARE_NAMES: Final = (
    r"(?<!-)(?:(?<![\w-] )|(?<=\bthe )|(?<=\ball )|(?<=\bany )|(?<=\btheir )|(?<=\bno )|(?<=\band )|(?<=\bor )"
    r"|(?<=\bof )|(?<=\bas )|(?<=\blike )|(?<=\bwith )|(?<=['’]s )|(?<=ed )|(?<=ing ))names"
    rf"(?! of (?!(?:\w+ ){{0,3}}(?:{_PEOPLE}|children|employees|reviewers|victims|judges|doctors|clients)\b))"
)
# A name of a person, unlike "variable name": "customer names", "family name".
_PERSON_NAMES: Final = (
    r"(?:customer|client|employee|student|pupil|teacher|child|doctor|physician|nurse|reviewer|individual|family|given"
    r"|middle|maiden|member|player|witness|victim|sender|respondent|donor|contributor|people|human|real|legal|private)"
    r"[ _-]?names?"
)
# What identifies a person.
_IDENTIFIER: Final = (
    r"(?:(?:personal and sensitive information|personal(?:ly)?(?: |-)?(?:identif\w+ |sensitive )?(?:information|data"
    r"|details|identifiers?)|pii|phi"
    r"|identifying (?:information|details|features|data)|identifiable (?:information|data|details)"
    r"|(?:user|screen|account|nick|first|last|sur|full|patient|person|people's|speaker|author|participant)"
    r"[ _-]?(?:names?|ids?|handles?|mentions?)|usernames?|user ?handles?|handles|surnames?|mentions of (?:the )?users?"
    r"|twitter (?:handles|mentions)|e-?mail addresses|e-?mails|(?:tele)?phone numbers|ip addresses|proper names"
    rf"|{_PERSON_NAMES}|{_BARE_NAMES}"
    r"|named entities|personal names|faces|licen[cs]e plates|social security numbers|addresses|identit(?:y|ies)"
    r"|dates? of birth|birth ?dates|number plates|voices|@-?mentions|identifiers))"
)
# A word between a verb and the identifiers that it removes ("removed comments but kept identifiers" removes none).
_OBJECT: Final = r"(?:(?!but\b|kept\b)\w+ )"
# What was done to a sample to adjust the shares of groups.
_RESAMPLED: Final = r"(?:(?:over|up|down|under|re)-?sampled|re-?weighted|recruited more|added more)"
# What was done to identifiers.
_REMOVED: Final = (
    r"(?:removed|replaced|masked|hashed|blurred|obfuscated|redacted|scrubbed|stripped|anonymi[sz]ed|pseudonymi[sz]ed"
    r"|de-?identified|aggregated|deleted|discarded|eliminated|encoded|encrypted|withheld|hidden|substituted|dropped"
    r"|re-?mapped|swapped|randomi[sz]ed|blacked out"
    r"|filtered out|excluded|truncated|shifted|generali[sz]ed|coarsened|distorted|bleeped)"
)
# Consent to a single field, by a part of the people, or with a reservation does not show consent to the release.
_LIMITED_CONSENT: Final = cue_pattern(
    r"(?:optional(?:ly)?|field|column|narratives?|terms (?:of (?:service|use)|and conditions)|privacy policy"
    r"|cookies?|minimum requirement"
    r"|(?:only|just|fewer than|less than) (?:\d+|a few|some|half|one|two|part)\b"
    rf"|(?:some|few|several|many|most)(?: of)?(?: the| our)? (?:\w+ )?{_PEOPLE}\b"
    rf"|(?:\d+|half|part|none|a minority) (?:out )?of (?:the |our )?(?:\d+ )?(?:\w+ )?{_PEOPLE}\b"
    r"|(?:others|the (?:rest|others)) (?:did|do|had|have|were|was)(?: not|n['’]t)"
    r"|(?:but|though|although|yet|however),? not\b|not (?:for|to) (?:the |its |their |any )?"
    r"(?:publication|release|public|publish|sharing|distribution))"
)
# People without consent whose data were left out.
_EXCLUDED: Final = (
    r"(?:(?:excluded|dropped|removed|discarded|omitted|deleted|left out|filtered out|withheld)\b"
    r"|(?:not|n['’]t) (?:\w+ )?(?:included|used|recorded|recruited|released|published|enrolled)\b"
    r"|not (?:\w+ )?part of\b)"
)
_EXCLUDED_WITHOUT_CONSENT: Final = (
    r"(?:\b(?:who|that|which|whose|without)\b.{0,40}\b(?:consent|permission|agree)\w*\b.{0,60}"
    rf"\b(?:is|are|was|were|been|being)(?:n['’]t)? (?:\w+ )?{_EXCLUDED}"
    r"|(?:exclud|dropp|remov|discard|omitt|delet|filter)(?:e|ed|ing)\b.{0,60}\b(?:who|that|which|whose|without)\b.{0,40}"
    r"\b(?:consent|permission|agree)\w*)"
)
# Requests of people to have the data about them removed, and the verbs of a refusal.
_REMOVAL: Final = r"(?:remov\w+|delet\w+|withdraw\w*|eras\w+|take-?down|opt(?:ing)?[ -]out|correct(?:ion|ions|ing)?)"
_REMOVAL_REQUESTS: Final = (
    rf"(?:requests? (?:for|to|of|about) (?:\w+ ){{0,3}}?{_REMOVAL}(?: \w+){{0,5}}?"
    r"|(?:removal|deletion|withdrawal|erasure|take-?down|opt-?out|correction) requests?)"
)
_REFUSED: Final = (
    r"(?:(?:(?:is|are|was|were|will|can|could|do|does|have|has)(?: not|n['’]t)|cannot|can['’]t|won['’]t)"
    r" (?:be |been )?(?:\w+ )?(?:accept|honou?r|possible|process|consider|grant|support|answer|handle|fulfil"
    r"|accommodat|permit|allow|offer)\w*"
    r"|(?:is|are|was|were|will be|have been|has been) (?:\w+ )?(?:refused|ignored|rejected|denied|declined|impossible"
    r"|disregarded))"
)

# The description of a column ("gender: string") is not a table of groups.
_DESCRIBED_FIELD: Final = cue_pattern(r"(?:string|integer|int|float|label|class|field|feature|tokens?|0 =|1 =)\b")

INFORMED_CONSENT: Final = "informed_consent"
USER_CONTROL: Final = "user_control"
EQUITY: Final = "equity_non_discrimination"
ANONYMIZATION: Final = "anonymization_applied"

CONSENT_RULES: Final = (
    CueRule(
        INFORMED_CONSENT,
        value=True,
        pattern=cue_pattern(
            r"(?:(?:informed|written|verbal|oral|explicit|signed|parental|express) consent.{0,60}\b(?:was|were|is|been)"
            r" (?:\w+ ){0,2}(?:obtained|given|collected|sought|received|acquired|signed|granted|secured|provided)"
            r"|(?:obtained|collected|received|acquired|secured|gave|given|giving|provided|signed|with|granted|sought)"
            r" (?:\w+[ -]){0,6}(?:consent|release forms?)\b"
            r"|consent(?: forms?)? (?:was|were|has been|have been|had been) (?:\w+ )?"
            r"(?:obtained|given|collected|sought|received|acquired|signed|granted|secured))"
        ),
        note="the people in the data gave their consent",
        example="Written consent was obtained from all speakers.",
        unless=_LIMITED_CONSENT,
    ),
    CueRule(
        INFORMED_CONSENT,
        value=True,
        pattern=cue_pattern(
            rf"{_PEOPLE} (?:\w+ ){{0,8}}?(?:consented|opted[ -]in|agreed)(?: \w+){{0,2}} (?:to|in|for|that)\b"
            r".{0,80}\b(?:record\w*|collect\w*|publish\w*|publication|releas\w+|shar\w+|distribut\w+|stud(?:y|ies)"
            r"|used?|data|public|donat\w+|research)\b"
        ),
        note="the people in the data agreed to its collection or release",
        example="All participants agreed to the publication of their recordings.",
        unless=_LIMITED_CONSENT,
    ),
    CueRule(
        INFORMED_CONSENT,
        value=True,
        pattern=cue_pattern(
            rf"(?:{_PEOPLE} (?:\w+ ){{0,6}}?(?:donat\w+|contribut\w+|submitt?\w*)|(?:donated|contributed) by {_PEOPLE})"
            r".{0,80}\b(?:for (?:publication|release|public use)|to the public domain|to be (?:published|released"
            r"|shared))"
        ),
        note="contributors gave their data for publication",
        example="Volunteers donated their recordings to the public domain.",
        unless=_LIMITED_CONSENT,
    ),
    CueRule(
        INFORMED_CONSENT,
        value=False,
        pattern=cue_pattern(
            r"(?:without (?:[\w']+ ){0,6}consent\b|without their (?:\w+ ){0,3}(?:knowledge|permission)\b"
            rf"|without the (?:knowledge|permission) of (?:\w+ ){{0,3}}{_PEOPLE}\b"
            r"|(?:no|not) (?:[\w']+ ){0,5}(?:consent|permission)\b"
            r"|(?:did|do|does|has|have|had)(?: not|n['’]t) (?:\w+ ){0,4}consent(?:ed)?\b"
            r"|consent (?:\w+ ){0,5}(?:was|were|is|has|could)(?: not|n['’]t)\b"
            rf"|{_PEOPLE} (?:\w+ ){{0,4}}(?:was|were|are|have|had|did|is)(?: not| never|n['’]t) (?:\w+ )?(?:been )?"
            r"(?:asked|informed|notified|aware|contacted|give)\b"
            rf"|{_PEOPLE} (?:\w+ ){{0,3}}never (?:gave|agreed|consented|asked)\b"
            rf"|{_PEOPLE} (?:\w+ ){{0,4}}unaware)"
        ),
        note="the people in the data were not asked",
        example="The authors of the tweets were not asked.",
        voided_by=UNLESS_UNCERTAIN,
        unless=cue_pattern(
            r"(?:may not be|must not|prohibited|not allowed|not required|redistribut\w+|waived?|not needed"
            rf"|{_EXCLUDED_WITHOUT_CONSENT})"
        ),
    ),
)

CONTROL_RULES: Final = (
    CueRule(
        USER_CONTROL,
        value=True,
        pattern=cue_pattern(
            r"(?:(?:request|requests|ask|apply|contact|e-?mail|write to|fill in|fill out|submit|reach out|opt-?out"
            r"|opt out|(?:web|google|online|removal|request|opt-out|take-?down|a|this|the following) form)\b"
            r".{0,160}\b(?:remov\w+|delet\w+|withdraw\w*|tak(?:e|en|ing) down|take-?down|opt(?:ed|ing)?[ -]out|eras\w+)"
            r"|(?:remov\w+|delet\w+|withdraw\w*|take-?down|opt(?:ed|ing)?[ -]out|eras\w+)\b.{0,160}\b"
            r"(?:request|requests|contact|e-?mail|write to|fill|submit|a form|this form|web form|reach out|profile"
            r"|account|settings))"
        ),
        note="people can have what concerns them removed, and how is named",
        example="To have your photo removed, please fill in this form.",
        voided_by=STANDING_RULE,
        unless=cue_pattern(
            r"(?:pull requests?|issue tracker|open an issue|errors|bugs|turkers?|we (?:removed|deleted)|were removed"
            rf"|requests?\b.{{0,60}}\b{_REFUSED})"
        ),
        silent_under=SILENT_HEADINGS,
    ),
    CueRule(
        USER_CONTROL,
        value=False,
        pattern=cue_pattern(
            r"(?:(?:no|not any) (?:\w+ ){0,3}(?:way|mechanism|means|possibility|option|procedure|process)\b.{0,80}\b"
            r"(?:remov\w+|delet\w+|withdraw\w*|opt(?:ing)?[ -]out|revok\w+|contact\w*)"
            r"|(?:cannot|can not|can['’]t|unable to|impossible to|not possible to) (?:\w+ ){0,4}"
            r"(?:withdraw|opt[ -]out|revoke|(?:remove|delete|correct) their)\b)"
        ),
        note="people have no way to withdraw or correct what concerns them",
        example="There is no way to withdraw a recording.",
        voided_by=UNLESS_UNCERTAIN,
    ),
    CueRule(
        USER_CONTROL,
        value=False,
        pattern=cue_pattern(
            rf"(?:{_REMOVAL_REQUESTS} {_REFUSED}"
            r"|(?:(?:do|does|did|will|can|could)(?: not|n['’]t)|cannot|can['’]t|won['’]t|never) (?:\w+ )?(?:accept"
            r"|honou?r|process|consider|grant|support|answer|handle|fulfil|accommodate|permit|allow)\w*"
            rf" (?:\w+ ){{0,2}}{_REMOVAL_REQUESTS})"
        ),
        note="requests for removal are refused",
        example="Requests for removal will be ignored.",
        # "Will be ignored" is a rule in force, and "not possible" is no supposition.
        voided_by=UNLESS_UNCERTAIN - {Objection.PLANNED, Objection.SUPPOSED},
        # If only some requests are refused, such as those without a reason, people still have a way.
        unless=cue_pattern(
            r"(?:unless|without|once|after|before|until|incomplete|if|whether|may|might|should|pull requests?|errors"
            r"|bugs|some|most|whose|articles?|wikipedia)\b"
        ),
    ),
)

EQUITY_RULES: Final = (
    CueRule(
        EQUITY,
        value=True,
        pattern=cue_pattern(
            r"(?:balanced|balancing|gender-balanced|equal (?:number|numbers|share|proportions?|amount)|evenly (?:split"
            rf"|distributed)|stratified|equal representation)\b.{{0,80}}\b{_GROUP}\b"
            rf"|{_GROUP}\b.{{0,40}}\b(?:is|are|was|were) (?:\w+ )?(?:balanced|equally|evenly)"
            rf"|{_GROUP}[ -](?:balanced|parity)"
        ),
        note="groups of people were balanced",
        example="The sample is balanced with respect to gender.",
        voided_by=ABOUT_DATA,
    ),
    CueRule(
        EQUITY,
        value=True,
        pattern=cue_pattern(
            r"(?:found|finds?|shows?|showed|revealed|report(?:ed|s)?|observed|indicates?|measured)\b.{0,60}"
            r"\b(?:data ?set|corpus|data|annotations|labels|collection)\b.{0,80}"
            rf"\b(?:{_GROUP}[ -](?:bias\w*|disparit\w+|fairness|imbalance)|bias\w* (?:against"
            rf"|towards?) .{{0,40}}{_GROUP})"
            r"|(?:audit|analy[sz]|examin|measur|assess|evaluat|investigat|studied)\w*\b.{0,60}"
            rf"\b{_GROUP}[ -](?:bias\w*|disparit\w+|fairness|imbalance)\b.{{0,40}}"
            r"\b(?:found|finds?|shows?|showed|reveals?|revealed|report(?:ed|s)?|observed)\b"
        ),
        note="an audit of fairness with its result",
        example="An audit found that the data have a bias against women.",
        voided_by=ABOUT_DATA,
        unless=cue_pattern(r"(?:in (?:language )?models|word embeddings? (?:show|contain|reflect))"),
    ),
    CueRule(
        EQUITY,
        value=True,
        pattern=cue_pattern(
            r"(?:removed?|removing|filter(?:ed)?(?: out)?|exclud(?:e|ed|ing)|discarded|eliminated)\b (?:[\w-]+,? ){0,5}"
            r"(?<!non-)(?:hate(?:ful)?|slurs?|offensive|racist|sexist|discriminat\w+|stereotyp\w+|toxic|derogatory)\b"
            r"|(?<!non-)(?:hateful?|slurs?|offensive|racist|sexist|discriminatory|stereotypical|toxic"
            r"|derogatory)\b.{0,60}\b"
            r"(?:was|were|have been|has been|are) (?:\w+ )?(?:removed|filtered|excluded|discarded|eliminated)"
        ),
        note="discriminatory content was removed",
        example="We removed all offensive and racist comments.",
        voided_by=ABOUT_DATA,
    ),
    CueRule(
        EQUITY,
        value=True,
        pattern=cue_pattern(
            r"(?:\d{1,3}(?:\.\d+)? ?%|\d+)\)? (?:of (?:\w+ ){0,4}(?:are|were|is) )?(?:\w+ ){0,2}(?:female|women|males?"
            r"|men)\b.{0,80}\b\d+.{0,40}\b(?:females?|males?|women|men)\b"
        ),
        note="a count of the groups in the data",
        example="The corpus has 120 female and 118 male speakers.",
        voided_by=ABOUT_DATA,
    ),
    CueRule(
        EQUITY,
        value=True,
        pattern=cue_pattern(
            r"(?:\A(?:male|female|man|men|woman|women|non-?binary|masculine|feminine)\w*\b[^.]{0,60}\d"
            r"|\A(?:gender|sex|ethnicity|race|age)\b:? .{0,40}\d+(?:\.\d+)? ?%)"
        ),
        note="a table of the groups in the data",
        example="Female: 52 %",
        voided_by=ABOUT_DATA,
        unless=_DESCRIBED_FIELD,
    ),
    CueRule(
        EQUITY,
        value=True,
        pattern=cue_pattern(
            r"(?:ensur\w+|designed to|deliberately|purposely|made sure|efforts? to|strived to) (?:[\w-]+,? ){0,6}"
            r"(?:includ\w+|represent\w*|cover\w*|divers\w+|recruit\w*)\b.{0,60}"
            rf"\b(?:{_GROUP}|marginali[sz]ed|under-?represented (?:groups?|communit\w+|people|speakers))\b"
        ),
        note="groups of people are covered by design",
        example="We made sure to include speakers of all age groups.",
        voided_by=ABOUT_DATA,
        unless=cue_pattern(r"(?:languages?|models?|tasks?|stereotyp\w+)"),
    ),
    CueRule(
        EQUITY,
        value=True,
        pattern=cue_pattern(
            r"(?:(?:we|therefore|hence|thus|deliberately|purposely|to (?:compensate|correct|account|adjust|balance"
            rf"|offset)\b.{{0,40}}) (?:\w+ ){{0,3}}?{_RESAMPLED} (?:\w+ ){{0,4}}?{_GROUP}\b"
            rf"|{_GROUP}\b.{{0,40}}\b(?:was|were) (?:therefore|hence|thus|deliberately|purposely) {_RESAMPLED})"
        ),
        note="the sample was adjusted for groups of people",
        example="We therefore oversampled women.",
        voided_by=ABOUT_DATA,
        unless=cue_pattern(r"(?:models?|recommend\w*|classifiers?)\b"),
    ),
    CueRule(
        EQUITY,
        value=False,
        pattern=cue_pattern(
            r"(?:(?:skewed|biased|bias|imbalanced?|unbalanced)\b(?: \w+){0,2} "
            rf"(?:towards?|in favou?r of|against|with respect to|in terms of|regarding)\b.{{0,80}}\b{_GROUP}\b"
            rf"|(?:over|under)-?represent\w*\b.{{0,80}}\b{_GROUP}\b"
            rf"|{_GROUP}\b.{{0,80}}\b(?:over|under)-?represented"
            r"|(?:data ?set|data|corpus|it|annotations) (?:\w+ ){0,2}(?:contains?|exhibits?|has|have) (?:\w+ ){0,3}"
            rf"{_GROUP} (?:bias|imbalance)\w*"
            rf"|\d+(?:\.\d+)? ?% .{{0,60}}\b{_GROUP}\b.{{0,100}}\b(?:skewed|biased|imbalanced|unbalanced)\b)"
        ),
        note="the data are skewed with respect to groups of people",
        example="Older people are under-represented.",
        voided_by=ABOUT_DATA,
        unless=cue_pattern(r"\A(?:\w+ ){0,3}models? (?:trained|are|is|have)\b"),
    ),
)

ANONYMIZATION_RULES: Final = (
    CueRule(
        ANONYMIZATION,
        value=True,
        pattern=cue_pattern(
            rf"{_IDENTIFIER}\b.{{0,100}}\b(?:was|were|is|are|been|being) (?:\w+ ){{0,3}}{_REMOVED}\b"
            rf"|{_REMOVED} {_OBJECT}{{0,4}}?{_IDENTIFIER}\b|{_IDENTIFIER} (?:removed|replaced|masked|hashed|blurred"
            rf"|redacted)\b"
            r"|(?:removing|replacing|masking|hashing|blurring|anonymi[sz]ing|stripping|deleting|redacting)"
            rf" (?:(?!but\b|kept\b)[\w-]+,? ){{0,8}}?{_IDENTIFIER}\b"
            rf"|(?:we|they|authors) (?:\w+ ){{0,2}}(?:remove|replace|mask|anonymi[sz]e|hash|blur)d? {_OBJECT}{{0,4}}?"
            rf"{_IDENTIFIER}\b"
        ),
        note="identifiers were removed or replaced",
        example="All e-mail addresses were replaced by placeholders.",
        unless=cue_pattern(
            r"(?:version \d.{0,20} not|non-anonymi[sz]ed|file ?names?|column names?|class names?|only in the case)"
        ),
    ),
    CueRule(
        ANONYMIZATION,
        value=True,
        pattern=cue_pattern(
            r"(?:(?:data|dataset|data ?set|corpus|records?|tweets?|posts?|reviews?|recordings?|images?|messages|texts?"
            rf"|comments|conversations|documents|reports|notes|users?|{_PEOPLE}|transcripts|entries|samples|information"
            r"|all|it|this|everything) (?:\w+ ){0,3}?(?:is|are|was|were|been|being) (?:\w+ ){0,3}?"
            r"(?:anonymi[sz]ed|pseudonymi[sz]ed|de-?identified|anonymous)\b"
            r"|(?:anonymi[sz]ed|de-?identified|pseudonymi[sz]ed) (?:\w+ ){0,3}(?:data|dataset|corpus|records|tweets?"
            r"|users?|patients?|clinical|health|medical|notes|messages|conversations|version of|dump|queries|posts?"
            r"|comments?)\b"
            r"|(?:anonymi[sz]ed|de-?identified), (?:\w+,? ){1,3}(?:data|records|queries|posts|tweets|messages)\b"
            r"|(?:pseudonymous|pseudonymi[sz]ed|anonymous|anonymi[sz]ed) (?:identifiers?|ids?|codes?|numbers?)\b"
            r"|(?:steps?|pre-?processing|process\w*|pipeline)\b.{0,60}\b(?:de-?identification|anonymi[sz]ation)\b)"
        ),
        note="the data were anonymised",
        example="The records have been anonymised.",
        unless=cue_pattern(r"(?:non-anonymi[sz]ed|anonymous (?:review|submission)|double-blind)"),
    ),
    CueRule(
        ANONYMIZATION,
        value=False,
        pattern=cue_pattern(
            r"(?:(?:is|are|was|were|been)(?: not|n['’]t) (?:\w+ )?(?:anonymi[sz]ed|de-?identified|pseudonymi[sz]ed)"
            r"|not (?:been )?(?:anonymi[sz]ed|de-?identified)|non-anonymi[sz]ed version"
            r"|no (?:\w+ )?(?:anonymi[sz]ation|de-?identification)\b"
            r"|(?:did|was|were|have|has)(?: not|n['’]t) (?:\w+ ){0,3}?(?:remove|anonymi[sz]e|mask|redact|blur)d?"
            rf" (?:\w+ ){{0,3}}?{_IDENTIFIER}\b)"
        ),
        note="the data are not anonymised",
        example="The messages were not anonymised.",
        voided_by=UNLESS_UNCERTAIN,
        unless=cue_pattern(r"(?:an updated version of the code|scripts?)"),
    ),
    CueRule(
        ANONYMIZATION,
        value=False,
        pattern=cue_pattern(
            rf"(?:{_REMOVED} (?:\w+ ){{0,4}}?{_IDENTIFIER}|{_IDENTIFIER}\b.{{0,60}}\b{_REMOVED})\b.{{0,60}}\b"
            r"(?:but|though|although|while|whereas|however),? (?:\w+ ){0,3}?"
            rf"(?:(?:kept|keeps?|retain(?:ed|s)?|left|preserved?) (?:\w+ ){{0,3}}?{_IDENTIFIER}\b"
            rf"|{_IDENTIFIER} (?:was|were|is|are) (?:all |still )?(?:kept|retained|left|preserved"
            r"|not (?:removed|masked|replaced|blurred|hashed|anonymi[sz]ed)))"
        ),
        note="some identifiers were kept",
        example="We removed phone numbers but kept user names.",
        voided_by=UNLESS_UNCERTAIN,
        unless=cue_pattern(
            r"(?:confidential\w*|secret|private(?:ly)?|separate(?:ly)?|secure(?:ly)?|hash\w*|encrypt\w*|pseudonym\w*"
            r"|anonymous|random\w*|public figures|celebrit\w+|fictional)\b"
        ),
    ),
    CueRule(
        ANONYMIZATION,
        value=False,
        pattern=cue_pattern(
            r"(?:contains?|includes?|including|include|provides?|reveals?|retains?|disclos\w+|comes? with|have|has)\b"
            r"(?: [\w'’,/()-]+){0,8}? (?:(?:user|screen|real|full|personal|person|people's|individuals?['’]s?"
            r"|authors?['’]?s?"
            r"|speakers?['’]?s?|patients?['’]?s?|victims?['’]?s?) names|usernames?|user ?names?|user handles?"
            r"|names of (?:\w+ ){0,3}(?:people|persons|individuals|users|authors|patients|reviewers|customers|employees"
            r"|students|private)|e-?mail addresses"
            r"|phone numbers"
            r"|personally[ -]identif\w+|identifiable (?:information|faces|people|individuals)|faces of|human faces"
            r"|people['’]s faces|personal names)"
            r"|(?:names|faces|user ?names|identities) (?:\w+ ){0,4}(?:can be (?:found|seen|identified)|are (?:present"
            r"|visible|included|kept|mentioned|identifiable|not (?:removed|masked|blurred)))"
        ),
        note="identifiers of people are in the data",
        example="The table contains the full names of all patients.",
        unless=cue_pattern(
            r"(?:public figures|celebrit\w+|politicians|fictional|annotators?|entity types?|categor\w+ of)"
        ),
    ),
)

PEOPLE_RULES: Final = (*CONSENT_RULES, *CONTROL_RULES, *EQUITY_RULES, *ANONYMIZATION_RULES)
