"""Requests to train the same model on several datasets, so that the results can be compared."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_definitions import (
    Cell,
    ColumnName,
    DatasetKey,
    Features,
    SensitiveColumns,
    TrainingOptions,
    TrainingRequest,
    require_distinct,
)

MIN_DATASETS: Final = 2
MAX_DATASETS: Final = 10
DEFAULT_LIMIT: Final = 3
MAX_JOB_NAME: Final = 255

TargetByDataset = Annotated[
    dict[ColumnName, ColumnName],
    Meta(max_length=MAX_DATASETS, description="The column to predict, by the number or the UUID of the dataset."),
]
Targets = ColumnName | TargetByDataset
SPLIT_COLUMNS: Final = ("time_column", "group_column")


class DatasetOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The training options for one dataset that name its columns and classes.

    They override the options for all datasets.
    """

    features: Features | None = None
    sensitive_features: SensitiveColumns | None = None
    positive_class: Cell = None
    sample_weight: ColumnName | None = None
    time_column: ColumnName | None = None
    group_column: ColumnName | None = None

    def override(self, options: TrainingOptions) -> dict[str, Any]:
        """Return the training options by name, overridden by the options of this dataset."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        split_columns = {name: given.pop(name) for name in SPLIT_COLUMNS if name in given}

        values = {name: getattr(options, name) for name in TrainingOptions.__struct_fields__} | given
        if split_columns:
            values["split"] = replace(options.split, **(dict.fromkeys(SPLIT_COLUMNS) | split_columns))
        return values


OptionsByDataset = Annotated[
    dict[ColumnName, DatasetOptions],
    Meta(max_length=MAX_DATASETS, description="Options of single datasets, by the number or the UUID of the dataset."),
]
NO_OPTIONS: Final = DatasetOptions()


class TrainingComparisonRequest(TrainingOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comparison: the same training on several datasets, which are named or are the first tables of a ranking.

    `dataset_ids` names the datasets. Without them, they are the first `limit` datasets with a table in the ranking of
    the project. `target` is the column to predict, either one name for all datasets or one for each; for datasets
    without one, it is the column that their record suggests. `by_dataset` holds the options that name columns of a
    single dataset.
    """

    dataset_ids: Annotated[tuple[DatasetKey, ...], Meta(max_length=MAX_DATASETS)] = ()
    limit: Annotated[int, Meta(ge=MIN_DATASETS, le=MAX_DATASETS)] | None = None
    target: Targets | None = None
    by_dataset: OptionsByDataset | None = None

    def __post_init__(self) -> None:
        """Validate the training options and the choice of datasets.

        Raises:
            LearningError: the training options are invalid, there are neither two datasets nor a project, a
                dataset is named twice, or a limit has no effect.
        """
        super().__post_init__()
        # Options of single datasets may complete the options for all, so only the request for each training is checked.
        if not self.by_dataset:
            self.require_consistency()

        if not self.dataset_ids:
            if self.project_id is None:
                raise LearningError("comparison_subject_missing", field="dataset_ids")
            return

        if len(self.dataset_ids) < MIN_DATASETS:
            raise LearningError("too_few_datasets", field="dataset_ids", minimum=MIN_DATASETS)
        require_distinct(self.dataset_ids, field="dataset_ids")
        if self.limit is not None:
            raise LearningError("option_without_effect", field="limit", option="limit", subject="dataset_ids")

    @property
    def dataset_count(self) -> int:
        """The maximum number of datasets to train on."""
        return len(self.dataset_ids) or self.limit or DEFAULT_LIMIT

    def target_for(self, *dataset_keys: DatasetKey) -> str | None:
        """Return the column to predict for the dataset with these keys, or None if it is not named."""
        if self.target is None or isinstance(self.target, str):
            return self.target

        key = _find_key(self.target, dataset_keys)
        return None if key is None else self.target[key]

    def options_for(self, *dataset_keys: DatasetKey) -> DatasetOptions:
        """Return the options of the dataset with these keys, which are empty if the request has none for it."""
        by_dataset = self.by_dataset or {}
        key = _find_key(by_dataset, dataset_keys)
        return NO_OPTIONS if key is None else by_dataset[key]

    def require_effect(self, datasets: Sequence[Sequence[DatasetKey]]) -> None:
        """Reject a target or options for a dataset that is not compared, or twice for the same dataset.

        Args:
            datasets: the keys of each compared dataset, of which the first is quoted in the error message.

        Raises:
            LearningError: a target or an option has no effect.
        """
        quoted_keys = [str(dataset_keys[0]) for dataset_keys in datasets]
        position_by_key = {
            str(key).lower(): position for position, dataset_keys in enumerate(datasets) for key in dataset_keys
        }
        targets = self.target if isinstance(self.target, dict) else {}
        for field, values in (("target", targets), ("by_dataset", self.by_dataset or {})):
            earlier_positions: set[int] = set()
            for key in values:
                position = position_by_key.get(key.lower())
                if position is None:
                    raise LearningError("target_without_dataset", field=f"{field}.{key}", name=key, known=quoted_keys)
                if position in earlier_positions:
                    raise LearningError("duplicate_value", field=f"{field}.{key}", name=key)
                earlier_positions.add(position)

    def locate(self, field: str, dataset_keys: Sequence[DatasetKey]) -> str:
        """Return the path in this request of a field of the training on a dataset.

        For example, `split.group_column` may be `by_dataset.12.group_column`. The path is empty if the value of the
        field comes from the record of the dataset.

        Args:
            field: the path of the field in the request for the training.
            dataset_keys: the number and the UUID of the dataset.
        """
        name, *_subpath = field.split(".")
        if name == "target":
            return self._locate_target(dataset_keys)

        key = _find_key(self.by_dataset or {}, dataset_keys)
        if key is not None:
            options = self.options_for(key)
            option_path = field.removeprefix("split.")
            option, *_subpath = option_path.split(".")
            if getattr(options, option, None) is not None:
                return f"by_dataset.{key}.{option_path}"
            if field == "split" and any(getattr(options, column) is not None for column in SPLIT_COLUMNS):
                return f"by_dataset.{key}"

        is_from_record = name == "features" and self.features == Features()
        return "" if is_from_record else field

    def _locate_target(self, dataset_keys: Sequence[DatasetKey]) -> str:
        """Return the path of the target of a dataset, or an empty string if its record suggests the target."""
        if not isinstance(self.target, dict):
            return "" if self.target is None else "target"
        key = _find_key(self.target, dataset_keys)
        return "" if key is None else f"target.{key}"

    def training_request(
        self,
        dataset_id: int,
        *,
        dataset_name: str,
        target: str,
        options: DatasetOptions,
        excluded_columns: Sequence[str],
    ) -> TrainingRequest:
        """Return the request for the training on one of the datasets.

        Args:
            dataset_id: the number of the dataset.
            dataset_name: the name of the dataset, which becomes part of the job name.
            target: the column to predict.
            options: the options of this dataset.
            excluded_columns: the columns that the record of the dataset suggests excluding. They are ignored if the
                request itself selects features.

        Raises:
            LearningError: the options contradict each other.
        """
        request = TrainingRequest(**options.override(self), dataset_id=dataset_id, target=target)

        # Otherwise a model could seem good on one of the datasets because a column identifies its rows.
        if request.features == Features():
            other_columns = tuple(column for column in dict.fromkeys(excluded_columns) if column != target)
            request = replace(request, features=Features(exclude=other_columns))

        name = f"{self.name}: {dataset_name}" if self.name else dataset_name
        return replace(request, name=name[:MAX_JOB_NAME])


def _find_key(values: Mapping[str, Any], dataset_keys: Sequence[DatasetKey]) -> str | None:
    """Return the key under which there is a value for a dataset, or None if it has no value.

    Args:
        values: values by the number or the UUID of a dataset, in either case of its letters.
        dataset_keys: the number or the UUID of the dataset, or both.
    """
    lowercase_keys = {str(key).lower() for key in dataset_keys}
    return next((key for key in values if key.lower() in lowercase_keys), None)
