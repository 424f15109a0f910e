"""Valid and invalid requests that are generated from the published document find no defect."""

import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.serving_process import ServingProcess

FOLDER = Path(__file__).parent
# The systematic requests of the phase "coverage" are the same for every user. What may depend on the data of others is
# requested in the phases that generate requests at random and in sequences.
PHASES_BY_EMAIL = {
    "first@example.org": "examples,coverage,fuzzing,stateful",
    "second@example.org": "examples,fuzzing,stateful",
}
# Nearly all parameters of these operations are tried systematically with another operation: the filters with
# `get_datasets`, filters, weights and gates in a body with `post_datasets_score`, and the rest with `post_projects` and
# `post_ml_train` (decision 0059).
SHARED_PARAMETERS = (
    "get_datasets_export_jsonl",
    "get_datasets_export_parquet",
    "get_datasets_facets",
    "post_datasets_compare",
    "post_datasets_stability",
    "post_datasets_dataset_id_lifts",
    "put_projects_project_id",
    "post_ml_train_preview",
    "post_ml_compare",
)
# Requests to these paths would sign out the user of the generated requests, or prevent another sign-in.
SIGN_OUT_PATHS = "/auth/logout|/users/me/sessions|/users/me/password|/auth/reset-password"


def token_of(address: str, email: str) -> str:
    """Register a user and return an access token."""
    account = {"email": email, "password": "correct horse battery"}
    httpx2.post(f"{address}/api/v1/auth/register", json=account, timeout=30).raise_for_status()
    login = httpx2.post(
        f"{address}/api/v1/auth/login", data={"username": email, "password": account["password"]}, timeout=30
    )
    token: str = login.raise_for_status().json()["access_token"]
    return token


def configuration(*, is_long: bool) -> str:
    """Return the configuration of Schemathesis; in its short form, parameters that are shared are tried once."""
    base_configuration = (FOLDER / "schemathesis.toml").read_text()
    if is_long:
        return base_configuration
    return (
        f"{base_configuration}\n[[operations]]\n"
        f"include-operation-id = {list(SHARED_PARAMETERS)}\nphases.coverage.enabled = false\n"
    )


@pytest.mark.timeout(3600)
def test_no_generated_request_finds_a_fault(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """All checks run, with two users on the same data and with sequences of requests."""
    is_long = request.config.getoption("--long")
    max_examples = "200" if is_long else "4"
    configuration_file = tmp_path / "schemathesis.toml"
    configuration_file.write_text(configuration(is_long=is_long))
    server = ServingProcess(tmp_path / "data", TOUCHSTONE_ACCESS_TOKEN_SECONDS="7200").start()
    command = [str(Path(sys.executable).with_name("st")), "--config-file", str(configuration_file), "run"]
    options = ["--checks", "all", "--max-examples", max_examples, "--no-color", "--seed", "7"]
    options += ["--generation-deterministic", "--exclude-path-regex", SIGN_OUT_PATHS]
    try:
        for email, phases in PHASES_BY_EMAIL.items():
            header = f"Authorization: Bearer {token_of(server.address, email)}"
            process = subprocess.run(
                [
                    *command,
                    f"{server.address}/openapi.json",
                    "-H",
                    header,
                    *options,
                    "--phases",
                    phases,
                ],
                capture_output=True,
                text=True,
                cwd=tmp_path,
                check=False,
            )
            assert process.returncode == 0, process.stdout[-12_000:]
    finally:
        server.kill()
