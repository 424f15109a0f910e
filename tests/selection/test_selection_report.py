"""The report on a project: what it states, in which words and formats, and that equal states give equal bytes."""

import asyncio
import html
import json
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
import sqlalchemy as sa

from tests.selection.claims import CURATOR, calling_as, insert_user, post_claim, review_claim
from tests.selection.conftest import ADA, client_of, create_record
from touchstone.core.canonical_json import canonical_digest
from touchstone.core.errors import ReportUnavailable
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.tables import datasets, metadata
from touchstone.messages.locales import LOCALES
from touchstone.services.selection.app import Selection
from touchstone.services.selection.report.choice_facts import MAX_DECISIONS
from touchstone.services.selection.report.document import ReportDocument
from touchstone.services.selection.report.formats import FORMATS
from touchstone.services.selection.report.language import ReportLanguage
from touchstone.services.selection.report.legal_points import LEGAL_POINTS
from touchstone.services.selection.report.pdf import PdfRenderer
from touchstone.services.selection.report.sections.evidence import shows_number, without_emphasis
from touchstone.services.selection.report.sections.verification import COMMANDS

WEIGHTS = [{"criterion_name": "ethical_score", "weight": 1}, {"criterion_name": "year", "weight": 4}]
EMPTY_DOCUMENT = ReportDocument(
    language="fr",
    kind="",
    title="",
    description="",
    state="",
    state_date=(2026, 12, 1),
    sections=[],
    digest="",
    digest_label="",
    digest_hint="",
    imprint="",
    page_label="",
)
REASON = "Consent was given, and <b>everything else</b> is close enough."


async def project_with_choice(client: httpx2.AsyncClient, **fields: Any) -> dict[str, Any]:
    """Create two datasets and a project that chooses the second one of its ranking, and return the project."""
    chosen_dataset = await create_record(client, name="Cohort A", year=2020, informed_consent=True, transparency=False)
    await create_record(client, name="Cohort B", year=2022)
    body = {
        "name": "Étude n° 1",
        "weights": WEIGHTS,
        "chosen_dataset_id": chosen_dataset["id"],
        "choice_reason": REASON,
    }
    response = await client.post("/projects", json=body | fields)
    assert response.status_code == 201, response.text
    project: dict[str, Any] = response.json()
    return project


async def report_of(client: httpx2.AsyncClient, project: dict[str, Any], **parameters: str) -> httpx2.Response:
    """Return the response with the report on a project."""
    response = await client.get(f"/projects/{project['id']}/report", params=parameters)
    assert response.status_code == 200, response.text
    return response


async def facts_of(client: httpx2.AsyncClient, project: dict[str, Any]) -> dict[str, Any]:
    """Return what the report on a project states."""
    report: dict[str, Any] = (await report_of(client, project, format="json")).json()["report"]
    return report


