"""Requests to train the same model on several datasets, so that the results can be compared."""

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta
from msgspec.structs import replace

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.requests import ColumnName, DatasetKey, Features, TrainingOptions, TrainingRequest

MIN_DATASETS: Final = 2
MAX_DATASETS: Final = 10
DEFAULT_LIMIT: Final = 3
MAX_JOB_NAME: Final = 255

TargetByDataset = Annotated[
    dict[ColumnName, ColumnName],
    Meta(max_length=MAX_DATASETS, description="The column to predict, by the number or the UUID of the dataset."),
]
Targets = ColumnName | TargetByDataset


class TrainingComparisonRequest(TrainingOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comparison: the same training on several datasets, which are named or are the first tables of a ranking.

    `dataset_ids` names the datasets. Without them, they are the first `limit` datasets with a table in the ranking of
    the project. `target` is the column to predict, either one name for all datasets or one for each; for datasets
    without one, it is the column that their record suggests.
    """

    dataset_ids: Annotated[tuple[DatasetKey, ...], Meta(max_length=MAX_DATASETS)] = ()
    limit: Annotated[int, Meta(ge=MIN_DATASETS, le=MAX_DATASETS)] | None = None
    target: Targets | None = None

    def __post_init__(self) -> None:
        """Check the options of the trainings, and that the request says which datasets to compare.

        Raises `LearningError` for what the options reject, unless there are two datasets or a project, for a dataset
        that is named twice, and for a limit or a target without effect.
        """
        super().__post_init__()
        if not self.dataset_ids:
            if self.project_id is None:
                raise LearningError("comparison_subject_missing", field="dataset_ids")
            return

        _require_distinct_datasets(self.dataset_ids)
        if self.limit is not None:
            raise LearningError("option_without_effect", field="limit", option="limit", subject="dataset_ids")
        self._require_datasets_of_targets()

    @property
    def dataset_count(self) -> int:
        """The greatest number of datasets to train on."""
        return len(self.dataset_ids) or self.limit or DEFAULT_LIMIT

    def target_of(self, *dataset_keys: DatasetKey) -> str | None:
        """Return the column to predict for the dataset with these keys, or None if the request names none."""
        if self.target is None or isinstance(self.target, str):
            return self.target

        for dataset_key in dataset_keys:
            if str(dataset_key) in self.target:
                return self.target[str(dataset_key)]
        return None

    def training_request(
        self, dataset_id: int, *, dataset_name: str, target: str, excluded_columns: Sequence[str]
    ) -> TrainingRequest:
        """Return the request for the training on one of the datasets.

        The excluded columns are those that the record of the dataset suggests; they count only if the request itself
        does not say from which columns to learn.
        """
        options = {name: getattr(self, name) for name in TrainingOptions.__struct_fields__}
        request = TrainingRequest(**options, dataset_id=dataset_id, target=target)

        # A model could otherwise seem good on one of the datasets because it has found a number that gives rows away.
        if self.features == Features():
            other_columns = tuple(column for column in dict.fromkeys(excluded_columns) if column != target)
            request = replace(request, features=Features(exclude=other_columns))

        name = f"{self.name}: {dataset_name}" if self.name else dataset_name
        return replace(request, name=name[:MAX_JOB_NAME])

    def _require_datasets_of_targets(self) -> None:
        """Raise `LearningError` if the request has a target for a dataset that it does not name."""
        if not isinstance(self.target, dict):
            return

        known_keys = [str(dataset_id) for dataset_id in self.dataset_ids]
        for dataset_key in self.target:
            if dataset_key not in known_keys:
                raise LearningError(
                    "target_without_dataset", field=f"target.{dataset_key}", name=dataset_key, known=known_keys
                )


def _require_distinct_datasets(dataset_ids: Sequence[DatasetKey]) -> None:
    """Raise `LearningError` if there are too few datasets to compare, or one of them is named twice."""
    if len(dataset_ids) < MIN_DATASETS:
        raise LearningError("too_few_datasets", field="dataset_ids", minimum=MIN_DATASETS)

    seen: set[DatasetKey] = set()
    for position, dataset_id in enumerate(dataset_ids):
        if dataset_id in seen:
            raise LearningError("duplicate_value", field=f"dataset_ids.{position}", name=str(dataset_id))
        seen.add(dataset_id)
