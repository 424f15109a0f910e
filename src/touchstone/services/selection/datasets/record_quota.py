"""The limit on the bytes that all records of one user take together."""

from uuid import UUID

from touchstone.core.errors import RecordQuotaExceeded
from touchstone.database.engine import Reader
from touchstone.services.selection.datasets import record_usage_store


async def check_record_quota(connection: Reader, owner: UUID | None, quota_bytes: int) -> None:
    """Check, within the transaction that has written a record, that the owner's records fit into the quota.

    Records without an owner are not limited. The transaction has locked the catalog, so concurrent writes cannot
    exceed the limit together.

    Raises:
        RecordQuotaExceeded: the owner's records take more.
    """
    if owner is None:
        return

    used_bytes = await record_usage_store.read_bytes(connection, owner)
    if used_bytes > quota_bytes:
        raise RecordQuotaExceeded(limit=quota_bytes)