def plain_text(page: bytes) -> str:
    """Return the text of an HTML page as people read it, with plain spaces."""
    without_style = re.sub(r"<style>.*?</style>", "", page.decode(), flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", " ", without_style)
    return " ".join(html.unescape(text).split())


async def test_the_digest_is_that_of_the_facts_and_the_same_everywhere(ada: httpx2.AsyncClient) -> None:
    """The digest can be computed from the JSON alone, and stands in the footer of both languages."""
    project = await project_with_choice(ada)

    report = (await report_of(ada, project, format="json")).json()

    assert report["sha256"] == canonical_digest(report["report"])
    for locale in LOCALES:
        page = await report_of(ada, project, format="html", lang=locale)
        assert f'<p class="digest">{report["sha256"]}</p>' in page.text
        assert f'<html lang="{locale}">' in page.text


@pytest.mark.parametrize("format_key", FORMATS)
async def test_equal_states_give_equal_bytes(ada: httpx2.AsyncClient, format_key: str) -> None:
    """A second report has the same bytes, which a conditional request makes use of; a change gives others."""
    project = await project_with_choice(ada)

    first_response = await report_of(ada, project, format=format_key)
    second_response = await report_of(ada, project, format=format_key)

    assert first_response.content == second_response.content
    assert first_response.headers["content-type"].partition(";")[0] == FORMATS[format_key].media_type
    assert first_response.headers["content-disposition"].endswith(f'filename="report-etude-n-1.{format_key}"')
    path = f"/projects/{project['id']}/report?format={format_key}"
    conditional_response = await ada.get(path, headers={"If-None-Match": first_response.headers["etag"]})
    assert (conditional_response.status_code, conditional_response.content) == (304, b"")
    await ada.put(f"/projects/{project['id']}", json={"choice_reason": "Another one."})
    assert (await report_of(ada, project, format=format_key)).content != first_response.content


async def test_the_file_of_a_project_without_latin_letters_has_a_name(ada: httpx2.AsyncClient) -> None:
    project = await project_with_choice(ada, name="医療データ")
    response = await report_of(ada, project, format="json")
    assert response.headers["content-disposition"] == 'attachment; filename="report-project.json"'


async def copy_rows(source: Database, destination: Database) -> None:
    """Copy the rows of all tables from one database to another one with the same schema."""
    async with source.reading() as reader, destination.writing() as writer:
        for table in metadata.sorted_tables:
            rows = [dict(row) for row in await reader.all(sa.select(table))]
            await writer.execute(sa.delete(table))
            if rows:
                await writer.execute(sa.insert(table), rows)


async def test_a_copied_database_gives_the_same_report(
    database: Database, settings: Settings, sqlite_template: Path, tmp_path: Path
) -> None:
    """Rows that were written by one kind of database and copied to another give the same bytes in every format."""
    source_path = tmp_path / "source.db"
    shutil.copyfile(sqlite_template, source_path)
    source = Database(f"sqlite:///{source_path}")
    await insert_user(source, ADA, "ada")
    original = await Selection.open(settings, source, None)
    async with client_of(original) as client, calling_as(original, CURATOR) as curator:
        project = await project_with_choice(client, assurance="documented", criteria={"year_min": 2000})
        claim = await post_claim(client, project["chosen_dataset_id"])
        assert (await review_claim(curator, claim, "confirm")).status_code == 200
        reports = [(await report_of(client, project, format=format_key)).content for format_key in FORMATS]
    await original.close()

    await copy_rows(source, database)
    await source.close()
    copy = await Selection.open(settings, database, None)
    async with client_of(copy) as client:
        assert reports == [(await report_of(client, project, format=format_key)).content for format_key in FORMATS]
    await copy.close()


async def test_the_report_says_what_was_chosen_and_why_not_the_runner_up(ada: httpx2.AsyncClient) -> None:
    """The choice has its rank and its reason, and the differences of the points add up to the lead."""
    project = await project_with_choice(ada)

    report = await facts_of(ada, project)

    first_item, second_item = report["ranking"]["items"]
    assert (first_item["dataset_name"], second_item["dataset_name"]) == ("Cohort B", "Cohort A")
    assert report["choice"]["standing"]["rank"] == 2
    assert report["choice"]["reason"] == REASON
    comparison = report["comparison"]
    lead = sum(difference["difference"] for difference in comparison["differences"])
    assert lead == pytest.approx(comparison["above"]["score"] - comparison["below"]["score"], abs=1e-12)
    assert [weight["share"] for weight in report["need"]["weights"]] == [0.2, 0.8]

    english = plain_text((await report_of(ada, project, lang="en")).content)
    assert f"Reason given: {REASON}" in english
    assert "Chosen on " in english
    assert "Why not the first of the ranking?" in english
    assert "“Cohort B” (0.733) ranks above “Cohort A” (0.687) because of “Novelty” (+0.067)" in english
    assert "although “Cohort A” is better in “Ethical” (−0.02)" in english
    assert "in spite of this ranking" in english
    french = plain_text((await report_of(ada, project, lang="fr")).content)
    assert "Pourquoi pas le premier du classement ?" in french
    assert "« Cohort A » est en 2e position sur 2 avec un score de 0,687" in french


async def test_the_language_follows_the_request(ada: httpx2.AsyncClient) -> None:
    """Without `lang` the report has the language that the request prefers; the facts have none."""
    project = await project_with_choice(ada)
    path = f"/projects/{project['id']}/report"

    english = await ada.get(path, headers={"Accept-Language": "en"})

    assert english.content == (await report_of(ada, project, lang="en")).content
    assert (await ada.get(path)).content == (await report_of(ada, project, lang="fr")).content
    french_response = await report_of(ada, project, format="json", lang="fr")
    assert french_response.content == (await report_of(ada, project, format="json", lang="en")).content


async def test_points_of_law_have_evidence_or_say_that_there_is_none(selection: Selection) -> None:
    """A quote is evidence, a declaration is none, and every point of both laws is gone through."""
    async with client_of(selection) as client, calling_as(selection, CURATOR) as curator:
        project = await project_with_choice(client, assurance="reviewed")
        claim = await post_claim(client, project["chosen_dataset_id"])
        facts_before = await facts_of(client, project)
        await review_claim(curator, claim, "confirm")
        facts_after = await facts_of(client, project)
        page = plain_text((await report_of(client, project, lang="en")).content)

    points = {point["point"]: point for point in [*facts_after["evidence"]["gdpr"], *facts_after["evidence"]["ai_act"]]}
    assert list(points) == [point.key for point in LEGAL_POINTS]
    assert points["gdpr_5_1_a"]["evident"] == ["informed_consent"]
    assert points["ai_act_b"]["has_evidence"]
    assert not points["gdpr_5_1_b"]["has_evidence"]
    assert points["ai_act_a"]["parts"] == ["need", "choice"]

    consent = next(entry for entry in facts_after["evidence"]["attributes"] if entry["name"] == "informed_consent")
    assert (consent["counted_value"], consent["level"]) == (True, "reviewed")
    consent = next(entry for entry in facts_before["evidence"]["attributes"] if entry["name"] == "informed_consent")
    assert (consent["value"], consent["counted_value"]) == (True, None)
    assert "All gave written consent." in page
    assert "Informed consent: yes (reviewed)" in page
    assert "no evidence" in page
    assert "compliance" in page


async def test_the_evidence_says_who_claims_it_and_by_which_rule(database: Database, ada: httpx2.AsyncClient) -> None:
    """A quote is followed by the rule that the extraction applied, in the language of the report, and by the author."""
    await insert_user(database, ADA, "Ada L.")
    card = "# Voices\n## Personal and Sensitive Information\nAll names were removed before the release.\n"
    params = {"name": "README.md", "format": "hf_card", "accept": "true"}
    answer = await ada.post("/datasets/import", params=params, content=card)
    dataset_id = answer.json()["results"][0]["dataset"]["id"]
    project = (await ada.post("/projects", json={"name": "Study", "chosen_dataset_id": dataset_id})).json()

    attributes = (await facts_of(ada, project))["evidence"]["attributes"]
    (claim,) = next(entry["claims"] for entry in attributes if entry["name"] == "anonymization_applied")
    assert claim["note"] == "identifiers were removed or replaced"
    pages = {locale: plain_text((await report_of(ada, project, lang=locale)).content) for locale in LOCALES}
    rule_and_author = r"reason: identifiers were removed or replaced claimed by Ada L\. on \d+ \w+ \d{4}"
    assert re.search(rule_and_author, pages["en"])
    assert "motif : des identifiants ont été retirés ou remplacés affirmé par Ada L. le" in pages["fr"]


async def test_a_report_says_what_is_missing(selection: Selection) -> None:
    """Nothing chosen, nothing that matches, a choice without a rank and a deleted one are said in both languages."""
    async with client_of(selection) as client:
        empty_project = (await client.post("/projects", json={"name": "Empty", "criteria": {"year_min": 2100}})).json()
        project_of_deleted_dataset = await project_with_choice(client)
        open_project = (await client.post("/projects", json={"name": "Open"})).json()
        unranked_project = await project_with_choice(client, criteria={"year_min": 2021})
        await client.delete(f"/datasets/{project_of_deleted_dataset['chosen_dataset_id']}")

        texts = {}
        limitations = {}
        for name, project in (
            ("empty", empty_project),
            ("open", open_project),
            ("unranked", unranked_project),
            ("gone", project_of_deleted_dataset),
        ):
            texts[name] = plain_text((await report_of(client, project, lang="en")).content)
            limitations[name] = (await facts_of(client, project))["limitations"]
            texts[f"{name} in French"] = plain_text((await report_of(client, project, lang="fr")).content)
            assert (await report_of(client, project, format="pdf", lang="fr")).content.startswith(b"%PDF-")

    assert not any("{" in text for text in texts.values())
    assert "« Cohort A », dont la fiche n’est plus visible pour le propriétaire du projet." in texts["gone in French"]
    assert "Nothing has been chosen yet. No dataset satisfies the filters" in texts["empty"]
    assert "The ranking proposes “Cohort" in texts["open"]
    assert "which does not satisfy the filters of the project" in texts["unranked"]
    assert texts["unranked"].count("Without a rank, the chosen dataset cannot be compared") == 2
    assert "“Cohort A”, whose record is no longer visible to the owner of the project." in texts["gone"]
    assert "Rank none: the record is no longer visible to the owner of the project" in texts["gone"]
    assert "does not satisfy the filters" not in texts["gone"]
    assert "dataset_withdrawn" in limitations["gone"]
    assert "nothing_chosen" in limitations["open"]
    assert "choice_not_ranked" in limitations["unranked"]
    assert all("no_compliance" in codes for codes in limitations.values())


async def test_the_chosen_dataset_is_reported_at_any_rank(ada: httpx2.AsyncClient) -> None:
    """A dataset behind the first ten is listed after them, with its own rank."""
    for number in range(12):
        await create_record(ada, name=f"Newer {number:02}", year=2024)
    project = await project_with_choice(ada, weights=[{"criterion_name": "year", "weight": 1}])

    report = await facts_of(ada, project)

    assert len(report["ranking"]["items"]) == 10
    assert report["choice"]["standing"]["rank"] == 14
    assert report["comparison"]["above"]["rank"] == 1


async def test_reports_answer_as_projects_do(
    selection: Selection, ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """A foreign project answers as a missing one, whatever the parameters; unknown parameters are refused."""
    project = await project_with_choice(ada)
    path = f"/projects/{project['id']}/report"

    foreign_response = await bob.get(path, params={"format": "docx"})
    missing_response = await bob.get("/projects/00000000-0000-4000-8000-000000000000/report")

    assert (
        (foreign_response.status_code, foreign_response.content)
        == (missing_response.status_code, missing_response.content)
        == (404, missing_response.content)
    )
    async with client_of(selection, None) as anonymous:
        assert (await anonymous.get(path)).status_code == 401
    for parameters in ({"format": "docx"}, {"lang": "de"}, {"langue": "fr"}):
        assert (await ada.get(path, params=parameters)).status_code == 422, parameters


async def test_a_page_loads_and_runs_nothing(ada: httpx2.AsyncClient) -> None:
    """What users write stands in the page as text, and the page refuses to load anything."""
    project = await project_with_choice(ada, name="<script>alert(1)</script>")

    response = await report_of(ada, project)

    assert "<script" not in response.text
    assert "&lt;b&gt;everything else" in response.text
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    assert not re.search(r"""(?:src|href)=["']?http""", response.text)


async def test_quoted_words_keep_their_lines_and_cannot_reverse_others(ada: httpx2.AsyncClient) -> None:
    """A reason has the lines that its author wrote, and a mark that reverses the direction is visible."""
    project = await project_with_choice(ada, choice_reason="First\nsecond \N{RIGHT-TO-LEFT OVERRIDE}third")

    page = (await report_of(ada, project)).text

    assert '<q class="line quote" lang="">First\nsecond \N{REPLACEMENT CHARACTER}third</q>' in page
    assert re.search(r"blockquote, \.quote {[^}]*white-space: pre-line;", page)
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page


@pytest.mark.slow
async def test_hostile_text_is_typeset_as_text(ada: httpx2.AsyncClient) -> None:
    """Markup of the typesetter, very long words and signs without a glyph are nothing but text."""
    hostile_text = '#panic("x") $ * _ @a <b> \\ ' + "w" * 150 + " 数据 \N{WAVING HAND SIGN}"
    project = await project_with_choice(ada, name="#eval", description=hostile_text, choice_reason=hostile_text)

    response = await report_of(ada, project, format="pdf")

    assert response.content.startswith(b"%PDF-")


@pytest.mark.slow
async def test_a_document_that_cannot_be_typeset_is_an_error(ada: httpx2.AsyncClient) -> None:
    """The child process fails without harm to anything else, and reports can be typeset beside one another."""
    renderer = PdfRenderer()

    with pytest.raises(ReportUnavailable):
        await renderer.render(msgspec.structs.replace(EMPTY_DOCUMENT, state_date=(2026, 13, 1)))

    correct_document = msgspec.structs.replace(EMPTY_DOCUMENT, title="T")
    pdfs = await asyncio.gather(*(renderer.render(correct_document) for _ in range(3)))
    assert len(set(pdfs)) == 1


@pytest.mark.slow
async def test_no_text_of_a_typeset_report_reverses_its_line() -> None:
    """A mark of direction is typeset as the sign that stands for unknown characters."""
    renderer = PdfRenderer()
    document = msgspec.structs.replace(EMPTY_DOCUMENT, title="A \N{REPLACEMENT CHARACTER}B")
    reversing_document = msgspec.structs.replace(EMPTY_DOCUMENT, title="A \N{RIGHT-TO-LEFT OVERRIDE}B")

    assert await renderer.render(reversing_document) == await renderer.render(document)


async def test_a_report_keeps_private_what_is_private(selection: Selection) -> None:
    """Neither addresses of users nor private records of others appear."""
    async with client_of(selection) as ada, client_of(selection, CURATOR.id) as other_client:
        await create_record(other_client, name="Secret cohort", visibility="private", year=2024)
        project = await project_with_choice(ada)
        page = (await report_of(ada, project)).text
        facts = json.dumps(await facts_of(ada, project))

    assert "Secret" not in page + facts
    assert "@" not in facts


async def test_gates_ties_and_notes_are_reported(ada: httpx2.AsyncClient) -> None:
    """A failed gate, an unknown one, a shared place and a criterion without effect are said in words."""
    chosen_dataset = await create_record(ada, name="Twin A", transparency=False, year=2020)
    await create_record(ada, name="Twin B", transparency=True, year=2020)
    gates = {"transparency": "declared", "informed_consent": "reviewed"}
    weights = [{"criterion_name": "year", "weight": 1}]
    body = {"name": "P", "weights": weights, "gates": gates, "chosen_dataset_id": chosen_dataset["id"]}
    project = (await ada.post("/projects", json=body)).json()

    report = await facts_of(ada, project)
    page = plain_text((await report_of(ada, project, lang="en")).content)

    assert report["need"]["gates"] == gates
    assert report["choice"]["standing"]["gates"] == {"transparency": "failed", "informed_consent": "unknown"}
    assert [note["code"] for note in report["ranking"]["notes"]] == ["criterion_equal"]
    assert "“Twin A” shares 1st place of 2 with 1 other" in page
    assert "1 = of 2" in page
    assert "Requirement not met: Transparency: yes (at least declared)" in page
    assert "Requirement not established: Informed consent: yes (at least reviewed)" in page
    assert "Transparency: not met Informed consent: ?" in page
    assert "It is not established whether “Twin B” meets the requirement “Informed consent: yes" in page
    assert "“Twin B” does not meet" not in page
    assert "Of the first 2 of 2, none meets all requirements." in page
    assert "does not distinguish the datasets shown" in page
    assert "their order is merely alphabetical" in page
    for locale in LOCALES:
        await report_of(ada, project, format="pdf", lang=locale)


async def test_none_is_not_written_as_a_number(ada: httpx2.AsyncClient) -> None:
    """If no ethical attribute is known and no dataset meets all requirements, the report says so in words."""
    dataset = await create_record(ada, name="Blank")
    await create_record(ada, name="Other")
    body = {"name": "P", "gates": {"transparency": "declared"}, "chosen_dataset_id": dataset["id"]}
    project = (await ada.post("/projects", json=body)).json()

    english, french = [plain_text((await report_of(ada, project, lang=locale)).content) for locale in ("en", "fr")]

    assert "None of the ten ethical attributes of “Blank” is known at the level" in english
    assert "Aucun des dix attributs éthiques de « Blank » n’est connu au niveau" in french
    assert "Parmi les 2 premiers sur 2, aucun ne satisfait à toutes les exigences." in french


async def test_two_choices_are_listed_and_outlive_the_record(database: Database, selection: Selection) -> None:
    """The history has author, reason and digest of each choice; of a deleted dataset the claims remain as evidence."""
    await insert_user(database, ADA, "ada")
    async with client_of(selection) as client:
        project = await project_with_choice(client)
        second_dataset = await create_record(client, name="Cohort C", year=2023)
        claim = await post_claim(
            client, second_dataset["id"], attribute="transparency", quote="From two hospitals, by hand."
        )
        changes = {"chosen_dataset_id": second_dataset["id"], "choice_reason": "Newer."}
        assert (await client.put(f"/projects/{project['id']}", json=changes)).status_code == 200
        facts_before = await facts_of(client, project)
        assert (await client.delete(f"/datasets/{second_dataset['id']}")).status_code == 204
        facts_after = await facts_of(client, project)
        page = plain_text((await report_of(client, project, lang="en")).content)
        french = await report_of(client, project, format="pdf", lang="fr")

    newest_choice, oldest_choice = facts_before["history"]
    assert (newest_choice["reason"], oldest_choice["reason"]) == ("Newer.", REASON)
    assert (newest_choice["by"], oldest_choice["by"]) == ("ada", "ada")
    assert newest_choice["superseded_at"] is None
    assert oldest_choice["superseded_at"] is not None
    assert "Replaces “Cohort A”, chosen on" in page
    owner = "ada, owner of the project"
    assert re.search(rf"Date and author .* {owner} Cohort C .* current .* {owner} Cohort A .* replaced", page)
    assert newest_choice["digest"] == facts_before["choice"]["digest"] != oldest_choice["digest"]
    assert facts_before["choice"]["state"] == "unchanged"

    assert facts_after["choice"]["state"] == "withdrawn"
    assert facts_after["choice"]["dataset"] == facts_before["choice"]["dataset"]
    assert facts_after["choice"]["digest"] == newest_choice["digest"]
    assert facts_after["evidence"]["kept_at"] == newest_choice["at"]
    transparency = next(entry for entry in facts_after["evidence"]["attributes"] if entry["name"] == "transparency")
    assert [kept_claim["quote"] for kept_claim in transparency["claims"]] == [claim["quote"]]
    assert f"SHA-256 when it was chosen: {newest_choice['digest']}" in page
    assert "This is what was known at the time of the choice" in page
    assert french.content.startswith(b"%PDF-")


async def test_one_place_is_written_everywhere_in_one_way(ada: httpx2.AsyncClient) -> None:
    """Datasets with one score share a place in the ranking, in the robustness, in the history and in sentences."""
    await create_record(ada, name="Newest", year=2024)
    for name in ("Twin A", "Twin B", "Twin C"):
        chosen_dataset = await create_record(ada, name=name, year=2020)
    weights = [{"criterion_name": "year", "weight": 1}]
    body = {"name": "P", "weights": weights, "chosen_dataset_id": chosen_dataset["id"], "choice_reason": "Known."}
    project = (await ada.post("/projects", json=body)).json()

    report = await facts_of(ada, project)
    page = plain_text((await report_of(ada, project, lang="en")).content)

    assert [(place["rank"], place["place"], place["tied_with"]) for place in report["robustness"]["places"]] == [
        (1, 1, 0),
        (2, 2, 2),
        (3, 2, 2),
        (4, 2, 2),
    ]
    assert {place["best_place"] for place in report["robustness"]["places"]} == {1, 2}
    assert (report["history"][0]["rank"], report["history"][0]["place"]) == (4, 2)
    assert page.count("2 = of 4") == 2  # the choice and its history
    assert re.search(r"2 = Twin C 100% 100% 2", page)
    assert "“Twin C” shares 2nd place of 4" in page
    assert "it stays there, always at rank 2." in page
    assert not re.search(r"\b[34] Twin|is at rank [34]\b|always at rank [34]\b", page)


async def test_the_values_behind_the_criteria_have_their_sources(selection: Selection) -> None:
    """The years of both datasets say whether they are declared or quoted, and where the quote stands."""
    async with client_of(selection) as client, calling_as(selection, CURATOR) as curator:
        project = await project_with_choice(client, assurance="declared")
        claim = await post_claim(
            client, project["chosen_dataset_id"], attribute="year", value=2020, quote="Collected in 2020."
        )
        assert (await review_claim(curator, claim, "confirm")).status_code == 200
        report = await facts_of(client, project)
        page = plain_text((await report_of(client, project, lang="en")).content)
        french = plain_text((await report_of(client, project, lang="fr")).content)

    above, below = (
        {source["attribute"]: source for source in report["comparison"][key]}
        for key in ("above_sources", "below_sources")
    )
    assert (above["year"]["value"], above["year"]["level"], above["year"]["quote"]) == (2022, "declared", None)
    assert (below["year"]["value"], below["year"]["level"]) == (2020, "reviewed")
    assert below["year"]["quote"] == "Collected in 2020."
    assert (below["informed_consent"]["value"], below["informed_consent"]["level"]) == (True, "declared")
    assert below["user_control"]["level"] is None
    assert "Novelty Year: 2022 (declared) stated without a quote Year: 2020 (reviewed)" in page
    assert "Année : 2022 (déclaré) affirmé sans citation" in french
    assert [entry["value"] for entry in report["evidence"]["attributes"] if entry["name"] == "year"] == [2020]
    assert "Collected in 2020." in page


async def test_a_score_without_anything_known_is_a_dash(ada: httpx2.AsyncClient) -> None:
    """Where nothing is known about any weighted criterion, no score of 0 is shown."""
    chosen_dataset = await create_record(ada, name="Silent")
    await create_record(ada, name="Spoken", informed_consent=True)
    weights = [{"criterion_name": "informed_consent", "weight": 1}]
    project = (await ada.post("/projects", json={"name": "P", "weights": weights})).json()
    await ada.put(f"/projects/{project['id']}", json={"chosen_dataset_id": chosen_dataset["id"]})

    page = plain_text((await report_of(ada, project, lang="en")).content)

    assert re.search(r"2 Silent chosen –, at most 1\.000 –, at most 1\.000 0/10", page)
    assert re.search(r"2 Silent \? – Where|2 Silent \? – The points", page)


async def test_the_report_says_how_to_verify_it(ada: httpx2.AsyncClient, tmp_path: Path) -> None:
    """The command in Python that a report contains prints its digest, and the others name the project."""
    project = await project_with_choice(ada)
    response = await report_of(ada, project, format="json")
    (tmp_path / "report.json").write_bytes(response.content)
    command = COMMANDS["verification_bytes"].replace("python3", sys.executable, 1)

    completed_process = subprocess.run(shlex.split(command), cwd=tmp_path, capture_output=True, text=True, check=True)

    assert completed_process.stdout.strip() == response.json()["sha256"]
    for locale in LOCALES:
        page = plain_text((await report_of(ada, project, lang=locale)).content)
        assert f"touchstone project report {project['id']} --format json -o report.json" in page
        assert "touchstone project verify-report report.json" in page
        assert (await report_of(ada, project, format="pdf", lang=locale)).content.startswith(b"%PDF-")


async def test_the_author_of_a_choice_is_the_owner_of_the_project(database: Database, selection: Selection) -> None:
    """The role that a choice proves is named beside its author, and no other is guessed."""
    await insert_user(database, ADA, "ada")
    async with client_of(selection) as client:
        project = await project_with_choice(client)
        report = await facts_of(client, project)
        page = plain_text((await report_of(client, project, lang="fr")).content)

    assert (report["history"][0]["by"], report["history"][0]["is_by_owner"]) == ("ada", True)
    assert "ada, propriétaire du projet" in page


async def test_shares_of_weights_are_not_rounded_to_whole_percents(ada: httpx2.AsyncClient) -> None:
    """Three of eight parts are 37.5%, from which a reader can compute the points again."""
    names = ("ethical_score", "documentation", "data_quality", "year")
    weights = [{"criterion_name": name, "weight": weight} for name, weight in zip(names, (3, 2, 2, 1), strict=True)]
    project = await project_with_choice(ada, weights=weights)
    english, french = [plain_text((await report_of(ada, project, lang=locale)).content) for locale in ("en", "fr")]

    assert re.search(r"Ethical 3 37\.5% .* Documentation 2 25% .* Novelty 1 12\.5%", english)
    assert "Éthique 3 37,5 %" in french


async def test_the_share_of_a_small_weight_is_not_shown_as_none(ada: httpx2.AsyncClient) -> None:
    """A weight of one in four thousand counts, so its share is not 0 %."""
    weights = [{"criterion_name": "ethical_score", "weight": 3999}, {"criterion_name": "year", "weight": 1}]
    project = await project_with_choice(ada, weights=weights)
    english, french = [plain_text((await report_of(ada, project, lang=locale)).content) for locale in ("en", "fr")]

    assert "Novelty 1 <0.1%" in english
    assert "Nouveauté 1 < 0,1 %" in french


@pytest.mark.parametrize(("locale", "shown"), [("fr", "<\u00a01\u00a0%"), ("en", "<1%")])
def test_a_small_share_of_samples_is_not_shown_as_none(locale: str, shown: str) -> None:
    """Percentages without decimals have a smallest one, too."""
    assert ReportLanguage(locale).percent(0.004).replace("\u202f", "\u00a0") == shown


async def test_the_licence_and_the_origin_of_the_chosen_dataset_are_stated(ada: httpx2.AsyncClient) -> None:
    """They are those of the record now; each choice has those of its time, and a missing licence is called unknown."""
    dataset_id = (await create_record(ada, name="Cohort C", metadata={"licence": "CC BY 4.0"}))["id"]
    project = (await ada.post("/projects", json={"name": "p", "chosen_dataset_id": dataset_id})).json()
    metadata = {
        "licence": "MIT OR Apache-2.0",
        "source": {"name": "Archive", "url": "https://archive.example/c"},
        "measured": {"rows": 3, "sha256": "a" * 64},
    }
    assert (await ada.patch(f"/datasets/{dataset_id}", json={"metadata": metadata})).status_code == 200
    report = await facts_of(ada, project)
    english = plain_text((await report_of(ada, project, lang="en")).content)
    await ada.patch(f"/datasets/{dataset_id}", json={"metadata": {}})
    french = plain_text((await report_of(ada, project, lang="fr")).content)

    dataset = report["choice"]["dataset"]
    assert set(dataset["licences"]) == {"MIT", "Apache-2.0"}
    assert (dataset["source_name"], dataset["source_url"]) == ("Archive", "https://archive.example/c")
    assert dataset["data_sha256"] is None, "only the service measures files"
    assert report["history"][0]["dataset"]["licences"] == ["CC-BY-4.0"]
    assert f"Licence, according to the record {' or '.join(dataset['licences'])}" in english
    assert "Source, according to the record Archive https://archive.example/c" in english
    assert "Licence, selon la fiche inconnue" in french


async def test_a_changed_record_is_named_with_its_fields(ada: httpx2.AsyncClient) -> None:
    """A report says that the chosen dataset has changed since, and in which fields."""
    project = await project_with_choice(ada)
    await ada.patch(f"/datasets/{project['chosen_dataset_id']}", json={"year": 2021})

    report = await facts_of(ada, project)
    page = plain_text((await report_of(ada, project, lang="en")).content)

    assert (report["choice"]["state"], report["choice"]["changed_fields"]) == ("changed", ["year"])
    assert "has changed since the choice" in page
    assert report["choice"]["changes"] == [{"field": "year", "before": 2020, "after": 2021}]
    assert "Changed fields: Year" in page
    assert "Year: 2020 → 2021" in page


async def test_what_was_removed_from_a_record_is_not_called_unknown(ada: httpx2.AsyncClient) -> None:
    """A value that the record no longer has was known before, in its attributes and in its metadata."""
    project = await project_with_choice(ada)
    address = f"/datasets/{project['chosen_dataset_id']}"
    await ada.patch(address, json={"metadata": {"licence": "CC-BY-4.0"}})
    await ada.put(f"/projects/{project['id']}", json={"choice_reason": "It has a licence."})
    await ada.patch(address, json={"year": None, "metadata": {"licence": None}})

    report = await facts_of(ada, project)
    english = plain_text((await report_of(ada, project, lang="en")).content)
    french = plain_text((await report_of(ada, project, lang="fr")).content)

    changes = {change["field"]: (change["before"], change["after"]) for change in report["choice"]["changes"]}
    assert changes == {"year": (2020, None), "metadata.licence": ("CC-BY-4.0", None)}
    assert "Year: 2020 → removed" in english
    assert "metadata.licence: CC-BY-4.0 → removed" in english
    assert "2020 → valeur retirée" in french


async def test_an_earlier_rank_says_if_the_need_has_changed(ada: httpx2.AsyncClient) -> None:
    """The rank at the time of a choice cannot be found in the present ranking if the project has changed."""
    hint = "by other filters, weights or levels of evidence than now"
    project = await project_with_choice(ada, criteria={"year_min": 2019}, gates={"instances_min": 5})
    assert hint not in plain_text((await report_of(ada, project, lang="en")).content)

    await ada.put(f"/projects/{project['id']}", json={"criteria": {"year_min": 2021}})
    [choice] = (await facts_of(ada, project))["history"]
    assert hint in plain_text((await report_of(ada, project, lang="en")).content)
    assert (choice["filters"], choice["gates"]) == ({"year_min": 2019}, {"instances_min": 5})
    assert choice["gate_outcomes"] == {"instances_min": "unknown"}


async def test_filters_that_are_written_in_several_ways_have_not_changed(ada: httpx2.AsyncClient) -> None:
    """The rank at the time of a choice follows from the present filters, also if these are lists or left empty."""
    criteria = {"task": "classification,regression", "domain": ["health"], "year_max": None}
    project = await project_with_choice(ada, criteria=criteria)
    page = plain_text((await report_of(ada, project, lang="en")).content)
    assert "by other filters" not in page


async def test_the_report_says_what_would_change_the_ranking(ada: httpx2.AsyncClient) -> None:
    """Moving the reversing weight reverses the two datasets, and establishing the smallest set raises the lower one."""
    project = await project_with_choice(ada)

    report = await facts_of(ada, project)

    comparison, robustness = report["comparison"], report["robustness"]
    reversal = comparison["reversal"]
    weights = {weight["criterion_name"]: weight["weight"] for weight in report["need"]["weights"]}
    weight_beyond = reversal["weight"] + 0.01 * (1 if reversal["weight"] > reversal["weight_before"] else -1)
    weights[reversal["criterion_name"]] = weight_beyond
    weight_list = [{"criterion_name": name, "weight": weight} for name, weight in weights.items()]
    reversed_ranking = (await ada.post("/datasets/score", json={"weights": weight_list})).json()
    assert [item["id"] for item in reversed_ranking] == [comparison["below"]["id"], comparison["above"]["id"]]

    assert (robustness["k"], robustness["samples"], robustness["spread"]) == (10, 100, 0.2)
    assert [place["share"] for place in robustness["places"]] == [1.0, 1.0]
    above, below = report["prospects"]
    assert (above["target_rank"], below["target_rank"]) == (None, 1)
    for attribute in below["smallest_set"]:
        await ada.patch(f"/datasets/{project['chosen_dataset_id']}", json={attribute: True})
    assert (await facts_of(ada, project))["choice"]["standing"]["rank"] == 1

    page = plain_text((await report_of(ada, project, lang="en")).content)
    assert "“Cohort A” cannot leave the first 10, because only 2 datasets are ranked" in page
    assert "is robust:" not in page
    assert "Verdict" not in page
    assert "What would raise" in page
    assert [place["same_rank_share"] for place in robustness["places"]] == [1.0, 1.0]
    assert re.search(r"Its rank is the same in \d+% of the samples\.", page)
    assert "Only 2 datasets are ranked: all are always among the first 10" in page


async def test_the_runner_up_may_fail_what_only_the_chosen_dataset_meets(ada: httpx2.AsyncClient) -> None:
    """The first page says that the runner-up does not meet a requirement, and that only the chosen dataset does."""
    chosen_dataset = await create_record(ada, name="Open", year=2024, transparency=True)
    await create_record(ada, name="Closed", year=2020, transparency=False)
    weights = [{"criterion_name": "year", "weight": 1}]
    body = {
        "name": "P",
        "weights": weights,
        "gates": {"transparency": "declared"},
        "chosen_dataset_id": chosen_dataset["id"],
    }
    project = (await ada.post("/projects", json=body)).json()

    english = plain_text((await report_of(ada, project, lang="en")).content)
    french = plain_text((await report_of(ada, project, lang="fr")).content)

    assert "“Closed” does not meet the requirement “Transparency: yes (at least declared)”." in english
    assert "Of the first 2 of 2, only “Open” meets all requirements." in english
    assert "seul « Open » satisfait à toutes les exigences" in french
    assert "gate" not in english.lower().replace("mitigate", "").replace("aggregation", "")


async def test_weights_that_cannot_be_gone_beyond_are_not_shown(ada: httpx2.AsyncClient) -> None:
    """Where a criterion without weight is unknown, its value is a question mark; a weight below 0 is not proposed."""
    chosen_dataset = await create_record(ada, name="Alpha", year=2020)
    await create_record(ada, name="Aleph", year=2010, transparency=True)
    weights = [{"criterion_name": "year", "weight": 2}]
    body = {"name": "P", "weights": weights, "chosen_dataset_id": chosen_dataset["id"]}
    project = (await ada.post("/projects", json=body)).json()

    differences = (await facts_of(ada, project))["comparison"]["differences"]
    page = plain_text((await report_of(ada, project, lang="en")).content)

    transparency = next(entry for entry in differences if entry["criterion_name"] == "transparency")
    assert (transparency["weight"], transparency["above_value"], transparency["below_value"]) == (0, None, 1)
    assert re.search(r"Transparency \? value 1\.000 0\.000 0 > \d", page)


async def test_the_law_section_says_what_it_does_not_cover(ada: httpx2.AsyncClient) -> None:
    """Values are those of the source, other provisions are not covered, and the imprint names the version."""
    project = await project_with_choice(ada)

    english = plain_text((await report_of(ada, project, lang="en")).content)
    french = plain_text((await report_of(ada, project, lang="fr")).content)

    assert "has not been assessed as anonymisation in the sense of the GDPR" in english
    assert "such as articles 6, 9 and 35 of the GDPR, are not covered" in english
    assert "n’a pas été évaluée comme une anonymisation au sens du RGPD" in french
    assert "Known: Informed consent (yes), Transparency (no)." in english
    assert english.count("No model has been trained") == 1
    assert re.search(r"Made with Touchstone \d[\w.]*, scoring formula \d", english)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("**Point of Contact:** Ada", "Point of Contact: Ada"),
        ("__init__ and 2 ** 3 ** 4", "__init__ and 2 ** 3 ** 4"),
        ("replaced by the <user> token", "replaced by the <user> token"),
    ],
)
def test_quotes_lose_their_bold_letters_only(quote: str, text: str) -> None:
    """Marks of bold letters are left out of a quote as it is shown, and nothing else is."""
    assert without_emphasis(quote) == text


