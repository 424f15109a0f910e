"""The typed Python client: one description of every call, a synchronous and an asynchronous client over it."""

from touchstone.client.asgi_transport import InProcess
from touchstone.client.async_client import AsyncTouchstone
from touchstone.client.catalog_import import CatalogImport, ImportResult
from touchstone.client.errors import TouchstoneError
from touchstone.client.evidence_models import AttributeState, Claim, Evidence, ProposalPage
from touchstone.client.identity import Identity
from touchstone.client.import_models import (
    DocumentResult,
    ImportedDataset,
    ImportProblem,
    ImportReport,
    ImportStatus,
    SkippedPart,
)
from touchstone.client.models import (
    Artifact,
    Dataset,
    DatasetPage,
    ExportedFile,
    File,
    Files,
    Job,
    JobEvent,
    JobPage,
    Progress,
    Project,
    ProjectPage,
    Ranking,
    Recommendations,
    ScoredDataset,
    Session,
    Tokens,
    User,
    Weight,
)
from touchstone.client.record_files import (
    Record,
    RecordError,
    record_of,
    records_from_csv,
    records_from_jsonl,
    records_to_csv,
    records_to_jsonl,
)
from touchstone.client.sync_client import Touchstone

__all__ = [
    "Artifact",
    "AsyncTouchstone",
    "AttributeState",
    "CatalogImport",
    "Claim",
    "Dataset",
    "DatasetPage",
    "DocumentResult",
    "Evidence",
    "ExportedFile",
    "File",
    "Files",
    "Identity",
    "ImportProblem",
    "ImportReport",
    "ImportResult",
    "ImportStatus",
    "ImportedDataset",
    "InProcess",
    "Job",
    "JobEvent",
    "JobPage",
    "Progress",
    "Project",
    "ProjectPage",
    "ProposalPage",
    "Ranking",
    "Recommendations",
    "Record",
    "RecordError",
    "ScoredDataset",
    "Session",
    "SkippedPart",
    "Tokens",
    "Touchstone",
    "TouchstoneError",
    "User",
    "Weight",
    "record_of",
    "records_from_csv",
    "records_from_jsonl",
    "records_to_csv",
    "records_to_jsonl",
]
