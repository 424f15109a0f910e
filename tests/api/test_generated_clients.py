"""The OpenAPI document accepts the example of the interface, and clients that are generated from it work."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from PIL import Image

from tests.listening import listening
from tests.serving import running
from tools.check_clients import ENVIRONMENT, generate_python, is_installed
from touchstone.client.account_calls import DEVICE_COOKIE, LINK_COOKIE
from touchstone.core.settings import Settings
from touchstone.learning.request_choices import ALGORITHMS, METRICS
from touchstone.services.selection.filters import FILTERS
from touchstone.startup.whole_product import openapi

# Section 2.5 of the interface names these members of `filters`, section 4.2 the other names of the list's parameters.
EXAMPLE = {
    "filters": {
        "domain": ["health"],
        "instances_number_min": 1000,
        "instances_number_max": 10**6,
        "features_number_min": 5,
        "features_number_max": 500,
        "split": True,
        "is_anonymized": True,
        "ethical_score_min": 50,
    },
    "weights": [
        {"criterion_name": "ethical_score", "weight": 0.4},
        {"criterion_name": "technical_score", "weight": 0.6},
    ],
}
EMAIL, PASSWORD = "generated@example.org", "correct horse battery"
# Uses the generated client only: every name in it comes from the document.
CLIENT_SCRIPT = """
import importlib, json, pkgutil, sys
import generated_client.api
from generated_client import AuthenticatedClient, Client
from generated_client.api.auth import post_auth_login
from generated_client.api.datasets import get_datasets, get_datasets_dataset_id_export, post_datasets
from generated_client.api.datasets import post_datasets_score
from generated_client.api.projects import get_projects_project_id_report, post_projects
from generated_client.api.users import get_users_me_picture, put_users_me_picture
from generated_client.models import DatasetCreate, GetDatasetsDatasetIdExportFormat, GetProjectsProjectIdReportFormat
from generated_client.models import PostAuthLoginDataLoginForm, PostAuthLoginJsonLogin, ProjectCreate, ScoringRequest
from generated_client.types import File

for module in pkgutil.walk_packages(generated_client.api.__path__, "generated_client.api."):
    importlib.import_module(module.name)

address, email, password, picture, example = sys.argv[1:]
with Client(base_url=address, raise_on_unexpected_status=True) as client:
    for form in (PostAuthLoginDataLoginForm, PostAuthLoginJsonLogin):
        token = post_auth_login.sync(client=client, body=form(username=email, password=password)).access_token
with AuthenticatedClient(base_url=address, token=token, raise_on_unexpected_status=True) as client:
    body = ScoringRequest.from_dict(json.loads(example))
    assert body.filters.instances_number_min == 1000 and body.filters.split is True
    assert isinstance(post_datasets_score.sync(client=client, body=body), list)
    assert get_datasets.sync_detailed(client=client, instances_number_min=1, split=True).status_code == 200
    content = open(picture, "rb")
    assert put_users_me_picture.sync_detailed(client=client, body=File(payload=content)).status_code == 204
    stored = get_users_me_picture.sync(client=client)
    assert stored.payload.read()[8:12] == b"WEBP"
    dataset = post_datasets.sync(client=client, body=DatasetCreate("Exported", "", "", ""))
    for format_ in GetDatasetsDatasetIdExportFormat:
        document = get_datasets_dataset_id_export.sync(dataset.id, client=client, format_=format_)
        assert b"Exported" in document.payload.read()
    project = post_projects.sync(client=client, body=ProjectCreate(name="Reported"))
    for format_ in GetProjectsProjectIdReportFormat:
        report = get_projects_project_id_report.sync(project.id, client=client, format_=format_)
        assert len(report.payload.read()) > 1000
"""


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Return the public OpenAPI document."""
    return asyncio.run(openapi(Settings()))


