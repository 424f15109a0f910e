"""The error that makes a training or an explanation fail, with a stable code from `REASONS`.

The errors of API responses are in `core/errors.py` instead, because this package does not depend on HTTP. The French
and English messages for the codes are in `messages/job_errors.py`.
"""

from dataclasses import dataclass
from typing import Any, Final

from touchstone.learning.task_interface import Phase


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason to reject a request or a file.

    Attributes:
        code: the stable code of the reason.
        phase: the phase of a job in which it is detected.
        facts: the names of the values that the message may quote.
    """

    code: str
    phase: Phase
    facts: tuple[str, ...] = ()


REASONS: Final[tuple[Reason, ...]] = (
    Reason("unknown_algorithm", Phase.CHECKING, ("name", "known", "nearest")),
    Reason("unknown_metric", Phase.CHECKING, ("name", "known", "nearest")),
    Reason("unknown_method", Phase.CHECKING, ("name", "known", "nearest")),
    Reason("metric_task_mismatch", Phase.CHECKING, ("name", "task")),
    Reason("algorithm_not_installed", Phase.CHECKING, ("name", "extra")),
    Reason("duplicate_value", Phase.CHECKING, ("name",)),
    Reason("feature_both_ways", Phase.CHECKING, ("name",)),
    Reason("target_excluded", Phase.CHECKING, ("name",)),
    Reason("target_as_feature", Phase.CHECKING, ("name",)),
    Reason("target_sensitive", Phase.CHECKING, ("name",)),
    Reason("threshold_objective_count", Phase.CHECKING),
    Reason("threshold_metric_unsuitable", Phase.CHECKING, ("name",)),
    Reason("sample_weight_conflict", Phase.CHECKING, ("name",)),
    Reason("mitigation_without_groups", Phase.CHECKING),
    Reason("time_column_missing", Phase.CHECKING),
    Reason("time_column_unexpected", Phase.CHECKING, ("strategy",)),
    Reason("group_column_missing", Phase.CHECKING),
    Reason("group_column_unexpected", Phase.CHECKING, ("strategy",)),
    Reason("split_by_two_columns", Phase.CHECKING),
    Reason("split_by_target", Phase.CHECKING, ("name",)),
    Reason("explain_subject_missing", Phase.CHECKING),
    Reason("explain_subject_twice", Phase.CHECKING),
    Reason("comparison_subject_missing", Phase.CHECKING),
    Reason("too_few_datasets", Phase.CHECKING, ("minimum",)),
    Reason("ranking_without_tables", Phase.CHECKING),
    Reason("target_without_dataset", Phase.CHECKING, ("name", "known")),
    Reason("target_not_suggested", Phase.CHECKING, ("name",)),
    Reason("explain_needs_model", Phase.CHECKING, ("method",)),
    Reason("method_scope_mismatch", Phase.CHECKING, ("method", "scope")),
    Reason("option_without_effect", Phase.CHECKING, ("option", "subject")),
    Reason("instances_both_ways", Phase.CHECKING),
    Reason("target_not_found", Phase.CHECKING, ("name", "nearest")),
    Reason("column_not_found", Phase.CHECKING, ("name", "nearest")),
    Reason("no_features", Phase.CHECKING),
    Reason("too_few_rows", Phase.CHECKING, ("rows", "minimum")),
    Reason("too_many_folds", Phase.CHECKING, ("folds", "rows")),
    Reason("row_out_of_range", Phase.CHECKING, ("row", "rows")),
    Reason("class_not_found", Phase.CHECKING, ("name", "known")),
    Reason("target_one_class", Phase.PREPARING, ("name",)),
    Reason("target_classes_too_rare", Phase.PREPARING, ("name", "minimum")),
    Reason("past_one_class", Phase.PREPARING, ("name",)),
    Reason("training_one_class", Phase.PREPARING, ("name",)),
    Reason("target_all_missing", Phase.PREPARING, ("name",)),
    Reason("target_unsupported", Phase.PREPARING, ("name",)),
    Reason("target_not_numeric", Phase.PREPARING, ("name",)),
    Reason("target_too_many_classes", Phase.PREPARING, ("name", "classes", "maximum")),
    Reason("two_classes_needed", Phase.PREPARING, ("option", "name", "classes")),
    Reason("sample_weights_invalid", Phase.PREPARING, ("name",)),
    Reason("sample_weights_one_class", Phase.PREPARING, ("name",)),
    Reason("sample_weights_one_sided", Phase.PREPARING, ("name",)),
    Reason("time_column_not_ordered", Phase.PREPARING, ("name",)),
    Reason("too_few_training_rows", Phase.PREPARING, ("rows", "minimum")),
    Reason("folds_exceed_classes", Phase.PREPARING, ("folds", "rows")),
    Reason("too_few_groups", Phase.PREPARING, ("name", "groups", "minimum")),
    Reason("groups_connected", Phase.PREPARING, ("name", "groups", "units", "minimum")),
    Reason("too_few_different_rows", Phase.PREPARING, ("rows", "units", "minimum")),
    Reason("file_type_unknown", Phase.READING, ("file_type", "known")),
    Reason("file_empty", Phase.READING),
    Reason("file_not_text", Phase.READING),
    Reason("file_malformed", Phase.READING, ("line",)),
    Reason("file_unreadable", Phase.READING),
    Reason("file_key_repeated", Phase.READING, ("name",)),
    Reason("too_many_columns", Phase.READING, ("columns", "maximum")),
    Reason("too_many_cells", Phase.READING, ("cells", "maximum")),
    Reason("line_too_long", Phase.READING, ("maximum",)),
    Reason("file_too_large", Phase.READING, ("maximum",)),
    Reason("row_column_missing", Phase.PREPARING, ("row", "name")),
    Reason("row_column_unknown", Phase.PREPARING, ("row", "name", "nearest")),
    Reason("row_value_invalid", Phase.PREPARING, ("row", "name")),
    Reason("too_many_rows", Phase.PREPARING, ("rows", "maximum")),
    Reason("training_failed", Phase.SEARCHING),
    Reason("artifact_damaged", Phase.READING),
    Reason("artifact_untrusted", Phase.READING),
    Reason("data_changed", Phase.READING),
)

REASON_BY_CODE: Final = {reason.code: reason for reason in REASONS}


class LearningError(Exception):
    """An error that the caller can correct.

    Attributes:
        code: the code of one of the `REASONS`.
        field: the path of the invalid field in the request, such as `features.exclude`, or empty if the file is
            invalid.
        facts: small JSON values that the message quotes.
    """

    def __init__(self, code: str, *, field: str = "", **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.field = field
        self.facts = facts

    @property
    def phase(self) -> Phase:
        """The phase of a job in which the error is detected."""
        return REASON_BY_CODE[self.code].phase

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling with the field and the facts, because worker processes send errors to their parent."""
        return _rebuild, (self.code, self.field, self.facts)


def _rebuild(code: str, field: str, facts: dict[str, Any]) -> LearningError:
    """Restore a pickled error."""
    return LearningError(code, field=field, **facts)
