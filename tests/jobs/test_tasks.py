"""The real tasks, called as a working process calls them."""

import hashlib
import io

import pytest

from touchstone.jobs.execution import task_functions
from touchstone.jobs.execution.protocol import TaskContext
from touchstone.jobs.records import JobSource
from touchstone.learning.errors import REASONS, LearningError
from touchstone.messages import job_error_text
from touchstone.messages.locales import LOCALES

CSV = "a,b\n" + "\n".join(f"{n % 5},{n % 2}" for n in range(60))


def context(tmp_path, **source):
    told = []

    def report(percent, phase, *, step, total_steps, message):
        told.append(percent)

    order = {"dataset_id": 1, "target": "b", "algorithms": ["decision_tree"], "budget": {"max_trials": 1}}
    files = {"data": io.BytesIO(CSV.encode())}
    return TaskContext("job-1", order, JobSource(file_type="csv", **source), files, tmp_path, report)


def test_looking_into_a_table(tmp_path):
    """A first look tells the table's rows, columns and digest as a training would read them."""
    facts = task_functions.preflight_train(context(tmp_path)).result
    assert facts == {"rows": 60, "columns": 2, "sha256": hashlib.sha256(CSV.encode()).hexdigest()}


def test_file_that_has_changed_since_is_not_trained_on(tmp_path):
    """A job that waited while its file was replaced fails instead of learning from other data than it says."""
    with pytest.raises(LearningError, match="data_changed"):
        task_functions.train(context(tmp_path, sha256="0" * 64))
    done = task_functions.train(context(tmp_path, sha256=hashlib.sha256(CSV.encode()).hexdigest()))
    assert {file.name for file in done.files} == {"model.skops", "model_card.md"}


@pytest.mark.parametrize("locale", LOCALES)
def test_every_reason_has_its_sentence(locale):
    """Each way in which learning can refuse has a sentence that its facts fill, in both languages."""
    for reason in REASONS:
        assert job_error_text(reason.code, dict.fromkeys(reason.facts, "x"), locale)
