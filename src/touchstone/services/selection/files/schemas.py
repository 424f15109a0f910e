"""Schemas of uploaded files, as the OpenAPI document shows them."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field


class FileView(BaseModel):
    """An uploaded table."""

    id: UUID
    file_path: str
    file_type: str
    name: str
    bytes: int
    sha256: str
    created_at: datetime


class FilesView(BaseModel):
    """The caller's uploads, the newest first."""

    files: list[FileView]
    used_bytes: int
    quota_bytes: int = Field(description="The maximum total size of the uploads.")
