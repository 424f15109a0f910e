"""Data files are measured when a record is created, uploaded within a quota, and opened only with permission."""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from tests.selection.claims import CURATOR, calling_as, evidence, post_claim, review_claim, withdraw_claim
from tests.selection.conftest import BOB, FOUR, client_of, create_record
from tests.selection.test_selection_import import import_document
from touchstone.core.errors import QuotaExceeded, Unavailable
from touchstone.core.identity import Caller
from touchstone.core.settings import Settings
from touchstone.database.engine import Database, Writer
from touchstone.http.backend_auth import CALLER
from touchstone.services.selection.app import Selection
from touchstone.services.selection.files import store, uploads
from touchstone.services.selection.files.store import FileRecord
from touchstone.services.selection.files.uploads import Uploads

pytestmark = pytest.mark.slow
TABLE = b"age,city\n31,Lyon\n,Oslo\n47,?\n"
UNREADABLE_FILE = {"detail": "Fichier de données inaccessible", "code": "data_file_unreadable", "errors": []}


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings with a data root, small uploads and a small quota."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "people.csv").write_bytes(TABLE)
    changes = {"data_roots": (tmp_path / "root",), "upload_max_bytes": 10_000, "upload_quota_bytes": 25_000}
    return settings.model_copy(update=changes)


async def upload(client: httpx2.AsyncClient, content: bytes, name: str = "people.csv") -> httpx2.Response:
    """Send a table as a form."""
    return await client.post("/files", files={"file": (name, content, "text/csv")})


async def test_a_readable_file_is_measured(ada: httpx2.AsyncClient) -> None:
    """Missing facts are filled in from the file; declared facts are kept beside the measured ones."""
    record = await create_record(ada, file_path="people.csv", metadata={"tags": ["t"], "measured": "mine"})
    measurement = record["metadata"]["measured"]
    assert record["metadata"]["tags"] == ["t"]
    assert (measurement["rows"], measurement["columns"]) == (3, 2)
    assert measurement["sha256"] == hashlib.sha256(TABLE).hexdigest()
    assert (record["instances_number"], record["features_number"]) == (3, 2)
    assert record["missing_values_percentage"] == measurement["missing_values_percentage"] == pytest.approx(100 / 3)
    assert record["has_missing_values"] is True
    declared_record = await create_record(ada, file_path="people.csv", instances_number=7)
    assert (declared_record["instances_number"], declared_record["metadata"]["measured"]["rows"]) == (7, 3)
    assert (await ada.get("/datasets?instances_min=7")).json() == [declared_record]


async def test_a_column_to_predict_is_no_feature(ada: httpx2.AsyncClient) -> None:
    """Only feature columns are counted, even if the target is named later; an undeclared target is reported."""
    record = await create_record(ada, file_path="people.csv", instances_number=7, metadata={"target": "name"})
    name = record["metadata"]["measured"]["column_profiles"][0]["name"]
    assert record["metadata"]["measured"]["filled"] == [
        "features_number",
        "has_missing_values",
        "missing_values_percentage",
    ]
    record_with_target = (await ada.patch(f"/datasets/{record['id']}", json={"metadata": {"target": name}})).json()
    assert (record_with_target["features_number"], record_with_target["metadata"]["measured"]["columns"]) == (1, 2)
    record_without_target = (
        await ada.patch(f"/datasets/{record['id']}", json={"metadata": {"target": "nothing"}})
    ).json()
    assert record_without_target["features_number"] == 2


