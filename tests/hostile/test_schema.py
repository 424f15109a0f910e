"""Valid and invalid requests that are generated from the published document find no defect."""

import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.serving_process import ServingProcess

FOLDER = Path(__file__).parent
# The thirteen thousand systematic requests of the phase "coverage" are the same for every user. What may depend on the
# data of others is requested in the phases that generate requests at random and in sequences.
PHASES = {"first@example.org": "examples,coverage,fuzzing,stateful", "second@example.org": "examples,fuzzing,stateful"}
# What would sign the generated requests' own user out, or shut the way back in.
SIGNING_OUT = "/auth/logout|/users/me/sessions|/users/me/password|/auth/reset-password"


def token_of(address: str, email: str) -> str:
    """Register a user and return an access token."""
    account = {"email": email, "password": "correct horse battery"}
    httpx2.post(f"{address}/api/v1/auth/register", json=account, timeout=30).raise_for_status()
    answer = httpx2.post(
        f"{address}/api/v1/auth/login", data={"username": email, "password": account["password"]}, timeout=30
    )
    token: str = answer.raise_for_status().json()["access_token"]
    return token


@pytest.mark.timeout(3600)
def test_no_generated_request_finds_a_fault(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """All checks run, with two users on the same data and with sequences of requests."""
    examples = "200" if request.config.getoption("--long") else "4"
    server = ServingProcess(tmp_path / "data", TOUCHSTONE_ACCESS_TOKEN_SECONDS="7200").start()
    command = [str(Path(sys.executable).with_name("st")), "--config-file", str(FOLDER / "schemathesis.toml"), "run"]
    options = ["--checks", "all", "--max-examples", examples, "--no-color", "--seed", "7", "--generation-deterministic"]
    options += ["--exclude-path-regex", SIGNING_OUT]
    try:
        for email, phases in PHASES.items():
            header = f"Authorization: Bearer {token_of(server.address, email)}"
            run = subprocess.run(
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
            assert run.returncode == 0, run.stdout[-12_000:]
    finally:
        server.kill()
