"""The schema of a report in JSON."""

from typing import Any

from pydantic import BaseModel, Field


class ReportView(BaseModel):
    """The facts of a report, and their digest."""

    sha256: str = Field(description="SHA-256 over the canonical JSON (RFC 8785) of `report`.")
    report: dict[str, Any] = Field(description="The facts of the report, without words in any language.")
