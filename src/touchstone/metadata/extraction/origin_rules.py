"""Rules for the transparency of the origin of the data: its source, procedure, makers and processing."""

import re
from typing import Final

from touchstone.metadata.extraction.cues import (
    ABOUT_DATA,
    ABOUT_DATA_NEGATIVE,
    SILENT_OR_LEGAL_HEADINGS,
    CueRule,
    cue_pattern,
)
from touchstone.metadata.extraction.negations_and_plans import Objection

TRANSPARENCY: Final = "transparency"

SOURCE: Final = "source"
PROCEDURE: Final = "procedure"
MAKERS: Final = "makers"
PROCESSING: Final = "processing"

# Other datasets do not void these rules, because an earlier dataset often is the source of this one.
_STATED: Final = ABOUT_DATA - {Objection.OTHER_DATASET, Objection.SUPPOSED}
# Descriptions of fields say what the data contain, but not where they come from.
_SILENT: Final = re.compile(rf"{SILENT_OR_LEGAL_HEADINGS.pattern}|\bdata fields\b", re.IGNORECASE)
# Lines with figures or links, such as "Homepage: …".
_LABELLED_FACT: Final = cue_pattern(
    r"(?:size of|total amount|homepage|repository|paper|point of contact|leaderboard)\b.{0,40}:"
)
# The words before a participle that reports what was done: "images were cropped", "we also cropped".
_DONE: Final = r"(?:is|are|was|were|been|being|we|have|has|they|authors|and|then|by|first|also|it)"
# A proper name, or a kind of source.
_ORIGIN: Final = (
    r"(?:[\w'’.,()*-]+ ){0,7}?(?:(?-i:[A-Z])\w|(?:web)?sites?|web|internet|articles?|news\w*|tweets?|reviews?|books?"
    r"|documents?|forums?|corpus|corpora|data ?sets?|databases?|archives?|reports?|records?|papers?|blogs?|magazines?"
    r"|journals?|transcripts?|subtitles?|stories|exams?|textbooks?|posts?|comments?|conversations?|questions|queries"
    r"|abstracts|images|photos|videos|recordings|speeches|proceedings|patents|recipes|emails?|dictionar\w+|lexicons?"
    r"|encyclop\w+|sources|repositories|hospitals?|users|speakers|workers|participants|bbc|cnn|wikipedia|twitter|reddit"
    r"|youtube|\w+\.(?:com|org|net|gov|edu|za|uk))"
)
# Who does something: a proper name, or people in a role ("by two trained annotators").
_AGENT: Final = (
    r"(?:the |a |an |our |its |two |three |four |five |several |many )?(?:(?-i:[A-Z])\S+"
    r"|(?:[\w-]+ ){0,4}?(?:annotators?|(?:crowd ?)?workers?|turkers?|speakers|linguists?|experts?|students?|volunteers?"
    r"|journalists?|physicians?|doctors|clinicians?|radiologists?|professionals?|translators?|lexicographers?"
    r"|researchers?|employees|staff|participants|contributors|authors?|writers?|humans?|people|users|team|group"
    r"|university|institute|laborator\w+|company|consortium|project|crowd\w*|teachers?|native|individuals|curators?"
    r"|members|organi[sz]ers))\b"
)