def test_a_number_that_stands_in_no_quote_is_recognised() -> None:
    """A number is looked for as a whole, with or without marks between thousands; other values show themselves."""
    assert shows_number("It has 19,229 rows.", 19229)
    assert shows_number("7.5 percent are missing", 7.5)
    assert not shows_number("train: 15383", 19229)
    assert not shows_number("119229", 19229)
    assert shows_number("validation", value=True)


@pytest.mark.parametrize(
    ("weights", "texts"),
    [
        ({"ethical_score": 1e25, "year": 3e25}, ("1e+25", "3e+25")),
        ({"ethical_score": 5e-324}, ("4.941e−324",)),
        ({"ethical_score": 1e-300, "year": 1e300}, ("1e−300", "1e+300")),
        ({"ethical_score": 3e-10, "year": 1e-10}, ("3e−10", "1e−10")),
        ({"ethical_score": 2, "year": 1250.5}, ("2", "1,250")),
    ],
)
async def test_weights_of_any_size_can_be_reported(
    ada: httpx2.AsyncClient, weights: dict[str, float], texts: tuple[str, ...]
) -> None:
    """Very large and very small weights are written with an exponent in every format, and never as 0."""
    weight_list = [{"criterion_name": name, "weight": weight} for name, weight in weights.items()]
    project = await project_with_choice(ada, weights=weight_list)

    page = plain_text((await report_of(ada, project, format="html", lang="en")).content)
    assert all(f" {text} " in page for text in texts)
    for format_key in FORMATS:
        await report_of(ada, project, format=format_key, lang="fr")


