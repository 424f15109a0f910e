"""The address of the ranking page contains its whole state, and reading and writing it loses nothing."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.client import Project, Weight
from touchstone.core.evidence import Assurance
from touchstone.services.selection.gates import GATES as API_GATES
from touchstone.web.localizer import Localizer
from touchstone.web.rank_filters import FILTERS, FilterInput, InvalidFilterValue
from touchstone.web.rank_gates import GATES, GateInput
from touchstone.web.rank_state import VIEWS, InvalidSetting, RankState, invalid_settings
from touchstone.web.slider_positions import WeightProfiles, weights_to_positions
from touchstone.web.views.filter_form import filter_chips

WEIGHT_PROFILES = WeightProfiles(
    criteria=("ethical_score", "technical_score", "popularity_score", "year"),
    profiles={
        "ethical": {"ethical_score": 70, "year": 30},
        "balanced": {"ethical_score": 40, "technical_score": 40, "popularity_score": 20},
    },
    default="balanced",
)
names = st.sampled_from(
    [
        *FILTERS,
        *(f"gate.{name}" for name in GATES),
        "gate",
        "robustness",
        "view",
        "page",
        "pin",
        "previous_ids",
        "profile",
        "nonsense",
    ]
)
names |= st.sampled_from(WEIGHT_PROFILES.criteria).map("w.{}".format)
values = st.sampled_from(
    [
        "",
        "true",
        "pass",
        "yes",
        "reviewed",
        "12",
        "12.5",
        "-1",
        "nan",
        "1e999",
        "table",
        "ethical",
        "none",
        "3.4.5",
        "1.x",
    ]
)
pairs = st.lists(st.tuples(names, values | st.text(max_size=20)), max_size=12)


def read(query: str) -> RankState:
    return RankState.from_pairs(parse_qsl(query.removeprefix("?")), WEIGHT_PROFILES)


@given(pairs)
def test_an_address_read_and_written_again_is_the_same(given_pairs: list[tuple[str, str]]) -> None:
    """Whatever a form or a link contains, its state has exactly one address, which leads to the same state."""
    state = RankState.from_pairs(given_pairs, WEIGHT_PROFILES)
    assert read(state.query()) == state
    assert read(state.query()).query() == state.query()


@given(pairs)
def test_shares_add_up_to_one(given_pairs: list[tuple[str, str]]) -> None:
    """The shares of the criteria add up to the whole score, unless nothing has a weight."""
    shares = RankState.from_pairs(given_pairs, WEIGHT_PROFILES).shares
    assert not shares or sum(shares.values()) == pytest.approx(1)


def test_the_bare_address_is_the_balanced_profile_as_heat_map() -> None:
    """Without a query, the page shows what the API returns without weights."""
    state = read("")
    assert (state.profile, state.view, state.query()) == ("balanced", VIEWS[0], "")
    assert state.weight_body() == {"ethical_score": 0.4, "technical_score": 0.4, "popularity_score": 0.2}


def test_a_profile_wins_over_sliders() -> None:
    """The button of a profile also submits the sliders, which then follow the profile."""
    assert read("?profile=ethical&w.year=90").slider_positions == {"ethical_score": 70, "year": 30}


def test_no_weight_at_all_is_kept() -> None:
    """All sliders at zero is a state of its own, and not the default."""
    assert read("?w.year=0").slider_positions == {}
    assert read(read("?w.year=0").query()).slider_positions == {}


def test_bounds_are_read_as_people_write_them() -> None:
    """Numbers may have spaces between thousands and a decimal comma; words are not numbers."""
    state = read("?instances_number_min=1 000&missing_values_percentage_max=2,5")
    assert state.filter_body() == {"instances_number_min": 1000, "missing_values_percentage_max": 2.5}
    with pytest.raises(InvalidFilterValue):
        read("?year_min=abc").filter_body()


@pytest.mark.parametrize(
    ("entered_text", "bound"), [("10,000", 10_000), ("1,736,944,727", 1_736_944_727), ("2,5", 2.5), ("1,0000", 1)]
)
def test_whole_numbers_may_have_the_commas_that_pages_show(entered_text: str, bound: float) -> None:
    """A comma before exactly three digits separates thousands where decimals make no sense, in filters and gates."""
    state = read(f"?citations_max={entered_text}&gate.instances_min={entered_text}")
    assert state.filter_body() == {"citations_max": bound}
    assert state.gate_body() == {"instances_min": bound}


def test_percentages_never_have_commas_between_thousands() -> None:
    """A comma in a percentage is a decimal comma, whatever follows it."""
    assert read("?missing_values_percentage_max=1,125").filter_body() == {"missing_values_percentage_max": 1.125}


@pytest.mark.parametrize(
    ("locale", "shown"),
    [("en", ["10,000", "2.5", "12.5%", "1998"]), ("fr", ["10\u202f000", "2,5", "12,5\u00a0%", "1998"])],
)
def test_bounds_above_the_ranking_show_how_they_were_read(locale: str, shown: list[str]) -> None:
    """The chips show numbers in the language of the page; an invalid bound stays as it was entered."""
    query = "?instances_number_min=10,000&missing_values_percentage_max=2,5&ethical_score_min=12,5&year_min=1998"
    values = [chip.value for chip in filter_chips(read(query), Localizer(locale))]
    assert sorted(values) == sorted(shown)
    assert [chip.value for chip in filter_chips(read("?year_min=soon"), Localizer(locale))] == ["soon"]


def test_an_unknown_licence_is_named_in_the_language_of_the_page() -> None:
    """The value `unknown` of the API is a word for readers; licences themselves keep their names."""
    state = read("?license=unknown&license=MIT")
    assert [chip.value for chip in filter_chips(state, Localizer("fr"))] == ["inconnue", "MIT"]
    assert state.filter_body() == {"license": ["unknown", "MIT"]}


def test_what_a_filter_cannot_take_is_named() -> None:
    """A bound in words, an invalid flag and an unknown visibility are reported apart from what is valid."""
    state = read("?year_min=abc&is_public=maybe&visibility=zzz&split=true&is_split=true&domain=a")
    assert state.invalid_filters == ("year_min", "is_public", "visibility")
    valid_state = state.with_filters_only(name for name in state.filters if name not in state.invalid_filters)
    assert valid_state.filter_body() == {"domain": ["a"], "is_split": True}


@pytest.mark.parametrize("name", [name for name, kind in FILTERS.items() if kind is FilterInput.FLAG])
def test_flags_are_true_or_false(name: str) -> None:
    """A flag in the address becomes a boolean in the request to the API."""
    assert read(f"?{name}=true").filter_body() == {name: True}
    assert read(f"?{name}=false").filter_body() == {name: False}


def test_a_long_text_is_kept_in_full() -> None:
    """The API says which texts are too long; the page does not search for a part of one."""
    assert read(f"?dataset_name={'x' * 1500}").filter_body() == {"dataset_name": "x" * 1500}


def test_a_list_may_be_one_text_with_commas() -> None:
    """It is divided as in the API, unless the catalog has a value with these commas."""
    state = read("?domain=health, finance,&source=Acme, Inc.&task=a&language=,&license=a,b&license=c")
    assert state.joined_lists == ("domain", "language", "source")
    known_values = {"source": ["ACME, Inc.", "other"], "domain": ["health"]}
    assert state.with_separate_words(known_values).filter_body() == {
        "domain": ["health", "finance"],
        "task": ["a"],
        "language": [","],
        "license": ["a,b", "c"],
        "source": ["Acme, Inc."],
    }


def test_settings_that_a_state_replaces_are_listed() -> None:
    """Names that do not exist, and numbers that are none or beyond the slider; what is valid is not listed."""
    levels = tuple(level.value for level in Assurance)
    query = (
        "profile=ethcial&assurance=bogus&gate=bogus&view=x&w.year=abc&w.ethical_score=500&page=first&pin=x&year_min=y"
    )
    assert invalid_settings(parse_qsl(query), WEIGHT_PROFILES) == (
        InvalidSetting("profile", "ethcial", ("ethical", "balanced", "none")),
        InvalidSetting("assurance", "bogus", levels),
        InvalidSetting("gate", "bogus", ("pass", "all")),
        InvalidSetting("view", "x", VIEWS),
        InvalidSetting("w.year", "abc"),
        InvalidSetting("w.ethical_score", "500"),
        InvalidSetting("page", "first"),
        InvalidSetting("pin", "x"),
    )
    valid_query = "profile=none&assurance=declared&gate=pass&view=bars&w.year=0&w.ethical_score=1e-9&page=2&pin=7"
    assert invalid_settings(parse_qsl(valid_query), WEIGHT_PROFILES) == ()


def test_removing_a_filter_leaves_the_others() -> None:
    """Removing one value of a list keeps its other values."""
    assert read("?domain=a&domain=b").without_filter_value("domain", "a").filters == {"domain": ("b",)}


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ({"a": 0.35, "b": 0.65}, {"a": 35, "b": 65}),
        ({"a": 40, "b": 0}, {"a": 40}),
        ({"a": 500, "b": 250}, {"a": 100, "b": 50}),
        ({"a": 1000, "b": 0.0004}, {"a": 100, "b": 0.00004}),
        ({"a": 1e-7}, {"a": 100}),
        ({"a": 5e-324, "b": 0}, {"a": 100}),
        ({"a": 50, "b": 1e-7}, {"a": 100, "b": 2e-7}),
        ({"a": 1, "b": 0.000123456}, {"a": 100, "b": 0.0123456}),
        ({"a": 1e300, "b": 1e-300}, {"a": 100, "b": 1e-300}),
    ],
)
def test_stored_weights_of_any_size_fit_the_sliders(weights: dict[str, float], expected: dict[str, float]) -> None:
    """Weights keep their proportions on sliders that end at 100."""
    assert weights_to_positions(weights) == expected


def test_an_address_keeps_the_proportions_of_extreme_weights() -> None:
    """No weight of a project disappears from the ranking to which its page leads."""
    weights = [Weight(criterion_name="year", weight=1000), Weight(criterion_name="ethical_score", weight=0.0004)]
    state = RankState.from_project(project(weights=weights), WEIGHT_PROFILES)
    assert read(state.query()).weight_body() == {"ethical_score": 0.0000004, "year": 1.0}


def project(**fields: Any) -> Project:
    """Return a project with these fields."""
    now = datetime.now(UTC)
    return Project(id="x", user_id=uuid4(), name="Need", created_at=now, updated_at=now, **fields)


def test_the_level_of_evidence_is_part_of_the_address_and_of_a_project() -> None:
    """The pages require documents by default; a project that stores no level ranks at `declared`, as in the API."""
    assert (read("").assurance, read("?assurance=hearsay").assurance) == (Assurance.DOCUMENTED, Assurance.DOCUMENTED)
    assert read("?assurance=declared").query() == "?assurance=declared"
    assert RankState.from_project(project(), WEIGHT_PROFILES).assurance is Assurance.DECLARED
    reviewed_project = project(assurance=Assurance.REVIEWED)
    assert RankState.from_project(reviewed_project, WEIGHT_PROFILES).assurance is Assurance.REVIEWED


def test_stored_filters_are_shown_under_their_own_names() -> None:
    """A project that was stored with aliases of filters opens with the same filters."""
    criteria = {"instances_min": 100, "split": False, "domain": "a,b", "task": None}
    state = RankState.from_project(
        project(criteria=criteria, weights=[Weight(criterion_name="year", weight=1)]), WEIGHT_PROFILES
    )
    assert state.filter_body() == {"instances_number_min": 100, "is_split": False, "domain": ["a", "b"]}
    assert state.slider_positions == {"year": 100}


def test_only_stored_lists_are_parted_at_their_commas() -> None:
    """A name or an objective that contains a comma remains one text."""
    criteria = {"objective": "Income, of adults", "file_type": "csv,parquet"}
    state = RankState.from_project(project(criteria=criteria), WEIGHT_PROFILES)
    assert state.filters == {"objective": ("Income, of adults",), "file_type": ("csv", "parquet")}


def test_a_stored_requirement_keeps_the_commas_of_its_values() -> None:
    """The page writes them so that the field of the form can be split into the same values again."""
    state = RankState.from_project(project(gates={"license": ["Kaggle, other", "MIT"]}), WEIGHT_PROFILES)
    assert state.gates == {"license": "Kaggle\\, other, MIT"}
    assert state.gate_body() == {"license": ["Kaggle, other", "MIT"]}


def test_the_pages_have_every_gate_of_the_api() -> None:
    """The form of the gates has all names, and enters each as the API expects it."""
    assert set(GATES) == {gate.parameter.name for gate in API_GATES}
    examples = {GateInput.LEVEL: "reviewed", GateInput.WORDS: "a, b", GateInput.FLAG: "true", GateInput.NUMBER: "12,5"}
    bodies = {GateInput.LEVEL: "reviewed", GateInput.WORDS: ["a", "b"], GateInput.FLAG: True, GateInput.NUMBER: 12.5}
    for name, gate_input in GATES.items():
        state = read(f"?gate.{name}={examples[gate_input]}")
        assert state.gate_body() == {name: bodies[gate_input]}
        assert state.without_gate(name).gates == {}


def test_what_a_gate_cannot_take_is_named() -> None:
    """Levels that do not exist and bounds in words are reported, and kept so that readers can correct them."""
    state = read("?gate.transparency=hearsay&gate.year_min=abc&gate.license=MIT&gate.nonsense=1")
    assert state.invalid_gates == ("transparency", "year_min")
    with pytest.raises(InvalidFilterValue):
        state.gate_body()


def test_stored_gates_are_shown_under_their_own_names() -> None:
    """A project opens with its gates, whatever names of the API it was stored with."""
    gates = {"instances_number_min": 1000, "is_anonymized": "documented", "license": ["MIT", "CC-BY-*"], "domain": None}
    state = RankState.from_project(project(gates=gates), WEIGHT_PROFILES)
    assert state.gates == {
        "anonymization_applied": "documented",
        "license": "MIT, CC-BY-*",
        "instances_min": "1000",
    }
    assert state.gate_body()["license"] == ["MIT", "CC-BY-*"]


def test_a_slider_is_moved_to_another_position() -> None:
    """The link to a reversed ranking keeps the other weights and their order."""
    state = read("?w.year=20&w.ethical_score=50&page=3")
    assert state.with_position("technical_score", 30).query() == "?w.ethical_score=50&w.technical_score=30&w.year=20"
    assert state.with_position("year", 0).slider_positions == {"ethical_score": 50}
