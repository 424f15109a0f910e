"""Rankings and projects on the command line: shared places, requirements, and the reasons of each place."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import PASSWORD, run, run_json
from tests.cli.served import served

RECORDS = [
    {"name": "Alpha", "objective": "reasons", "transparency": True, "instances_number": 1000},
    {"name": "Beta", "objective": "reasons", "transparency": True, "instances_number": 1000},
    {"name": "Gamma", "objective": "reasons", "transparency": False, "metadata": {"licence": "CC-BY-4.0"}},
]
NEED = ("--objective", "reasons", "--weight", "transparency=3", "--weight", "instances_count=1")
GATES = ("--gate", "transparency=declared", "--gate", "license=CC-BY-*,CC0-1.0", "--gate", "instances_min=500")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    with served(folder) as address:
        run("user", "create", "me@example.org", "--password", PASSWORD, "--pseudo", "Me")
        run_json("login", "--url", address, "--email", "me@example.org", "--password", PASSWORD)
        file = Path(folder, "records.jsonl")
        file.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
        run_json("catalog", "import", str(file))
        yield address


def test_shared_places_and_requirements_are_shown(address: str) -> None:
    """Ties are marked, and each dataset says which requirements it fails or leaves open."""
    ranking = run_json("rank", *NEED, *GATES)
    assert [item["place"] for item in ranking["datasets"]] == [1, 1, 3]
    assert ranking["datasets"][0]["gates"] == {
        "transparency": "passed",
        "license": "unknown",
        "instances_min": "passed",
    }
    table = run("rank", *NEED, *GATES, "--table").stdout
    assert "1 =" in table
    assert "unknown: license" in table
    assert "failed: transparency" in table

    passing_ranking = run_json("rank", *NEED, "--gate", "license=CC-BY-*", "--only-passing")
    assert [item["dataset_name"] for item in passing_ranking["datasets"]] == ["Gamma"]
    refusal = run("rank", "--gate", "lisence=MIT")
    assert (refusal.exit_code, "license" in refusal.output) == (1, True)
    assert run("rank", "--gate", "license").exit_code == 2


def test_what_is_unknown_is_shown_beside_every_score(address: str) -> None:
    """A score has its upper bound, unknown criteria are question marks, and a score of nothing known is a dash."""
    nothing_known = ("--objective", "reasons", "--weight", "informed_consent=1")
    for command in (("rank",), ("rank", "--explain")):
        table = run(*command, *nothing_known, "--table").stdout
        row = next(line.split() for line in table.splitlines() if "Alpha" in line)
        assert row[:4] == ["1", "=", "–", "1.000"]
        assert "1/10" in row
        assert "?" in row

    ids = [str(item["id"]) for item in run_json("rank", *nothing_known)["datasets"]]
    table = run("compare", *ids, *nothing_known, "--table").stdout
    assert next(line.split()[:4] for line in table.splitlines() if "Beta" in line) == ["1", "=", "–", "1.000"]
    lifts_text = " ".join(run("lifts", ids[0], *nothing_known, "--table").stdout.split())
    assert "place 1 = of 3, score –, at most 1.000, known 1/10" in lifts_text

    table = run("rank", *NEED, "--table").stdout
    assert next(line.split()[:3] for line in table.splitlines() if "Gamma" in line) == ["3", "0.000", "0.250"]


def test_explained_rankings_say_why_in_sentences(address: str) -> None:
    """The sentences of the service stand below the table."""
    items = run_json("rank", *NEED, "--explain")["datasets"]
    assert items[0]["sentence"].startswith("“Alpha” shares 1st place of 3 with 1 other and a score of 0.9: ")
    output = " ".join(run("rank", *NEED, "--explain", "--table").stdout.split())
    assert all(item["sentence"] in output for item in items)


def test_a_project_keeps_its_requirements(address: str) -> None:
    """They are stored with the need, shown, and judged in the recommendations."""
    project = run_json("project", "create", "Need", *NEED, *GATES)
    assert project["gates"] == {
        "transparency": "declared",
        "license": ["CC-BY-*", "CC0-1.0"],
        "instances_min": 500,
    }
    assert "license=CC-BY-*, CC0-1.0" in " ".join(run("project", "show", project["id"], "--table").stdout.split())
    recommendations = run_json("project", "recommend", project["id"], "--only-passing")
    assert recommendations["total_count"] == 0
    output = " ".join(run("project", "recommend", project["id"], "--explain", "--table").stdout.split())
    assert "“Gamma” ranks 3rd of 3" in output


def test_choices_are_listed_and_a_withdrawn_dataset_keeps_its_name(address: str) -> None:
    """Each choice is shown with its author, reason and digest; the project says that its dataset is gone."""
    dataset_id = str(run_json("catalog", "add", "Short-lived")["id"])
    project_id = run_json("project", "create", "Choices", *NEED)["id"]
    alpha_id = run_json("project", "recommend", project_id, "--limit", "1")["datasets"][0]["id"]
    run_json("project", "choose", project_id, str(alpha_id), "--reason", "The first one.")
    run_json("project", "choose", project_id, dataset_id, "--reason", "A better one.")
    run_json("catalog", "delete", dataset_id)

    history = run_json("project", "choices", project_id)
    assert [choice["reason"] for choice in history] == ["A better one.", "The first one."]
    output = " ".join(run("project", "choices", project_id, "--table").stdout.split())
    for text in (
        "Short-lived",
        "(withdrawn)",
        "Alpha",
        "Me",
        "The first one.",
        history[0]["dataset"]["digest"][:12],
    ):
        assert text in output
    assert "Short-lived (withdrawn since it was chosen)" in run("project", "show", project_id, "--table").stdout


def test_a_snapshot_is_kept_and_replayed(address: str) -> None:
    """A replay says in one line whether anything has changed."""
    project_id = run_json("project", "create", "Snapshots", *NEED)["id"]
    snapshot = run_json("project", "snapshot", project_id, "--note", "spring", "--limit", "2")
    assert "spring" in run("project", "snapshots", project_id, "--table").stdout
    assert "Nothing has changed" in run("project", "replay", project_id, snapshot["id"], "--table").stdout

    run_json("catalog", "add", "Alpha zero", "--file-path", "none.csv")
    run_json("project", "snapshot", project_id)
    assert len(run_json("project", "snapshots", project_id)) == 2

    run("project", "delete-snapshot", project_id, snapshot["id"])
    remaining_ids = [summary["id"] for summary in run_json("project", "snapshots", project_id)]
    assert len(remaining_ids) == 1
    assert snapshot["id"] not in remaining_ids


def test_a_report_is_written_to_a_file(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file has the name that the service suggests, or one's own; the output may be a pipe."""
    monkeypatch.chdir(tmp_path)
    project_id = run_json("project", "create", "My report", *NEED)["id"]
    assert run_json("project", "report", project_id, "--lang", "fr")["file"] == "report-my-report.html"
    run_json("project", "report", project_id, "--format", "json", "-o", "mine.json")
    digest = json.loads((tmp_path / "mine.json").read_text())["sha256"]
    assert digest in (tmp_path / "report-my-report.html").read_text()
    assert digest in run("project", "report", project_id, "-o", "-").output
    result = run("project", "verify-report", "mine.json")
    assert (result.exit_code, digest in result.output) == (0, True)
    piped_result = run("project", "verify-report", "-", text=(tmp_path / "mine.json").read_text())
    assert (piped_result.exit_code, digest in piped_result.output) == (0, True)
    assert run("project", "verify-report", "missing.json").exit_code == 2
    (tmp_path / "forged.json").write_text((tmp_path / "mine.json").read_text().replace("My report", "Your report"))
    forged_result = run("project", "verify-report", "forged.json")
    assert (forged_result.exit_code, "has been changed" in forged_result.output) == (1, True)
    for content in (
        "",
        "[]",
        "{}",
        '{"sha256": "a", "report": 1}',
        '{"sha256": "a", "report": {"x": 1e999}}',
        "\udcff",
        '{"sha256": "a", "report": {"x": ' + "[" * 5000,
        '{"sha256": "a", "report": {"x": ' + "[" * 900 + "]" * 900 + "}}",
    ):
        (tmp_path / "none.json").write_text(content, errors="surrogateescape")
        assert run("project", "verify-report", "none.json").exit_code == 2, content
    refusal = run("project", "report", project_id, "--format", "docx")
    assert (refusal.exit_code, "docx" in refusal.output) == (1, True)


