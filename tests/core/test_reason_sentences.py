"""Each reason of a ranking is one sentence that can be quoted, in French and in English."""

import pytest

from touchstone.messages.numbers import (
    format_decimal,
    format_distinguishably,
    format_lower_bound,
    format_percentage,
    format_significant,
    format_upper_bound,
    limit_to_show,
)
from touchstone.messages.reasons import (
    ComparisonFacts,
    LabeledPoints,
    RankFacts,
    RankRangeFacts,
    StabilityFacts,
    TargetRankFacts,
    VerifiedValue,
    WeightChange,
    comparison_sentence,
    rank_range_sentence,
    rank_sentence,
    stability_sentence,
    target_rank_sentence,
)

ETHICAL = ("Éthique", "Ethical")
TECHNICAL = ("Technique", "Technical")
POPULARITY = ("Popularité", "Popularity")
NOVELTY = ("Nouveauté", "Novelty")


def with_ordinary_spaces(sentence: str) -> str:
    """Return a French sentence with ordinary spaces instead of non-breaking ones."""
    return sentence.replace("\u00a0", " ").replace("\u202f", " ")


def test_a_rank_is_explained_by_its_points_and_by_what_is_unknown() -> None:
    """The largest contribution comes first, and unknown criteria are named, not passed over."""
    points = [LabeledPoints(ETHICAL, 0.28), LabeledPoints(TECHNICAL, 0.324), LabeledPoints(NOVELTY, 0.0)]
    facts = RankFacts("German Credit", 1, 0, 1312, 0.604, points, [NOVELTY], known=6, highest_score=0.9)

    assert rank_sentence(facts, "en") == (
        "“German Credit” ranks 1st of 1,312 with a score of 0.604: “Technical” adds 0.324 and “Ethical” 0.28; "
        "nothing is known about “Novelty”; 4 of its 10 ethical criteria are unknown; what is unknown could raise its "
        "score to 0.9 at most."
    )
    assert with_ordinary_spaces(rank_sentence(facts, "fr")) == (
        "« German Credit » est en 1re position sur 1 312 avec un score de 0,604 : « Technique » apporte 0,324 et "
        "« Éthique » 0,28 ; on ne sait rien de « Nouveauté » ; 4 de ses 10 critères éthiques sont inconnus ; ce que "
        "l’on ignore pourrait porter son score à 0,9 au plus."
    )


@pytest.mark.parametrize(
    ("score", "highest_score", "beginning", "ending"),
    [
        (0.5586, 0.55904, "a score of 0.559:", "to 0.56 at most."),
        (0.5596, 0.55995, "a score of 0.5596:", "to 0.56 at most."),
        (0.5, 0.854086, "a score of 0.5:", "to 0.855 at most."),
        (0.5, 0.9 + 1e-16, "a score of 0.5:", "to 0.9 at most."),
        (0.00012345, 0.9, "a score of 0.000123:", "to 0.9 at most."),
        (0.5, 0.5 + 1e-16, "a score of 0.5:", "adds 0.5."),
    ],
)
def test_a_score_and_the_highest_one_can_be_told_apart(
    score: float, highest_score: float, beginning: str, ending: str
) -> None:
    """The highest score is rounded up, so that it is a true limit, and a score above zero is not written as zero."""
    facts = RankFacts("A", 1, 0, 2, score, [LabeledPoints(ETHICAL, score)], highest_score=highest_score)
    sentence = rank_sentence(facts, "en")
    assert beginning in sentence
    assert sentence.endswith(ending)


@pytest.mark.parametrize(
    ("score", "highest_score", "shown"),
    [
        (0.5, 0.5, None),
        (0.5, 0.5 + 1e-16, None),
        (0.5, 0.8540861, 0.855),
        (0.4999, 0.5, None),  # both are shown as 0.500
        (0.5, 0.5001, 0.501),
        (0.0, 1.0, 1.0),
    ],
)
def test_a_highest_score_that_looks_like_the_score_is_not_shown(
    score: float, highest_score: float, shown: float | None
) -> None:
    """Pages, the report and the command line show it with three decimals, and rounded up."""
    assert limit_to_show(score, highest_score, 3) == shown


