"""Both job backends with tiny tasks, and a selection backend that knows a few datasets and projects."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import msgspec
import pytest
from starlette.types import Receive, Scope, Send

from touchstone.core.settings import MIB, Settings
from touchstone.database.engine import Database
from touchstone.http.backend_auth import CALLER
from touchstone.http.internal_client import InternalClient
from touchstone.jobs.execution.process_executor import ProcessExecutor
from touchstone.jobs.job_kinds import JOB_KIND_NAMES
from touchstone.jobs.job_runtime import JobRuntime
from touchstone.services.explanation.app import Explanation
from touchstone.services.training.app import Training

TINY_WORKER_COMMAND = (sys.executable, str(Path(__file__).parents[1] / "jobs" / "tiny_worker.py"))


class Selection:
    """A stateful fake of the selection backend: it has a few public datasets, and projects belong to their owners."""

    def __init__(self) -> None:
        self.paths = {1: "table.csv", 2: "/etc/passwd", 3: "bomb.csv", 4: "crash.csv", 5: "gone.csv"}
        self.paths |= {6: "strong.csv", 7: "similar.csv", 8: "", 9: "equal.csv"}
        self.projects: dict[str, UUID] = {}
        self.ranking: list[int] = []
        self.suggestions: dict[int, dict[str, Any]] = {}  # the metadata of datasets
        self.uuids = {dataset_id: str(UUID(int=dataset_id)) for dataset_id in self.paths}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, value = self._answer(scope["path"], scope[CALLER].id)
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": msgspec.json.encode(value)})

    async def ping(self) -> None:
        return None

    def _answer(self, path: str, caller: UUID) -> tuple[int, Any]:
        _, kind, key, *subpath = path.split("/")
        if kind == "projects":
            if self.projects.get(key) != caller:
                return 404, {}
            project = {"id": key, "name": "A project", "description": "Find what differs."}
            return 200, {"datasets": self._ranked()} if subpath == ["recommendations"] else project
        keys = {str(dataset_id): dataset_id for dataset_id in self.paths}
        keys |= {dataset_uuid: dataset_id for dataset_id, dataset_uuid in self.uuids.items()}
        if key.lower() not in keys:
            return 404, {}
        dataset_id = keys[key.lower()]
        if not self.paths[dataset_id]:
            return 422, {}
        metadata = self.suggestions.get(dataset_id, {})
        record = {
            "dataset_id": self.uuids[dataset_id],
            "instances_number": 40,
            "features_number": None,
            "missing_values_percentage": 0.0,
            "metadata": metadata,
        }
        return 200, {
            "dataset_id": dataset_id,
            "name": f"Dataset {dataset_id}",
            "target": metadata.get("target"),
            "file_path": self.paths[dataset_id],
            "file_type": "csv",
            "record": record,
        }

    def _ranked(self) -> list[dict[str, Any]]:
        return [
            {"id": dataset_id, "dataset_name": f"Dataset {dataset_id}", "rank": rank}
            for rank, dataset_id in enumerate(self.ranking, start=1)
        ]


class Backends:
    """The two applications, the job runtime that they share, and clients that act as users."""

    def __init__(self, jobs: JobRuntime, selection: Selection) -> None:
        internal_client = InternalClient(selection, None)
        self.jobs = jobs
        self.selection = selection
        self.training = Training(jobs, internal_client, None, owns_runtime=False)
        self.explanation = Explanation(jobs, internal_client, None, owns_runtime=False)
        self.user = uuid4()

    def client(self, user: UUID | None = None, *, service: str = "training", **headers: str) -> httpx2.AsyncClient:
        transport = httpx2.ASGITransport(getattr(self, service).app)
        headers |= {"X-User-ID": str(user or self.user)}
        return httpx2.AsyncClient(transport=transport, base_url="http://backend", headers=headers, timeout=60)

    async def wait_for_job(self, job_id: str, user: UUID | None = None, *, service: str = "training") -> dict[str, Any]:
        """Wait until a job has ended, when its event stream also ends, and return the job."""
        async with self.client(user, service=service) as client:
            await client.get(f"/jobs/{job_id}/events")
            job: dict[str, Any] = (await client.get(f"/jobs/{job_id}")).json()
        assert job["done"], job
        return job


@pytest.fixture
def data_root(tmp_path: Path) -> Path:
    folder = tmp_path / "tables"
    folder.mkdir()
    rows = "\n".join(f"{n % 2},{n},{n % 3},x,{n % 5}" for n in range(40))
    # The tiny worker reports the name of the last column as the accuracy.
    for name, accuracy in (("table", 0.3), ("equal", 0.3), ("similar", 0.28), ("strong", 0.9)):
        (folder / f"{name}.csv").write_text(f"0,a,30,same,{accuracy}\n{rows}\n")
    for name in ("bomb", "crash"):
        (folder / f"{name}.csv").write_text(f"{name},b\n1,2\n")
    return folder


@pytest.fixture
async def backends(database: Database, settings: Settings, data_root: Path) -> AsyncIterator[Backends]:
    overrides = {"data_roots": (data_root,), "job_memory_bytes": 512 * MIB, "job_workers": 2, "job_seconds": 60}
    executor = ProcessExecutor(TINY_WORKER_COMMAND)
    jobs = JobRuntime(
        settings.model_copy(update=overrides),
        database,
        JOB_KIND_NAMES,
        executor=executor,
        synchronous_executor=executor,
    )
    jobs.start()
    try:
        yield Backends(jobs, Selection())
    finally:
        await jobs.close()