async def test_a_choice_that_was_taken_back_is_named(ada: httpx2.AsyncClient) -> None:
    """The report does not say that nothing has been chosen yet if a choice was taken back, but when and why it was."""
    project = await project_with_choice(ada)
    changes = {"chosen_dataset_id": None, "choice_reason": "Consent was withdrawn."}
    assert (await ada.put(f"/projects/{project['id']}", json=changes)).status_code == 200

    english, french = [plain_text((await report_of(ada, project, lang=locale)).content) for locale in ("en", "fr")]

    assert english.count("The choice of “Cohort A” was taken back on") == 2
    assert english.count("Reason given: Consent was withdrawn.") == 2
    assert french.count("Le choix de « Cohort A » a été annulé le") == 2
    assert "Nothing has been chosen yet" not in english


async def test_the_history_says_how_many_choices_it_leaves_out(ada: httpx2.AsyncClient) -> None:
    """The caption calls the choices complete only if all of them are shown."""
    project = await project_with_choice(ada)
    assert "All choices, the newest first" in plain_text((await report_of(ada, project, lang="en")).content)
    for number in range(MAX_DECISIONS):
        await ada.put(f"/projects/{project['id']}", json={"choice_reason": f"Reason {number}."})

    report = await facts_of(ada, project)
    page = plain_text((await report_of(ada, project, lang="en")).content)

    assert (len(report["history"]), report["history_count"]) == (MAX_DECISIONS, MAX_DECISIONS + 1)
    assert "The newest 50 of 51 choices" in page
    assert "All choices" not in page