def test_equal_contributions_keep_the_order_of_the_criteria() -> None:
    """The rounding error of a sum does not decide which criterion is named first."""
    points = [LabeledPoints(ETHICAL, 0.24999999999999994), LabeledPoints(TECHNICAL, 0.25)]
    sentence = rank_sentence(RankFacts("A", 1, 0, 2, 0.5, points), "en")
    assert "“Ethical” adds 0.25 and “Technical” 0.25" in sentence


def test_small_points_are_not_written_as_zero() -> None:
    """Points below half a thousandth keep their significant digits, also in differences."""
    points = [LabeledPoints(ETHICAL, 0.5), LabeledPoints(TECHNICAL, 0.000123456), LabeledPoints(NOVELTY, 1e-9)]
    assert "adds 0.5, “Technical” 0.000123 and “Novelty” 1e−9." in rank_sentence(
        RankFacts("A", 1, 0, 2, 0.5, points), "en"
    )
    differences = [LabeledPoints(TECHNICAL, 0.0002), LabeledPoints(ETHICAL, -0.0001)]
    sentence = comparison_sentence(ComparisonFacts("A", "B", 0.5002, 0.5001, differences, None), "en")
    assert "“Technical” (+0.0002), although “B” is better in “Ethical” (−0.0001)" in sentence


def test_a_tie_is_mentioned() -> None:
    """A dataset that shares its score does not claim a place of its own."""
    facts = RankFacts("A", 22, 1, 312, 0.5, [LabeledPoints(ETHICAL, 0.5)])
    assert rank_sentence(facts, "en").startswith("“A” shares 22nd place of 312 with 1 other and a score of 0.5")
    assert with_ordinary_spaces(rank_sentence(facts, "fr")).startswith(
        "« A » partage la 22e place sur 312 avec 1 autre et un"
    )


def test_many_criteria_are_added_up() -> None:
    """Three criteria are named, the others counted, and nothing of the score is lost; a fourth is named as well."""
    labels = [ETHICAL, TECHNICAL, POPULARITY, NOVELTY, ("Citations", "Citations")]
    points = [LabeledPoints(label, 0.1) for label in labels]
    facts_of_five, facts_of_four = (RankFacts("A", 1, 0, 3, 0.1 * count, points[:count]) for count in (5, 4))
    assert "“Ethical” adds 0.1, “Technical” 0.1, “Popularity” 0.1 and 2 other criteria 0.2." in rank_sentence(
        facts_of_five, "en"
    )
    assert rank_sentence(facts_of_four, "en").endswith("“Popularity” 0.1 and “Novelty” 0.1.")


def test_a_score_of_zero_is_explained() -> None:
    """A dataset without any points gets a sentence too."""
    facts = RankFacts("A", 3, 0, 3, 0.0, [LabeledPoints(ETHICAL, 0.0)], known=10)
    assert rank_sentence(facts, "en") == (
        "“A” ranks 3rd of 3 with a score of 0: none of the weighted criteria adds any points."
    )


def test_a_comparison_says_why_although_and_what_would_reverse_it() -> None:
    """Scores that look alike get as many decimals as it takes, and the bound is beyond the exact weight."""
    differences = [LabeledPoints(ETHICAL, 0.1), LabeledPoints(TECHNICAL, 0.0), LabeledPoints(POPULARITY, -0.0999)]
    facts = ComparisonFacts("A", "B", 0.7341, 0.734, differences, WeightChange(POPULARITY, 0.2, 0.20013333))

    assert comparison_sentence(facts, "en") == (
        "“A” (0.7341) ranks above “B” (0.7340) because of “Ethical” (+0.1), although “B” is better in “Popularity” "
        "(−0.1); the order would be reversed if the weight of “Popularity” rose from 0.2 to above 0.201."
    )
    assert with_ordinary_spaces(comparison_sentence(facts, "fr")) == (
        "« A » (0,7341) est devant « B » (0,7340) grâce à « Éthique » (+0,1), bien que « B » soit meilleur pour "
        "« Popularité » (−0,1) ; l’ordre s’inverserait si le poids de « Popularité » passait de 0,2 à plus de 0,201."
    )


