"""The manual review of the extractor's proposals for the demo catalog.

The extractor proposes claims and a human reader decides on them by the codebook. The criterion of a rejected claim
stays unknown.
"""

from collections.abc import Mapping
from typing import Final

from touchstone.metadata.documents import Claim, Section
from touchstone.metadata.extraction.decision import REQUIRED_FACETS
from touchstone.metadata.extraction.proposals import propose_claims

REJECTED: Final[Mapping[str, Mapping[str, str]]] = {
    "accountability_defined": {
        "it names nobody who answers for the data": "bbc_hindi_nli hda_nli_hindi snips_built_in_intents aquamuse"
        " bn_hate_speech",
        "it names who published or provided something else": "ricci times_of_india_news_headlines crd3 thainer",
    },
    "data_quality_documented": {
        "it is about something else than the quality of the data": "consumer-finance-complaints fever red_caps"
        " time_dial wi_locness wmt20_mlqe_task2 exterior-violation-cleanups vacant-lot-cleanups"
        " licenses-and-inspections-clean-and-seal feynman_II_2_42 imagenet_pi"
        " https://github.com/google-research-datasets/dices-dataset/",
        "it is about other data": "twi_text_c3 twi_wordsim353",
        "a check without what came of it": "biomrc web_nlg market-value-assessment imagenet2012 imagenet-1k"
        " thai_toxicity_tweet timit_asr e2e_nlg e2e_nlg_cleaned scb_mt_enth_2020 code_x_glue_cc_code_refinement",
        "it says that data were cleaned, and not of what": "kannada_news tobacco-retailer-permits",
    },
    "equity_non_discrimination": {
        "it is about other data, or a benchmark for models": "bigbench",
        "it is about annotators alone": "visual_genome",
    },
    "record_keeping_policy_exists": {"roads are maintained, not data": "pa-dot-local-roads"},
    "user_control": {"it is about how the data were made": "rock_you"},
    "transparency": {
        "one of the four parts alone": "communities communities_unnormalized dutch heart_disease competition_math"
        " cord19 flue hatexplain id_nergrit_corpus id_puisi indonli meta_woz ollie smartdata tashkeela thaisum"
        " visual_genome zest wmt20_mlqe_task2 resisc45 imagenet_resized openbookqa red_caps textvqa tweet_qa para_pat"
        " code_search_net chr_en media_sum stl10 ogbg_molpcba swedish_reviews swedish_ner_corpus medal spider"
        " scene_parse_150 sofc_materials_articles schema_guided_dstc8 breast_cancer_wisconsin_diagnostic eurlex"
        " multi_eurlex hate_speech18 health_fact kan_hope kannada_news kor_sae mkqa ncbi_disease nchlt newspop norec"
        " omp qasper roman_urdu_hate_speech narrativeqa hindi_discourse x_stance covost2 120h-spanish-speech wider_face"
        " turk tatoeba https://github.com/anthropics/hh-rlhf",
        "it says nothing of how these data came to be": "acronym_identification cnn_dailymail hope_edi imagenet-1k"
        " ms_marco sem_eval_2018_task_1 myanmar_news numer_sense compas compas_2_years compas_2_years_violent"
        " times_of_india_news_headlines",
    },
}
"""The keys of the datasets with a rejected claim, by attribute and reason."""

_REJECTED_KEYS: Final = frozenset(
    (attribute, key) for attribute, reasons in REJECTED.items() for keys in reasons.values() for key in keys.split()
)


def is_rejected(claim: Claim, key: str) -> bool:
    """Return whether a reader rejected a claim about the dataset with this key."""
    return (claim.attribute, key) in _REJECTED_KEYS


def convinces_alone(claim: Claim) -> bool:
    """Return whether the quote of a claim is sufficient evidence on its own.

    For criteria with several facets, the extractor combines sentences of a document but quotes only one. The catalog
    requires a quote that shows enough facets itself.
    """
    if claim.attribute not in REQUIRED_FACETS or claim.field is not None:
        return True

    is_structured = claim.place.startswith("/")
    path = tuple(claim.place.strip("/").split("/") if is_structured else claim.place.split(" > "))
    proposals = propose_claims([Section(path, claim.quote, is_structured)])
    return any(proposal.attribute == claim.attribute and proposal.value is claim.value for proposal in proposals)