async def test_a_changed_field_is_listed_once(ada: httpx2.AsyncClient) -> None:
    """A value, its evidence and the claims about it are one field in words; JSON names each of them."""
    project = await project_with_choice(ada)
    await ada.patch(f"/datasets/{project['chosen_dataset_id']}", json={"security_measures_in_place": True})
    await post_claim(ada, project["chosen_dataset_id"], attribute="security_measures_in_place")

    report = await facts_of(ada, project)
    page = plain_text((await report_of(ada, project, lang="en")).content)

    assert len(report["choice"]["changed_fields"]) == 3
    assert "Changed fields: Security measures in place Security measures in place: unknown → yes SHA-256" in page


async def test_the_latest_dated_fact_may_be_a_change_of_a_dataset(database: Database, ada: httpx2.AsyncClient) -> None:
    """A report that states a changed record, or a rival added since, does not claim to describe an earlier day."""
    project = await project_with_choice(ada)
    rival = await create_record(ada, name="Cohort C", year=2024)
    later = datetime(2041, 2, 3, tzinfo=UTC)
    async with database.writing() as transaction:
        statement = sa.update(datasets).where(datasets.c.id == rival["id"]).values(updated_at=later)
        await transaction.execute(statement)

    report = await facts_of(ada, project)
    page = plain_text((await report_of(ada, project, lang="en")).content)

    assert datetime.fromisoformat(report["catalog_changed_at"]) == later
    assert "Latest dated fact: 3 February 2041" in page
