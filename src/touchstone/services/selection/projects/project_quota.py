"""The limit on the total storage of all projects of one user, including choices and snapshots."""

from uuid import UUID

from touchstone.core.errors import ProjectQuotaExceeded
from touchstone.database.engine import Reader
from touchstone.services.selection.projects import choice_store, snapshot_store, store


async def total_bytes(connection: Reader, owner: UUID) -> int:
    """Return the approximate size in bytes of an owner's projects, including choices and snapshots."""
    project_bytes = await store.total_project_bytes(connection, owner)
    choice_bytes = await choice_store.total_choice_bytes(connection, owner)
    snapshot_bytes = await snapshot_store.total_snapshot_bytes(connection, owner)
    return project_bytes + choice_bytes + snapshot_bytes


async def check_project_quota(connection: Reader, owner: UUID, quota_bytes: int, *, bytes_before: int = 0) -> None:
    """Check that the owner's projects do not exceed the quota after a change.

    Call it in the transaction that makes the change, after the change. Owners whose projects already exceed the quota,
    because it was lowered, can still make their projects smaller.

    Args:
        connection: the transaction of the change.
        owner: the owner of the projects.
        quota_bytes: the maximum total size in bytes.
        bytes_before: the total size in bytes before the change.

    Raises:
        ProjectQuotaExceeded: the total size exceeds the quota, and is larger than before.
    """
    used_bytes = await total_bytes(connection, owner)
    has_grown = used_bytes > bytes_before
    if used_bytes > quota_bytes and has_grown:
        raise ProjectQuotaExceeded(limit=quota_bytes)
