"""What the training backend takes and answers."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from touchstone.http.request_models import RequestModel
from touchstone.jobs.schemas import (
    Cell,
    CellRow,
    ColumnName,
    ColumnNames,
    DatasetKey,
    ForeignKey,
    Label,
    Seed,
    SensitiveColumns,
)
from touchstone.learning.requests import ALGORITHM_BY_NAME, MAX_INSTANCES, METRIC_BY_NAME

# The names are checked with the rest of an order, which suggests the nearest one; the documents list them all.
AlgorithmName = Annotated[ColumnName, Field(max_length=100, json_schema_extra={"enum": [*ALGORITHM_BY_NAME]})]
MetricName = Annotated[ColumnName, Field(max_length=100, json_schema_extra={"enum": [*METRIC_BY_NAME]})]


class FeaturesWanted(RequestModel):
    """Which columns may be learned from: `include` (empty: all) less `exclude` less the target."""

    include: ColumnNames = ()
    exclude: ColumnNames = ()


class SplitWanted(RequestModel):
    """How quality is measured."""

    strategy: Literal["holdout", "kfold", "time"] = "holdout"
    test_size: Annotated[float, Field(strict=True, ge=0.05, le=0.5)] = 0.2
    folds: Annotated[int, Field(strict=True, ge=2, le=10)] = 5
    time_column: ColumnName | None = None


class BudgetWanted(RequestModel):
    """How much may be tried: trials decide, seconds are only a safety stop."""

    max_trials: Annotated[int, Field(strict=True, ge=1, le=200)] = 8
    max_runtime_seconds: Annotated[int, Field(strict=True, ge=1, le=86_400)] = 1_800


class TrainWanted(RequestModel):
    """A training: predict the column `target` of a dataset from its other columns."""

    dataset_id: DatasetKey
    target: ColumnName
    task: Literal["auto", "classification", "regression"] = "auto"
    features: FeaturesWanted = FeaturesWanted()
    sensitive_features: SensitiveColumns = ()
    algorithms: Annotated[tuple[AlgorithmName, ...], Field(max_length=20)] = ()
    metric: MetricName | None = None
    split: SplitWanted = SplitWanted()
    budget: BudgetWanted = BudgetWanted()
    seed: Seed = 0
    project_id: ForeignKey | None = None
    name: Label | None = None


class PredictWanted(RequestModel):
    """Rows to predict, each as {column: value}; a column that is left out counts as missing."""

    rows: Annotated[list[CellRow], Field(max_length=MAX_INSTANCES)]


class PredictionView(BaseModel):
    """One row's prediction; a classifier gives the probability of each class, in the order of `classes`."""

    prediction: Any
    probabilities: list[float] | None = None


class PredictionsView(BaseModel):
    """The predictions, in the order of the rows."""

    predictions: list[PredictionView]
    classes: list[Cell]