def test_differences_by_rounding_are_not_mentioned() -> None:
    """Points that differ in their last digit only are equal."""
    differences = [LabeledPoints(ETHICAL, 0.2), LabeledPoints(TECHNICAL, 2e-17), LabeledPoints(NOVELTY, -2e-17)]
    sentence = comparison_sentence(ComparisonFacts("A", "B", 0.7, 0.5, differences, None), "en")
    assert sentence.startswith("“A” (0.700) ranks above “B” (0.500) because of “Ethical” (+0.2); no change")


@pytest.mark.parametrize(
    ("reversal", "ending"),
    [
        (None, "; no change of a single weight can reverse this order."),
        (WeightChange(ETHICAL, 0.4, 0.12345), "if the weight of “Ethical” fell from 0.4 to below 0.123."),
        (WeightChange(ETHICAL, 4.0, 12345.6), "if the weight of “Ethical” rose from 4 to above 12,400."),
        (WeightChange(ETHICAL, 0.4, 0.0), "if the weight of “Ethical” fell from 0.4 to 0."),
        (WeightChange(ETHICAL, 0.0, 0.0), "if the weight of “Ethical” rose from 0 to above 0."),
    ],
)
def test_a_reversal_is_a_rise_a_fall_or_impossible(reversal: WeightChange | None, ending: str) -> None:
    """A bound that has to be exceeded is rounded up, one to be undercut is rounded down; no weight falls below zero."""
    facts = ComparisonFacts("A", "B", 0.7, 0.5, [LabeledPoints(ETHICAL, 0.2)], reversal)
    assert comparison_sentence(facts, "en").endswith(ending)


def test_datasets_with_one_score_are_not_ranked_by_merit() -> None:
    """The order of equal scores says nothing."""
    facts = ComparisonFacts("A", "B", 0.73, 0.73, [], None)
    assert comparison_sentence(facts, "en") == (
        "“A” and “B” have the same score (0.73): their order is merely alphabetical."
    )


def test_scores_that_differ_by_a_rounding_error_are_equal() -> None:
    """No criterion explains such an order, and no weight is said to reverse it."""
    differences = [LabeledPoints(ETHICAL, 0.1), LabeledPoints(NOVELTY, -0.1)]
    facts = ComparisonFacts("A", "B", 0.1 + 0.2, 0.3, differences, WeightChange(ETHICAL, 0.1, 0.1))
    assert comparison_sentence(facts, "en") == (
        "“A” and “B” have the same score (0.3) up to a rounding error, which alone decides their order."
    )
    assert with_ordinary_spaces(comparison_sentence(facts, "fr")) == (
        "« A » et « B » ont le même score (0,3) à une erreur d’arrondi près, qui seule décide de leur ordre."
    )


def test_robustness_is_a_verdict_with_its_counts() -> None:
    """The verdict comes first, and the counts on which it rests follow."""
    facts = StabilityFacts("A", 10, 40, 100, 0.2, 0.97, 1, 14, "B")
    assert stability_sentence(facts, "en") == (
        "The place of “A” is robust: if the weights vary by up to ±20%, it is among the first 10 of 40 in 97 of 100 "
        "samples, from rank 1 to rank 14; of those that overtake it then, “B” is the nearest."
    )
    assert with_ordinary_spaces(stability_sentence(facts, "fr")) == (
        "La place de « A » est solide : si l’on varie les poids jusqu’à ±20 %, il est parmi les 10 premiers sur 40 "
        "dans 97 des 100 tirages, du rang 1 au rang 14 ; de ceux qui le dépassent alors, « B » est le plus proche."
    )


@pytest.mark.parametrize(
    ("share", "worst_rank", "expected"),
    [
        (
            0.9,
            1,
            "The place of “A” is robust: if the weights vary by up to ±20%, it ranks first of 40 in 90 of 100 samples",
        ),
        (0.89, 2, "from rank 1 to rank 2."),
        (0.5, None, "from rank 1 to beyond rank 10."),
        (1.0, 1, "always at rank 1."),
        (0.9, 1, "always at rank 1; among equal scores, the alphabet decides whether it ranks first."),
        (0.89, 2, "The place of “A” is fragile"),
    ],
)
def test_robustness_of_the_first(share: float, worst_rank: int | None, expected: str) -> None:
    """From a share of 0.9 on a place is robust, and ranks that are too bad to be known are said to be beyond."""
    assert expected in stability_sentence(StabilityFacts("A", 1, 40, 100, 0.2, share, 1, worst_rank, None), "en")


