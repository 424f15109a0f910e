"""What the explanation backend takes."""

from typing import Annotated, Literal

from pydantic import Field

from touchstone.http.request_models import RequestModel
from touchstone.jobs.schemas import Cell, CellRow, ColumnName, DatasetKey, ForeignKey, Label, Seed, SensitiveColumns
from touchstone.learning.requests import MAX_INSTANCES, METHOD_BY_NAME

RowNumber = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]


class InstancesWanted(RequestModel):
    """The rows to explain: by their number in the data file, from 0, or by value."""

    rows: Annotated[tuple[RowNumber, ...], Field(max_length=MAX_INSTANCES)] = ()
    values: Annotated[tuple[CellRow, ...], Field(max_length=MAX_INSTANCES)] = ()


class BackgroundWanted(RequestModel):
    """The sample of rows that stands for an average case."""

    size: Annotated[int, Field(strict=True, ge=1, le=1_000)] = 100


class ExplainWanted(RequestModel):
    """An explanation of a training job's model (`job_id`), or of a dataset alone (`dataset_id`)."""

    job_id: ForeignKey | None = None
    dataset_id: DatasetKey | None = None
    scope: Literal["global", "local", "both"] = "both"
    method: Annotated[ColumnName, Field(max_length=100, json_schema_extra={"enum": [*METHOD_BY_NAME]})] = "auto"
    instances: InstancesWanted = InstancesWanted()
    background: BackgroundWanted = BackgroundWanted()
    target_class: Cell = None
    output: Literal["probability", "log_odds"] = "probability"
    target: ColumnName | None = None
    sensitive_features: SensitiveColumns = ()
    seed: Seed = 0
    project_id: ForeignKey | None = None
    name: Label | None = None
