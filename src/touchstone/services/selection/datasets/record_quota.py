"""The limit on the total size of a user's records."""

from uuid import UUID

from touchstone.core.errors import RecordQuotaExceeded
from touchstone.database.engine import Reader
from touchstone.services.selection.datasets import record_usage_store


async def check_record_quota(connection: Reader, owner: UUID | None, quota_bytes: int) -> None:
    """Check that an owner's records do not exceed the quota.

    Call this at the end of the transaction that writes a record. The transaction holds the lock of the catalog, so that
    concurrent writes cannot exceed the quota together.

    Args:
        connection: the transaction.
        owner: the owner, or None for records without an owner, which are not limited.
        quota_bytes: the maximum total size of the owner's records.

    Raises:
        RecordQuotaExceeded: the records exceed the quota.
    """
    if owner is None:
        return

    used_bytes = await record_usage_store.read_bytes(connection, owner)
    if used_bytes > quota_bytes:
        raise RecordQuotaExceeded(limit=quota_bytes)
