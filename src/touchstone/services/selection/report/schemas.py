"""The response with a report in JSON, as the OpenAPI document shows it."""

from typing import Any

from pydantic import BaseModel, Field


class ReportView(BaseModel):
    """What a report states, and its digest."""

    sha256: str = Field(description="SHA-256 over the canonical JSON (RFC 8785) of `report`.")
    report: dict[str, Any] = Field(description="The facts of the report, without words in any language.")
