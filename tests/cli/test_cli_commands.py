"""The command line with a running product."""

import asyncio
import contextlib
import json
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import structlog
import typer
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory

from tests.cli.running import PASSWORD, run, run_json
from tests.cli.served import served
from touchstone.cli.command_context import CommandContext
from touchstone.cli.file_output import open_output
from touchstone.cli.saved_sign_ins import SavedSignIns
from touchstone.cli.tables import format_value, replace_unprintable_characters
from touchstone.client import Tokens, Touchstone
from touchstone.core.settings import Settings
from touchstone.database.migrations.alembic_runner import FOLDER
from touchstone.startup.database_preparation import open_prepared_database


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("served")) as address:
        yield address


@pytest.fixture(scope="module")
def me(address: str) -> str:
    """Register a user, sign the user in at the server, and return the email address."""
    assert run("user", "create", "me@example.org", "--password", PASSWORD, "--pseudo", "Me").exit_code == 0
    run_json("login", "--url", address, "--email", "me@example.org", "--password", PASSWORD)
    return "me@example.org"


def test_signing_in_is_kept_for_its_owner_alone(me: str, address: str) -> None:
    """The tokens are in a file that nobody else can read, and later commands need no address."""
    assert stat.S_IMODE(SavedSignIns.path().stat().st_mode) == 0o600
    assert SavedSignIns.load().url == address
    assert run_json("project", "list")["total_count"] == 0


def test_every_command_explains_itself(me: str) -> None:
    """Each command of each group has a help text with a sentence for each option."""
    for command in ("", "rank", "catalog", "project", "jobs", "user", "db", "train", "explain", "serve"):
        result = run(*filter(None, (command, "--help")))
        assert result.exit_code == 0, result.output
        assert "Show this message" in result.output


def test_what_is_typed_is_completed(me: str) -> None:
    """Names, domains and tasks that begin with the text are suggested with their counts."""
    run_json("catalog", "add", "Heartbeats of whales")
    assert {"kind": "name", "text": "Heartbeats of whales", "count": 1} in run_json("suggest", "heartb")["suggestions"]
    assert "Heartbeats of whales" in run("suggest", "whal", "--limit", "1", "--table").stdout


def test_a_catalog_survives_export_and_import(me: str, tmp_path: Path) -> None:
    """Records that are exported as CSV or JSON Lines can be imported with the same values."""
    for record in (["A, b", "--description", "=1+1"], ["C"]):
        run_json("catalog", "add", *record, "--visibility", "private")
    for file_format in ("csv", "jsonl"):
        file = tmp_path / f"catalog.{file_format}"
        assert run_json("catalog", "export", str(file), "--visibility", "private")["exported"] >= 2
        before = file.read_text()
        ids = [item["id"] for item in run_json("catalog", "list", "--visibility", "private")["datasets"]]
        for dataset_id in ids:
            run_json("catalog", "delete", str(dataset_id))
        assert run_json("catalog", "import", str(file), "--check") == {"records": 2, "results": []}
        for status in ("created", "unchanged"):
            report = run_json("catalog", "import", str(file))
            assert (report["records"], report[status]) == (2, 2)
            assert [item["status"] for item in report["results"]] == [status, status]
        assert run("catalog", "export", "-", "--format", file_format, "--visibility", "private").stdout == before


@pytest.mark.parametrize("file_name", ["catalog.csv.gz", "catalog.jsonl.gz"])
def test_compressed_records_are_exported_and_imported(me: str, tmp_path: Path, file_name: str) -> None:
    """Both commands that import records read what the export has compressed."""
    run_json("catalog", "add", "Compressed", "--visibility", "private")
    file = tmp_path / file_name
    exported = run_json("catalog", "export", str(file), "--name", "Compressed")["exported"]
    assert file.read_bytes().startswith(b"\x1f\x8b")
    assert run_json("catalog", "import", str(file))["unchanged"] == exported
    if ".jsonl" in file_name:
        assert run_json("import", str(file))["unchanged"] == exported

    file.write_bytes(file.read_bytes()[:-12])
    truncated = run("catalog", "import", str(file))
    assert (truncated.exit_code, "not a complete gzip file" in truncated.output) == (2, True)
    result = run("catalog", "export", str(tmp_path / "catalog.parquet.gz"))
    assert (result.exit_code, "compressed already" in result.output) == (2, True)


