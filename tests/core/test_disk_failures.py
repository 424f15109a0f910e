"""Which exceptions mean that nothing more can be stored."""

import errno
import os
from pathlib import Path

import pytest

from touchstone.core.errors import StorageFull
from touchstone.database.failures import translate_failures
from touchstone.jobs.execution.protocol import TaskContext, TaskFailed, TaskSucceeded, WorkerTask
from touchstone.jobs.execution.worker_process import run_and_catch_errors
from touchstone.jobs.job_records import JobSource


@pytest.fixture(params=[errno.ENOSPC, errno.EDQUOT])
def failure(request: pytest.FixtureRequest) -> OSError:
    """Return the exception of a write to a full disk, or by a user who has used up a quota of the file system."""
    return OSError(request.param, os.strerror(request.param))


def test_a_full_disk_and_a_full_quota_get_the_same_response(failure: OSError) -> None:
    """An operator may limit the space of the user who runs the service instead of the disk."""
    with pytest.raises(StorageFull), translate_failures():
        raise failure


def test_a_job_that_cannot_store_its_files_fails_with_this_reason(failure: OSError, tmp_path: Path) -> None:
    """The failure is not taken for a defect of the task."""

    def write(context: TaskContext) -> TaskSucceeded:
        raise failure

    context = TaskContext("job", {}, JobSource(), {}, tmp_path, report=lambda *_args, **_facts: None)
    outcome = run_and_catch_errors(WorkerTask("write", write), context, lambda: "writing")
    assert isinstance(outcome, TaskFailed)
    assert (outcome.code, outcome.phase) == ("storage_failed", "writing")
