"""Domains of datasets, stated by documents or indicated by titles, tags, descriptions and tasks.

A cue is a word that indicates its domain almost without exception. Words with several meanings ("bank", "model",
"play") are not cues, or only in combination with another word.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.core.vocabulary import fold_domain, known_domains

MAX_DOMAINS: Final = 4

SUBJECT_CUES: Final[Mapping[str, str]] = {
    "health": (
        r"patients?|clinical\w*|medical\w*|medicine|biomedical|bio-?medic\w+|hospitals?|diseases?|cancer"
        r"|tumou?rs?|covid\S*|coronavirus|sars-cov-2|diagnos[ei]s|pubmed|mimic-iii|pharma\w*|adverse drug"
        r"|surgery|surgical|diabet\w+|hepatitis|thyroid|x-?rays?|radiolog\w+|nutrition|obesity"
        r"|mammograph\w*|parkinson\S*|alzheimer\S*|dermatolog\w+|hypothyroid|vaccin\w+|physicians?"
        r"|therap(?:y|ies|eutic)|health|healthcare|public health|drug reactions?|drug discovery"
    ),
    "cardiology": (r"cardiac|cardiolog\w+|cardiovascular|arrhythmia|ecg|heart (?:disease|failure|attacks?)"),
    "genetics": (
        r"genetics?|genomics?|dna|rna|snps?|chromosom\w+|epistasis|gametes|genetic\w*|gene expression"
        r"|gene names?"
    ),
    "biology": (
        r"biolog\w+|proteins?|yeast|ecoli|e\. coli|bacteri\w+|plantvillage|flowers?|iris|mushrooms?"
        r"|abalone|penguins?|ecolog\w+|wildlife|insects?|fungi|microb\w+|enzymes?|neurons?|bird species"
        r"|plant species|plant leaves|species"
    ),
    "psychology": (r"psycholog\w+|mental health|empath\w+|personality traits?|depression|suicid\w+|emotion(?:s|al)?"),
    "education": (
        r"universit(?:y|ies) courses?|classrooms?|textbooks?|homework|grade[- ]school|middle school"
        r"|high school|reading comprehension exam\w*|college majors?|tutoring|mooc"
        r"|student (?:performance|essays?)|school exams?|education|schools?"
    ),
    "law": (
        r"legal|laws?|legislati\w+|courts?|contracts?|supreme court|lawyers?|attorneys?|statutes?|eurlex"
        r"|case law|recidivism|compas|patents?|privacy polic(?:y|ies)|court judg(?:e?ments?)"
    ),
    "crime": (
        r"crimes?|criminal\w*|homicides?|robber\w+|recidivism|prison\w*|stop,? question|police"
        r"|fake reviews?|card fraud"
    ),
    "politics": (
        r"politic\w*|elections?|electoral|voters?|parliament\w*|congress\w*|senat\w+|europarl"
        r"|party manifestos?|ballots?|city council|campaign finance|propaganda|hyperpartisan"
        r"|united nations|council of the european|governmental|voting records?|presidential"
    ),
    "economics": (
        r"econom\w+|macroeconom\w+|gdp|inflation|unemployment|labou?r market|census income|consumer price"
        r"|household income|wage"
    ),
    "finance": (
        r"financ\w+|loans?|stock market|banking|currenc(?:y|ies)|exchange rates?|tax(?:es)?|mortgages?"
        r"|insurance|cryptocurrenc\w+|bitcoin|s&p 500"
        r"|credit (?:cards?|risk|scoring|approval|applications?)|german credit|stock (?:prices?|market)"
    ),
    "business": (
        r"business\w*|customers?|marketing|telemarketing|e-?commerce|amazon reviews?|product reviews?"
        r"|retail|advertis\w+|sales|hiring|job postings?|call ?cent(?:er|re)s?"
        r"|customer (?:support|service|reviews?)|company reviews?"
    ),
    "social-media": (
        r"tweets?|twitter|reddit|facebook|instagram|youtube|social media|weibo|telegram|hashtags?"
        r"|stack ?overflow|stack ?exchange|quora|4chan|discord|blog posts?|online forums?"
    ),
    "news": (
        r"news\w*|journalis\w+|headlines?|reuters|bbc|cnn|daily ?mail|press releases?|fake[- ]news"
        r"|new york times"
    ),
    "entertainment": (
        r"movies?|films?|imdb|rotten tomatoes|television|tv (?:shows?|series)|video games?|board games?"
        r"|opensubtitles|netflix|hollywood|actress\w*|celebrit\w+|trivia|jeopardy|movie subtitles"
        r"|film reviews?"
    ),
    "music": (
        r"music\w*|songs?|lyrics|musical instruments?|melod(?:y|ies)|midi|guitar|piano|spotify|singers?"
        r"|singing"
    ),
    "sports": (
        r"sports?|football|soccer|basketball|baseball|hockey|cricket|olympi\w+|nba|nfl|mlb|fifa|chess"
        r"|players? statistics|tennis|golf|athlet\w+"
    ),
    "literature": (
        r"literature|literary|poe(?:ms?|try)|fiction|gutenberg|shakespeare\S*|short stories|fairy ?tales?"
        r"|bookcorpus|plays? scripts?|storytelling|books|book reviews?|novels"
    ),
    "religion": (
        r"bibl(?:e|ical)|quran\w*|koran|religio\w+|church\w*|christian\w*|islam\w*|hadith\w*|jehovah\S*"
        r"|tanzil|sermons?|torah"
    ),
    "history": (r"archaeolog\w+|world war|historical (?:newspapers|documents|texts|records)|world history"),
    "arts": (
        r"paintings?|artists?|artworks?|museums?|wikiart|murals?|sculptur\w+|visual arts?|fine arts?"
        r"|hand-drawn"
    ),
    "food": (
        r"food\w*|recipes?|cooking|restaurants?|wines?|beers?|cuisine|coffee|farmers? markets?"
        r"|farmers markets?"
    ),
    "agriculture": (
        r"agricultur\w+|farm(?:s|ers|ing)?|crops?|soybeans?|livestock|cattle|cassava|harvest"
        r"|urban agriculture"
    ),
    "environment": (
        r"climate|pollut\w+|emissions?|air quality|sustainab\w+|co2|recycl\w+|litter|trash|waste"
        r"|electricity|solar|forests?|water quality|sewer\w*|stormwater|watersheds?|oil spill|ozone"
        r"|green (?:roofs?|infrastructure)|environmental|parks & recreation|tree canopy|energy consumption"
    ),
    "weather": (
        r"weather|meteorolog\w+|rainfall|precipitation|hurricanes?|el nino|surface temperatures?"
        r"|storm (?:tracks?|surges?)"
    ),
    "transportation": (
        r"transport\w*|traffic|vehicles?|automobiles?|autonomous driving|self-driving|parking|highways?"
        r"|railway\w*|subway|transit|bike\w*|bicycl\w+|airports?|airlines?|aviation|taxi\w*|pedestrians?"
        r"|bridges?|trip planning|railways?|car evaluation|traffic lights?"
    ),
    "geography": (
        r"geograph\w+|gis|geospatial|satellite images?|satellite imagery|remote sensing|land cover"
        r"|land use|zip ?codes?|census tracts?|census blocks?|topograph\w+|shapefile|geography of"
        r"|map tiles|city boundar(?:y|ies)|landmark recognition|polygons"
    ),
    "urban-planning": (
        r"zoning|urban planning|real estate|neighbou?rhoods?|land ?use|building (?:permits?|footprints?)"
        r"|redevelopment|311|city facilities|urban design|property assessments?|housing"
    ),
    "demography": r"demograph\w+|population|census|households?|immigra\w+|refugees?|ethnicity",
    "social-science": (
        r"social scien\w+|sociolog\w+|survey respondents?|public opinion|hate[- ]speech|offensive language"
        r"|abusive language|toxic\w*|stereotyp\w+|gender bias|social bias\w*|cyberbullying|moral\w*"
        r"|social norms"
    ),
    "computer-science": (
        r"programming|source code|software|java(?:script)?|sql|api calls?"
        r"|code (?:search|generation|completion|snippets?)|computer science|unit tests?|shell commands?"
        r"|stack overflow|leetcode|malware|network intrusion|github repositories"
        r"|python (?:code|programs?|functions?|problems?)|stack ?overflow|phishing|cybersecurity|spam"
    ),
    "mathematics": (
        r"math\w*|arithmetic|algebra\w*|theorems?|calculus|word problems?|gsm8k|geometry problems?"
        r"|symbolic equations?"
    ),
    "physics": (
        r"physics|physical (?:law|system)s?|feynman|particles?|quantum|strogatz|higgs|molecul\w+ dynamics"
        r"|ionosphere|radar|nikuradse"
    ),
    "chemistry": (
        r"chemi\w+|molecul\w+|compounds?|reaction yields?|glass|periodic table|materials science"
        r"|solubility"
    ),
    "astronomy": r"astronom\w+|galax(?:y|ies)|solar flares?|telescopes?|planets?|outer space",
    "engineering": (r"engineering|manufactur\w+|robot\w*|fault detection|semiconductors?|jet engines?|industrial"),
}
"""Patterns for whole words that indicate the subject of a dataset, by domain. Case is ignored."""

FIELD_TASKS: Final[Mapping[str, str]] = {
    "natural-language-processing": (
        r"text|language|question|answer\w*|translation|summari[sz]ation|dialog\w*|convers\w+|sentiment"
        r"|entailment|inference|nli|named-entity|ner|token|parsing|pos|part-of-speech|lemmati[sz]ation"
        r"|paraphrase|coreference|reading-comprehension|retrieval|fact-check\w*|hate-speech|topic|intent"
        r"|slot|word-sense|grammar|multiple-choice|completion|rewriting|explanation|qa|instruction\w*|chat"
        r"|rlhf|reasoning|commonsense|generation|relation-extraction|keyword|writing|classification-text"
        r"|preference\w*|semantic\w*|sentence\w*|acceptability\w*|linguistic\w*|simplification|stance"
        r"|fill-mask|stereotype\w*"
    ),
    "computer-vision": (
        r"images?|visual|video|object-detection|segmentation|face|pose|optical-character\S*|ocr|depth"
        r"|captioning|action-recognition|image-classification|vision|3d|super-resolution|scene\w*"
    ),
    "speech": r"speech|speaker|audio|voice|asr|keyword-spotting|spoken|phoneme\w*",
    "computer-science": r"code|program\w*|sql|software",
}
"""Patterns for words in the names of tasks that indicate a field of research, by domain."""

_SUBJECTS: Final = {
    domain: re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE) for domain, words in SUBJECT_CUES.items()
}
_FIELDS: Final = {
    domain: re.compile(rf"(?:^|-)(?:{words})(?=-|$)", re.IGNORECASE) for domain, words in FIELD_TASKS.items()
}


@dataclass(frozen=True, slots=True)
class DomainEvidence:
    """A domain of a dataset and its evidence, such as "title: hospital"."""

    domain: str
    shown_by: str


def find_domains(
    stated_subjects: Iterable[str], texts: Sequence[tuple[str, str]], tasks: Sequence[str]
) -> list[DomainEvidence]:
    """Return the domains of a dataset: its subjects, and the fields of research of its tasks.

    Cues in the texts are only used if the documents state no subjects.

    Args:
        stated_subjects: the subjects that documents state.
        texts: the names and contents of texts, such as "title", in the order of preference. The first text with cues
            is used.
        tasks: the tasks of the dataset, of which only the first is used.
    """
    subjects = stated_domains(stated_subjects)
    for name, text in texts:
        subjects = subjects or domains_shown_by(name, text)

    fields = [
        DomainEvidence(domain, f"task: {task}")
        for domain, pattern in _FIELDS.items()
        for task in tasks[:1]
        if pattern.search(task)
    ]
    subject_domains = {evidence.domain for evidence in subjects}
    return subjects[:MAX_DOMAINS] + [field for field in fields if field.domain not in subject_domains]


def stated_domains(values: Iterable[str]) -> list[DomainEvidence]:
    """Return the domains of the vocabulary in stated subjects, themes or keywords."""
    evidence: dict[str, DomainEvidence] = {}
    for value in values:
        domain = fold_domain(value)
        if domain is not None and (domain in _SUBJECTS or domain in _FIELDS or known_domains([value])):
            evidence.setdefault(domain, DomainEvidence(domain, f"stated: {value}"))
    return list(evidence.values())


def domains_shown_by(name: str, text: str) -> list[DomainEvidence]:
    """Return the domains with a cue in a text.

    Args:
        name: the name of the text, such as "title", for the evidence.
        text: the text to search.
    """
    evidence = []
    for domain, pattern in _SUBJECTS.items():
        cue = pattern.search(text)
        if cue is not None:
            evidence.append(DomainEvidence(domain, f"{name}: {cue.group(0).lower()}"))
    return evidence