async def test_a_measurement_makes_claims(ada: httpx2.AsyncClient, settings: Settings) -> None:
    """What is measured counts at every level; where record and file differ, both remain."""
    (settings.data_roots[0] / "complete.csv").write_bytes(b"a,b\n1,2\n3,4\n5,6\n")
    record = await create_record(ada, file_path="complete.csv", instances_number=7, has_missing_values=True)
    assert (record["instances_number"], record["features_number"], record["has_missing_values"]) == (7, 2, True)
    assert record["missing_values_percentage"] == 0
    path = f"/datasets/{record['id']}"
    states = (await evidence(ada, record["id"]))["attributes"]
    undeclared_state = {"value": 0, "declared": None, "documented": 0, "reviewed": 0, "level": "measured"}
    assert states["missing_values_percentage"] == undeclared_state | {"not_applicable": False, "conflicting": False}
    for name, declared_value, measured_value in (("instances_number", 7, 3), ("has_missing_values", True, False)):
        state = states[name]
        assert (state["value"], state["declared"], state["level"]) == (declared_value, declared_value, "declared")
        assert (state["documented"], state["reviewed"], state["conflicting"]) == (measured_value, measured_value, True)

    agreed_record = (await ada.patch(path, json={"instances_number": 3, "has_missing_values": None})).json()
    assert (agreed_record["instances_number"], agreed_record["has_missing_values"]) == (3, False)
    claims = (await evidence(ada, record["id"]))["claims"]
    measured_claims = [claim for claim in claims if claim["level"] == "measured"]
    assert {claim["status"] for claim in measured_claims} == {"active"}
    assert len(measured_claims) == 4

    (settings.data_roots[0] / "longer.csv").write_bytes(b"a,b\n" + b"1,2\n" * 9)
    await ada.patch(path, json={"file_path": "longer.csv", "instances_number": None})
    claims = (await evidence(ada, record["id"]))["claims"]
    rows = {claim["value"]: claim["status"] for claim in claims if claim["attribute"] == "instances_number"}
    assert rows == {9: "active", 3: "withdrawn"}
    assert (await ada.get("/datasets?instances_min=9")).json()[0]["id"] == record["id"]


async def test_a_change_of_the_file_is_measured_anew(ada: httpx2.AsyncClient) -> None:
    """Measured values are replaced together with the file, and declared values are kept."""
    record = await create_record(ada, file_path="people.csv", features_number=9)
    path = f"/datasets/{record['id']}"
    changed_record = (await ada.patch(path, json={"year": 2000, "metadata": None})).json()
    assert (changed_record["instances_number"], changed_record["metadata"]["measured"]["rows"]) == (3, 3)
    record_without_file = (await ada.patch(path, json={"file_path": "elsewhere.csv"})).json()
    assert (
        record_without_file["instances_number"],
        record_without_file["features_number"],
        record_without_file["metadata"],
    ) == (None, 9, None)
    remeasured_record = (await ada.patch(path, json={"file_path": "people.csv", "features_number": None})).json()
    assert (remeasured_record["instances_number"], remeasured_record["features_number"]) == (3, 2)


async def test_a_file_that_another_change_names_is_measured_instead(ada: httpx2.AsyncClient) -> None:
    """While one change measures a file, another one names a missing file; nothing measured remains."""
    original_record = await create_record(ada, file_path="people.csv", file_type="xls")
    path = f"/datasets/{original_record['id']}"
    answers = await asyncio.gather(
        ada.patch(path, json={"file_type": "csv"}), ada.patch(path, json={"file_path": "missing.csv"})
    )
    assert [answer.status_code for answer in answers] == [200, 200]

    record = (await ada.get(path)).json()
    assert (record["file_path"], record["file_type"]) == ("missing.csv", "csv")
    assert (record["metadata"], record["instances_number"]) == (None, None)
    assert (await evidence(ada, original_record["id"]))["attributes"]["instances_number"]["reviewed"] is None


