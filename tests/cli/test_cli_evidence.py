"""`touchstone evidence`, as two people use it: one claims something, the other one decides."""

import re
from collections.abc import Iterator

import pytest

from tests.cli.running import PASSWORD, run, run_json
from tests.cli.served import served

QUOTE = "Every patient signed a consent form."


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the product with one record of another creator, whose id is 1, and return its address."""
    with served(tmp_path_factory.mktemp("evidence")) as address:
        sign_in(address, "first@example.org")
        run_json("catalog", "add", "Ward census", "--description", "d")
        yield address


def sign_in(address: str, email: str) -> None:
    """Sign in as a user, whose account is created first if there is none."""
    run("user", "create", email, "--password", PASSWORD, "--pseudo", email.partition("@")[0])
    run_json("login", "--url", address, "--email", email, "--password", PASSWORD)


def test_a_claim_is_proposed_accepted_confirmed_and_withdrawn(address: str) -> None:
    """A stranger proposes, the creator accepts, a curator confirms, and the stranger withdraws; all of it is listed."""
    sign_in(address, "ada@example.org")
    dataset_id = str(run_json("catalog", "add", "Ward visits", "--description", "d")["id"])

    sign_in(address, "grace@example.org")
    source = ("--quote", QUOTE, "--place", "section 2", "--source-name", "Protocol")
    claim = run_json("evidence", "add", dataset_id, "informed_consent", "true", *source)
    assert (claim["status"], claim["source"]["name"]) == ("proposed", "Protocol")

    sign_in(address, "ada@example.org")
    proposals = run_json("evidence", "proposals")
    assert [proposal["id"] for proposal in proposals["proposals"]] == [claim["id"]]
    run_json("evidence", "review", dataset_id, claim["id"], "accept", "--note", "known to me")
    assert run_json("catalog", "show", dataset_id)["informed_consent"] is True

    sign_in(address, "carla@example.org")
    assert run("evidence", "review", dataset_id, claim["id"], "confirm").exit_code == 1
    assert run("user", "curator", "carla@example.org").exit_code == 0
    sign_in(address, "carla@example.org")
    assert run_json("evidence", "review", dataset_id, claim["id"], "confirm")["level"] == "reviewed"
    ranking = run_json("rank", "--assurance", "reviewed", "--name", "Ward visits", "--weight", "informed_consent=1")
    assert ranking["datasets"][0]["score"] == 1.0

    sign_in(address, "grace@example.org")
    run_json("evidence", "withdraw", dataset_id, claim["id"][:8])
    listing = run_json("evidence", "list", dataset_id, "--attribute", "informed_consent")
    assert (listing["dataset_id"], listing["declared_by"]["pseudo"]) == (int(dataset_id), "ada")
    assert list(listing["attributes"]) == ["informed_consent"]
    table = run("evidence", "list", dataset_id, "--table").stdout
    assert "withdrawn" in table
    assert "grace" in table


def test_tables_show_years_as_years_and_when_a_claim_was_withdrawn(address: str) -> None:
    """A year has no spaces between thousands, unlike other numbers, and a withdrawn claim has the time of it."""
    sign_in(address, "ada@example.org")
    dataset_id = str(run_json("catalog", "add", "Ward beds", "--description", "d")["id"])
    run_json("evidence", "add", dataset_id, "instances_number", "2021", "--quote", "2021 beds")
    claim = run_json("evidence", "add", dataset_id, "year", "2021", "--quote", "counted in 2021")

    rows = run("evidence", "list", dataset_id, "--table").stdout.splitlines()
    values = {row.split()[1]: re.split(r" {2,}", row.strip())[2] for row in rows if "declared" in row}
    assert values == {"instances_number": "2 021", "year": "2021"}
    table = run("evidence", "withdraw", dataset_id, claim["id"], "--table").stdout
    withdrawn_at = run_json("evidence", "list", dataset_id, "--attribute", "year")["claims"][0]["withdrawn_at"]
    assert re.search(rf"Withdrawn +{withdrawn_at[:10]}", table)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["evidence", "add", "1", "colour", "true"], 2, "informed_consent"),
        (["evidence", "add", "1", "transparency", "maybe"], 2, "true, false or not-applicable"),
        (["evidence", "add", "1", "year", "old"], 2, "a number"),
        (["evidence", "review", "1", "00000000-0000-0000-0000-000000000000", "praise"], 2, "accept, confirm or reject"),
        (["evidence", "withdraw", "1", "ffff"], 2, "0 claims"),
        (["evidence", "list", "999999"], 1, "touchstone: "),
        (["evidence", "list", "1", "--attribute", "colour"], 2, "informed_consent"),
        (["rank", "--assurance", "hearsay"], 1, "hearsay"),
    ],
)
def test_what_cannot_be_a_claim_is_refused(address: str, arguments: list[str], status: int, message: str) -> None:
    """An unknown attribute, a value of another type, an unknown decision and level: one line says what fits."""
    sign_in(address, "ada@example.org")
    result = run(*arguments)
    assert result.exit_code == status, result.output
    assert message in result.stderr