def test_the_alphabet_may_decide_who_is_among_the_first() -> None:
    """Where a shared rank is always among the first k, the sentence says why the dataset is not."""
    facts = StabilityFacts("A", 10, 37, 100, 0.2, 0.9, 7, 8, None)
    assert stability_sentence(facts, "en").endswith(
        "in 90 of 100 samples, from rank 7 to rank 8; among equal scores, the alphabet decides whether it is among the "
        "first 10."
    )
    tied_facts = StabilityFacts("A", 10, 37, 100, 0.2, 1.0, 7, 7, None, has_tie_at_limit=True)
    assert stability_sentence(tied_facts, "en").endswith(
        "in 100 of 100 samples, always at rank 7; among equal scores, the alphabet decides whether it is among the "
        "first 10."
    )


def test_a_verdict_needs_competitors() -> None:
    """Where no dataset can leave the first k, the sentence says so in place of a verdict."""
    sentence = stability_sentence(StabilityFacts("A", 10, 5, 100, 0.2, 1.0, 2, 2, None), "en")
    assert sentence == (
        "“A” cannot leave the first 10, because only 5 datasets are ranked; if the weights vary by up to ±20% "
        "(100 samples), it stays there, always at rank 2."
    )
    assert "robust" not in sentence
    french_sentence = stability_sentence(StabilityFacts("A", 10, 5, 100, 0.2, 1.0, 1, 2, "B"), "fr")
    assert with_ordinary_spaces(french_sentence) == (
        "« A » ne peut pas quitter les 10 premiers, car seulement 5 jeux de données sont classés ; si l’on varie les "
        "poids jusqu’à ±20 % (100 tirages), il y reste, du rang 1 au rang 2 ; de ceux qui le dépassent alors, « B » "
        "est le plus proche."
    )
    only_dataset = StabilityFacts("A", 10, 1, 100, 0.2, 1.0, 1, 1, None)
    assert stability_sentence(only_dataset, "en") == "“A” is the only dataset that is ranked, whatever the weights."


def test_a_shared_rank_is_named_as_one() -> None:
    """A dataset that shares a rank rises from this one, and above those that share the target rank with it."""
    facts = TargetRankFacts("A", 5, 1, None, None, place=3)
    assert target_rank_sentence(facts, "en") == (
        "Even if all yes/no attributes of “A” (rank 3) were established in its favour, it would not reach rank 1."
    )
    facts = TargetRankFacts("A", 5, 3, None, None, place=3)
    assert target_rank_sentence(facts, "en") == (
        "“A” shares rank 3 with others, and would not come before them, even if all its yes/no attributes were "
        "established in its favour."
    )
    consent = VerifiedValue(("Consentement éclairé", "Informed consent"), True)
    facts = TargetRankFacts("A", 5, 3, [consent], 3, place=3)
    assert target_rank_sentence(facts, "en") == (
        "“A” shares rank 3 with others, and would come before them if “Informed consent” (yes) were established."
    )


OUTSIDE = "“A” does not pass the filters or requirements of the ranking; among the datasets that do, it would "
CONSENT = VerifiedValue(("Consentement éclairé", "Informed consent"), True)


@pytest.mark.parametrize(
    ("facts", "ending"),
    [
        (TargetRankFacts("A", 1, 10, [], 1, place=1, is_ranked=False), "be at rank 1."),
        (
            TargetRankFacts("A", 12, 10, [CONSENT], 3, place=12, is_ranked=False),
            "rise from rank 12 to rank 3 if “Informed consent” (yes) were established.",
        ),
        (
            TargetRankFacts("A", 12, 3, None, None, place=12, is_ranked=False),
            "be at rank 12, and would not reach rank 3, even if all its yes/no attributes were established in its "
            "favour.",
        ),
        (
            TargetRankFacts("A", 5, 3, [CONSENT], 3, place=3, is_ranked=False),
            "share rank 3 with others, and come before them if “Informed consent” (yes) were established.",
        ),
        (
            TargetRankFacts("A", 5, 3, None, None, place=3, is_ranked=False),
            "share rank 3 with others, and not come before them, even if all its yes/no attributes were established "
            "in its favour.",
        ),
    ],
)
def test_a_dataset_outside_of_the_ranking_would_have_a_rank(facts: TargetRankFacts, ending: str) -> None:
    """The sentence does not call a dataset ranked that the filters leave out."""
    assert target_rank_sentence(facts, "en") == OUTSIDE + ending
    assert with_ordinary_spaces(target_rank_sentence(facts, "fr")).startswith(
        "« A » ne passe pas les filtres ou les exigences du classement ; parmi ceux qui les passent, il "
    )


