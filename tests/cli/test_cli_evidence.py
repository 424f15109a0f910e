"""`touchstone evidence`, as two people use it: one claims something, the other one decides."""

from collections.abc import Iterator

import pytest

from tests.cli.running import PASSWORD, answer, run
from tests.cli.served import served

QUOTE = "Every patient signed a consent form."


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with one record of another creator, whose id is 1."""
    with served(tmp_path_factory.mktemp("evidence")) as started:
        sign_in(started, "first@example.org")
        answer("catalog", "add", "Ward census", "--description", "d")
        yield started


def sign_in(address: str, email: str) -> None:
    """Sign in as a user, whose account is made first if there is none."""
    run("user", "create", email, "--password", PASSWORD, "--pseudo", email.partition("@")[0])
    answer("login", "--url", address, "--email", email, "--password", PASSWORD)


def test_a_claim_is_proposed_accepted_confirmed_and_withdrawn(address: str) -> None:
    """A stranger proposes, the creator accepts, a curator confirms, and the stranger withdraws; all of it is listed."""
    sign_in(address, "ada@example.org")
    dataset = str(answer("catalog", "add", "Ward visits", "--description", "d")["id"])

    sign_in(address, "grace@example.org")
    source = ("--quote", QUOTE, "--place", "section 2", "--source-name", "Protocol")
    claim = answer("evidence", "add", dataset, "informed_consent", "true", *source)
    assert (claim["status"], claim["source"]["name"]) == ("proposed", "Protocol")

    sign_in(address, "ada@example.org")
    proposals = answer("evidence", "proposals")
    assert [proposal["id"] for proposal in proposals["proposals"]] == [claim["id"]]
    answer("evidence", "review", dataset, claim["id"], "accept", "--note", "known to me")
    assert answer("catalog", "show", dataset)["informed_consent"] is True

    sign_in(address, "carla@example.org")
    assert run("evidence", "review", dataset, claim["id"], "confirm").exit_code == 1
    assert run("user", "curator", "carla@example.org").exit_code == 0
    sign_in(address, "carla@example.org")
    assert answer("evidence", "review", dataset, claim["id"], "confirm")["level"] == "reviewed"
    ranked = answer("rank", "--assurance", "reviewed", "--name", "Ward visits", "--weight", "informed_consent=1")
    assert ranked["datasets"][0]["score"] == 1.0

    sign_in(address, "grace@example.org")
    answer("evidence", "withdraw", dataset, claim["id"][:8])
    listed = run("evidence", "list", dataset, "--table").stdout
    assert "withdrawn" in listed
    assert "grace" in listed


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["evidence", "add", "1", "colour", "true"], 2, "informed_consent"),
        (["evidence", "add", "1", "transparency", "maybe"], 2, "true, false or not-applicable"),
        (["evidence", "add", "1", "year", "old"], 2, "a number"),
        (["evidence", "review", "1", "00000000-0000-0000-0000-000000000000", "praise"], 2, "accept, confirm or reject"),
        (["evidence", "withdraw", "1", "ffff"], 2, "0 claims"),
        (["evidence", "list", "999999"], 1, "touchstone: "),
        (["rank", "--assurance", "hearsay"], 1, "hearsay"),
    ],
)
def test_what_cannot_be_a_claim_is_refused(address: str, arguments: list[str], status: int, message: str) -> None:
    """An unknown attribute, a value of another type, an unknown decision and level: one line says what fits."""
    sign_in(address, "ada@example.org")
    result = run(*arguments)
    assert result.exit_code == status, result.output
    assert message in result.stderr
