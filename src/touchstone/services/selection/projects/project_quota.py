"""The limit on the storage that all projects of one user take together, with their choices and snapshots."""

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
    """Refuse a change if the owner's projects would exceed the quota. Call it in the transaction, after the change.

    `bytes_before` is what the projects took before the change. Owners who are over the quota already, because it was
    lowered, can still make their projects smaller.

    Raises:
        ProjectQuotaExceeded: the owner's projects take more bytes than allowed, and more than before.
    """
    used_bytes = await total_bytes(connection, owner)
    has_grown = used_bytes > bytes_before
    if used_bytes > quota_bytes and has_grown:
        raise ProjectQuotaExceeded(limit=quota_bytes)