ORIGIN_RULES: Final = (
    CueRule(
        TRANSPARENCY,
        value=True,
        pattern=cue_pattern(
            r"(?:(?:collected|gathered|scraped|crawled|downloaded|extracted|retrieved|sourced|obtained|taken|derived"
            r"|sampled|drawn|compiled|mined|harvested|originat\w+|comes?|came|adapted|constructed|built|created"
            r"|generated|selected|acquired|assembled|curated|translated|recorded|digiti[sz]ed|pulled|produced"
            rf"|consists? of|comprises?|contains?)\b(?: [^\s.;]+){{0,10}}? (?:from|out of)\b (?!\d|each\b"
            rf"|scratch){_ORIGIN}"
            rf"|(?:created|built|constructed|generated|produced|derived|compiled|collected) (?:using|via) {_ORIGIN}"
            r"|(?:data ?set|corpus|data|collection|benchmark|it|questions|which|that|texts?) (?:is|are|was|were)"
            rf" (?:\w+ ){{0,2}}(?:based (?:up)?on|an? (?:\w+ ){{0,3}}(?:of|from)) {_ORIGIN}"
            rf"|(?:subset|extension|version|recasting|translation|modification|sample) of {_ORIGIN}"
            rf"|(?:source|sources|origin)\b.{{0,60}} (?:is|are|was|were|include) {_ORIGIN}"
            rf"|{_ORIGIN}(?: \w+){{0,8}} (?:were|was) (?:targett?ed|queried|crawled|scraped|downloaded|digiti[sz]ed)"
            rf"|original (?:\w+ ){{0,2}}(?:can be found|are available|is available) (?:on|at|in|from) {_ORIGIN}"
            rf"|publicly available {_ORIGIN}|(?:crawled|scraped|queried|crawling|scraping|mining) (?:the )?{_ORIGIN})"
        ),
        note="where the data come from",
        example="The reviews were collected from Wikipedia.",
        voided_by=_STATED,
        unless=_LABELLED_FACT,
        silent_under=_SILENT,
        facet=SOURCE,
    ),
    CueRule(
        TRANSPARENCY,
        value=True,
        pattern=cue_pattern(
            rf"(?:{_DONE} (?:\w+ ){{0,3}}?(?:scraped|crawled|queried|selected|sampled|filtered|chosen|choose|chose"
            rf"|select"
            r"|employ|interviewed|recorded|aligned|paired|matched|prompted|instructed|shown|presented|simulated"
            r"|generated|transcribed|annotated|labell?ed|crowd-?sourced|digiti[sz]ed|extracted|mined|retrieved)\b"
            r"(?: \S+){2,}"
            r"|(?:scraped|crawled|sampled|extracted|mined|recorded|queried|selected) (?:from|using|via|by|for|on)\b"
            r"|by (?:\w+ly )?(?:first )?(?:\w{3,}ing)\b(?: \S+){2,}"
            r"|(?:a query|queries) (?:was|were)\b|random(?:ly)? (?:select|sampl|pair|chos|split|assign|order)\w*"
            r"|(?:web )?(?:scraping|crawling)\b|crowd-?sourc(?:ed|ing)\b|mechanical turk\b|asked to\b|were (?:given"
            r"|asked)"
            r"|guidelines?\b|(?:distant|weak)(?:ly)? supervis\w+|back-?translat\w+|questionnaires?\b|majority vot\w+"
            r"|in (?:two|three|four|several|multiple) (?:steps|stages|phases|rounds)|heuristics?\b|rule-based\b"
            r"|using (?:a|an|the|our|their) (?:\S+ ){0,5}?(?:api|tools?|techniques?|scripts?|pipelines?|crawlers?"
            r"|interfaces?|methods?|procedures?|platforms?|algorithms?|models?|parsers?)\b|criteri\w+|steps?:)"
        ),
        note="the procedure or selection",
        example="The speakers were selected at random from a register.",
        voided_by=_STATED,
        unless=_LABELLED_FACT,
        silent_under=_SILENT,
        facet=PROCEDURE,
    ),
    CueRule(
        TRANSPARENCY,
        value=True,
        pattern=cue_pattern(
            r"(?:(?:annotated|labell?ed|created|developed|collected|compiled|written|produced|translated|curated|built"
            r"|made(?: available)?|constructed|recorded|gathered|prepared|transcribed|designed|provided|published"
            r"|assembled|contributed|tagged|performed|conducted|done|generated|judged|rated|put together|crowdsourced)"
            rf" (?:[\w()/-]+ ){{0,6}}?by {_AGENT}"
            r"|(?:annotators?|(?:crowd ?)?workers?|turkers?|linguists|experts|translators|students|volunteers"
            r"|participants"
            r"|physicians|clinicians|speakers|lexicographers|researchers|staff|authors) (?:\w+ ){0,3}?(?:were|are|was)"
            r" (?:\S+ ){1,6}|(?:annotators?|(?:crowd ?)?workers?|turkers?|linguists|experts|translators|students"
            r"|volunteers|participants|physicians|speakers) (?:\w+ ){0,2}?(?:wrote|annotat\w+|label\w+|created"
            r"|translated|transcribed|performed|generated|composed|judged|rated)\b"
            r"|(?:amazon )?mechanical turk\b|mturk\b|crowd ?workers\b|we (?:employ|hire|recruit)(?:ed)?\b"
            r"|published and managed by)"
        ),
        note="who made or annotated the data",
        example="The images were labelled by two radiologists.",
        voided_by=_STATED,
        unless=_LABELLED_FACT,
        silent_under=_SILENT,
        facet=MAKERS,
    ),
    CueRule(
        TRANSPARENCY,
        value=True,
        pattern=cue_pattern(
            rf"(?:{_DONE} (?:\w+ ){{0,4}}?(?:removed?|tokeni[sz]ed?|normali[sz]ed?|lower-?cased?|cleaned?"
            rf"|de-?duplicated?"
            r"|pre-?process(?:ed)?|masked?|merged?|converted?|filtered?|segmented?|replaced?|discarded?|excluded?"
            r"|transformed?|resized|cropped|lemmati[sz]ed|re-?sampled|concatenated|truncated|stripped|standardi[sz]ed"
            r"|corrected|post-?processed|stemmed|anonymi[sz]ed|aggregated|recast(?:ed)?)\b"
            r"|(?:pre-?processing|tokeni[sz]ation|normali[sz]ation|cleaning|post-?processing|filtering|deduplication)"
            r" (?:was|were|is|steps?|consist\w*|includ\w*|involv\w*|script)|lower-?cases? the)"
        ),
        note="how the data were processed",
        example="All texts were tokenized.",
        voided_by=_STATED,
        unless=_LABELLED_FACT,
        silent_under=_SILENT,
        facet=PROCESSING,
    ),
    CueRule(
        TRANSPARENCY,
        value=False,
        pattern=cue_pattern(
            r"(?:(?:origin|source|sources|provenance|collection (?:process|procedure|method\w*))(?: of (?:the|this"
            r"|these)"
            r" (?:\w+ ){0,2}(?:data|data ?set|corpus|collection|images|texts|records))? (?:is|are|was|were|has|have)"
            r" (?:\w+ )?(?:unknown|undisclosed|undocumented|unclear|not (?:been )?(?:known|disclosed|documented"
            r"|published))"
            r"|(?:it is|is) (?:not known|unknown|unclear) (?:how|where) (?:the|this|these) (?:\w+ )?"
            r"(?:data|data ?set|corpus|images|texts|records)\b.{0,30}\b(?:collected|comes?|came|gathered|obtained"
            r"|created))"
        ),
        note="the origin or procedure is not known or not disclosed",
        example="The source of the images is unknown.",
        voided_by=ABOUT_DATA_NEGATIVE,
    ),
)