@pytest.mark.parametrize("file_name", ["keep.parquet", "keep.csv", "keep.jsonl.gz"])
def test_a_failed_export_leaves_the_file_as_it_was(me: str, tmp_path: Path, file_name: str) -> None:
    """Only a complete export replaces a file."""
    file = tmp_path / file_name
    file.write_text("kept")
    assert run("catalog", "export", str(file), "--ethical-score-min", "500").exit_code == 1
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(file_name, "kept")]


def test_a_written_file_replaces_the_old_one_at_the_end(tmp_path: Path) -> None:
    """A failure in the middle leaves the old file, and permissions and links are kept."""
    file = tmp_path / "card.md"
    file.write_text("old")
    file.chmod(0o600)
    link = tmp_path / "link.md"
    link.symlink_to(file)

    with contextlib.suppress(RuntimeError), open_output(link) as output:
        output.write(b"half")
        raise RuntimeError
    assert file.read_text() == "old"

    with open_output(link) as output:
        output.write(b"new")
    assert (file.read_text(), link.is_symlink(), stat.S_IMODE(file.stat().st_mode)) == ("new", True, 0o600)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_that_cannot_be_replaced_stays_with_advice(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing can be created beside it, and writing to it directly could leave half of the content."""
    file = Path("/proc/self/comm")  # can be written to, but not even an administrator can create a file beside it
    name = file.read_text()
    with pytest.raises(typer.Exit) as exit_info, open_output(file) as output:
        output.write(b"new")
    assert (exit_info.value.exit_code, file.read_text()) == (2, name)
    message = capsys.readouterr().err
    assert "its folder takes no new file" in message
    assert "write to - and redirect the standard output" in message


def test_columns_and_weights_are_given_once(me: str, tmp_path: Path) -> None:
    """Of two values for the same name, none is silently dropped."""
    file = tmp_path / "twice.csv"
    file.write_text("name,year,year\nA,2000,2001\n")
    for arguments, message in (
        (("catalog", "import", str(file)), "there are 2 columns year"),
        (("rank", "--weight", "year=1", "--weight", "year=2"), "criterion 'year' is given twice"),
    ):
        result = run(*arguments)
        assert (result.exit_code, message in result.output) == (2, True), result.output


def test_a_dataset_is_exported_in_a_metadata_standard(me: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The document goes to a file of one's own, to one with the name that the service suggests, or to the output."""
    monkeypatch.chdir(tmp_path)
    dataset_id = str(run_json("catalog", "add", "Street signs", "--visibility", "private")["id"])

    report = run_json("export", dataset_id, "--format", "dcat", "-o", "signs.jsonld")
    run_json("export", dataset_id)
    printed_card = run("export", dataset_id, "--format", "card", "-o", "-")

    content = (tmp_path / "signs.jsonld").read_bytes()
    assert report == {"file": "signs.jsonld", "bytes": len(content)}
    assert json.loads(content)["title"] == "Street signs"
    assert json.loads((tmp_path / "street-signs.croissant.json").read_text())["name"] == "Street signs"
    assert "# Dataset Card for Street signs" in printed_card.output
    refusal = run("export", dataset_id, "--format", "xml")
    assert (refusal.exit_code, "xml" in refusal.output) == (1, True)


def test_a_record_that_is_refused_is_named_and_the_rest_is_made(me: str, tmp_path: Path) -> None:
    """An import continues after a rejected record, reports it, and has a corresponding exit status."""
    file = tmp_path / "records.jsonl"
    file.write_text('{"name": "good", "objective": "kept"}\n{"name": "bad", "year": -5}\n')
    result = run("catalog", "import", str(file))
    assert result.exit_code == 1
    rejections = [item for item in json.loads(result.stdout)["results"] if item["status"] == "rejected"]
    assert [item["name"] for item in rejections] == ["bad"]
    assert "Year" in rejections[0]["detail"] or "year" in rejections[0]["detail"]
    assert run_json("catalog", "list", "--objective", "kept")["total_count"] == 1


def test_an_import_updates_what_has_changed_and_creates_what_is_new(me: str, tmp_path: Path) -> None:
    """Records are matched by name and source key; records of other users are never changed."""
    file = tmp_path / "records.jsonl"
    rows: list[dict[str, Any]] = [
        {"name": "twice", "objective": "again", "year": 2001},
        {"name": "twice", "objective": "again", "year": 2002},
        {"name": "keyed", "objective": "again", "metadata": {"source": {"name": "hub", "key": "a"}}},
    ]

    def import_statuses() -> list[str]:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return [item["status"] for item in run_json("catalog", "import", str(file))["results"]]

    assert import_statuses() == ["created"] * 3
    assert import_statuses() == ["unchanged"] * 3
    rows[1]["year"] = 2003
    rows.append({"name": "keyed", "objective": "again", "metadata": {"source": {"name": "hub", "key": "b"}}})
    assert import_statuses() == ["unchanged", "updated", "unchanged", "created"]
    assert import_statuses() == ["unchanged"] * 4
    datasets = run_json("catalog", "list", "--objective", "again")["datasets"]
    assert sorted(dataset["year"] or 0 for dataset in datasets) == [0, 0, 2001, 2003]


def test_help_shows_whole_option_names_in_a_narrow_terminal(me: str) -> None:
    """With 80 columns, no name of an option is cut off."""
    for command in (("rank",), ("catalog", "list"), ("train",)):
        help_text = run(*command, "--help").output
        assert "…" not in help_text.replace("5f0c…", "")
        assert max(map(len, help_text.splitlines())) <= 80
    assert "--external-documentation-available" in run("rank", "--help").output


def test_a_record_is_shown_with_its_licence_and_evidence(me: str) -> None:
    """Like the JSON, the table shows the licence, the source, and the evidence for each attribute."""
    metadata = {"licence": "CC-BY-4.0", "source": {"name": "hub"}, "evidence": {"transparency": "See section 2."}}
    row = json.dumps({"name": "licensed", "transparency": True, "metadata": metadata})
    dataset_id = run_json("catalog", "import", "-", "--format", "jsonl", text=row)["results"][0]["dataset_id"]
    table = run("catalog", "show", str(dataset_id), "--table").stdout
    for text in ("Licence", "CC-BY-4.0", "Source", "hub", "Evidence: Transparency", "See section 2."):
        assert text in table, table


def test_training_without_a_table_says_what_to_do(me: str) -> None:
    """The error says what is missing and how to provide it."""
    dataset_id = str(run_json("catalog", "add", "without a table")["id"])
    result = run("train", dataset_id, "--target", "x")
    assert result.exit_code == 1
    assert "leads to no readable table; upload a CSV or Parquet file" in result.output


def test_ranking_takes_filters_and_weights(me: str) -> None:
    """Filters are options, weights are pairs, and the output is the ranking of the service."""
    table = "name,objective,year,is_split,domain\nold,weighed,2000,true,law\nnew,weighed,2024,false,law\n"
    run_json("catalog", "import", "-", "--format", "csv", text=table)
    ranking = run_json("rank", "--objective", "weighed", "--domain", "law", "--weight", "year=1", "--explain")
    assert [item["dataset_name"] for item in ranking["datasets"]] == ["new", "old"]
    assert ranking["datasets"][0]["points"] == {"year": 1.0}
    split_ranking = run_json("rank", "--objective", "weighed", "--is-split")
    assert [item["dataset_name"] for item in split_ranking["datasets"]] == ["old"]
    unsplit_ranking = run_json("rank", "--objective", "weighed", "--no-is-split")
    assert [item["dataset_name"] for item in unsplit_ranking["datasets"]] == ["new"]


@pytest.mark.parametrize("width", [80, 200])
def test_explained_rankings_show_names_and_gates(me: str, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    """On a narrow terminal, the points of many criteria have tables of their own, and nothing is cut."""
    monkeypatch.setenv("COLUMNS", str(width))
    run_json("catalog", "add", "Censuses", "--visibility", "private")
    criteria = ("ethical_score", "technical_score", "popularity_score", "year", "citations", "documentation")
    weights = [argument for criterion in criteria for argument in ("--weight", f"{criterion}=1")]
    result = run("rank", "--name", "Censuses", *weights, "--gate", "year_min=2000", "--explain", "--table")
    assert result.exit_code == 0, result.output
    assert "Censuses" in result.stdout
    assert "unknown:" in result.stdout
    assert "Place" in result.stdout
    assert "…" not in result.stdout
    assert result.stdout.count("Place") == (1 if width == 200 else 3)
    assert all(f"+ {criterion.partition('_')[0]}" in result.stdout for criterion in criteria)


def test_times_name_their_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time that is copied from a table into a report can be read in another country."""
    monkeypatch.setenv("TZ", "Europe/Paris")
    time.tzset()
    try:
        assert format_value(datetime(2031, 1, 5, 12, tzinfo=UTC)) == "2031-01-05 13:00 CET"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_tables_show_texts_as_they_are(me: str) -> None:
    """Markup, control characters are shown literally, and unknown values are visible."""
    name = "[red]x[/red] \x1b[31mred"
    run_json("catalog", "add", name, "--description", "shown")
    table = run("catalog", "list", "--name", "[red]", "--table").stdout
    assert "[red]x[/red] \ufffd[31mred" in table
    assert "\x1b" not in table
    dataset_id = str(run_json("catalog", "list", "--name", "[red]")["datasets"][0]["id"])
    assert "Transparency" in run("catalog", "show", dataset_id, "--table").stdout


def test_no_break_spaces_are_no_control_characters() -> None:
    """French sentences keep their spaces; what could command a terminal or reverse a line is marked."""
    sentence = "Valeur\u00a0: 8\u202f921\u00a0€\n"
    assert replace_unprintable_characters(sentence) == sentence
    assert replace_unprintable_characters("a\x1bb\u202ec\u2028d") == "a\ufffdb\ufffdc\ufffdd"


def test_a_project_keeps_the_choice(me: str) -> None:
    """A whole project, from its description to the choice, is carried out on the command line."""
    dataset_id = run_json("catalog", "add", "chosen", "--description", "d")["id"]
    project = run_json("project", "create", "Need", "--description", "why", "--name", "chosen", "--profile", "ethical")
    assert project["criteria"] == {"dataset_name": "chosen"}
    assert {weight["criterion_name"]: weight["weight"] for weight in project["weights"]}["ethical_score"] == 0.7
    assert [item["id"] for item in run_json("project", "recommend", project["id"])["datasets"]] == [dataset_id]
    run_json("project", "choose", project["id"], str(dataset_id), "--reason", "documented")
    assert run_json("project", "show", project["id"])["choice_reason"] == "documented"
    assert "documented" in run("project", "show", project["id"], "--table").stdout
    assert run_json("project", "delete", project["id"]) is None


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["rank", "--weight", "yeer=1"], 1, "yeer"),
        (["rank", "--weight", "year"], 2, "criterion=value"),
        (["rank", "--weight", "year=much"], 2, "a weight is a number"),
        (["rank", "--weight", "year=1", "--profile", "ethical"], 2, "either --profile or --weight"),
        (["catalog", "show", "999999"], 1, "touchstone: "),
        (["catalog", "import", "/no/such/file.csv"], 2, "No such file"),
        (["catalog", "export", "catalog.xls"], 2, "csv, jsonl"),
        (["catalog", "export", "/no/such/folder/x.csv"], 2, "No such file"),
        (["catalog", "add", "x", "--file", "/no/such/table.csv"], 2, "No such file"),
        (["project", "create", "x", "--profile", "none"], 2, "not a profile"),
        (["project", "show", "nonsense"], 1, "Projet non trouvé"),
        (["project", "list", "--url", "http://127.0.0.1:9"], 4, "cannot be reached"),
        (["project", "list", "--url", "data.example.org"], 2, "is not an address"),
        (["user", "deactivate", "nobody@example.org"], 1, "touchstone: "),
        (["user", "create", "short@example.org", "--password", "x"], 1, "touchstone: "),
        (["explain", "--dataset", "1", "--values", "nonsense"], 2, "takes a JSON object"),
        (["explain", "--dataset", "1", "--values", '{"a": ' + "[" * 5000], 2, "too many levels"),
        (["rank", "--gate", "license=" + "[" * 5000], 1, "touchstone: "),
    ],
)
def test_what_goes_wrong_is_said_once_with_its_status(me: str, arguments: list[str], status: int, message: str) -> None:
    """An error is one line on the error stream, without a traceback, and the exit status depends on its kind."""
    result = run(*arguments)
    assert result.exit_code == status, result.output
    assert message in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("number", ["nan", "inf", "1e400"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("rank", "--weight", "year={}"),
        ("train", "1", "--target", "x", "--test-size", "{}"),
        ("train", "1", "--target", "x", "--cost-fp", "{}"),
        ("evidence", "add", "1", "year", "{}"),
    ],
    ids=lambda arguments: arguments[-2],
)
def test_numbers_are_finite(me: str, arguments: tuple[str, ...], number: str) -> None:
    """JSON has no infinity, so an infinite number is wrong usage."""
    result = run(*(argument.format(number) for argument in arguments))
    assert (result.exit_code, result.exception.__class__) == (2, SystemExit), result.output


@pytest.mark.parametrize("url", ["http://127.0.0.1:abc", "http://[::1", "http://127.0.0.1:70000", "ftp://x"])
def test_an_address_that_is_none_is_wrong_usage(me: str, url: str) -> None:
    """The message repeats the address."""
    result = run("project", "list", "--url", url)
    assert (result.exit_code, "is not an address" in result.output) == (2, True), result.output


def test_only_signing_in_changes_the_default_server(me: str, address: str) -> None:
    """A renewal of tokens at another server does not make it the server of later commands."""
    other_address = address.replace("127.0.0.1", "localhost")
    saved = SavedSignIns.load()
    tokens = Tokens(access_token="expired", token_type="bearer", expires_in=60)
    CommandContext(other_address, as_json=True, client=Touchstone(other_address)).save_sign_in("me@example.org", tokens)
    assert SavedSignIns.load().url == address
    assert other_address in SavedSignIns.load().sign_ins
    saved.save()


def test_a_session_that_cannot_be_saved_is_a_warning(me: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signing in succeeds even if no file can be written."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/proc")
    result = run("login", "--url", address, "--email", "me@example.org", "--password", PASSWORD)
    assert (result.exit_code, "the session cannot be saved" in result.stderr) == (0, True), result.output


def test_a_wrong_password_is_no_reason_to_sign_in_first(me: str, address: str) -> None:
    """Who is signing in is not told to sign in."""
    result = run("login", "--url", address, "--email", "me@example.org", "--password", "wrong")
    assert (result.exit_code, "Sign in first" in result.output) == (3, False)


@pytest.mark.parametrize("dataset", ["", ".", ".."])
def test_an_id_that_is_none_is_named(me: str, dataset: str) -> None:
    """An empty id is not the address of the list."""
    result = run("catalog", "show", dataset)
    assert (result.exit_code, "is not an id or a name" in result.output) == (1, True)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_full_disk_and_other_encodings_are_one_line(me: str) -> None:
    """A process that cannot write its output, or whose arguments are not text, ends without a traceback."""
    command = [sys.executable, "-m", "touchstone"]
    with Path("/dev/full").open("wb") as full:
        listing = subprocess.run([*command, "catalog", "list"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (listing.returncode, listing.stderr.count(b"\n")) == (1, 1)
    assert b"the output cannot be written" in listing.stderr

    addition = subprocess.run([*command, "catalog", "add", b"\xff"], capture_output=True, check=False)
    assert (addition.returncode, addition.stderr) == (2, b"touchstone: '\\udcff' is not UTF-8 text\n")


def test_the_server_may_come_from_the_environment(
    me: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`TOUCHSTONE_URL` names the server; `--url` takes precedence, and the last server that was used comes after it."""
    monkeypatch.setenv("TOUCHSTONE_URL", "http://127.0.0.1:9")
    assert run("project", "list").exit_code == 4
    assert run_json("project", "list", "--url", address)["total_count"] == 0

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("TOUCHSTONE_URL", address + "/")
    run_json("login", "--email", "me@example.org", "--password", PASSWORD)
    assert SavedSignIns.load().url == address

    monkeypatch.setenv("TOUCHSTONE_URL", "127.0.0.1:8000")
    result = run("project", "list")
    assert (result.exit_code, "TOUCHSTONE_URL: '127.0.0.1:8000' is not an address" in result.stderr) == (2, True)


def test_a_server_takes_no_notice_of_the_clients_variables() -> None:
    """A server starts from a terminal in which the variables of the command line are set."""
    assert Settings.load({"TOUCHSTONE_URL": "http://127.0.0.1:9"}) == Settings.load({})


def test_a_stranger_is_asked_to_sign_in(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a sign-in, the command says how to sign in, with an exit status of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    result = run("rank", "--url", address)
    assert (result.exit_code, result.stderr.count("\n")) == (3, 1)
    assert "touchstone login" in result.stderr


def test_accounts_are_managed_in_the_database(me: str, address: str) -> None:
    """Accounts are created, listed, deactivated, activated and given a reset token without a server."""
    result = run("user", "create", "other@example.org", "--admin")
    assert "Password" in result.stdout
    accounts = {account["email"]: account for account in run_json("user", "list", "--json")}
    assert accounts["other@example.org"]["is_superuser"]
    assert run("user", "deactivate", "OTHER@example.org").exit_code == 0
    accounts = {account["email"]: account for account in run_json("user", "list", "--json")}
    assert accounts["other@example.org"]["is_active"] is False
    assert run("user", "activate", "other@example.org").exit_code == 0
    run("user", "create", "reader@example.org")
    for options, is_curator in (((), True), (("--remove",), False)):
        assert run("user", "curator", "reader@example.org", *options).exit_code == 0
        accounts = {account["email"]: account for account in run_json("user", "list", "--json")}
        assert accounts["reader@example.org"]["is_curator"] is is_curator
    assert "Token" in run("user", "reset", "other@example.org").stdout


def test_the_role_of_a_curator_is_changed_with_a_sentence_about_the_effect(me: str, address: str) -> None:
    """The command says what has changed, also if the user has the role already, lacks it, or is an administrator."""
    run("user", "create", "reviewer@example.org")
    run("user", "create", "chief@example.org", "--admin")
    for options, sentence in (
        (("reviewer@example.org", "--remove"), "Nothing has changed: reviewer@example.org was not a curator."),
        (("reviewer@example.org",), "reviewer@example.org is now a curator."),
        (("reviewer@example.org",), "Nothing has changed: reviewer@example.org was already a curator."),
        (("reviewer@example.org", "--remove"), "reviewer@example.org is no longer a curator."),
        (("chief@example.org", "--remove"), "chief@example.org is a curator in any case"),
        (("chief@example.org",), "chief@example.org is a curator in any case"),
    ):
        assert sentence in run("user", "curator", *options).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bad",), "email: "),
        (("b@example.org", "--locale", "de"), "locale: "),
        (("b@example.org", "--pseudo", "x" * 5000), "pseudo: "),
        (("b@example.org", "--given-name", ""), "given_name: "),
    ],
)
def test_an_account_is_valid_however_it_is_created(me: str, arguments: tuple[str, ...], message: str) -> None:
    """The command line accepts only what a registration accepts, and stores nothing else."""
    result = run("user", "create", *arguments)
    assert (result.exit_code, message in result.output) == (2, True), result.output
    assert arguments[0] not in run("user", "list", "--json").stdout


@pytest.mark.parametrize(
    "arguments", [("user", "list"), ("user", "deactivate", "me@example.org"), ("doctor",), ("doctor", "--catalog")]
)
def test_a_missing_database_is_not_created(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong data folder is named, and nothing is written there."""
    folder = tmp_path / "data"
    monkeypatch.setenv("TOUCHSTONE_DATA_DIR", str(folder))
    result = run(*arguments)
    assert (result.exit_code, str(folder) in result.stderr) == (2, True), result.output
    assert not folder.exists()


def test_doctor_finds_damage_in_the_middle_of_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that nothing reads at the start are checked, too; before, only the first request for them failed."""
    monkeypatch.setenv("TOUCHSTONE_DATA_DIR", str(tmp_path))
    assert run("user", "create", "me@example.org").exit_code == 0
    database = tmp_path / "touchstone.db"
    assert "File: no damage found." in run("doctor").stdout

    with contextlib.closing(sqlite3.connect(database)) as connection:
        [page] = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'datasets'").fetchone()
    content = bytearray(database.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\x55" * 4096
    database.write_bytes(content)

    result = run("doctor")
    assert (result.exit_code, "is damaged" in result.stderr) == (2, True), result.output


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("TOUCHSTONE_PROT", "1", "did you mean TOUCHSTONE_PORT?"),
        ("TOUCHSTONE_PORT", "many", "TOUCHSTONE_PORT: "),
    ],
)
def test_a_wrong_setting_is_one_line(variable: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelled or invalid setting is reported, and nothing starts."""
    monkeypatch.setenv(variable, value)
    result = run("serve")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert message in result.stderr


def test_the_schema_is_brought_up_once(me: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`db upgrade` creates the schema of an empty database, and finds nothing to do after that."""
    monkeypatch.setenv("TOUCHSTONE_DATABASE_URL", f"sqlite:///{tmp_path / 'fresh.db'}")
    assert "From an empty database to" in run("db", "upgrade").stdout
    assert "Already at" in run("db", "upgrade").stdout


def test_the_document_is_printed(me: str) -> None:
    """`openapi` prints the public document without a server."""
    assert "/api/v1/datasets/" in run_json("openapi")["paths"]


def test_signing_out_forgets_the_tokens(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After signing out, no token is left on either side, and a session that has ended is forgotten too."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    run("user", "create", "leaving@example.org", "--password", PASSWORD)
    for _ in range(2):
        run_json("login", "--url", address, "--email", "leaving@example.org", "--password", PASSWORD)
        saved_sign_ins = SavedSignIns.load()
        assert saved_sign_ins.sign_ins
        assert run_json("logout") is None
        assert SavedSignIns.load().sign_ins == {}
        saved_sign_ins.save()
        assert run("project", "list").exit_code == 3
        assert run("logout").exit_code == 0


def test_benchmarks_are_run_from_the_source_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`bench` passes its arguments on to the benchmarks in the folder, and says so if there are none."""
    monkeypatch.chdir(tmp_path)
    assert "source tree" in run("bench").stderr
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__main__.py").write_text("import sys\nsys.exit(40 + len(sys.argv))\n")
    assert run("bench", "ranking").exit_code == 42


def downgrade_by_one_revision(folder: Path) -> Script:
    """Give the database in a data folder the schema before the newest one, and return the newest revision."""
    head: Script = ScriptDirectory(str(FOLDER)).get_revision("head")
    engine = sa.create_engine(f"sqlite:///{folder / 'touchstone.db'}")
    with engine.begin() as connection, Operations.context(MigrationContext.configure(connection)):
        head.module.downgrade()
        connection.execute(sa.text(f"UPDATE alembic_version SET version_num = '{head.down_revision}'"))
    engine.dispose()
    return head


def test_an_upgrade_at_the_start_is_logged_with_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator who only restarts a server learns that its database has been upgraded, and where the old one is."""
    monkeypatch.setenv("TOUCHSTONE_DATA_DIR", str(tmp_path))
    run("db", "upgrade")
    head = downgrade_by_one_revision(tmp_path)

    async def start() -> None:
        async with open_prepared_database(Settings.load()):
            pass

    with structlog.testing.capture_logs() as events:
        asyncio.run(start())

    [copy] = tmp_path.glob("touchstone.db.*-*")
    [event] = [event for event in events if event["event"] == "database upgraded"]
    assert event == {
        "event": "database upgraded",
        "log_level": "info",
        "revision": head.revision,
        "previous_revision": head.down_revision,
        "copy": str(copy),
    }


def test_an_upgrade_first_copies_the_default_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only way back from an upgrade is a copy, whether a server or the command upgrades the database."""
    monkeypatch.setenv("TOUCHSTONE_DATA_DIR", str(tmp_path))
    run("db", "upgrade")
    head = downgrade_by_one_revision(tmp_path)

    result = run("db", "upgrade")

    assert result.stdout == f"From {head.down_revision} to {head.revision}.\n"
    [copy] = tmp_path.glob("touchstone.db.*-*")
    with contextlib.closing(sqlite3.connect(copy)) as connection_to_copy:
        assert connection_to_copy.execute("SELECT version_num FROM alembic_version").fetchall() == [
            (head.down_revision,)
        ]


def test_a_failing_database_is_named_and_logged_beside_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the variable and the reason, and the log does not mix with JSON on the standard output."""
    monkeypatch.setenv("TOUCHSTONE_DATA_DIR", str(tmp_path))
    assert run("db", "upgrade").exit_code == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "touchstone.db")) as connection:
        connection.execute("DROP TABLE users")

    result = run("user", "list", "--json")

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("touchstone: database away (problem: "), "no time, level or colour of a log line"
    assert result.stderr.splitlines()[-1].startswith("touchstone: TOUCHSTONE_DATA_DIR: the database cannot be opened: ")
    assert "no such table: users" in result.stderr.splitlines()[-1]