def test_lifts_name_what_has_to_be_established() -> None:
    """Each attribute comes with the value that it would need."""
    values = [VerifiedValue(("Consentement éclairé", "Informed consent"), True)]
    values.append(VerifiedValue(("Valeurs manquantes", "Has missing values"), False))
    facts = TargetRankFacts("A", 12, 10, values, 3, place=12)
    assert target_rank_sentence(facts, "en") == (
        "“A” would rise from rank 12 to rank 3 if “Informed consent” (yes) and “Has missing values” (no) "
        "were established."
    )
    assert with_ordinary_spaces(target_rank_sentence(facts, "fr")) == (
        "« A » passerait du rang 12 au rang 3 si l’on établissait « Consentement éclairé » (oui) et "
        "« Valeurs manquantes » (non)."
    )
    assert target_rank_sentence(TargetRankFacts("A", 2, 3, [], None, place=2), "en") == "“A” is already at rank 2."


def test_an_unreachable_rank_is_only_claimed_for_yes_no_attributes() -> None:
    """Unknown numbers, such as the citations, might still raise the dataset, because lifts do not vary them."""
    facts = TargetRankFacts("A", 12, 3, None, None, place=12)
    assert target_rank_sentence(facts, "en") == (
        "Even if all yes/no attributes of “A” (rank 12) were established in its favour, it would not reach rank 3."
    )
    assert with_ordinary_spaces(target_rank_sentence(facts, "fr")) == (
        "Même si tous les attributs oui/non de « A » (rang 12) étaient établis en sa faveur, il n’atteindrait pas le "
        "rang 3."
    )


def test_unknown_values_leave_a_range_of_ranks() -> None:
    """A rank that no unknown value can change is said to be certain."""
    open_rank, certain_rank = RankRangeFacts("A", 5, 2, 17), RankRangeFacts("A", 5, 5, 5)
    assert rank_range_sentence(open_rank, "en").endswith("its rank among the ranked datasets would be from 2 to 17.")
    assert rank_range_sentence(certain_rank, "en") == (
        "“A” is at rank 5 of the ranked datasets, whatever is still unknown of their ethical criteria."
    )
    assert "quoi que l’on ignore" in rank_range_sentence(certain_rank, "fr")


@pytest.mark.parametrize(("place", "ordinal"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (112, "112th")])
def test_places_are_ordinal_numbers(place: int, ordinal: str) -> None:
    """Teens end in -th whatever their last digit."""
    assert f"ranks {ordinal} of" in rank_sentence(RankFacts("A", place, 0, 200, 0.0, []), "en")


def test_numbers_are_written_as_their_language_does() -> None:
    """Marks of thousands and decimals, the minus sign, and rounding that never lies."""
    assert format_decimal(-1234.5, "fr") == "−1\u202f234,5"
    assert format_decimal(-0.0001, "en") == "0"
    assert format_distinguishably(0.5, 0.5, "en") == ("0.500", "0.500")
    assert format_distinguishably(0.12345678, 0.12345679, "fr") == ("0,12345678", "0,12345679")
    assert format_percentage(0.125, "fr") == "12,5\u00a0%"
    assert format_lower_bound(0.30000000000000004, "en") == "0.3"
    assert format_upper_bound(0.0, "en") == "0"
    assert [format_significant(weight, "en") for weight in (3, 0.25, 0.00001, 1e300)] == ["3", "0.25", "1e−5", "1e+300"]
    assert format_lower_bound(1.23456e300, "en") == "1.24e+300"