def test_two_datasets_are_compared_in_a_table_and_a_sentence(address: str) -> None:
    """The table has the points of each criterion, and the sentence the weight that would reverse the order."""
    items = run_json("rank", *NEED)["datasets"]
    ids = [str(items[0]["id"]), items[2]["dataset_id"]]
    comparison = run_json("compare", *ids, *NEED)
    assert [dataset["dataset_name"] for dataset in comparison["datasets"]] == ["Alpha", "Gamma"]

    output = " ".join(run("compare", *ids, *NEED, "--table").stdout.split())
    assert "+ transparency" in output
    assert comparison["pairs"][0]["sentence"] in output
    assert run("compare", ids[0]).exit_code == 1


def test_lifts_are_listed_with_what_reaches_a_rank(address: str) -> None:
    """Attributes that gain nothing are left out of the table, but not of the JSON."""
    gamma_id = str(run_json("rank", *NEED)["datasets"][2]["id"])
    lifts = run_json("lifts", gamma_id, *NEED, "--rank", "3")
    assert lifts["sentence"] == "“Gamma” is already at rank 3."
    assert len(lifts["lifts"]) > 1

    output = " ".join(run("lifts", gamma_id, *NEED, "--rank", "1", "--table").stdout.split())
    assert "Transparency" in output
    assert "Informed consent" not in output
    assert "Even if all yes/no attributes of “Gamma” (rank 3) were established in its favour" in output


def test_stability_is_shown_with_its_verdicts(address: str) -> None:
    """Each of the first datasets has a verdict and a sentence."""
    stability = run_json("stability", *NEED, "--k", "2", "--samples", "10", "--spread", "0.1", "--seed", "3")
    assert (stability["samples"], stability["spread"], stability["seed"]) == (10, 0.1, 3)
    output = " ".join(run("stability", *NEED, "--k", "2", "--table").stdout.split())
    assert output.count("robust") >= 2
    assert "it is among the first 2 of 3 in 100 of 100 samples" in output

    full_output = run("stability", *NEED, "--table").stdout
    assert "robust" not in full_output
    assert "only 3 datasets are ranked" in " ".join(full_output.split())
    assert [line.split()[:2] for line in full_output.splitlines() if "Beta" in line and "1 =" in line] == [["1", "="]]

    passing_stability = run_json("stability", *NEED, "--gate", "license=CC-BY-*", "--only-passing")
    assert [dataset["dataset_name"] for dataset in passing_stability["datasets"]] == ["Gamma"]