def schema(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a schema with its references resolved."""
    return {"$ref": f"#/components/schemas/{name}", "components": document["components"]}


def test_the_document_takes_the_interfaces_example(document: dict[str, Any]) -> None:
    """The scoring request with every alias is a valid `ScoringRequest`, and one with a misspelled filter is not."""
    validator = jsonschema.Draft202012Validator(schema(document, "ScoringRequest"))
    assert list(validator.iter_errors(EXAMPLE)) == []
    assert list(validator.iter_errors({"criteria": EXAMPLE["filters"]})) == []
    assert list(validator.iter_errors({"filters": {"instances_nubmer_min": 1}}))


def test_every_name_of_a_filter_is_documented(document: dict[str, Any]) -> None:
    """Each alias is a parameter of the list and a member of `Filters`, and only aliases are deprecated."""
    members = document["components"]["schemas"]["Filters"]["properties"]
    parameters = {row["name"]: row for row in document["paths"]["/api/v1/datasets/"]["get"]["parameters"]}
    names = {name for row in FILTERS for name in row.parameter.names}
    aliases = {alias for row in FILTERS for alias in row.parameter.aliases}
    assert set(members) == names
    assert names <= set(parameters)
    assert {name for name, member in members.items() if member.get("deprecated")} == aliases
    assert {name for name in names if parameters[name].get("deprecated")} == aliases
    assert {"instances_number_min", "features_number_max", "split", "is_anonymized"} <= aliases


def test_algorithms_and_metrics_are_enumerated(document: dict[str, Any]) -> None:
    """The document lists what a training may name, from the tables that the service uses."""
    members = document["components"]["schemas"]["TrainingRequest"]["properties"]
    assert members["algorithms"]["items"]["enum"] == [row.name for row in ALGORITHMS]
    assert members["metric"]["anyOf"][0]["enum"] == [row.name for row in METRICS]


@pytest.mark.parametrize("service", ["ml", "xai"])
def test_files_of_jobs_are_described(document: dict[str, Any], service: str) -> None:
    """A JSON file is no string, and the headers that name a file and its version are listed."""
    response = document["paths"][f"/api/v1/{service}/jobs/{{job_id}}/artifacts/{{name}}"]["get"]["responses"]["200"]
    assert set(response["headers"]) == {"ETag", "Content-Disposition"}
    validator = jsonschema.Draft202012Validator(response["content"]["application/json"]["schema"])
    assert validator.is_valid({"algorithm": "linear"})


def test_versions_of_pictures_are_described(document: dict[str, Any]) -> None:
    """Reading and setting a profile picture returns its version."""
    picture = document["paths"]["/api/v1/users/me/picture"]
    for method, status in (("get", "200"), ("get", "304"), ("put", "204")):
        assert "ETag" in picture[method]["responses"][status]["headers"]


def test_files_in_several_formats_are_binary(document: dict[str, Any]) -> None:
    """Generated clients decode a response by its first media type, which must fit all others."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            media_types = list(operation["responses"].get("200", {}).get("content", {}))
            assert len(media_types) < 2 or media_types[0] == "application/octet-stream", f"{method} {path}"


def test_the_cookies_of_a_sign_in_are_described(document: dict[str, Any]) -> None:
    """A client may send the cookie of a known device, or the one that links an account."""
    parameters = document["paths"]["/api/v1/auth/login"]["post"]["parameters"]
    assert {(row["in"], row["name"]) for row in parameters} == {("cookie", DEVICE_COOKIE), ("cookie", LINK_COOKIE)}


@pytest.mark.skipif(not is_installed() and not os.environ.get("CI"), reason="run `make .venv/.clients` first")
async def test_a_generated_python_client_works(document: dict[str, Any], tmp_path: Path) -> None:
    """openapi-python-client generates all routes without warnings; its client signs in, ranks and reads files."""
    document_path = tmp_path / "openapi.json"
    document_path.write_text(json.dumps(document))
    await asyncio.to_thread(generate_python, document_path, tmp_path)
    picture_path = tmp_path / "picture.png"
    Image.new("RGB", (64, 32), "teal").save(picture_path)

    settings = Settings.load({"TOUCHSTONE_DATA_DIR": str(tmp_path / "data"), "TOUCHSTONE_DEMO": "false"})
    async with running(settings, "embedded") as service, listening(service.app) as address:
        client = await service.register(EMAIL, PASSWORD)
        await client.aclose()
        arguments = [address, EMAIL, PASSWORD, str(picture_path), json.dumps(EXAMPLE)]
        process = await asyncio.create_subprocess_exec(
            str(ENVIRONMENT / "python"), "-c", CLIENT_SCRIPT, *arguments, cwd=tmp_path, stderr=asyncio.subprocess.PIPE
        )
        _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()[-4000:]