async def test_an_import_that_names_another_file_withdraws_what_was_measured(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """The measurement of the last file goes from the metadata, the attributes and the claims in force."""
    exported_record = await create_record(bob, file_path="people.csv", file_type="xls")
    export_path = f"/datasets/{exported_record['id']}/export?format=croissant"
    record = (await import_document(ada, (await bob.get(export_path)).content, "people.json"))["dataset"]
    measured_record = (await ada.patch(f"/datasets/{record['id']}", json={"file_type": "csv"})).json()
    assert (measured_record["file_path"], measured_record["instances_number"]) == ("people.csv", 3)

    await bob.patch(f"/datasets/{exported_record['id']}", json={"file_path": "elsewhere.csv"})
    updated_record = (await import_document(ada, (await bob.get(export_path)).content, "people.json"))["dataset"]
    assert (updated_record["id"], updated_record["file_path"], updated_record["instances_number"]) == (
        record["id"],
        "elsewhere.csv",
        None,
    )
    assert "measured" not in updated_record["metadata"]
    claims = (await evidence(ada, record["id"]))["claims"]
    assert {claim["status"] for claim in claims if claim["level"] == "measured"} == {"withdrawn"}


async def test_a_measured_value_is_rejected_for_good(ada: httpx2.AsyncClient, selection: Selection) -> None:
    """A curator cannot withdraw it, as the next measurement would make it again; rejected, it stays rejected."""
    record = await create_record(ada, file_path="people.csv")
    claims = (await evidence(ada, record["id"]))["claims"]
    rows = next(claim for claim in claims if claim["attribute"] == "instances_number")
    async with calling_as(selection, CURATOR) as curator:
        refusal = await withdraw_claim(curator, rows)
        assert (refusal.status_code, refusal.json()["code"]) == (403, "withdrawal_forbidden")
        assert (await review_claim(curator, rows, "reject")).status_code == 200

    remeasured_record = (await ada.patch(f"/datasets/{record['id']}", json={"file_type": "CSV"})).json()
    assert (remeasured_record["instances_number"], remeasured_record["features_number"]) == (None, 2)


@pytest.mark.parametrize(
    ("content", "file_type", "reason"),
    [(b"", "csv", "empty"), (b"\x80\x04\x95pickle\x00\x00", "csv", "not_text"), (TABLE, "xls", "unsupported_type")],
)
async def test_a_file_that_cannot_be_measured_makes_no_creation_fail(
    ada: httpx2.AsyncClient, settings: Settings, content: bytes, file_type: str, reason: str
) -> None:
    """The record is created without measured values, and says why."""
    (settings.data_roots[0] / "odd.csv").write_bytes(content)
    record = await create_record(ada, file_path="odd.csv", file_type=file_type)
    assert record["metadata"] == {"unmeasured": reason}
    assert record["instances_number"] is None


async def test_a_path_that_points_elsewhere_is_recorded_and_never_opened(
    ada: httpx2.AsyncClient, settings: Settings, tmp_path: Path
) -> None:
    """Missing, forbidden and outside paths are refused in the same way, byte for byte; the record is created."""
    root = settings.data_roots[0]
    (tmp_path / "outside.csv").write_bytes(TABLE)
    (root / "link.csv").symlink_to(tmp_path / "outside.csv")
    os.mkfifo(root / "fifo.csv")
    for path in (
        "missing.csv",
        "",
        ".",
        "../outside.csv",
        str(tmp_path / "outside.csv"),
        "link.csv",
        "fifo.csv",
        "/dev/zero",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://127.0.0.1/x.csv",
        "s3://bucket/x.csv",
        "demo/../../__init__.py",
        "uploads/x.csv",
        "uploads",
        "x" * 4000,
    ):
        record = await create_record(ada, file_path=path)
        assert (record["file_path"], record["metadata"]) == (path, None)
        answer = await ada.get(f"/datasets/{record['id']}/source")
        assert (answer.status_code, answer.json()) == (422, UNREADABLE_FILE), path


async def test_the_source_tells_the_other_backends_where_the_data_is(ada: httpx2.AsyncClient) -> None:
    """For a file that can be opened, the response contains the record and the suggestions for the file."""
    record = await create_record(
        ada, file_path="people.csv", metadata={"target": "city", "sensitive_columns": ["age", 5]}
    )
    source = (await ada.get(f"/datasets/{record['id']}/source")).json()
    assert source.pop("record") == record
    assert source == {
        "dataset_id": record["id"],
        "uuid": record["dataset_id"],
        "name": "Cohort",
        "file_path": "people.csv",
        "file_type": "csv",
        "target": "city",
        "licenses": ["unknown"],
        "levels": {
            "instances_number": "measured",
            "features_number": "measured",
            "missing_values_percentage": "measured",
            "has_missing_values": "measured",
        },
        "sensitive_columns": ["age"],
        "purposes": [],
    }
    assert (await ada.get("/datasets/999/source")).status_code == 404


async def test_the_source_quotes_what_the_data_are_for(ada: httpx2.AsyncClient) -> None:
    """Model cards quote the purposes of the data with their level; a claim that there are none is not a purpose."""
    record = await create_record(ada, file_path="people.csv")
    purpose = {"attribute": "purpose_limitation_respected", "value": True}
    await post_claim(ada, record["id"], **purpose, quote="Collected to plan bus lines.")
    await post_claim(ada, record["id"], **{**purpose, "value": False}, quote="Use the data as you like.")
    source = (await ada.get(f"/datasets/{record['id']}/source")).json()
    assert source["purposes"] == [{"quote": "Collected to plan bus lines.", "level": "declared"}]


@pytest.mark.parametrize("is_form", [True, False])
async def test_an_upload_is_stored_and_can_be_used(ada: httpx2.AsyncClient, settings: Settings, is_form: bool) -> None:
    """An upload as a form or as a raw body is stored completely, and a record with its path is measured."""
    request = upload(ada, TABLE) if is_form else ada.post("/files?name=people.csv", content=TABLE)
    answer = await request
    assert answer.status_code == 201, answer.text
    uploaded_file = answer.json()
    assert (uploaded_file["bytes"], uploaded_file["sha256"]) == (len(TABLE), hashlib.sha256(TABLE).hexdigest())
    assert (uploaded_file["name"], uploaded_file["file_type"]) == ("people.csv", "csv")
    assert uploaded_file["file_path"].startswith("uploads/")
    assert (settings.uploads_dir / uploaded_file["file_path"].removeprefix("uploads/")).read_bytes() == TABLE
    record = await create_record(ada, file_path=uploaded_file["file_path"])
    assert record["instances_number"] == 3
    assert (await ada.get(f"/datasets/{record['id']}/source")).status_code == 200


async def test_an_upload_is_opened_for_its_owner_records_alone(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """Everybody may use a public record that the owner created with it, but nobody else can create such a record."""
    path = (await upload(ada, TABLE)).json()["file_path"]
    public_record = await create_record(ada, file_path=path)
    assert (await bob.get(f"/datasets/{public_record['id']}/source")).status_code == 200
    for spelling in (path, f"./{path}", path.replace("/", "//"), f"uploads/./{path.removeprefix('uploads/')}"):
        stolen_record = await create_record(bob, file_path=spelling)
        assert stolen_record["metadata"] is None
        assert (await bob.get(f"/datasets/{stolen_record['id']}/source")).json() == UNREADABLE_FILE
        assert (await ada.get(f"/datasets/{stolen_record['id']}/source")).json() == UNREADABLE_FILE


async def test_the_services_own_folder_is_no_data_root(settings: Settings, database: Database, tmp_path: Path) -> None:
    """A root that contains the folder of the service does not give access to its database, key or uploads."""
    (settings.data_dir).mkdir(exist_ok=True)
    (settings.data_dir / "signing.key").write_bytes(TABLE)
    wide_settings = settings.model_copy(update={"data_roots": (tmp_path,)})
    selection = await Selection.open(wide_settings, database, None)
    async with client_of(selection) as client:
        upload_path = (await upload(client, TABLE)).json()["file_path"]
        relative_data_dir = settings.data_dir.relative_to(tmp_path)
        for path in (
            f"{relative_data_dir}/signing.key",
            str(settings.data_dir / "signing.key"),
            f"{relative_data_dir}/{upload_path}",
            f"./{relative_data_dir}//{upload_path}",
        ):
            record = await create_record(client, file_path=path)
            assert record["metadata"] is None
            assert (await client.get(f"/datasets/{record['id']}/source")).json() == UNREADABLE_FILE
        assert (await create_record(client, file_path="root/people.csv"))["instances_number"] == 3
    await selection.close()


async def test_uploads_are_bounded(ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, settings: Settings) -> None:
    """The size of a file and the total size per user are limited, and a refused upload leaves nothing behind."""
    for request in (upload(ada, b"x" * 10_001), ada.post("/files?name=a.csv", content=b"x" * 10_001)):
        refusal = await request
        assert (refusal.status_code, refusal.json()["code"]) == (413, "too_large")
    for _ in range(2):
        assert (await upload(ada, b"x" * 10_000)).status_code == 201
    for request in (upload(ada, b"x" * 5001), ada.post("/files?name=a.csv", content=b"x" * 5001)):
        refusal = await request
        assert (refusal.status_code, refusal.json()["code"]) == (413, "quota_exceeded")
    assert (await upload(ada, b"x" * 5000)).status_code == 201
    assert (await upload(ada, b"x")).status_code == 413
    assert (await upload(bob, b"x")).status_code == 201
    assert len(list(settings.uploads_dir.iterdir())) == 4


async def test_uploads_are_listed_and_deleted_by_their_owner(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient, settings: Settings
) -> None:
    """Users see only their own files; deleting a file frees its bytes, and records with its path open nothing."""
    first_upload, second_upload = [
        (await upload(ada, b"x" * 10_000, name)).json() for name in ("one.csv", "my two.parquet")
    ]
    record = await create_record(ada, file_path=first_upload["file_path"])
    listing = (await ada.get("/files")).json()
    assert (listing["used_bytes"], listing["quota_bytes"]) == (20_000, 25_000)
    assert listing["files"] == [second_upload, first_upload]
    assert second_upload["name"] == "my_two.parquet"
    assert (await bob.get("/files")).json()["files"] == []
    for client, key in ((bob, first_upload["id"]), (ada, "x"), (ada, "0" * 32)):
        refusal = await client.delete(f"/files/{key}")
        assert (refusal.status_code, refusal.json()["code"]) == (404, "upload_not_found")
    assert (await ada.delete(f"/files/{first_upload['id']}")).status_code == 204
    assert [path.name for path in settings.uploads_dir.iterdir()] == [
        second_upload["file_path"].removeprefix("uploads/")
    ]
    assert (await ada.get(f"/datasets/{record['id']}/source")).json() == UNREADABLE_FILE
    assert (await upload(ada, b"x" * 10_000)).status_code == 201


async def test_records_forget_what_was_measured_in_a_deleted_upload(
    ada: httpx2.AsyncClient, bob: httpx2.AsyncClient
) -> None:
    """They can no longer be trained on, whereas what their owner declares stays, as do the records of others."""
    upload_record = (await upload(ada, TABLE)).json()
    path = upload_record["file_path"]
    record = await create_record(ada, file_path=path, features_number=7, metadata={"tags": ["t"]})
    same_record = await create_record(ada, file_path=f"./{path.replace('/', '//')}")
    other_record = await create_record(ada, file_path="people.csv")
    foreign_record = await create_record(bob, file_path=path)
    trainable_ids = [dataset["id"] for dataset in (await ada.get("/datasets?trainable=true")).json()]
    assert (trainable_ids, record["instances_number"]) == ([record["id"], same_record["id"], other_record["id"]], 3)

    assert (await ada.delete(f"/files/{upload_record['id']}")).status_code == 204
    assert (await ada.get("/datasets?trainable=true")).json() == [other_record]
    changed_record = (await ada.get(f"/datasets/{record['id']}")).json()
    assert changed_record["metadata"] == {"tags": ["t"]}
    assert (changed_record["instances_number"], changed_record["features_number"]) == (None, 7)
    claims = (await evidence(ada, record["id"]))["claims"]
    assert {claim["status"] for claim in claims if claim["level"] == "measured"} == {"withdrawn"}
    assert (await bob.get(f"/datasets/{foreign_record['id']}")).json() == foreign_record


@pytest.mark.parametrize(
    ("path", "body", "content_type"),
    [
        ("/files", b"x", "text/csv"),
        ("/files?name=a.exe", b"x", "text/csv"),
        ("/files?name=csv", b"x", "text/csv"),
        ("/files?name=.csv", b"x", "text/csv"),
        ("/files?name=%2F..csv", b"x", "text/csv"),
        ("/files?name=a.csv&name=b.csv", b"x", "text/csv"),
        ("/files?nmae=a.csv", b"x", "text/csv"),
        ("/files", b"nonsense", "multipart/form-data"),
        ("/files", b"nonsense", "multipart/form-data; boundary=x"),
        ("/files", b"--x--\r\n", "multipart/form-data; boundary=x"),
        (
            "/files",
            b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\na\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
        ),
    ],
)
async def test_what_is_no_upload_is_refused(
    ada: httpx2.AsyncClient, settings: Settings, path: str, body: bytes, content_type: str
) -> None:
    """A form without a file, a broken form, a name without a known suffix and an unknown parameter are refused."""
    refusal = await ada.post(path, content=body, headers={"Content-Type": content_type})
    assert refusal.status_code in (400, 422), refusal.text
    assert set(refusal.json()) == {"detail", "code", "errors"}
    assert list(settings.uploads_dir.glob("*")) == []


async def test_a_refused_spreadsheet_says_how_to_save_it(ada: httpx2.AsyncClient) -> None:
    """Whoever only renames the file to `.csv` would be refused again."""
    refusal = await ada.post("/files", files={"file": ("sales.xlsx", b"PK\x03\x04")}, headers={"Accept-Language": "en"})
    assert refusal.status_code == 422, refusal.text
    assert refusal.json()["detail"].endswith(
        "must end in .csv, .tsv, .parquet, .json, .jsonl; save a spreadsheet as CSV"
    )


@pytest.mark.parametrize(
    ("file_count", "location", "kind"), [(0, ["body", "file"], "missing"), (3, ["body"], "one_file_expected")]
)
async def test_a_form_has_exactly_one_file(
    ada: httpx2.AsyncClient, settings: Settings, file_count: int, location: list[str], kind: str
) -> None:
    """A form with no file or with several ones is refused with a reason."""
    fields = [("note", (None, "hello")), *[("file", ("a.csv", "x\n1\n"))] * file_count]
    refusal = await ada.post("/files", files=fields)
    assert refusal.status_code == 422, refusal.text
    (error,) = refusal.json()["errors"]
    assert (error["loc"], error["type"]) == (location, kind)
    assert list(settings.uploads_dir.glob("*")) == []


async def test_a_name_in_the_query_replaces_the_name_in_the_form(ada: httpx2.AsyncClient) -> None:
    """A form can be sent with `?name=`, too."""
    answer = await ada.post("/files?name=people.csv", files={"file": ("table.tmp", TABLE, "text/csv")})
    assert (answer.status_code, answer.json()["name"]) == (201, "people.csv")


async def test_hostile_names_stay_inside(ada: httpx2.AsyncClient, settings: Settings) -> None:
    """Whatever its name, a file is stored in the folder of uploads under a plain name."""
    for name in (
        "../../x.csv",
        "/etc/x.csv",
        "..\\x.csv",
        "é\u202e.csv",
        "..csv.csv",
        "é" * 900 + ".csv",
        "a" * 900 + ".csv",
        "a b;c|d.csv",
    ):
        answer = await ada.post("/files", params={"name": name}, content=b"a\n1\n")
        assert answer.status_code == 201, answer.text
        stored_name = answer.json()["file_path"].removeprefix("uploads/")
        assert (settings.uploads_dir / stored_name).is_file()
        assert all(letter.isalnum() or letter in "._-" for letter in stored_name)
        assert answer.json()["name"] in {file["name"] for file in (await ada.get("/files")).json()["files"]}
    assert "é_.csv" in {file["name"] for file in (await ada.get("/files")).json()["files"]}


async def test_an_administrator_may_change_anybodys_record(selection: Selection, bob: httpx2.AsyncClient) -> None:
    """The gateway says who is an administrator; files are still opened on behalf of the record's owner."""
    record = await create_record(bob)

    async def as_admin(scope: Any, receive: Any, send: Any) -> None:
        await selection.app({**scope, CALLER: Caller(BOB.__class__(int=1), "", True)}, receive, send)

    transport = httpx2.ASGITransport(as_admin)
    async with httpx2.AsyncClient(transport=transport, base_url="http://selection.test") as admin:
        assert (await admin.patch(f"/datasets/{record['id']}", json={"year": 1999})).json()["year"] == 1999
        assert (await admin.delete(f"/datasets/{record['id']}")).status_code == 204
        private_record = (await bob.post("/datasets/", json={**FOUR, "visibility": "private"})).json()
        assert (await admin.get(f"/datasets/{private_record['id']}")).status_code == 404
        assert (await admin.delete(f"/datasets/{private_record['id']}")).status_code == 404


async def test_abandoned_uploads_are_deleted(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a killed process has not recorded stays for a day, because another process may still receive it."""
    monkeypatch.setattr(uploads, "ABANDONED_POLL_SECONDS", 0.01)
    folder = settings.uploads_dir
    selection = await Selection.open(settings, database, None)
    async with client_of(selection) as ada:
        recorded_path = folder / (await upload(ada, TABLE)).json()["file_path"].removeprefix("uploads/")
    await selection.close()

    recorded_id = recorded_path.name.removesuffix("-people.csv")
    complete_id, growing_id, empty_id = (str(uuid4()) for _ in range(3))
    (folder / f"{complete_id}-killed.csv").write_bytes(TABLE)
    (folder / f"{growing_id}-growing.csv").write_bytes(TABLE)
    for file_id in (recorded_id, complete_id, growing_id, empty_id):
        (folder / f".{file_id}.part").touch()
    for path in folder.iterdir():
        if path.name != f"{growing_id}-growing.csv":
            os.utime(path, (0, 0))

    selection = await Selection.open(settings, database, None)
    await wait_for_files(folder, {recorded_path.name, f"{growing_id}-growing.csv", f".{growing_id}.part"})
    os.utime(folder / f"{growing_id}-growing.csv", (0, 0))
    await wait_for_files(folder, {recorded_path.name})
    await selection.close()


async def wait_for_files(folder: Path, names: set[str]) -> None:
    """Wait until a folder contains exactly the files with these names."""
    async with asyncio.timeout(60):
        while {path.name for path in folder.iterdir()} != names:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("is_committed", [False, True])
async def test_an_upload_stays_if_it_may_have_been_recorded(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch, *, is_committed: bool
) -> None:
    """If the connection is lost while the transaction ends, the file is deleted later unless there is a record."""
    selection = await Selection.open(settings, database, None)
    insert = Uploads._insert

    async def lose_connection(self: Uploads, record: FileRecord) -> None:
        """Lose the connection after or before the commit."""
        if is_committed:
            await insert(self, record)
        raise Unavailable

    with monkeypatch.context() as patch:
        patch.setattr(Uploads, "_insert", lose_connection)
        async with client_of(selection) as ada:
            assert (await upload(ada, TABLE)).status_code == 503

    assert len(list(settings.uploads_dir.iterdir())) == 2
    for path in settings.uploads_dir.iterdir():
        os.utime(path, (0, 0))
    await selection.services.uploads.delete_abandoned()
    assert [path.suffix for path in settings.uploads_dir.iterdir()] == [".csv"] * is_committed
    await selection.close()


async def test_an_upload_is_marked_until_it_is_recorded(
    ada: httpx2.AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the process is killed before, the next one finds the marker; a failure leaves nothing behind."""
    names_before_the_record: list[str] = []

    async def fail(_transaction: Writer, record: FileRecord) -> None:
        """Fail after everything else."""
        names_before_the_record.extend(sorted(path.name for path in settings.uploads_dir.iterdir()))
        names_before_the_record.append(str(record.id))
        raise QuotaExceeded(limit=1)

    with monkeypatch.context() as patch:
        patch.setattr(store, "insert_file", fail)
        assert (await upload(ada, TABLE)).status_code == 413
    marker, path, file_id = names_before_the_record
    assert (marker, path) == (f".{file_id}.part", f"{file_id}-people.csv")
    assert list(settings.uploads_dir.iterdir()) == []
    assert (await upload(ada, TABLE)).status_code == 201
    assert len(list(settings.uploads_dir.iterdir())) == 1


async def test_uploads_at_the_same_time_stay_within_the_quota(ada: httpx2.AsyncClient) -> None:
    """Each of them would fit on its own, and the space of those that are refused is free again."""
    table = b"a,b\n" + b"1,2\n" * 2240
    answers = await asyncio.gather(*(upload(ada, table) for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [201] * 2 + [413] * 4
    assert {answer.json()["code"] for answer in answers if answer.status_code == 413} == {"quota_exceeded"}
    assert (await ada.get("/files")).json()["used_bytes"] == 2 * len(table)
