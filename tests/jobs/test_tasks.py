"""The real task functions, called as a worker process calls them."""

import hashlib
import io
from pathlib import Path

import pytest

from touchstone.jobs.execution import task_functions
from touchstone.jobs.execution.protocol import TaskContext
from touchstone.jobs.job_records import JobSource
from touchstone.learning.learning_errors import REASONS, LearningError
from touchstone.messages import job_error_text
from touchstone.messages.locales import LOCALES

CSV = "a,b\n" + "\n".join(f"{number % 5},{number % 2}" for number in range(60))


def create_context(tmp_path: Path, sha256: str | None = None) -> TaskContext:
    """Return the context of a small training on a small table."""

    def ignore_progress(percent: float, phase: str, *, step: int, total_steps: int, message: str) -> None:
        pass

    request = {"dataset_id": 1, "target": "b", "algorithms": ["decision_tree"], "budget": {"max_trials": 1}}
    return TaskContext(
        name="job-1",
        request=request,
        source=JobSource(file_type="csv", sha256=sha256),
        files={"data": io.BytesIO(CSV.encode())},
        scratch_folder=tmp_path,
        report=ignore_progress,
    )


def test_preflight_describes_the_table(tmp_path: Path) -> None:
    """The preflight task returns rows, columns and digest of the table as a training would read it."""
    facts = task_functions.preflight_train(create_context(tmp_path)).result
    assert (facts["rows"], facts["columns"]) == (60, 2)
    assert facts["sha256"] == hashlib.sha256(CSV.encode()).hexdigest()


def test_preview_says_how_rows_would_be_divided(tmp_path: Path) -> None:
    """The preview task returns what the preflight task does, and the split that a training would follow."""
    facts = task_functions.preflight_train(create_context(tmp_path)).result
    preview = task_functions.preview_train(create_context(tmp_path)).result
    assert preview == facts | {"split": preview["split"]}
    assert preview["split"]["strategy"] == "holdout"


def test_file_that_was_replaced_is_not_trained_on(tmp_path: Path) -> None:
    """A training whose file was replaced while it was queued fails, instead of using other data than it says."""
    with pytest.raises(LearningError, match="data_changed"):
        task_functions.train(create_context(tmp_path, sha256="0" * 64))

    outcome = task_functions.train(create_context(tmp_path, sha256=hashlib.sha256(CSV.encode()).hexdigest()))
    assert {file.name for file in outcome.files} >= {"model.skops", "model_card.md"}


@pytest.mark.parametrize("locale", LOCALES)
def test_every_reason_has_its_sentence(locale: str) -> None:
    """Each reason for which learning can reject a request has a sentence in both languages, filled with its facts."""
    for reason in REASONS:
        assert job_error_text(reason.code, dict.fromkeys(reason.facts, "x"), locale)
